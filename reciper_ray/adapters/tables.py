"""The Parquet tables of a snapshot: their columns, and rows to and from the types they hold.

Bytes are a function of rows: fixed compression, no times. The order of rows is the writer's.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from reciper_ray import evidence, terms
from reciper_ray.copies import Copy
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

Row = Mapping[str, Any]

_SPAN = pa.struct([("start", pa.uint32()), ("end", pa.uint32())])
_ORIGINALS = pa.list_(pa.struct([*_SPAN, ("text", pa.string())]))
_PARAGRAPH = pa.struct(
    [
        *_SPAN,
        ("heading", pa.string()),
        ("kind", pa.string()),
        ("page", pa.int32()),
        ("turns", pa.list_(pa.uint32())),
    ]
)
_STEP = pa.struct(
    [
        ("operation", pa.string()),
        ("span", _SPAN),
        ("temperature", pa.string()),
        ("time", pa.string()),
        ("atmosphere", pa.string()),
        ("materials", pa.list_(pa.string())),
        ("conditions", pa.list_(pa.string())),
    ]
)
_RECIPE = pa.struct(
    [
        ("material", pa.string()),
        ("method", pa.string()),
        ("precursors", pa.list_(pa.string())),
        ("steps", pa.list_(_STEP)),
        ("extractor", pa.string()),
        ("key_points", pa.list_(pa.string())),
        ("read", pa.list_(_SPAN)),
        ("dropped", pa.list_(pa.string())),
        ("fallback", pa.string()),
    ]
)
_PASSAGE = pa.struct(
    [
        ("passage_id", pa.string()),
        ("paper_id", pa.string()),
        ("view", pa.string()),
        ("ordinal", pa.uint32()),
        ("title", pa.string()),
        ("heading", pa.string()),
        ("text", pa.string()),
        ("support", pa.string()),
        ("spans", pa.list_(_SPAN)),
        ("kind", pa.string()),
        ("year", pa.int32()),
        ("originals", _ORIGINALS),
        ("page", pa.int32()),
        ("last_page", pa.int32()),
    ]
)

# One row a paper: the fields of Paper (its own recipe texts as `source_recipes`), the structured
# recipes, and `digest`, which is the same for the same content.
PAPERS = pa.schema(
    [
        ("paper_id", pa.string()),
        ("title", pa.string()),
        ("text", pa.string()),
        ("paragraphs", pa.list_(_PARAGRAPH)),
        ("source", pa.string()),
        ("format", pa.string()),
        ("abstract", pa.string()),
        ("authors", pa.list_(pa.string())),
        ("year", pa.int32()),
        ("doi", pa.string()),
        ("arxiv_id", pa.string()),
        ("journal", pa.string()),
        ("licence", pa.string()),
        ("originals", _ORIGINALS),
        ("source_recipes", pa.list_(pa.string())),
        ("recipes", pa.list_(_RECIPE)),
        ("digest", pa.string()),
    ]
)
PASSAGE_LIST = pa.list_(_PASSAGE)
# One row a passage: the fields of Passage, its lexical terms with their counts, its length in
# tokens, and its traits as evidence (`reciper_ray.evidence.Traits`).
PASSAGES = pa.schema(
    [
        *_PASSAGE,
        ("terms", pa.list_(pa.string())),
        ("counts", pa.list_(pa.uint32())),
        ("length", pa.uint32()),
        ("section", pa.int8()),
        ("quantities", pa.uint32()),
        ("steps", pa.uint32()),
        ("states", pa.list_(pa.string())),
    ]
)
# In how many passages and papers each term stands.
LEXICON = pa.schema([("term", pa.string()), ("passages", pa.uint64()), ("papers", pa.uint64())])
QUARANTINE = pa.schema(
    [
        ("path", pa.string()),
        ("stage", pa.string()),
        ("reason", pa.string()),
        ("head_hash", pa.string()),
    ]
)

# Papers that are not indexed because another one is the same.
COPIES = pa.schema([(name, pa.string()) for name in Copy.__dataclass_fields__])


def to_parquet(table: pa.Table, row_group_size: int) -> pa.Buffer:
    """The bytes of a Parquet file with `table`."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, row_group_size=row_group_size, compression="zstd")
    return sink.getvalue()


def paper_row(paper: Paper, digest: str) -> dict[str, Any]:
    """A row of PAPERS, still without recipes."""
    row = asdict(paper)
    return row | {"source_recipes": row["recipes"], "recipes": [], "digest": digest}


def paper_of(row: Row) -> Paper:
    fields = {name: row[name] for name in Paper.__dataclass_fields__ if name in row}
    return Paper(
        **fields
        | {
            "paragraphs": tuple(
                Paragraph(**p | {"kind": Kind(p["kind"]), "turns": tuple(p.get("turns") or ())})
                for p in row["paragraphs"]
            ),
            "originals": _originals_of(row),
            "authors": tuple(row["authors"]),
            "recipes": tuple(row["source_recipes"]),
        }
    )


def recipes_of(row: Row) -> tuple[Recipe, ...]:
    """The structured recipes of a row of PAPERS."""
    return tuple(
        Recipe(
            **recipe
            | {name: tuple(recipe[name]) for name in ("precursors", "key_points", "dropped")}
            | {
                "steps": tuple(map(_step_of, recipe["steps"])),
                "read": tuple(Span(**span) for span in recipe["read"]),
            }
        )
        for recipe in row["recipes"]
    )


def _step_of(row: Row) -> Step:
    return Step(
        **dict(row)
        | {"span": Span(**row["span"])}
        | {name: tuple(row[name]) for name in ("materials", "conditions")}
    )


def recipe_row(recipe: Recipe) -> dict[str, Any]:
    """A row of the `recipes` column of PAPERS."""
    return asdict(recipe)


def passage_rows(passages: Iterable[Passage]) -> list[dict[str, Any]]:
    """Rows of PASSAGE_LIST."""
    return [asdict(passage) for passage in passages]


def passage_of(row: Row) -> Passage:
    """The passage in a row of PASSAGES or PASSAGE_LIST."""
    # A snapshot of an earlier version lacks the columns that came later.
    fields = {name: row[name] for name in Passage.__dataclass_fields__ if name in row}
    return Passage(
        **fields
        | {
            "view": View(row["view"]),
            "kind": Kind(row["kind"]),
            "spans": tuple(Span(**span) for span in row["spans"]),
            "originals": _originals_of(row),
        }
    )


def _originals_of(row: Row) -> tuple[Original, ...]:
    return tuple(Original(**original) for original in row.get("originals") or ())


def indexed_row(passage: Passage, steps: Sequence[Span]) -> dict[str, Any]:
    """A row of PASSAGES, for a paper whose recipes' steps stand at `steps`."""
    counts = dict(sorted(terms.term_counts(passage).items()))
    found = evidence.traits(passage, steps)
    return asdict(passage) | {
        "terms": list(counts),
        "counts": list(counts.values()),
        "length": terms.length(counts),
        "section": int(found.section),
        "quantities": found.quantities,
        "steps": found.steps,
        "states": sorted(found.states),
    }


def trait_columns(table: pa.Table) -> evidence.TraitColumns:
    """The traits of all rows of a PASSAGES table."""
    held = pc.list_parent_indices(table["states"]).to_numpy()
    kinds = pc.list_flatten(table["states"]).to_numpy(zero_copy_only=False)
    states = {kind: np.zeros(table.num_rows, bool) for kind in sorted(set(kinds))}
    for kind, gives in states.items():
        gives[held[kinds == kind]] = True
    columns = {name: table[name].to_numpy() for name in ("section", "quantities", "steps")}
    return evidence.TraitColumns(**columns, states=states)


def rejection_row(rejection: Rejection) -> dict[str, Any]:
    """A row of QUARANTINE."""
    return asdict(rejection)


def copy_row(copy: Copy) -> dict[str, Any]:
    """A row of COPIES."""
    return asdict(copy)


def copies_of(table: pa.Table) -> list[Copy]:
    """The rows of a COPIES table."""
    return [Copy(**row) for row in table.to_pylist()]


def rejections_of(table: pa.Table) -> list[Rejection]:
    """The rows of a QUARANTINE table."""
    return [Rejection(**row) for row in table.to_pylist()]
