"""Stores on a real S3 server: publishing, building and serving, and what its outages do."""

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from reciper_ray import history
from reciper_ray.adapters import storage
from reciper_ray.adapters.storage import Store
from reciper_ray.build.pipeline import build
from reciper_ray.client import Client
from reciper_ray.config import parse
from reciper_ray.errors import PublishConflict, Unavailable
from reciper_ray.leases import Held, Kind, alive
from reciper_ray.snapshot import Snapshot, current_id
from reciper_ray.types import Query
from tests import publishers, s3
from tests.serve.server import Server
from tests.stores import cleaned_by_the_next_build, write_store

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[s3.Server]:
    with s3.server() as running:
        yield running


def test_snapshots_are_published_rolled_back_and_pruned(server: s3.Server) -> None:
    store = Store.open(server.uri("history"))
    first = write_store(store, ["a"]).snapshot_id
    second = write_store(store, ["a", "b"]).snapshot_id
    assert current_id(store) == second
    with pytest.raises(PublishConflict):
        write_store(store, ["a", "c"], parent=first)
    assert history.rollback(store) == first == current_id(store)
    with Held(store, Kind.SERVE, [second]) as lease, Held(store, Kind.BUILD) as other:
        assert {x.path for x in alive(store, other)} == {lease.path}
    assert history.prune(store, keep=0).snapshots == (second,)
    Snapshot.open(store).verify()
    files = {file.path for file in Snapshot.open(store).manifest.files}
    assert {path for path, _ in store.files("data")} == files
    assert store.files("work") == store.files("leases") == []


def test_an_outage_that_passes_is_waited_for(server: s3.Server) -> None:
    store = Store.open(server.uri("outage"))
    first = write_store(store, ["a"]).snapshot_id
    server.reachable = False

    def back() -> None:
        time.sleep(2)
        server.reachable = True

    thread = threading.Thread(target=back)
    thread.start()
    assert write_store(store, ["a", "b"]).parent == first
    thread.join()
    Snapshot.open(store).verify()


def test_a_slow_server_is_waited_for(server: s3.Server) -> None:
    server.delay_s = 0.02
    try:
        write_store(Store.open(server.uri("slow")), ["a"])
    finally:
        server.delay_s = 0.0
    Snapshot.open(Store.open(server.uri("slow"))).verify()


def test_of_increments_that_publish_at_once_none_loses_a_paper(server: s3.Server) -> None:
    publishers.race(server.uri("race"), processes=2, papers=3)


DIES = """
import sys
from tests import faults
from tests.stores import write_store
write_store(faults.store(sys.argv[1], faults.dies_at(int(sys.argv[2]))), ["a", "b", "c"])
"""


# The first part, a file of data, the lease, the manifest, CURRENT.
@pytest.mark.parametrize("fatal", [0, 8, 17, 18, 19])
def test_a_death_before_a_write_leaves_the_old_snapshot_and_the_next_build_cleans_up(
    server: s3.Server, fatal: int
) -> None:
    uri = server.uri(f"death-{fatal}")
    store = Store.open(uri)
    old = write_store(store, ["a", "b"]).snapshot_id
    died = subprocess.run([sys.executable, "-c", DIES, uri, str(fatal)], check=False)
    assert died.returncode == 9
    assert current_id(store) == old
    Snapshot.open(store).verify()
    cleaned_by_the_next_build(store)


def test_a_server_that_stays_away_is_named_and_nothing_is_half_published(
    server: s3.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "_PAUSES", (0.1,))
    store = Store.open(server.uri("away"))
    published = [write_store(store, ["a"]).snapshot_id]

    def on_and_on() -> None:
        for number in range(1000):
            published.append(write_store(store, ["a", f"b{number}"]).snapshot_id)

    threading.Timer(0.15, lambda: setattr(server, "reachable", False)).start()
    with pytest.raises(Unavailable, match=r"cannot \w+( \w+)? s3://papers/away/\S+: .*tried for"):
        on_and_on()
    server.reachable = True
    # The last move of CURRENT may have arrived, though nobody could say so any more.
    current = Snapshot.open(store)
    assert published[-1] in (current.id, current.manifest.parent)
    Snapshot.open(store).verify()


def test_a_store_on_it_is_built_over_an_outage_and_served(
    ray_cluster: None, server: s3.Server, sample: Path, tmp_path: Path
) -> None:
    corpus, uri = tmp_path / "corpus", server.uri("built")
    corpus.mkdir()
    papers = sorted((sample / "papers").iterdir(), key=lambda path: (path.stat().st_size, path))
    for path in papers[:3]:
        shutil.copy(path, corpus)
    config = parse({"build": {"shards": 2, "block_papers": 1, "actors": 1}})

    def progress(line: str) -> None:
        print(line)
        if "papers," in line or "shards written" in line:
            server.reachable = False
            threading.Timer(2.0, lambda: setattr(server, "reachable", True)).start()

    summary = build(str(corpus), uri, config, progress)
    assert summary.papers == 3
    Snapshot.open(uri).verify()
    assert Store.open(uri).files("work") == []
    with Server(uri, tmp_path) as running:
        assert running.stdout.startswith("ready: "), running.stderr
        with Client(running.address) as client:
            result = client.search(Query("At what temperature was it sintered?", k=3))
    assert result.snapshot_id == summary.snapshot_id
    assert len(result.hits) == 3
