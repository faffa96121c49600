"""Text: conservative clean-up, the matching rule of evaluation, and sentence boundaries.

Clean-up repairs only damage that is certain (an unmapped glyph before an exponent, a ring for a
degree sign, a ligature). It keeps every number, formula and dash as its source wrote it. Meaning
of quantities and formulas is not in scope: see `quantity` and `formula`.
"""

import re
import unicodedata

from reciper_ray.types import Span

_LINE_BREAKS = "\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029"
_DROPPED = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_PRIVATE_DEGREE = "\uf0b0"


def _char_table() -> dict[int, str | None]:
    table: dict[int, str | None] = {c: None for c in range(0x20) if chr(c) not in "\t\n\r"}
    table |= {c: None for c in range(0x7F, 0xA0)}
    table |= {c: None for c in range(0xD800, 0xE000)}
    table |= dict.fromkeys((*map(ord, _DROPPED), *range(0x202A, 0x202F), *range(0x2066, 0x206A)))
    table |= dict.fromkeys(map(ord, _LINE_BREAKS), "\n")
    table |= {c: " " for c in (0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)}
    table |= {ord(ligature): letters for ligature, letters in _LIGATURES.items()}
    table |= {ord("℃"): "°C", ord("℉"): "°F", ord(_PRIVATE_DEGREE): "°"}
    return table


_CHARS = _char_table()
_CID_MINUS = re.compile(r"\(cid:0\) ?(?=\d)")
_SOFT_HYPHEN_BREAK = re.compile(r"\u00ad\s+")
_RING = re.compile(r"(?<=\d)[◦˚∘]|(?<=[\d ])[◦˚∘º](?= ?[CF]\b)")
_LETTER_RING = re.compile(r"(?<=\d)( ?)o ?C\b")
_QUARTER_EQUALS = re.compile(r"(?<=[A-Za-z)\]])( ?)¼(?= ?[-+−~∼]?\d)")


def normalise(text: str) -> str:
    """`text` in NFC without control characters, odd spaces, ligatures and known glyph damage.

    Line breaks become `\\n`; nothing else about the layout changes. Applying it twice changes
    nothing more.
    """
    if "\u00ad" in text:
        text = _SOFT_HYPHEN_BREAK.sub("", text)
    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_CHARS)
    text = unicodedata.normalize("NFC", text)
    if "(cid:0)" in text:
        text = _CID_MINUS.sub("−", text)
    text = _LETTER_RING.sub(r"\1°C", _RING.sub("°", text))
    if "¼" in text:
        text = _QUARTER_EQUALS.sub(r"\1=", text)
    return text


def squeeze(text: str) -> str:
    """`text` with each run of white space as one space, none at the ends."""
    return " ".join(text.split())


_DASHES = str.maketrans(
    dict.fromkeys(
        (c for c in map(chr, range(0x3100)) if unicodedata.category(c) == "Pd" or c == "−"), "-"
    )
)


def fold(text: str) -> str:
    """`text` as the matching rule sees it: NFKC, casefold, every dash `-`, white space folded."""
    return squeeze(unicodedata.normalize("NFKC", text).casefold().translate(_DASHES))


def contains(needle: str, haystack: str) -> bool:
    """Whether `needle` stands in `haystack` by the matching rule.

    Both sides are folded. A needle that starts or ends with a digit must not stand inside a
    longer number: `3` is not in `13` or `3.5`. A comma ends a number, so `200` is in `1,200`.
    An empty needle is in nothing.
    """
    needle, haystack = fold(needle), fold(haystack)
    if not needle:
        return False
    starts, ends = needle[0].isdigit(), needle[-1].isdigit()
    at = haystack.find(needle)
    while at >= 0:
        before, after = haystack[max(at - 2, 0) : at], haystack[at + len(needle) :][:2]
        if not (starts and _NUMBER_BEFORE.search(before)) and not (
            ends and _NUMBER_AFTER.match(after)
        ):
            return True
        at = haystack.find(needle, at + 1)
    return False


_NUMBER_BEFORE = re.compile(r"\d\.?$")
_NUMBER_AFTER = re.compile(r"\.?\d")

_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_END = re.compile(
    r"(?<![.!?])[.!?]++"
    r"(?:\[\d[\d,; –-]{0,40}\]|(?<=[a-z)\]][.])\d{1,3}(?:[,–-]\d{1,3}){0,8})?"
    r"[\"'”’)\]]{0,3}"
    r"(?=\s|(?<=[a-z]{3}[.])(?:The|This|These|It|In|We|However|After|Then|For)\s)"
)
_STARTERS = frozenset(
    "A After All Also Although An As At Based Because Both But By Compared Consequently Different"
    " During Each Figure Finally First For From Furthermore Hence Here High However If In Indeed"
    " It Its Many Moreover Next No Note On Other Our Samples Second Several Similarly Since Some"
    " Such Table Than That The Their Then There Therefore These They This Those Thus To Two Under"
    " Upon Using We When Where Which While With Within".split()
)
_BEFORE_NUMBER = frozenset(
    "fig figs eq eqs eqn eqns ref refs no nos sec sect secs tab ch chap vol pp p art ser"
    " jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
_NEVER_LAST = frozenset("e.g eg i.e ie vs cf ca approx resp viz dr prof mr mrs st ed eds fig figs".split())
_SELDOM_LAST = frozenset("al eq eqs ref refs sp spp var wt at vol mol co inc ltd corp univ".split())
_NUMBERING = re.compile(r"(?:\d{1,2}(?:\.\d{1,2}){0,4}|[IVX]{1,5}|[A-Z])$")
_INITIALS = re.compile(r"(?:[A-Z]\.-?)*[A-Z]$")
_NEXT_WORD = re.compile(r"[A-Za-z]{0,20}")


def sentences(text: str) -> list[Span]:
    """The sentences of `text` in order, trimmed; together they hold all its non-space characters.

    A sentence ends at `.`, `!` or `?` (with a citation mark or closing quote behind it) before
    white space and a capital, digit or opening mark, unless the stop belongs to an abbreviation
    (`Fig. 3`, `et al.`, `e.g.`, `wt. %`), an initial, or a section number. A blank line ends a
    sentence too; a single line break is white space.
    """
    spans: list[Span] = []
    start = 0
    for gap in _BLANK_LINE.finditer(text):
        _split(text, start, gap.start(), spans)
        start = gap.end()
    _split(text, start, len(text), spans)
    return spans


def _split(text: str, start: int, end: int, spans: list[Span]) -> None:
    start = _skip_space(text, start, end)
    for match in _END.finditer(text, start, end):
        after = _skip_space(text, match.end(), end)
        if after < end and match.start() >= start and _ends(text, start, match, after):
            spans.append(Span(start, match.end()))
            start = after
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        spans.append(Span(start, end))


def _skip_space(text: str, at: int, end: int) -> int:
    while at < end and text[at].isspace():
        at += 1
    return at


def _ends(text: str, start: int, match: re.Match[str], after: int) -> bool:
    """Whether the stop in `match` ends the sentence that began at `start`."""
    head = text[after : after + 2]
    if head[0] in ",;:.)]}%/=&" or (head[0].isascii() and head[0].islower() and not head[1:].isupper()):
        return False
    before = text[max(start, match.start() - 40) : match.start()].split()
    if match[0][0] != "." or not before:
        return True
    word = before[-1].lstrip("([“\"'‘~∼≈")
    lower = word.lower()
    numbered = head[0].isdigit() or head[1:].isdigit()
    if lower in _NEVER_LAST or (numbered and lower in _BEFORE_NUMBER):
        return False
    if match.start() - len(word) <= start and _NUMBERING.match(word):
        return False
    if head[0].isdigit() and word.replace(".", "").isdigit():
        return False
    initial = _INITIALS.match(word) and not (len(before) > 1 and before[-2][-1].isdigit())
    if initial or lower in _SELDOM_LAST:
        return _NEXT_WORD.match(text, after)[0] in _STARTERS
    return True
