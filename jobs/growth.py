"""How long a query takes as a corpus grows: the papers of a snapshot over and over, altered.

    python jobs/growth.py --snapshot URI --qa FILE [--passages 10000 30000 …] [--questions N]

Each further round of the corpus has other paper ids, other amounts in its formulas (in texts and
terms) and slightly turned vectors. It is held in memory in as many shards as the snapshot has and
searched by `hybrid` on one core. Encoding is not counted. Prints a line a size: the median
milliseconds of a whole query, of its stages and of FAISS's scan of the same vectors alone.
"""

import argparse
import asyncio
import os
import re
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import faiss
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from reciper_ray import qa
from reciper_ray.adapters.encoder import query_encoder
from reciper_ray.adapters.index import ShardIndex, index_bytes
from reciper_ray.config import Config, SearchConfig
from reciper_ray.lexical import Statistics
from reciper_ray.local import LocalGroup, LocalReranker
from reciper_ray.protocols import Parts, Vector
from reciper_ray.search import search
from reciper_ray.snapshot import Snapshot
from reciper_ray.types import Query, View

TURN = 0.02  # a vector's change in each of its components: about 0.4 in all for 384 of them
_AMOUNT = r"\b((?:[A-Z][a-z]?\d*(?:\.\d+)?)*[A-Z][a-z]?\d+(?:\.\d+)?)\b"
_TERM = re.compile(r"(?=.*[a-zA-Z])(?=.*\d)[^@].*")


class Known:
    """Questions that were encoded beforehand."""

    def __init__(self, vectors: dict[str, Vector]) -> None:
        self._vectors = vectors

    async def embed(self, text: str) -> Vector:
        return self._vectors[text]


def altered(term: str, round_: int) -> str:
    """A term that holds an amount, with another one; other terms stay."""
    return f"{term}{round_}" if round_ and _TERM.fullmatch(term) else term


def turned(vectors: NDArray[np.float32], round_: int) -> NDArray[np.float32]:
    """Unit vectors near the given ones, of the same shape (n, d)."""
    if not round_:
        return vectors
    noise = np.random.default_rng(round_).normal(0.0, TURN, vectors.shape)
    moved = vectors + noise.astype(np.float32)
    unit: NDArray[np.float32] = moved / np.linalg.norm(moved, axis=1, keepdims=True)
    return unit


def rewritten(passages: pa.Table, round_: int) -> pa.Table:
    """The same passages as those of other papers."""
    if not round_:
        return passages
    table = passages
    for name in ("paper_id", "passage_id"):
        ids = pc.binary_join_element_wise(str(round_), table[name], "~")
        table = table.set_column(table.schema.get_field_index(name), name, ids)
    for name in ("text", "support"):
        text = pc.replace_substring_regex(table[name], _AMOUNT, rf"\1{round_}")
        table = table.set_column(table.schema.get_field_index(name), name, text)
    terms = table["terms"].combine_chunks()
    words = pc.dictionary_encode(terms.flatten())
    other = pa.array([altered(term, round_) for term in words.dictionary.to_pylist()])
    lists = pa.ListArray.from_arrays(terms.offsets, other.take(words.indices))
    return table.set_column(table.schema.get_field_index("terms"), "terms", lists)


def grown_statistics(known: Statistics, rounds: int) -> Statistics:
    """The statistics of so many rounds of a corpus."""

    def grown(frequencies: Mapping[str, int]) -> dict[str, int]:
        found: dict[str, int] = {}
        for term, n in frequencies.items():
            for round_ in range(rounds):
                name = altered(term, round_)
                found[name] = found.get(name, 0) + n
        return found

    return Statistics(
        known.passages * rounds,
        known.papers * rounds,
        known.mean_length,
        grown(known.frequencies),
        grown(known.paper_frequencies),
    )


def grown_shard(
    snapshot: Snapshot, view: View, shard: int, rounds: int
) -> tuple[ShardIndex, faiss.Index]:
    """So many rounds of a shard, and its vectors alone."""
    passages = snapshot.passages(view, shard)
    index = faiss.deserialize_index(np.frombuffer(snapshot.index(view, shard), np.uint8))
    vectors = index.reconstruct_n(0, index.ntotal)
    data = index_bytes(np.concatenate([turned(vectors, n) for n in range(rounds)]))
    table = pa.concat_tables([rewritten(passages, n) for n in range(rounds)])
    alone = faiss.deserialize_index(np.frombuffer(data, np.uint8))
    return ShardIndex(view, shard, data, table), alone


def scan_ms(indexes: Sequence[faiss.Index], vectors: Sequence[Vector], depth: int) -> float:
    """The median milliseconds that FAISS takes for one query over all shards."""
    taken = []
    for vector in vectors:
        start = time.perf_counter()
        for index in indexes:
            index.search(vector[None], depth)
        taken.append((time.perf_counter() - start) * 1000)
    return statistics.median(taken)


def measure(
    snapshot: Snapshot, rounds: int, questions: Sequence[str], vectors: dict[str, Vector]
) -> tuple[int, dict[str, float]]:
    """How many passages there are, and the median milliseconds of each stage."""
    every = range(snapshot.manifest.shards)
    config = SearchConfig()
    # FAISS keeps the number of its threads per thread.
    with ThreadPoolExecutor(1, initializer=faiss.omp_set_num_threads, initargs=(1,)) as executor:
        grown = {view: {n: grown_shard(snapshot, view, n, rounds) for n in every} for view in View}
        parts = Parts(
            snapshot_id=snapshot.id,
            statistics={v: grown_statistics(snapshot.statistics(v), rounds) for v in View},
            embedder=Known(vectors),
            groups=[
                LocalGroup(snapshot.id, {n: s for n, (s, _) in of_view.items()}, v, executor)
                for v, of_view in grown.items()
            ],
            reranker=LocalReranker(executor),
            config=config,
        )
        stages: dict[str, list[float]] = {}
        for text in questions:
            result = asyncio.run(search(Query(text), parts))
            for stage, taken in result.stage_ms.items():
                stages.setdefault(stage, []).append(taken)
    found = {stage: statistics.median(taken) for stage, taken in stages.items()}
    indexes = [index for of_view in grown.values() for _, index in of_view.values()]
    found["scan"] = scan_ms(indexes, [vectors[q] for q in questions], config.candidates)
    return sum(s.passages for s in parts.statistics.values()), found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--snapshot", required=True, metavar="URI")
    parser.add_argument("--qa", required=True, metavar="FILE")
    parser.add_argument(
        "--passages", type=int, nargs="+", default=[10_000, 30_000, 100_000, 300_000]
    )
    parser.add_argument("--questions", type=int, default=100)
    options = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    faiss.omp_set_num_threads(1)
    snapshot = Snapshot.open(options.snapshot)
    encoder = query_encoder(Config().encoder)
    snapshot.require_encoder(encoder.fingerprint)
    questions = [q.text for q in qa.load(options.qa) if q.answerable][: options.questions]
    vectors = dict(zip(questions, encoder.encode_queries(questions), strict=True))
    base = sum(info.passages for info in snapshot.manifest.views.values())
    shown = Table(
        title=f"{len(questions)} questions, hybrid, one core, median ms", title_justify="left"
    )
    names = ("total", "candidates", "merge", "evidence", "scan")
    for column in ("passages", *names, "passages ×", "total ×"):
        shown.add_column(column, justify="right")
    first: tuple[int, float] | None = None
    for wanted in options.passages:
        print(f"{wanted} passages …", file=sys.stderr)
        count, taken = measure(snapshot, max(1, round(wanted / base)), questions, vectors)
        first = first or (count, taken["total"])
        shown.add_row(
            f"{count:,}",
            *(f"{taken[name]:.1f}" for name in names),
            f"{count / first[0]:.1f}",
            f"{taken['total'] / first[1]:.1f}",
        )
    Console(width=120).print(shown)


if __name__ == "__main__":
    main()
