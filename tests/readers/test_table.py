"""Tables as rows of text."""

from hypothesis import given
from hypothesis import strategies as st

from reciper_ray.readers.source import Block, compose
from reciper_ray.readers.table import Cell, rows_of_text
from reciper_ray.types import Kind


def test_rows_are_lines_and_cells_are_parted() -> None:
    assert rows_of_text([[Cell("A"), Cell("B")], [Cell("1"), Cell("")]]) == "A | B\n1"


def test_a_cell_over_rows_is_repeated_and_one_over_columns_is_not() -> None:
    rows = [
        [Cell("alloy", rows=2), Cell("HV", columns=2), Cell("note", rows=2)],
        [Cell("low"), Cell("high")],
        [Cell("A"), Cell("1"), Cell("2"), Cell("x")],
    ]
    assert rows_of_text(rows) == "alloy | HV |  | note\nalloy | low | high | note\nA | 1 | 2 | x"


def test_bad_and_hostile_spans_are_bounded() -> None:
    assert Cell.of("a", "x", "-1") == Cell("a")
    assert Cell.of("a", "0", "999999999") == Cell("a", 0, 100)


@given(
    st.lists(
        st.lists(st.builds(Cell, st.text("ab", max_size=2), st.integers(0, 3), st.integers(0, 3))),
        max_size=6,
    )
)
def test_every_text_comes_through(rows: list[list[Cell]]) -> None:
    written = rows_of_text(rows)
    for row in rows:
        for cell in row:
            assert cell.text in written


def test_a_long_table_comes_in_parts_that_each_begin_with_its_header() -> None:
    rows = [f"Alloy {n} | {n * 10} | annealed at {n} degrees" for n in range(40)]
    table = Block("\n".join(["Alloy | HV | state", *rows]), "Table 1", Kind.TABLE)
    paper = compose("p", "p.txt", "plain", "T", [table], table.text)
    parts = [paper.text[p.start : p.end].split("\n") for p in paper.paragraphs]
    assert len(parts) == 3
    assert all(part[0] == "Alloy | HV | state" for part in parts)
    assert [row for part in parts for row in part[1:]] == rows
    assert all(p.heading == "Table 1" and p.end - p.start <= 800 for p in paper.paragraphs)
