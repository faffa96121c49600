"""What a replica of IndexShard loads and answers, on a small published store."""

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reciper_ray.config import Config
from reciper_ray.errors import CorruptSnapshot, SnapshotNotLoaded, Unavailable
from reciper_ray.manifest import shard_of
from reciper_ray.protocols import EvidenceQuery, ShardQuery, ShardReply
from reciper_ray.serve.parts import IndexShard
from reciper_ray.types import View
from tests.stores import DIMENSION, write_store

PAPERS = ["a", "b", "c", "d", "e"]
VECTOR = np.eye(DIMENSION, dtype=np.float32)[0]
QUERY = ShardQuery(VECTOR, None, 1.0, 1.0, 3)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("store")
    return folder, write_store(folder, PAPERS, shards=3).snapshot_id


def part(store: tuple[Path, str], shards: tuple[int, ...] = (0, 2)) -> IndexShard:
    folder, snapshot_id = store
    return IndexShard(str(folder), snapshot_id, View.PARAGRAPH, shards, Config())


def test_every_query_gets_a_reply_of_every_shard_of_the_group(store: tuple[Path, str]) -> None:
    rows = asyncio.run(part(store).candidates(store[1], [QUERY, QUERY]))
    assert [sorted(row) for row in rows] == [[0, 2], [0, 2]]
    for row in rows:
        for shard, reply in row.items():
            assert isinstance(reply, ShardReply)
            assert {candidate.shard for candidate in reply.dense} == {shard}


def test_passages_come_back_in_the_order_asked_for(store: tuple[Path, str]) -> None:
    index = part(store, (0, 1, 2))
    (row,) = asyncio.run(index.candidates(store[1], [QUERY]))
    wanted = {
        shard: [c.passage_id for c in reversed(reply.dense)]
        for shard, reply in row.items()
        if isinstance(reply, ShardReply) and reply.dense
    }
    (found,) = asyncio.run(index.passages(store[1], [wanted]))
    assert {s: [p.passage_id for p in passages] for s, passages in found.items()} == wanted


def test_evidence_is_of_the_papers_asked_for_and_the_shards_that_own_them(
    store: tuple[Path, str],
) -> None:
    index = part(store, (0, 1, 2))
    query = EvidenceQuery(VECTOR, {"fired": 1.0}, 8.0, (), {"a": {}, "e": {}}, depth=9)
    (row,) = asyncio.run(index.evidence(store[1], [query]))
    papers = {
        shard: {evidence.passage.paper_id for evidence in found}
        for shard, found in row.items()
        if not isinstance(found, Exception)
    }
    assert papers == {
        shard: {paper for paper in ("a", "e") if shard_of(paper, 3) == shard} for shard in range(3)
    }


def test_a_shard_that_fails_costs_only_itself(store: tuple[Path, str]) -> None:
    index = part(store)

    class Broken:
        view, shard = View.PARAGRAPH, 2

        def candidates(self, queries: Any) -> Any:
            raise RuntimeError("out of memory")

    index._loaded[store[1]][2] = Broken()  # type: ignore[assignment]
    (row,) = asyncio.run(index.candidates(store[1], [QUERY]))
    assert isinstance(row[0], ShardReply)
    assert isinstance(row[2], Unavailable)
    assert str(row[2]) == "paragraph shard 2: RuntimeError: out of memory"


def test_another_snapshot_is_refused_by_name(store: tuple[Path, str]) -> None:
    with pytest.raises(SnapshotNotLoaded, match=f"snapshot other is not loaded here; {store[1]}"):
        asyncio.run(part(store).candidates("other", [QUERY]))


def test_a_damaged_file_is_refused_by_name(tmp_path: Path) -> None:
    snapshot_id = write_store(tmp_path, PAPERS, shards=3).snapshot_id
    (index,) = tmp_path.glob("data/paragraph-index-2-*")
    data = bytearray(index.read_bytes())
    data[-1] ^= 1
    index.write_bytes(data)
    part((tmp_path, snapshot_id), (0, 1))
    with pytest.raises(CorruptSnapshot, match=index.name):
        part((tmp_path, snapshot_id), (1, 2))
