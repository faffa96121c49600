"""Finished work of a running build: part files below `work/`, which a killed build resumes from.

A part holds whole papers with their passages and vectors, and is named after what it holds, so
writing it twice is harmless. Which papers share a part is chance; nothing but the part's name
depends on it.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from reciper_ray import __version__
from reciper_ray.adapters import tables
from reciper_ray.adapters.storage import Store
from reciper_ray.config import Config
from reciper_ray.errors import ReciperError

# One row a paper; `vectors` are the float32 bytes, shape (passages, dimension), of `passages`.
PART = pa.schema(
    [
        *tables.PAPERS,
        ("passages", tables.PASSAGE_LIST),
        ("vectors", pa.binary()),
        ("dimension", pa.int32()),
    ]
)
_READERS = 16


def work_folder(config: Config, encoder: str, extractor: str) -> str:
    """Where work goes that may be shared by all builds whose settings lead to the same bytes."""
    decides = (
        __version__,
        encoder,
        extractor,
        config.encoder.model_dump(include={"dtype", "device", "batch_size", "threads"}),
        config.chunk.model_dump(),
        PART.to_string(),
    )
    return f"work/{hashlib.sha256(json.dumps(decides).encode()).hexdigest()[:16]}"


def write_part(store: Store, folder: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Write `rows`, as PART, and return the new file's path."""
    name = hashlib.sha256("".join(row["digest"] for row in rows).encode()).hexdigest()[:16]
    path = f"{folder}/{name}.parquet"
    # A group a paper, so that a shard reads its own papers only.
    store.write(path, tables.to_parquet(pa.Table.from_pylist(rows, schema=PART), 1))
    return path


def read_part(store: Store, path: str, rows: Iterable[int], columns: Sequence[str]) -> pa.Table:
    """Some rows and columns of a part."""
    with store.open_input(path) as source:
        return pq.ParquetFile(source).read_row_groups(list(rows), columns=list(columns))


def finished(store: Store, folder: str) -> dict[str, tuple[str, int]]:
    """Digest of each paper that is already done → (part, row).

    A part that cannot be read is left out, so that its papers are done again.
    """

    def digests(path: str) -> list[str]:
        try:
            with store.open_input(path) as source:
                found: list[str] = pq.read_table(source, columns=["digest"])["digest"].to_pylist()
                return found
        except (ReciperError, OSError, pa.ArrowException):
            return []

    paths = [path for path, _ in store.files(folder) if path.endswith(".parquet")]
    with ThreadPoolExecutor(_READERS) as pool:
        return {
            digest: (path, row)
            for path, found in zip(paths, pool.map(digests, paths), strict=True)
            for row, digest in enumerate(found)
        }
