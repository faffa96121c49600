from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq

from reciper_ray.adapters import tables
from reciper_ray.types import (
    Kind,
    Original,
    Paper,
    Paragraph,
    Passage,
    Recipe,
    Rejection,
    Span,
    Step,
    View,
)

PAPER = Paper(
    paper_id="p1",
    title="LiCoO₂ at 850 °C",
    text="Powders were mixed. They were fired at 850 °C for 12 h.",
    paragraphs=(Paragraph(0, 55, "Methods", Kind.CAPTION),),
    source="sub/p1.txt#3",
    authors=("A. Müller", "B. Li"),
    year=2017,
    recipes=("fire it",),
)
STEP = Step("fire", Span(20, 55), "850 °C", "12 h", "air", ("powders",), ("5 °C/min",))
RECIPE = Recipe(
    "LiCoO2",
    "solid state",
    ("Li2CO3",),
    (STEP,),
    "x",
    ("dense",),
    (Span(0, 19), Span(20, 55)),
    ("time: not in the text",),
    "timeout",
)
PASSAGE = Passage(
    "p1:0", "p1", View.RECIPE, 0, "T", "H", "text", "support", (Span(0, 3), Span(5, 9)), Kind.TABLE
)


def through_parquet(rows: list[dict[str, object]], schema: pa.Schema) -> pa.Table:
    data = tables.to_parquet(pa.Table.from_pylist(rows, schema), 1)
    return pq.read_table(pa.BufferReader(data))


def test_a_paper_and_its_recipes_survive_the_papers_table() -> None:
    row = tables.paper_row(PAPER, "d1gest") | {"recipes": [tables.recipe_row(RECIPE)]}
    table = through_parquet([row], tables.PAPERS)
    assert table.schema.equals(tables.PAPERS)
    [back] = table.to_pylist()
    assert tables.paper_of(back) == PAPER
    assert tables.recipes_of(back) == (RECIPE,)
    assert back["digest"] == "d1gest"


def test_a_passage_survives_the_passages_table() -> None:
    extra = {"terms": ["a", "b"], "counts": [1, 70_000], "length": 70_001}
    [row] = tables.passage_rows([PASSAGE])
    table = through_parquet([row | extra], tables.PASSAGES)
    [back] = table.to_pylist()
    assert tables.passage_of(back) == PASSAGE
    assert {name: back[name] for name in extra} == extra


def test_a_rejection_survives_the_quarantine_table() -> None:
    rejection = Rejection("a.txt", "read", "empty file", "")
    table = through_parquet([tables.rejection_row(rejection)], tables.QUARANTINE)
    assert tables.rejections_of(table) == [rejection]


def test_the_same_rows_make_the_same_bytes() -> None:
    rows = [tables.paper_row(PAPER, str(number)) for number in range(5)]
    first, second = (
        tables.to_parquet(pa.Table.from_pylist(rows, tables.PAPERS), 2) for _ in range(2)
    )
    assert first.equals(second)


def test_rows_of_a_snapshot_without_pages_and_originals_are_read() -> None:
    later = {"originals", "page", "last_page"}
    row = {k: v for k, v in tables.paper_row(PAPER, "").items() if k not in later}
    row["paragraphs"] = [{k: v for k, v in p.items() if k != "turns"} for p in row["paragraphs"]]
    assert tables.paper_of(row) == PAPER
    (stored,) = tables.passage_rows([PASSAGE])
    assert tables.passage_of({k: v for k, v in stored.items() if k not in later}) == PASSAGE


def test_pages_and_originals_come_through_a_file() -> None:
    originals = (Original(0, 3, "$x$"),)
    paragraph = Paragraph(0, 55, page=2, turns=(7, 7))
    paper = replace(PAPER, originals=originals, paragraphs=(paragraph,))
    passage = replace(PASSAGE, originals=originals, page=2, last_page=4)
    papers = pa.Table.from_pylist([tables.paper_row(paper, "")], tables.PAPERS)
    rows = pa.Table.from_pylist([tables.indexed_row(passage, ())], tables.PASSAGES)
    assert tables.paper_of(papers.to_pylist()[0]) == paper
    assert tables.passage_of(rows.to_pylist()[0]) == passage
