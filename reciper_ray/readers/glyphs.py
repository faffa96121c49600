"""The lines of a PDF's pages, by PDFium: text with raised and lowered script marked as in LaTeX.

pypdfium2, because of the permissive libraries it is the fastest by far and keeps the order in
which publishers wrote the text. Here is what needs PDFium; `pdf` makes a paper of the lines. Left
out is what a reader of the page does not read along with it: text turned on its side or beyond the
edge of the page.
"""

import ctypes
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from reciper_ray.errors import UnreadableInput

HYPHEN = "\x02"
"""PDFium's sign for a hyphen that ends a line."""
_PLAIN = frozenset(" \t◦°∘˚º*†‡§¶′'\"“”")
_RAISED_SIZE = 0.85
_RAISED_BY = 0.12
_NEAR = 0.7
_WORD_GAP = 0.18
_CELL_GAP = 1.4
_BOLD = 600
_MAX_CHARS = 200_000


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page: baseline `y` (points, upwards), extent `left` to `right`, font `size`,
    and the gaps wide enough to part cells as character offsets into `text`."""

    text: str
    page: int
    y: float
    left: float
    right: float
    size: float
    bold: bool
    gaps: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A page's lines in the order of the file, those `drawn` in drawings apart, and its size in
    points."""

    number: int
    width: float
    height: float
    lines: list[Line]
    drawn: list[Line]


def open_pdf(data: bytes) -> pdfium.PdfDocument:
    """Raises `UnreadableInput` for an encrypted or broken file."""
    try:
        return pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if pdfium.raw.FPDF_GetLastError() == raw.FPDF_ERR_PASSWORD or "assword" in str(error):
            raise UnreadableInput("encrypted PDF: it needs a password") from error
        raise UnreadableInput(f"broken PDF: {error}") from error


def pages(document: pdfium.PdfDocument) -> Iterator[Page]:
    """The pages of the document, numbered from 1; a page that cannot be loaded has no lines."""
    for index in range(len(document)):
        try:
            page = document[index]
            text = page.get_textpage()
        except pdfium.PdfiumError:
            yield Page(index + 1, 0.0, 0.0, [], [])
            continue
        width, height = page.get_size()
        own, drawn = _glyphs(text, width, height, _top_level(page))
        yield Page(
            index + 1, width, height, _lines(text, index + 1, own), _lines(text, index + 1, drawn)
        )
        text.close()
        page.close()


def text_of(document: pdfium.PdfDocument, index: int) -> str:
    """All text of a page, what is turned or drawn included, "" for none."""
    try:
        page = document[index]
        text: str = page.get_textpage().get_text_range()
    except pdfium.PdfiumError:
        return ""
    return text


def _top_level(page: pdfium.PdfPage) -> frozenset[int]:
    """Addresses of the objects that stand on the page itself, not inside a drawing."""
    count = raw.FPDFPage_CountObjects(page)
    objects = (raw.FPDFPage_GetObject(page, index) for index in range(count))
    return frozenset(ctypes.addressof(found.contents) for found in objects if found)


@dataclass(slots=True)
class _Glyph:
    character: str
    x: float
    y: float
    size: float
    index: int

    @property
    def visible(self) -> bool:
        return self.size > 0 and not self.character.isspace()


def _lines(text: pdfium.PdfTextPage, page: int, glyphs: list[_Glyph]) -> list[Line]:
    lines = (_line(text, page, run) for run in _same_line(text, _fragments(glyphs)))
    return [line for line in lines if line.text]


def _glyphs(
    text: pdfium.PdfTextPage, width: float, height: float, own: frozenset[int]
) -> tuple[list[_Glyph], list[_Glyph]]:
    """The glyphs on the page itself, and those in drawings."""
    here: list[_Glyph] = []
    drawn: list[_Glyph] = []
    x, y = ctypes.c_double(), ctypes.c_double()
    matrix = raw.FS_MATRIX()
    points, turned, inside = 0.0, False, False
    last: tuple[float, float] | None = None
    for index in range(min(text.count_chars(), _MAX_CHARS)):
        character = chr(raw.FPDFText_GetUnicode(text, index))
        if character in "\r\n" or raw.FPDFText_IsGenerated(text, index) == 1:
            for part in (here, drawn):
                if part and character != "\r":
                    part.append(_Glyph(character, 0.0, 0.0, 0.0, index))
            last = None
            continue
        raw.FPDFText_GetCharOrigin(text, index, x, y)
        size = raw.FPDFText_GetFontSize(text, index)
        if last != (size, y.value):
            # Within a word on one line neither the object nor the matrix tells anything new.
            last = (size, y.value)
            found = raw.FPDFText_GetTextObject(text, index)
            inside = bool(found) and ctypes.addressof(found.contents) not in own
            raw.FPDFText_GetMatrix(text, index, matrix)
            points = round(size * (math.hypot(matrix.c, matrix.d) or 1.0), 1)
            turned = abs(matrix.b) > abs(matrix.a)
        if character == " ":
            last = None
        if turned or not (0 <= x.value <= width and 0 <= y.value <= height):
            continue
        (drawn if inside else here).append(_Glyph(character, x.value, y.value, points, index))
    return here, drawn


def _fragments(glyphs: list[_Glyph]) -> Iterator[list[_Glyph]]:
    """Runs of glyphs up to PDFium's line breaks; a hyphen that ends a line ends its run."""
    run: list[_Glyph] = []
    for glyph in glyphs:
        if glyph.character == "\n":
            if run:
                yield run
            run = []
            continue
        run.append(glyph)
        if glyph.character == HYPHEN:
            yield run
            run = []
    if run:
        yield run


def _same_line(
    text: pdfium.PdfTextPage, fragments: Iterator[list[_Glyph]]
) -> Iterator[list[_Glyph]]:
    """Fragments with those joined that PDFium parted at a raised or lowered script."""
    line: list[_Glyph] = []
    for fragment in fragments:
        placed = [glyph for glyph in fragment if glyph.size]
        if not placed:
            continue
        if line and not _continues(text, line, placed):
            yield line
            line = []
        line = line + fragment
    if line:
        yield line


def _continues(text: pdfium.PdfTextPage, line: list[_Glyph], fragment: list[_Glyph]) -> bool:
    before = [glyph for glyph in line if glyph.size]
    if line[-1].character == HYPHEN:
        return False
    right, first = _right(text, before[-1]), fragment[0]
    size = max(_main_size(before), _main_size(fragment))
    level = abs(_baseline(before) - _baseline(fragment)) < _NEAR * size
    return level and -0.5 * size < first.x - right < 1.5 * size


def _main_size(glyphs: list[_Glyph]) -> float:
    """The size that most of the glyphs have, the larger of two."""
    counts = Counter(glyph.size for glyph in glyphs if glyph.visible)
    return max(counts, key=lambda size: (counts[size], size), default=0.0)


def _right(text: pdfium.PdfTextPage, glyph: _Glyph) -> float:
    """Where the glyph ends."""
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    raw.FPDFText_GetCharBox(text, glyph.index, left, right, bottom, top)
    return right.value


def _baseline(glyphs: list[_Glyph]) -> float:
    size = _main_size(glyphs)
    heights = sorted(glyph.y for glyph in glyphs if glyph.size >= _RAISED_SIZE * size)
    return heights[len(heights) // 2] if heights else glyphs[0].y


def _line(text: pdfium.PdfTextPage, page: int, glyphs: list[_Glyph]) -> Line:
    placed = [glyph for glyph in glyphs if glyph.visible]
    if not placed:
        return Line("", page, 0.0, 0.0, 0.0, 0.0, False)
    size, base = _main_size(glyphs), _baseline(glyphs)
    out: list[str] = []
    gaps: list[int] = []
    script, length = "", 0
    before: _Glyph | None = None
    for glyph in glyphs:
        now = _script(glyph, size, base)
        if now != script and script:
            out.append("}")
            length += 1
        if before is not None and glyph.visible and glyph.x - before.x > 0.6 * size:
            gap = glyph.x - _right(text, before)
            if gap > _WORD_GAP * size and not out[-1].isspace():
                out.append(" ")
                length += 1
            if gap > _CELL_GAP * size:
                gaps.append(length)
        if now != script and now:
            out.append(f"{now}{{")
            length += 2
        script = now
        out.append(glyph.character)
        length += 1
        before = glyph if glyph.visible else before
    if script:
        out.append("}")
    return Line(
        text="".join(out).rstrip(),
        page=page,
        y=base,
        left=placed[0].x,
        right=_right(text, placed[-1]),
        size=size,
        bold=all(
            raw.FPDFText_GetFontWeight(text, glyph.index) >= _BOLD
            for glyph in (placed[0], placed[len(placed) // 2], placed[-1])
        ),
        gaps=tuple(gaps),
    )


def _script(glyph: _Glyph, size: float, base: float) -> str:
    """`^` or `_` for a glyph that is smaller and off the line."""
    if not glyph.size or glyph.character in _PLAIN or glyph.size >= _RAISED_SIZE * size:
        return ""
    if glyph.y - base > _RAISED_BY * size:
        return "^"
    return "_" if base - glyph.y > 0.05 * size else ""
