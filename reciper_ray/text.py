"""Text: conservative clean-up, the matching rule of evaluation, and sentence boundaries.

Clean-up repairs only damage that is certain (an unmapped glyph before an exponent, a ring for a
degree sign, a ligature, the exponent in `10 14 cm −3`). It keeps every number, formula and dash as
its source wrote it. What quantities and formulas mean is not in scope.
"""

import re
import unicodedata

from reciper_ray.types import Span

_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_DEGREES = {"℃": "°C", "℉": "°F"}
# The Symbol font's private codes, as far as its signs mean the same everywhere.
_SYMBOL_FONT = {
    chr(0xF000 + code): sign
    for start, signs in (
        (0x2B, "+"), (0x2D, "−"), (0x3D, "="), (0x44, "Δ"), (0x46, "ΦΓ"), (0x4C, "Λ"), (0x50, "ΠΘ"),
        (0x53, "Σ"), (0x57, "ΩΞΨ"), (0x61, "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"), (0xA3, "≤"),
        (0xA5, "∞"), (0xAE, "→"), (0xB0, "°±"), (0xB3, "≥×"), (0xBB, "≈"), (0xD7, "⋅"),
    )
    for code, sign in enumerate(signs, start)
}  # fmt: skip
_LINE_BREAKS = "\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029"
_SPACES = (0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)
_INVISIBLE = (0xAD, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF)
_CONTROLS = (*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0))
_SURROGATES = range(0xD800, 0xE000)
_CHARS: dict[int, str | None] = {
    **dict.fromkeys((*_CONTROLS, *_INVISIBLE, *_SURROGATES)),
    **dict.fromkeys(_SPACES, " "),
    **dict.fromkeys(map(ord, _LINE_BREAKS), "\n"),
    **{ord(old): new for old, new in (_LIGATURES | _DEGREES | _SYMBOL_FONT).items()},
}
_HIDDEN = {code: sign for code, sign in _CHARS.items() if sign in (None, "\n")}
_SOFT_HYPHEN_BREAK = re.compile(r"\u00ad\s+")
_CID_MINUS = re.compile(r"\(cid:0\) ?(?=\d)")
_RING = re.compile(r"[◦˚∘](?<=\d.)|[◦˚∘º](?<=[\d (/\[].)(?= ?[CF]\b)")
_CELSIUS = re.compile(r"(?<=\d)( ?)(?:o ?|° )C\b")
# Powers of ten whose exponent came down: behind `×` with a minus, or with a unit that only a power
# goes with; in front of cm⁻² and cm⁻³ (1014 carriers per cm³ is no number anybody measures).
_MINUS_POWER = re.compile(r"(?<=×)( ?10) ?[−–-] ?(\d{1,2})(?![\d.])")
_POWER = re.compile(
    r"(?<![\d.])(\d(?:\.\d{1,3})? ?× ?10)([3-9]|[12]\d)"
    r"(?= ?(?:[Cc]ycles?|[kMG]?Hz|Pa|Ω|W|S|J|s|ions?|cm ?[−–-] ?[1-3]|m ?[−–-] ?[1-3])(?![a-z]))"
)
_DENSITY = re.compile(r"(?<![\d.,–−-])10([12]\d)(?= ?c?m ?[−–-] ?[23](?![\d.]))")
_SPACED_DENSITY = re.compile(r"(?<![\d.,–−-])10 ([1-9]|[12]\d) (c?m) [−–-] ?([23])(?![\d.])")
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_QUARTER_EQUALS = re.compile(r"(?<=[A-Za-z)\]])( ?)¼(?= ?[-+−~∼]?\d)")


def normalise(text: str) -> str:
    """`text` in NFC without control characters, odd spaces, ligatures and known glyph damage.

    Line breaks become `\\n`; nothing else about the layout changes. What it returns can be
    written as UTF-8.
    """
    if "\u00ad" in text:
        text = _SOFT_HYPHEN_BREAK.sub("", text)
    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_CHARS)
    text = unicodedata.normalize("NFC", text)
    if "(cid:0)" in text:
        text = _CID_MINUS.sub("−", text)
    if "¼" in text:
        text = _QUARTER_EQUALS.sub(r"\1=", text)
    if "10" in text:
        text = _powers(text)
    return _CELSIUS.sub(r"\1°C", _RING.sub("°", text))


def visible(text: str) -> str:
    """`text` with nothing changed but line breaks made `\\n` and what nobody sees taken out:
    control and invisible characters, soft hyphens. It can be written as UTF-8."""
    text = _SOFT_HYPHEN_BREAK.sub("", text)
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_HIDDEN)


def _powers(text: str) -> str:
    """`text` with the exponents of powers of ten raised again where that is certain."""
    text = _MINUS_POWER.sub(lambda match: f"{match[1]}⁻{match[2].translate(_RAISED)}", text)
    for pattern in (_POWER, _DENSITY):
        text = pattern.sub(_raised, text)
    return _SPACED_DENSITY.sub(
        lambda m: f"10{m[1].translate(_RAISED)} {m[2]}⁻{m[3].translate(_RAISED)}", text
    )


def _raised(match: re.Match[str]) -> str:
    *before, exponent = match.groups()
    return f"{before[0] if before else '10'}{exponent.translate(_RAISED)}"


def squeeze(text: str) -> str:
    """`text` with each run of white space as one space, none at the ends."""
    return " ".join(text.split())


_DASHES = str.maketrans(
    {c: "-" for c in map(chr, range(0x3100)) if unicodedata.category(c) == "Pd" or c == "−"}
)
_NUMBER_BEFORE = re.compile(r"\d\.?$")
_NUMBER_AFTER = re.compile(r"\.?\d")


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
    at = haystack.find(needle)
    while at >= 0:
        end = at + len(needle)
        cut_before = needle[0].isdigit() and _NUMBER_BEFORE.search(haystack[max(at - 2, 0) : at])
        cut_after = needle[-1].isdigit() and _NUMBER_AFTER.match(haystack, end)
        if not cut_before and not cut_after:
            return True
        at = haystack.find(needle, at + 1)
    return False


_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_STARTER = (
    r"(?:A|After|All|Also|Although|An|As|At|Based|Because|Both|But|By|Consequently|During|Each"
    r"|Figure|Finally|First|For|From|Furthermore|Hence|Here|However|If|In|Indeed|It|Its|Moreover"
    r"|Next|No|Note|On|Other|Our|Samples|Second|Several|Similarly|Since|Some|Such|Table|That|The"
    r"|Their|Then|There|Therefore|These|They|This|Those|Thus|To|Two|Under|Upon|Using|We|When"
    r"|Where|Which|While|With|Within)\b"
)
_STARTS_SENTENCE = re.compile(_STARTER)
# A stop, a citation mark behind it (`.[12]`, `.12,13`), closing quotes; then white space, or a
# word that starts sentences where the space was lost (`temperature.The`).
_END = re.compile(
    r"(?<![.!?])[.!?]++"
    r"(?:\[\d[\d,; –-]{0,40}\]|(?<=[a-z)\]][.])\d{1,3}(?:[,–-]\d{1,3}){0,8})?"
    r"[\"'”’)\]]{0,3}"
    rf"(?=\s|(?<=[a-z]{{3}}[.]){_STARTER}\s)"
)
_NEVER_LAST = re.compile(
    r"e\.?g|i\.?e|vs|cf|ca|approx|resp|viz|dr|prof|mrs?|st|eds?|figs?", re.IGNORECASE
)
_SELDOM_LAST = re.compile(
    r"al|eqn?s?|refs?|spp?|var|wt|at|vol|mol|co|inc|ltd|corp|univ", re.IGNORECASE
)
_BEFORE_NUMBER = re.compile(
    r"eqn?s?|refs?|nos?|sect?s?|tab|ch|chap|vol|pp?|art|ser"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec",
    re.IGNORECASE,
)
_SECTION_NUMBER = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,4}|[IVX]{1,5}|[A-Z]")
_INITIALS = re.compile(r"(?:[A-Z]\.-?){0,5}[A-Z]")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")


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
    for stop in _END.finditer(text, start, end):
        after = _skip_space(text, stop.end(), end)
        if after < end and _ends(text, start, stop, after):
            spans.append(Span(start, stop.end()))
            start = after
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        spans.append(Span(start, end))


def _skip_space(text: str, at: int, end: int) -> int:
    while at < end and text[at].isspace():
        at += 1
    return at


def _ends(text: str, start: int, stop: re.Match[str], after: int) -> bool:
    """Whether `stop` ends the sentence that began at `start`, the next word being at `after`."""
    first, second = text[after], text[after + 1 : after + 2]
    if first in ",;:.)]}%/=&" or (first.isascii() and first.islower() and not second.isupper()):
        return False
    before = text[max(start, stop.start() - 40) : stop.start()].split()
    if stop[0][0] != "." or not before:
        return True
    word = before[-1].lstrip("([“\"'‘~∼≈")
    if _NEVER_LAST.fullmatch(word):
        return False
    if _BEFORE_NUMBER.fullmatch(word) and (first.isdigit() or second.isdigit()):
        return False
    if stop.start() - len(word) == start and _SECTION_NUMBER.fullmatch(word):
        return False
    if _NUMBER.fullmatch(word) and first.isdigit():
        return False
    measured = len(before) > 1 and before[-2][-1].isdigit()
    if _SELDOM_LAST.fullmatch(word) or (_INITIALS.fullmatch(word) and not measured):
        return _STARTS_SENTENCE.match(text, after) is not None
    return True
