"""A committed snapshot of four papers, questions with their vectors, and how the paper's method
ranks them. Needs no model: the vectors are stored, so the ranking is the same on any machine."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reciper_ray.local import LocalGroup, LocalReranker, load_shards
from reciper_ray.protocols import Parts
from reciper_ray.search import search
from reciper_ray.snapshot import Snapshot
from reciper_ray.types import Method, Query, View

FOLDER = Path(__file__).resolve().parent
STORE = FOLDER / "store"
VECTORS = FOLDER / "vectors.npy"
RANKINGS = FOLDER / "rankings.json"
PAPERS = (
    "PMC7058583.xml",
    "PMC6073263.txt",
    "doi_10_3390__met9030351.md",
    "steel_04.txt",
)


class StoredVectors:
    """`protocols.Embedder` for questions whose vectors are stored."""

    def __init__(self, questions: Sequence[str]) -> None:
        self._vectors = dict(zip(questions, np.load(VECTORS), strict=True))

    async def embed(self, text: str) -> NDArray[np.float32]:
        return self._vectors[text]


async def rank(questions: Sequence[str]) -> list[dict[str, Any]]:
    """The ten best hits of each question, by the paper's method."""
    snapshot = Snapshot.open(STORE)
    with ThreadPoolExecutor(1) as executor:
        parts = Parts(
            snapshot_id=snapshot.id,
            statistics={view: snapshot.statistics(view) for view in View},
            embedder=StoredVectors(questions),
            groups=[
                LocalGroup(
                    snapshot.id, load_shards(snapshot, view, range(2), "cpu"), view, executor
                )
                for view in View
            ],
            reranker=LocalReranker(executor),
        )
        results = [await search(Query(q, Method.RECIPER, 10), parts) for q in questions]
    return [
        {
            "question": question,
            "hits": [[hit.passage.passage_id, round(hit.score, 6)] for hit in result.hits],
        }
        for question, result in zip(questions, results, strict=True)
    ]
