"""PDF with a text layer to a paper.

Lines become paragraphs in reading order (columns one after the other), each with its page; raised
and lowered script, hyphenated words and the gaps of table rows are written out. Running heads,
page numbers and line numbers go. Left out: pictures, text inside drawings, references. A PDF
without a text layer is refused, as is an encrypted one.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from reciper_ray.errors import UnreadableInput
from reciper_ray.readers import glyphs
from reciper_ray.readers.glyphs import HYPHEN, Line
from reciper_ray.readers.hyphens import join_hyphenated
from reciper_ray.readers.latex import strip_math
from reciper_ray.readers.layout import Heading, lay_out, opens_caption
from reciper_ray.readers.metadata import find_arxiv_id, find_doi, find_licence, find_year
from reciper_ray.readers.pages import reading_order, table_rows
from reciper_ray.readers.source import Block, Format, compose, stem
from reciper_ray.text import normalise, squeeze
from reciper_ray.types import Kind, Paper

_MIN_CHARS_A_PAGE = 25
_HEADING_CHARS = 200
_CELL_CHARS = 70
_NUMBERED = re.compile(r"(?:\d{1,2}\.){1,5}\s+[A-Z]|\d{1,2}(?:\.\d{1,2}){1,4}\.?\s+[A-Z]")
_NAMED = re.compile(
    r"(?:abstract|introduction|experimental(?: section| details)?|methods?|results(?: and"
    r" discussion)?|discussion|conclusions?|references|bibliography|acknowledge?ments?"
    r"|materials and methods)\W*",
    re.IGNORECASE,
)
# Author lists, references, addresses and mastheads, which may be bold or large too.
_NO_HEADING = re.compile(r",.*,|\d{4}|@|https?:|^(?:OPEN|ARTICLES?|LETTERS?|Articles?|Reviews?)$")
_WORDS = re.compile(r"[^\W\d]{3}")
_ENDED = re.compile(r"[.!?:][\"”’)\]]*(?:\^\{[^}]*\})?$")
_ABSTRACT = re.compile(r"abstract\s*[:.—–-]\s*", re.IGNORECASE)
_MARK = re.compile(r"(?<=[^\d\s]) \^\{\d[\d,]*\}(?=[^\W\d])")
_PARTED = "\n\f\n"
_TITLE_CHARS = 15
_HEAD, _TAIL = 6000, 3000
_HANGING = re.compile(r"-\n(?=(?:and|or|to|but|nor)\b)")


@dataclass(frozen=True, slots=True)
class _Part:
    """Lines that belong together; `kind` None for a heading, `caption` of a table's rows."""

    lines: Sequence[Line]
    kind: Kind | None
    caption: str = ""


def _parse(source: str, data: bytes) -> Iterator[Paper]:
    document = glyphs.open_pdf(data)
    try:
        metadata = document.get_metadata_dict()
        pages = list(glyphs.pages(document))
        stamp = glyphs.text_of(document, 0)
    finally:
        document.close()
    found = sum(len(line.text) for page in pages for line in (*page.lines, *page.drawn))
    if not found:
        raise UnreadableInput(f"no text layer in this PDF of {len(pages)} pages")
    if found < _MIN_CHARS_A_PAGE * len(pages):
        raise UnreadableInput(
            f"no text layer worth the name: {found} characters in {len(pages)} pages"
        )
    lines = reading_order(pages)
    if not lines:
        raise UnreadableInput("no text in this PDF but running heads and page numbers")
    size = _body_size(lines)
    title, parts = _titled(list(_parts(lines, size)), size)
    blocks = lay_out(_elements(parts))
    whole = " ".join(block.text for block in blocks)
    head = squeeze(" ".join(line.text for line in pages[0].lines))[:_HEAD]
    paper = compose(
        stem(source),
        source,
        FORMAT.name,
        title or squeeze(normalise(metadata.get("Title", ""))),
        blocks,
        "\n\n".join(strip_math(_written(part)) for part in parts),
        year=find_year(f"{head} {whole}"),
        doi=find_doi(head) or find_doi(metadata.get("Subject", "")),
        arxiv_id=find_arxiv_id(stamp),
        licence=find_licence(f"{head} {whole[:_HEAD]} {whole[-_TAIL:]}"),
    )
    return iter([paper])


FORMAT = Format("pdf", lambda head: head.lstrip("\0\r\n\t ").startswith("%PDF-"), _parse)


def _body_size(lines: Sequence[Line]) -> float:
    """The font size of most of the text."""
    counts: Counter[float] = Counter()
    for line in lines:
        counts[line.size] += len(line.text)
    return max(counts, key=lambda size: (counts[size], size))


def _parts(lines: Sequence[Line], size: float) -> Iterator[_Part]:
    """The parts of the paper in order. What follows a table's caption and is no prose is its
    rows."""
    leading = _leading(lines)
    caption = ""
    rows: list[Line] = []
    for held in _paragraphs(lines, leading):
        if caption and _is_tabular(held) and (not rows or held[0].page == rows[0].page):
            rows += held
            continue
        if rows:
            yield _Part(rows, Kind.TABLE, caption)
        caption, rows = "", []
        text = squeeze(" ".join(line.text for line in held))
        if text.lower().startswith("table") and opens_caption(text):
            caption = text
        several = len(held) > 1 and all(line.gaps for line in held)
        kind = Kind.TABLE if several else None if _is_heading(held, size) else Kind.TEXT
        yield _Part(held, kind)
    if rows:
        yield _Part(rows, Kind.TABLE, caption)


def _paragraphs(lines: Sequence[Line], leading: float) -> Iterator[list[Line]]:
    held: list[Line] = []
    for line in lines:
        if held and _breaks(held, line, leading):
            yield held
            held = []
        held.append(line)
    if held:
        yield held


def _is_tabular(lines: Sequence[Line]) -> bool:
    """Whether the lines are cells or rows: gaps, or too short for a sentence."""
    return all(
        line.gaps or (len(line.text) < _CELL_CHARS and not line.text.endswith("."))
        for line in lines
    ) and not (_NAMED.fullmatch(lines[0].text) or _NUMBERED.match(lines[0].text))


def _leading(lines: Sequence[Line]) -> float:
    """The usual distance of lines, in font sizes."""
    steps = [
        (before.y - after.y) / after.size
        for before, after in pairwise(lines)
        if before.size == after.size and 0.5 * after.size < before.y - after.y < 3 * after.size
    ]
    return median(steps) if steps else 1.2


def _breaks(held: list[Line], line: Line, leading: float) -> bool:
    """Whether `line` begins a paragraph behind the lines `held`."""
    last = held[-1]
    if last.text.endswith(HYPHEN):
        return False
    ended = _ENDED.search(last.text) is not None
    step = (last.y - line.y) / line.size
    if step < 0 and last.text.endswith("-") and line.text[:1].islower():
        # PDFium does not tell a hyphen that ends a line where the column or page ends as well.
        return False
    if abs(line.size - last.size) > 0.06 * last.size:
        # A line that opens with a run-in heading in larger letters goes on in smaller ones.
        runs_on = not ended and not last.bold and last.right > line.right - 2 * line.size
        return not (runs_on and len(held) == 1 and 0.5 < step < 1.45 * leading)
    if ended and opens_caption(line.text):
        return True
    if _NAMED.fullmatch(line.text) or _NAMED.fullmatch(last.text):
        return True
    if (line.bold != last.bold) and (_short_bold(line) or all(map(_short_bold, held))):
        return True
    if not 0 <= step < 1.45 * leading:
        return True
    if line.gaps and last.gaps:
        return False
    if step < 0.3:
        return False
    right = max(other.right for other in (*held, line))
    left = min(other.left for other in held[-3:])
    if ended and last.right < right - 2 * last.size:
        return True
    if len(held) == 1 and _NUMBERED.match(last.text) and last.right < line.right - 4 * line.size:
        return not ended
    if _NUMBERED.match(line.text) and len(line.text) < _HEADING_CHARS // 2:
        return ended or last.right < right - 4 * last.size or line.bold
    return ended and 0.7 * line.size < line.left - left < 6 * line.size


def _short_bold(line: Line) -> bool:
    return line.bold and len(line.text) < _HEADING_CHARS // 2


def _is_heading(lines: list[Line], size: float) -> bool:
    text = " ".join(line.text for line in lines)
    if _NAMED.fullmatch(text):
        return True
    if (
        len(lines) > 4
        or len(text) > _HEADING_CHARS
        or text.endswith((".", ",", ";"))
        or opens_caption(text)
        or any(line.gaps for line in lines)
        or _NO_HEADING.search(text)
        or not _WORDS.search(text)
    ):
        return False
    if lines[0].size > 1.12 * size or all(line.bold for line in lines):
        return True
    return _NUMBERED.match(text) is not None and len(lines) <= 2


def _titled(parts: list[_Part], size: float) -> tuple[str, list[_Part]]:
    """The text in the largest letters of the first page, and the rest."""
    likely = [
        at
        for at, part in enumerate(parts)
        if part.lines[0].page == parts[0].lines[0].page
        and part.lines[0].size > 1.12 * size
        and len(_written(part)) >= _TITLE_CHARS
    ]
    if not likely:
        return "", parts
    at = max(likely, key=lambda at: (parts[at].lines[0].size, -at))
    title = _broken(join_hyphenated(_plain(parts[at])))
    return squeeze(title), parts[:at] + parts[at + 1 :]


def _plain(part: _Part) -> str:
    return normalise(strip_math(_MARK.sub(" ", _written(part))))


def _written(part: _Part) -> str:
    """The lines as one text: rows stay lines, a hyphen that ends a line keeps its break."""
    if part.kind is Kind.TABLE:
        return "\n".join(table_rows(part.lines))
    out = ""
    for line in part.lines:
        text = line.text.strip()
        if out.endswith((HYPHEN, "-")):
            out = f"{out[:-1]}-\n{text}"
        else:
            out = f"{out} {text}" if out else text
    return out.replace(HYPHEN, "-")


def _elements(parts: Sequence[_Part]) -> list[Heading | Block]:
    """Headings and blocks, words joined that the end of a line parted: what is one word is told
    by the whole paper."""
    whole = join_hyphenated(_PARTED.join(map(_plain, parts)))
    elements: list[Heading | Block] = []
    for text, part in zip(whole.split(_PARTED), parts, strict=True):
        page = part.lines[0].page
        if part.kind is Kind.TABLE:
            caption = squeeze(normalise(strip_math(part.caption)))[:_HEADING_CHARS]
            elements.append(Block(text, caption, Kind.TABLE, page))
            continue
        line = squeeze(_broken(text))
        label = _ABSTRACT.match(line)
        if part.kind is None:
            elements.append(Heading(line, 1))
        elif label:
            abstract = Block(line[label.end() :], "Abstract", Kind.ABSTRACT, page)
            elements.append(_turned(abstract, part))
        else:
            elements.append(_turned(Block(line, "", Kind.TEXT, page), part))
    return elements


def _turned(block: Block, part: _Part) -> Block:
    """The block of `part` with the places where its further pages begin, give or take a hyphen."""
    turns: tuple[int, ...] = ()
    for at, (before, after) in enumerate(pairwise(part.lines), 1):
        if after.page > before.page:
            rest = squeeze(_broken(_plain(replace(part, lines=part.lines[at:]))))
            begins = max(0, len(block.text) - len(rest))
            turns += (begins,) * (after.page - before.page)
    return replace(block, turns=turns)


def _broken(text: str) -> str:
    """`text` without the breaks behind hyphens that stay."""
    return _HANGING.sub("- ", text).replace("-\n", "-")
