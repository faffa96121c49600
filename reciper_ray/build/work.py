"""Finished work of a running build: part files below `work/`, which a killed build resumes from.

A part holds whole papers with their passages and vectors, and is named after what it holds, so
writing it twice is harmless. Which papers share a part is chance; nothing but the part's name
depends on it. Recipes that a language model wrote have parts of their own, written at once.
"""

import contextlib
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import reciper_ray
from reciper_ray.adapters import tables
from reciper_ray.adapters.storage import Store
from reciper_ray.config import Config
from reciper_ray.errors import NotFound, ReciperError

FOLDER = "work"
# One row a paper; `vectors` are the float32 bytes, shape (passages, dimension), of `passages`.
PART = pa.schema(
    [
        *tables.PAPERS,
        ("passages", tables.PASSAGE_LIST),
        ("vectors", pa.binary()),
        ("dimension", pa.int32()),
    ]
)
RECIPES = pa.schema([tables.PAPERS.field("digest"), tables.PAPERS.field("recipes")])
# Digest of a paper → the file and the row in it that hold its work.
Places = Mapping[str, tuple[str, int]]
_READERS = 16
# Packages and modules that no byte of a snapshot depends on.
_ELSEWHERE = ("serve", "cli", "_generated", "client.py", "leases.py")


def work_key(config: Config, encoder: str, extractor: str) -> str:
    """The same for all builds whose settings and code lead from a paper to the same bytes."""
    decides = (
        code_version(),
        encoder,
        extractor,
        config.encoder.model_dump(include={"dtype", "device", "batch_size", "threads"}),
        config.chunk.model_dump(),
        PART.to_string(),
        tables.PASSAGES.to_string(),
    )
    return hashlib.sha256(json.dumps(decides).encode()).hexdigest()[:16]


@cache
def code_version() -> str:
    """A hash of this package's code, as far as a build runs it."""
    root = Path(reciper_ray.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(p.relative_to(root) for kind in ("*.py", "*.tsv") for p in root.rglob(kind)):
        if path.parts[0] not in _ELSEWHERE:
            digest.update(path.as_posix().encode() + b"\0" + (root / path).read_bytes())
    return digest.hexdigest()[:16]


def work_folder(key: str) -> str:
    """Where the work on papers under that `work_key` goes."""
    return f"{FOLDER}/{key}"


def recipes_folder(extractor: str) -> str:
    """Where recipes go that the extractor of that name wrote."""
    return f"{FOLDER}/recipes-{hashlib.sha256(extractor.encode()).hexdigest()[:16]}"


def write_part(
    store: Store, folder: str, rows: Sequence[Mapping[str, Any]], schema: pa.Schema = PART
) -> str:
    """Write `rows`, as `schema`, and return the new file's path."""
    name = hashlib.sha256("".join(row["digest"] for row in rows).encode()).hexdigest()[:16]
    path = f"{folder}/{name}.parquet"
    # A group a paper, so that a shard reads its own papers only.
    store.write(path, tables.to_parquet(pa.Table.from_pylist(rows, schema=schema), 1))
    return path


def read_part(store: Store, path: str, rows: Iterable[int], columns: Sequence[str]) -> pa.Table:
    """Some rows, in the given order, and columns of a part or of a snapshot's table."""
    wanted = list(rows)

    def read(source: pa.NativeFile) -> pa.Table:
        file = pq.ParquetFile(source)
        groups = range(file.num_row_groups)
        ends = np.cumsum([file.metadata.row_group(group).num_rows for group in groups])
        group_of = np.searchsorted(ends, wanted, side="right")
        needed = sorted(set(group_of.tolist()))
        table = file.read_row_groups(needed, columns=list(columns))
        skipped = np.cumsum([0] + [file.metadata.row_group(g).num_rows for g in needed])
        starts = ends - [file.metadata.row_group(group).num_rows for group in groups]
        at = [
            int(skipped[needed.index(group)] + row - starts[group])
            for row, group in zip(wanted, group_of.tolist(), strict=True)
        ]
        return table if at == list(range(table.num_rows)) else table.take(pa.array(at, pa.int64()))

    return store.load(path, read)


@dataclass(frozen=True, slots=True)
class Written:
    """Recipes that are stored already, at `places`, and where to put new ones."""

    store: Store
    folder: str
    places: Places

    def load(self, digests: Iterable[str]) -> dict[str, list[Any]]:
        """Digest → rows of recipes, of those that are there and can be read."""
        wanted: dict[str, list[int]] = defaultdict(list)
        for digest in digests:
            if digest in self.places:
                path, row = self.places[digest]
                wanted[path].append(row)
        found: dict[str, list[Any]] = {}
        for path, rows in sorted(wanted.items()):
            with contextlib.suppress(NotFound):
                table = read_part(self.store, path, rows, RECIPES.names)
                found |= {row["digest"]: row["recipes"] for row in table.to_pylist()}
        return found

    def add(self, rows: Sequence[Mapping[str, Any]]) -> None:
        write_part(self.store, self.folder, rows, RECIPES)


def finished(store: Store, folder: str) -> dict[str, tuple[str, int]]:
    """Digest of each paper that is already done → (part, row).

    A part that cannot be read is left out, so that its papers are done again.
    """

    def digests(path: str) -> list[str]:
        try:
            return digests_of(store, path)
        except ReciperError:
            return []

    paths = [path for path, _ in store.files(folder) if path.endswith(".parquet")]
    with ThreadPoolExecutor(_READERS) as pool:
        return {
            digest: (path, row)
            for path, found in zip(paths, pool.map(digests, paths), strict=True)
            for row, digest in enumerate(found)
        }


def digests_of(store: Store, path: str) -> list[str]:
    """The papers of a part, or of a snapshot's table of papers, in the order of rows."""
    found: list[str] = store.load(
        path, lambda source: pq.read_table(source, columns=["digest"])["digest"].to_pylist()
    )
    return found
