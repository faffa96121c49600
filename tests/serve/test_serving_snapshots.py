"""What a router and a replica hold while snapshots change, on small published stores."""

import asyncio
import dataclasses
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reciper_ray.adapters.storage import Store
from reciper_ray.build.publish import publish
from reciper_ray.config import Config, parse
from reciper_ray.errors import CorruptSnapshot, NotFound, SnapshotNotLoaded, Unavailable
from reciper_ray.manifest import EncoderInfo, Manifest, Role
from reciper_ray.protocols import ShardQuery
from reciper_ray.serve.loading import Handles
from reciper_ray.serve.parts import IndexShard
from reciper_ray.serve.remote import RemoteGroup
from reciper_ray.serve.serving import Held, Serving
from reciper_ray.snapshot import Snapshot, manifest_path
from reciper_ray.types import View
from tests.serve.fakes import Handle
from tests.stores import DIMENSION, write_store

QUERY = ShardQuery(np.eye(DIMENSION, dtype=np.float32)[0], None, 1.0, 1.0, 3)
REMOTE_EMBEDDER: dict[str, Any] = {"embedder": {"num_replicas": 1}}


@pytest.fixture
def store(tmp_path: Path) -> tuple[Path, str, str]:
    """A store and its two snapshots; of its three shards only one differs."""
    old = write_store(tmp_path, ["a", "b", "c"], 3).snapshot_id
    return tmp_path, old, write_store(tmp_path, ["a", "b", "c", "d"], 3).snapshot_id


def serving(folder: Path, snapshot_id: str, **serve: Any) -> Serving:
    config = parse({"serve": {**REMOTE_EMBEDDER, **serve}})
    handles = Handles(Handle(None))  # type: ignore[arg-type]
    return Serving(str(folder), Held(snapshot_id), config, handles, ThreadPoolExecutor(1))


def shard(folder: Path, snapshot_id: str, config: Config | None = None) -> IndexShard:
    return IndexShard(str(folder), snapshot_id, View.PARAGRAPH, (0, 1, 2), config or Config())


def test_a_request_keeps_its_snapshot_through_a_swap_and_then_it_goes(
    store: tuple[Path, str, str],
) -> None:
    folder, old, new = store
    router = serving(folder, old)
    with router.pinned() as pinned:
        router.load(new)
        assert router.held() == Held(old)
        router.flip(new)
        router.release([new])
        assert router.held() == Held(new, (old,))
        assert pinned.snapshot.id == pinned.parts.snapshot_id == old
        with router.pinned() as later:
            assert later.snapshot.id == new
    assert router.held() == Held(new)
    router.release([new])
    with pytest.raises(SnapshotNotLoaded, match=old):
        router.flip(old)


def test_shards_that_are_the_same_in_both_are_loaded_once(store: tuple[Path, str, str]) -> None:
    folder, old, new = store
    part = shard(folder, old)
    assert asyncio.run(part.load(new)).error is None
    same = [n for n in range(3) if part._loaded[old][n] is part._loaded[new][n]]
    files = [
        [Snapshot.open(folder, id_).manifest.file(Role.INDEX, View.PARAGRAPH, n) for n in range(3)]
        for id_ in (old, new)
    ]
    assert same == [n for n in range(3) if files[0][n] == files[1][n]]
    assert 0 < len(same) < 3


def test_a_replica_without_the_snapshot_says_so_and_loads_it_for_the_next_time(
    store: tuple[Path, str, str],
) -> None:
    folder, old, new = store

    async def run() -> None:
        part = shard(folder, old)
        with pytest.raises(SnapshotNotLoaded, match=rf"{new} is not loaded here; {old} is") as no:
            await part.candidates(new, [QUERY])
        assert no.value.retryable
        await part._orders[new]
        assert await part.candidates(new, [QUERY])
        await part.release([new])
        with pytest.raises(SnapshotNotLoaded):
            await part.candidates(old, [QUERY])

    asyncio.run(run())


def test_another_replica_is_asked_when_one_has_not_the_snapshot(
    store: tuple[Path, str, str],
) -> None:
    folder, old, new = store

    class Replicas:
        """Two, of which one has not been told of the new snapshot; Serve picks in turn."""

        def __init__(self) -> None:
            self.parts = [shard(folder, old), shard(folder, new)]
            self.asked = 0

        async def candidates(self, snapshot_id: str, queries: Any) -> Any:
            self.asked += 1
            return await self.parts[(self.asked - 1) % 2].candidates(snapshot_id, queries)

    replicas = Replicas()
    config = parse({"serve": {"shards": {"num_replicas": 2}}}).serve.shards
    group = RemoteGroup(new, View.PARAGRAPH, (0, 1, 2), Handle(replicas), config)  # type: ignore[arg-type]
    assert set(asyncio.run(asyncio.wait_for(group.candidates(new, QUERY), 30))) == {0, 1, 2}
    assert replicas.asked == 2


def republished(folder: Path, **changes: Any) -> Manifest:
    """The current manifest with changes, published."""
    old = Snapshot.open(folder).manifest
    changed = dataclasses.replace(old, parent=old.snapshot_id, **changes)
    publish(Store.open(folder), changed)
    return changed


def test_a_snapshot_that_does_not_fit_is_refused_by_name_and_the_old_one_serves(
    tmp_path: Path,
) -> None:
    old = write_store(tmp_path, ["a", "b"], 2)
    router = serving(tmp_path, old.snapshot_id)

    def refused(manifest: Manifest, match: str) -> None:
        with pytest.raises(CorruptSnapshot, match=match):
            router.load(manifest.snapshot_id)
        assert router.held() == Held(old.snapshot_id)

    other = EncoderInfo("other", "other:1", DIMENSION)
    refused(republished(tmp_path, encoder=other), "indexed by encoder other:1; encoder test:0")
    fewer = tuple(f for f in old.files if (f.role, f.shard) != (Role.INDEX, 1))
    refused(
        republished(tmp_path, encoder=old.encoder, files=fewer),
        "lists no paragraph index file of shard 1",
    )
    refused(
        republished(tmp_path, files=old.files, shards=3),
        r"has 3 shards; 2 are served",
    )
    damaged = write_store(tmp_path, ["a", "b", "c"], 2)
    new = {file.path for file in damaged.files} - {file.path for file in old.files}
    [path] = [p for p in sorted(new) if p.startswith("data/paragraph-passages")]
    data = bytearray((tmp_path / path).read_bytes())
    data[40] ^= 1
    (tmp_path / path).write_bytes(bytes(data))
    refused(damaged, rf"{path} has sha256")
    newer = json.loads((tmp_path / manifest_path(damaged.snapshot_id)).read_text("utf-8"))
    newer["format_version"] = 99
    (tmp_path / manifest_path(damaged.snapshot_id)).write_text(json.dumps(newer), "utf-8")
    refused(damaged, "has format_version 99; this version of reciper-ray reads up to")
    with pytest.raises(NotFound, match="0123456789abcdef"):
        router.load("0123456789abcdef")


def test_a_snapshot_over_the_memory_budget_is_refused_before_it_is_loaded(
    store: tuple[Path, str, str],
) -> None:
    folder, old, new = store
    # In GiB: room for the old shards, about 100 kB, and not for one more.
    report = None
    for budget in (2**n / 2**30 for n in range(10, 40)):
        try:
            part = shard(folder, old, parse({"serve": {"memory_gib": budget}}))
        except Unavailable:
            continue
        report = asyncio.run(part.load(new))
        break
    assert report is not None
    assert report.error is None or "serve.memory_gib" in str(report.error)
    tight = parse({"serve": {"memory_gib": 1e-6}})
    with pytest.raises(Unavailable, match=r"needs about 0\.00 GiB for paragraph shards 0, 1, 2"):
        shard(folder, old, tight)
