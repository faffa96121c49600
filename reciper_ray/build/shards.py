"""The last stage: from the papers of one shard to its immutable files.

A shard's passages and vectors are held in memory once, as they are when it is served.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reciper_ray.adapters import tables
from reciper_ray.adapters.storage import Store
from reciper_ray.build.work import read_part
from reciper_ray.manifest import File, Role, ViewInfo
from reciper_ray.types import Span, View

_PAPERS_A_GROUP = 32
_PASSAGES_A_GROUP = 1024


@dataclass(frozen=True, slots=True)
class Shard:
    """A written shard: its files and, per view, its size and LEXICON table."""

    files: tuple[File, ...]
    recipes: int
    sizes: Mapping[View, ViewInfo]
    lexicons: Mapping[View, pa.Table]


def write_shard(
    store: Store, shard: int, parts: Mapping[str, Sequence[int]], dimension: int
) -> Shard:
    """Write the shard that consists of the given rows of the given parts, by paper id."""
    papers = _sorted_papers(store, parts, tables.PAPERS.names)
    recipes = sum(pc.list_value_length(papers["recipes"]).to_pylist())
    files = [write_file(store, papers, Role.PAPERS, rows_a_group=_PAPERS_A_GROUP, shard=shard)]
    steps = _steps(papers)
    del papers
    passages, vectors = _passages(store, parts, dimension)
    sizes, lexicons = {}, {}
    for view in View:
        rows = pc.equal(passages["view"], view.value)
        table, lexicons[view] = _indexed(passages.filter(rows), steps)
        sizes[view] = ViewInfo(
            passages=table.num_rows,
            papers=len(table["paper_id"].unique()),
            tokens=pc.sum(table["length"]).as_py() or 0,
        )
        files += [
            write_file(
                store, table, Role.PASSAGES, rows_a_group=_PASSAGES_A_GROUP, view=view, shard=shard
            ),
            _write_index(store, vectors[rows.to_numpy()], view, shard),
        ]
    return Shard(tuple(files), recipes, sizes, lexicons)


def write_file(
    store: Store,
    table: pa.Table,
    role: Role,
    *,
    rows_a_group: int,
    view: View | None = None,
    shard: int | None = None,
) -> File:
    """Write a table as a content-addressed Parquet file."""
    data = tables.to_parquet(table, rows_a_group)
    return _write(store, data, "parquet", role, table.num_rows, view, shard)


def lexicon(parts: Sequence[pa.Table]) -> pa.Table:
    """LEXICON tables of shards → that of their union, by term."""
    together = pa.concat_tables(parts).group_by("term")
    summed = together.aggregate([("passages", "sum"), ("papers", "sum")])
    renamed = summed.rename_columns({"passages_sum": "passages", "papers_sum": "papers"})
    return renamed.select(tables.LEXICON.names).cast(tables.LEXICON).sort_by("term")


def _write_index(store: Store, vectors: NDArray[np.float32], view: View, shard: int) -> File:
    from reciper_ray.adapters.index import index_bytes

    data = index_bytes(vectors)
    return _write(store, data, "faiss", Role.INDEX, len(vectors), view, shard)


def _write(
    store: Store,
    data: bytes | pa.Buffer,
    extension: str,
    role: Role,
    rows: int,
    view: View | None,
    shard: int | None,
) -> File:
    digest = hashlib.sha256(data).hexdigest()
    name = "-".join(str(part) for part in (view, role, shard) if part is not None)
    path = f"data/{name}-{digest[:12]}.{extension}"
    store.write(path, data)
    return File(path, len(memoryview(data)), digest, role, rows, view, shard)


def _sorted_papers(
    store: Store, parts: Mapping[str, Sequence[int]], columns: Sequence[str]
) -> pa.Table:
    """The given columns of PART, of the given rows, by paper id."""
    found = [read_part(store, part, rows, columns) for part, rows in sorted(parts.items())]
    if not found:
        return tables.PAPERS.empty_table()
    together = pa.concat_tables(found)
    order = pc.sort_indices(together["paper_id"]).to_pylist()
    # Slices instead of `sort_by`, which would join each column's text into one array of at most
    # 2 GiB.
    return pa.concat_tables([together.slice(row, 1) for row in order])


def _passages(
    store: Store, parts: Mapping[str, Sequence[int]], dimension: int
) -> tuple[pa.Table, NDArray[np.float32]]:
    """The passages of all papers, and their vectors, shape (passages, dimension)."""
    if not parts:
        empty = pa.schema(list(tables.PASSAGE_LIST.value_type)).empty_table()
        return empty, np.zeros((0, dimension), np.float32)
    papers = _sorted_papers(store, parts, ["paper_id", "passages", "vectors"])
    structs = [chunk.flatten() for chunk in papers["passages"].chunks]
    vectors = np.frombuffer(b"".join(papers["vectors"].to_pylist()), "<f4")
    table = pa.Table.from_batches(list(map(pa.RecordBatch.from_struct_array, structs)))
    return table, vectors.reshape(-1, dimension)


def _indexed(passages: pa.Table, steps: Mapping[str, Sequence[Span]]) -> tuple[pa.Table, pa.Table]:
    """Passages of one view → PASSAGES, and the LEXICON table of these passages. `steps` are where
    the steps of each paper's recipes stand."""
    found = map(tables.passage_of, passages.to_pylist())
    rows = [tables.indexed_row(passage, steps.get(passage.paper_id, ())) for passage in found]
    passages_with = Counter(term for row in rows for term in row["terms"])
    papers_with = Counter(
        term
        for _, of_paper in groupby(rows, key=itemgetter("paper_id"))
        for term in {term for row in of_paper for term in row["terms"]}
    )
    terms = [
        {"term": term, "passages": n, "papers": papers_with[term]}
        for term, n in sorted(passages_with.items())
    ]
    return (
        pa.Table.from_pylist(rows, tables.PASSAGES),
        pa.Table.from_pylist(terms, tables.LEXICON),
    )


def _steps(papers: pa.Table) -> dict[str, list[Span]]:
    """Where the steps of each paper's recipes stand."""
    return {
        row["paper_id"]: [step.span for recipe in tables.recipes_of(row) for step in recipe.steps]
        for row in papers.select(["paper_id", "recipes"]).to_pylist()
    }
