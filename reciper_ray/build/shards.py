"""The last stage: from the papers of one shard to its immutable files.

Papers go through one group at a time; what grows with the shard is its compressed tables and its
vectors, and, where papers are kept, the shard of the snapshot before, as it is when served.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from reciper_ray.adapters import tables
from reciper_ray.adapters.storage import Store
from reciper_ray.build.work import PART, read_part
from reciper_ray.manifest import File, Role, ViewInfo
from reciper_ray.snapshot import Snapshot
from reciper_ray.types import View

_PAPERS_A_GROUP = 32
_PASSAGES_A_GROUP = 1024
_READERS = 16

Passages = Mapping[View, tuple[pa.Table, NDArray[np.float32]]]


@dataclass(frozen=True, slots=True)
class Shard:
    """A written shard: its files and, per view, its size and LEXICON table."""

    files: tuple[File, ...]
    recipes: int
    sizes: Mapping[View, ViewInfo]
    lexicons: Mapping[View, pa.Table]


class _Counts:
    """What a manifest says of the passages of one view, added up paper by paper."""

    def __init__(self) -> None:
        self.size = ViewInfo()
        self._passages: Counter[str] = Counter()
        self._papers: Counter[str] = Counter()

    def add(self, passages: pa.Table) -> None:
        """Counts the passages of one paper; columns `terms` and `length` of PASSAGES."""
        if not passages.num_rows:
            return
        self.size += ViewInfo(passages.num_rows, 1, pc.sum(passages["length"]).as_py())
        terms = passages["terms"].to_pylist()
        self._passages.update(term for of_one in terms for term in of_one)
        self._papers.update({term for of_one in terms for term in of_one})

    def lexicon(self) -> pa.Table:
        rows = [
            {"term": term, "passages": n, "papers": self._papers[term]}
            for term, n in sorted(self._passages.items())
        ]
        return pa.Table.from_pylist(rows, tables.LEXICON)


class _Table:
    """A Parquet file in groups of `rows_a_group` rows, however they come."""

    def __init__(self, schema: pa.Schema, rows_a_group: int) -> None:
        self.rows = 0
        self._size = rows_a_group
        self._sink = pa.BufferOutputStream()
        self._writer = pq.ParquetWriter(self._sink, schema, compression="zstd")
        self._waiting = schema.empty_table()

    def add(self, table: pa.Table) -> None:
        self.rows += table.num_rows
        self._waiting = pa.concat_tables([self._waiting, table])
        while self._waiting.num_rows >= self._size:
            self._writer.write_table(self._waiting.slice(0, self._size))
            self._waiting = self._waiting.slice(self._size)

    def finish(self) -> pa.Buffer:
        """The file's bytes."""
        if self._waiting.num_rows:
            self._writer.write_table(self._waiting)
        self._writer.close()
        return self._sink.getvalue()


class _Kept:
    """The shard of the snapshot before, of which some papers stay."""

    def __init__(self, parent: Snapshot, shard: int) -> None:
        from reciper_ray.adapters.index import vectors_of

        self.papers = parent.papers(shard)
        self._views = {
            view: (parent.passages(view, shard), vectors_of(parent.index(view, shard)))
            for view in View
        }
        self._rows = {view: _ranges(table) for view, (table, _) in self._views.items()}

    def passages(self, paper_id: str) -> Passages:
        found = {}
        for view, (table, vectors) in self._views.items():
            start, length = self._rows[view].get(paper_id, (0, 0))
            found[view] = (table.slice(start, length), vectors[start : start + length])
        return found


def write_shard(
    store: Store,
    shard: int,
    parts: Mapping[str, Sequence[int]],
    dimension: int,
    parent: Snapshot | None = None,
) -> Shard:
    """Write the shard that consists of the given rows of the given parts, by paper id.

    One of `parts` may be the papers of this shard of `parent`: if they are all there is, its
    files are the shard's.
    """
    before = parent and parent.manifest.file(Role.PAPERS, shard=shard)
    keeps = before and parts.get(before.path)
    if parent and before and keeps and len(keeps) == before.rows and len(parts) == 1:
        return _unchanged(parent, shard)
    kept = _Kept(parent, shard) if parent and keeps else None
    papers = _Table(tables.PAPERS, _PAPERS_A_GROUP)
    passages = {view: _Table(tables.PASSAGES, _PASSAGES_A_GROUP) for view in View}
    vectors: dict[View, list[NDArray[np.float32]]] = {
        view: [np.zeros((0, dimension), np.float32)] for view in View
    }
    counts = {view: _Counts() for view in View}
    recipes = 0
    for paper, of_paper in _papers(store, parts, before.path if before else "", kept):
        papers.add(paper)
        recipes += pc.sum(pc.list_value_length(paper["recipes"])).as_py()
        for view, (table, rows) in of_paper.items():
            passages[view].add(table)
            vectors[view].append(rows)
            counts[view].add(table)
    files = [_write_table(store, papers, Role.PAPERS, None, shard)]
    for view in View:
        files += [
            _write_table(store, passages[view], Role.PASSAGES, view, shard),
            _write_index(store, np.concatenate(vectors.pop(view)), view, shard),
        ]
    return Shard(
        tuple(files),
        recipes,
        {view: counts[view].size for view in View},
        {view: counts[view].lexicon() for view in View},
    )


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


def _unchanged(parent: Snapshot, shard: int) -> Shard:
    """The shard as it is in `parent`."""
    files = tuple(file for file in parent.manifest.files if file.shard == shard)
    counts = {view: _Counts() for view in View}
    for view in View:
        table = parent.passages(view, shard).select(["paper_id", "terms", "length"])
        for start, length in _ranges(table).values():
            counts[view].add(table.slice(start, length))
    recipes = pc.sum(pc.list_value_length(parent.papers(shard)["recipes"])).as_py()
    return Shard(
        files,
        recipes,
        {view: counts[view].size for view in View},
        {view: counts[view].lexicon() for view in View},
    )


def _papers(
    store: Store, parts: Mapping[str, Sequence[int]], before: str, kept: _Kept | None
) -> Iterator[tuple[pa.Table, Passages]]:
    """Each paper, a row of PAPERS, with its passages and vectors, by paper id."""

    def ids(part: str) -> list[str]:
        found: list[str] = read_part(store, part, parts[part], ["paper_id"])["paper_id"].to_pylist()
        return found

    with ThreadPoolExecutor(_READERS) as pool:
        places = sorted(
            (paper_id, part, row)
            for part, found in zip(sorted(parts), pool.map(ids, sorted(parts)), strict=True)
            for paper_id, row in zip(found, parts[part], strict=True)
        )

        def load(place: tuple[str, str, int]) -> tuple[pa.Table, Passages]:
            paper_id, part, row = place
            if kept and part == before:
                return kept.papers.slice(row, 1), kept.passages(paper_id)
            table = read_part(store, part, [row], PART.names)
            return table.select(tables.PAPERS.names), _indexed(table.to_pylist()[0])

        rest = iter(places)
        while group := list(islice(rest, _PAPERS_A_GROUP)):
            yield from pool.map(load, group)


def _indexed(row: Mapping[str, Any]) -> Passages:
    """The passages of a row of PART, as PASSAGES, and their vectors, of each view."""
    steps = [step.span for recipe in tables.recipes_of(row) for step in recipe.steps]
    vectors = np.frombuffer(row["vectors"], "<f4").reshape(-1, row["dimension"])
    found = {}
    for view in View:
        at = [n for n, passage in enumerate(row["passages"]) if passage["view"] == view]
        rows = [tables.indexed_row(tables.passage_of(row["passages"][n]), steps) for n in at]
        found[view] = (pa.Table.from_pylist(rows, tables.PASSAGES), vectors[at])
    return found


def _ranges(table: pa.Table) -> dict[str, tuple[int, int]]:
    """Paper id → first row and number of rows, in a table in order of papers."""
    ranges: dict[str, tuple[int, int]] = {}
    for row, paper_id in enumerate(table["paper_id"].to_pylist()):
        start, length = ranges.get(paper_id, (row, 0))
        ranges[paper_id] = (start, length + 1)
    return ranges


def _write_table(store: Store, table: _Table, role: Role, view: View | None, shard: int) -> File:
    return _write(store, table.finish(), "parquet", role, table.rows, view, shard)


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
