"""A graph of two routers and two replicas of a shard group that follows its store under load."""

import asyncio
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jobs import swap
from reciper_ray.adapters.storage import Store
from reciper_ray.client import Client
from reciper_ray.history import history, rollback
from reciper_ray.leases import alive
from reciper_ray.snapshot import Snapshot, current_id
from reciper_ray.types import Query, View
from tests.serve.server import Server

pytestmark = pytest.mark.slow

CLIENTS = 8
SECONDS = 3.0
PATIENCE_S = 60.0


@pytest.fixture(scope="module")
def store(snapshot: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("swap") / "store"
    shutil.copytree(snapshot, folder)
    return Store.open(folder)


@pytest.fixture(scope="module")
def server(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(store.root, tmp_path_factory.mktemp("server"), {"serve": swap.CONFIG}) as running:
        assert running.stdout.startswith("ready: "), running.stderr
        yield running


def test_a_swap_and_a_rollback_fail_no_request_and_mix_no_reply(
    server: Server, store: Store
) -> None:
    def kill() -> None:
        swap.kill_a_replica(server.process.pid, "paragraph-shards-0")

    found = asyncio.run(swap.swap_and_back(server.address, store, CLIENTS, SECONDS, kill))
    assert (found["failed"], found["mixed"]) == (0, 0), found
    assert all(number > 0 for number in found["of_each"].values())
    assert {entry.snapshot_id for entry in history(store) if entry.held_by} >= {current_id(store)}


def test_a_damaged_snapshot_is_refused_by_name_while_the_old_one_serves(
    server: Server, store: Store
) -> None:
    old = current_id(store)
    [bad] = [entry.snapshot_id for entry in history(store) if not entry.current]
    manifest = Snapshot.open(store, bad).manifest
    kept = {file.path for file in Snapshot.open(store, old).manifest.files}
    path = next(f.path for f in manifest.files if f.view is View.RECIPE and f.path not in kept)
    whole = store.read(path)
    store.write(path, whole[:-1] + bytes([whole[-1] ^ 1]))
    # A replica that still had the snapshot would not read the file again.
    _until(lambda: not any(bad in lease.snapshots for lease in alive(store)), "it is released")
    rollback(store, bad)
    _until(lambda: f"snapshot {bad} is refused, {old} serves on" in server.stderr, server.stderr)
    assert f"{path} has sha256" in server.stderr
    with Client(server.address) as client:
        assert client.search(Query(swap.QUESTIONS[0], k=1)).snapshot_id == old
    store.write(path, whole)
    rollback(store, old)


def _until(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.2)
