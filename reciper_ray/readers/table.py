"""Tables as rows of text: cells parted by ` | `, a line each row, the header row first."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lxml import etree

_MAX_SPAN = 100


@dataclass(frozen=True, slots=True)
class Cell:
    """A table cell and over how many rows and columns it stretches."""

    text: str
    rows: int = 1
    columns: int = 1

    @classmethod
    def of(cls, text: str, rowspan: str | None, colspan: str | None) -> "Cell":
        """A cell by its source's span attributes; a bad one counts as 1."""
        return cls(text, _span(rowspan), _span(colspan))


def _span(value: str | None) -> int:
    return min(int(value), _MAX_SPAN) if value and value.isascii() and value.isdigit() else 1


def rows_of_text(rows: Iterable[list[Cell]]) -> str:
    """The table's rows as lines. A cell stretched over rows is repeated in each, so that a row
    read alone keeps its meaning; one stretched over columns is followed by empty cells."""
    lines: list[str] = []
    hanging: dict[int, tuple[str, int]] = {}
    for row in rows:
        line: list[str] = []
        cells = iter(row)
        cell = next(cells, None)
        while cell is not None or len(line) in hanging:
            column = len(line)
            if column in hanging:
                text, left = hanging.pop(column)
                line.append(text)
                if left > 1:
                    hanging[column] = (text, left - 1)
            elif cell is not None:
                texts = [cell.text] + [""] * (max(cell.columns, 1) - 1)
                line.extend(texts)
                if cell.rows > 1:
                    for offset, text in enumerate(texts):
                        hanging[column + offset] = (text, cell.rows - 1)
                cell = next(cells, None)
        if any(line):
            lines.append(" | ".join(line).rstrip(" |"))
    return "\n".join(lines)


def html_table(table: etree._Element, line: Callable[[etree._Element], str]) -> str:
    """The rows of an HTML table; `line` writes a cell's text."""
    return rows_of_text(
        [
            Cell.of(line(cell), cell.get("rowspan"), cell.get("colspan"))
            for cell in row
            if cell.tag in ("td", "th")
        ]
        for row in table.iter("tr")
    )


def cals_table(tgroup: etree._Element, line: Callable[[etree._Element], str]) -> str:
    """The rows of a CALS table group (Elsevier, patents); `line` writes a cell's text."""
    columns = {spec.get("colname"): at for at, spec in enumerate(tgroup.iterfind("colspec"))}

    def cell(entry: etree._Element) -> Cell:
        first, last = columns.get(entry.get("namest")), columns.get(entry.get("nameend"))
        width = last - first + 1 if first is not None and last is not None else 1
        more = entry.get("morerows", "0")
        height = int(more) + 1 if more.isascii() and more.isdigit() else 1
        return Cell(line(entry), min(height, _MAX_SPAN), min(max(width, 1), _MAX_SPAN))

    return rows_of_text(
        [cell(entry) for entry in row.iterfind("entry")] for row in tgroup.iter("row")
    )
