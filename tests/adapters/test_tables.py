import pyarrow as pa
import pyarrow.parquet as pq

from reciper_ray.adapters import tables
from reciper_ray.types import (
    Kind,
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
