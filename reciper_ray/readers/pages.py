"""The lines of a PDF's pages that belong to its text, in reading order.

Out go drawings, running heads, page numbers, and the line numbers of manuscripts; columns come
one after the other.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from reciper_ray.readers.glyphs import HYPHEN, Line, Page
from reciper_ray.text import squeeze

_MARGIN = 0.12
_REPEATS = 3
_DIGITS = re.compile(r"\d+")


def reading_order(pages: Sequence[Page]) -> list[Line]:
    """The text's lines, page by page."""
    kept = _without_margins(_without_drawings(pages))
    return [line for page in kept for line in _in_columns(page)]


def _without_drawings(pages: Sequence[Page]) -> list[Page]:
    """The pages without the text in drawings, unless most of the text stands in such."""
    own = sum(len(line.text) for page in pages for line in page.lines)
    drawn = sum(len(line.text) for page in pages for line in page.drawn)
    return [
        page if page.lines and own >= drawn else replace(page, lines=[*page.lines, *page.drawn])
        for page in pages
    ]


def _without_margins(pages: Sequence[Page]) -> list[Page]:
    """The pages without what stands in the margins of many of them, and without line numbers."""
    counts = Counter(
        text
        for page in pages
        for text in {_bare(line) for line in page.lines if _in_margin(line, page)}
    )
    often = max(_REPEATS, len(pages) // 3) if len(pages) > _REPEATS else _REPEATS
    running = {text for text, count in counts.items() if count >= min(often, len(pages)) > 1}

    def stays(line: Line, page: Page) -> bool:
        if not _in_margin(line, page):
            return True
        bare = _bare(line)
        return bare not in running and "doi" not in bare and not re.fullmatch(r"\W*#\W*", bare)

    return [
        replace(page, lines=_unnumbered([line for line in page.lines if stays(line, page)]))
        for page in pages
    ]


def _bare(line: Line) -> str:
    """What is the same of a running head on every page."""
    return _DIGITS.sub("#", squeeze(line.text).casefold())


def _in_margin(line: Line, page: Page) -> bool:
    return not _MARGIN * page.height < line.y < (1 - _MARGIN) * page.height


def _unnumbered(lines: list[Line]) -> list[Line]:
    """`lines` without the numbers of a manuscript's lines, alone or at the start of a line."""
    numbers = [re.match(r"(\d{1,4})(?:\s+|$)", line.text) for line in lines]
    values = [int(number[1]) for number in numbers if number]
    rising = sum(after == before + 1 for before, after in pairwise(values))
    if rising < 8 or rising < 0.6 * len(values):
        return lines
    left = min(line.left for line in lines)
    kept = []
    for line, number in zip(lines, numbers, strict=True):
        if number and line.left < left + 3 * line.size:
            rest = line.text[number.end() :]
            if rest:
                kept.append(replace(line, text=rest))
        else:
            kept.append(line)
    return kept


def _in_columns(page: Page) -> list[Line]:
    """The page's lines in reading order.

    That is the file's order, which publishers' PDFs keep, unless it jumps to and fro across a
    gutter: then the left column goes before the right one between two lines that span both.
    """
    if not page.lines:
        return []
    gutter = _gutter(page)
    if gutter is None:
        return page.lines
    lines = [part for line in page.lines for part in _cut(line, gutter)]
    sides = [_side(line, gutter) for line in lines]
    jumps = sum(a * b < 0 for a, b in pairwise(sides))
    if jumps < 6 or jumps < 0.3 * len(lines):
        return page.lines
    ordered: list[Line] = []
    columns: tuple[list[Line], list[Line]] = ([], [])
    for line in sorted(lines, key=lambda line: (-round(line.y), line.left)):
        side = _side(line, gutter)
        if side == 0:
            ordered += columns[0] + columns[1] + [line]
            columns = ([], [])
        else:
            columns[side > 0].append(line)
    return ordered + columns[0] + columns[1]


def _gutter(page: Page) -> float | None:
    """The middle of the white strip that parts two columns, if there is one."""
    centre = page.width / 2
    left = [end for line in page.lines for end in _ends_left_of(line, centre)]
    right = [line.left for line in page.lines if line.left > centre - 12]
    cut = [line for line in page.lines if line.gaps and line.left < centre < line.right]
    if len(left) < 5 or len(right) + len(cut) < 5:
        return None
    crossing = sum(
        line.left < centre - 12 and line.right > centre + 12 and not line.gaps
        for line in page.lines
    )
    return centre if crossing < 0.35 * len(page.lines) else None


def _ends_left_of(line: Line, centre: float) -> list[float]:
    return [line.right] if line.right < centre + 12 or line.gaps else []


def _cut(line: Line, gutter: float) -> list[Line]:
    """A line that PDFium read across the gutter as its two halves."""
    if not line.gaps or not line.left < gutter < line.right:
        return [line]
    share = (gutter - line.left) / (line.right - line.left)
    at = min(line.gaps, key=lambda gap: abs(gap / len(line.text) - share))
    if abs(at / len(line.text) - share) > 0.2:
        return [line]
    first, second = line.text[:at].rstrip(), line.text[at:].lstrip()
    return [
        replace(line, text=first, right=gutter - 1, gaps=()),
        replace(line, text=second, left=gutter + 1, gaps=()),
    ]


def _side(line: Line, gutter: float) -> int:
    if line.right <= gutter + 12 and line.left < gutter - 12:
        return -1
    return 1 if line.left >= gutter - 12 else 0


def table_rows(lines: Sequence[Line]) -> Iterator[str]:
    """The rows of a table with their cells parted, from the top."""
    row: list[Line] = []
    for line in sorted(lines, key=lambda line: (-line.y, line.left)):
        if row and row[0].y - line.y > 0.4 * line.size:
            yield _row(row)
            row = []
        row.append(line)
    yield _row(row)


def _row(lines: Sequence[Line]) -> str:
    cells: list[str] = []
    for line in sorted(lines, key=lambda line: line.left):
        cuts = [0, *line.gaps, len(line.text)]
        cells += [line.text[a:b].strip(f" {HYPHEN}") for a, b in pairwise(cuts)]
    return " | ".join(filter(None, cells))
