import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from reciper_ray import leases
from reciper_ray.adapters.storage import Store
from reciper_ray.errors import Unavailable
from reciper_ray.leases import Held, Kind, alive, exclusive, wait_for


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path)


def test_a_lease_is_seen_by_others_until_it_is_released(store: Store) -> None:
    with Held(store, Kind.BUILD, ["b", "a"]) as mine, Held(store, Kind.SERVE) as other:
        (seen,) = alive(store, other)
        assert (seen.kind, seen.snapshots) == (Kind.BUILD, ("a", "b"))
        assert str(os.getpid()) in str(seen)
        mine.name(["c"])
        assert alive(store, other)[0].snapshots == ("c",)
    assert store.files("leases") == []


def test_a_lease_that_nobody_renews_runs_out(store: Store, tmp_path: Path) -> None:
    with Held(store, Kind.BUILD) as old, Held(store, Kind.PUBLISH) as mine:
        past = time.time() - leases.TTL_S - 1
        os.utime(tmp_path / old.path, (past, past))
        assert alive(store, mine) == []
        assert alive(store) == [lease for lease in alive(store) if lease.kind is Kind.PUBLISH]


def test_it_is_renewed_while_it_is_held(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "_RENEW_S", 0.01)
    with Held(store, Kind.BUILD) as held:
        path, past = tmp_path / held.path, time.time() - 1000
        os.utime(path, (past, past))
        end = time.monotonic() + 10
        while path.stat().st_mtime < past + 500 and time.monotonic() < end:
            time.sleep(0.01)
        assert path.stat().st_mtime > past + 500
        held.require()


def test_a_lease_that_could_not_be_renewed_is_not_relied_upon(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Held(store, Kind.PUBLISH) as held:
        monkeypatch.setattr(leases, "TTL_S", -1.0)
        with pytest.raises(Unavailable, match="could not be renewed"):
            held.require()


def test_the_lease_of_a_killed_process_of_this_machine_is_over_at_once(store: Store) -> None:
    code = (
        "import os, sys; from reciper_ray.adapters.storage import Store; "
        "from reciper_ray.leases import Held, Kind; "
        "Held(Store.open(sys.argv[1]), Kind.BUILD); print('held', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, store.root], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdin is not None
    with process.stdout, process.stdin:
        process.stdout.readline()
        assert [lease.kind for lease in alive(store)] == [Kind.BUILD]
        process.kill()
        process.wait()
    assert alive(store) == []
    assert len(store.files("leases")) == 1


def test_what_is_no_lease_is_passed_over(store: Store) -> None:
    store.write("leases/build-0.json", b"{")
    store.write("leases/build-1.json", b'{"kind": "build"}')
    assert alive(store) == []


def test_those_who_exclude_each_other_are_never_at_work_together(store: Store) -> None:
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for _ in range(3):
            with exclusive(store, Kind.PUBLISH, {Kind.PUBLISH}, wait_s=60):
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.01)
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 12


def test_who_waits_too_long_is_told_for_whom(store: Store) -> None:
    with Held(store, Kind.BUILD), Held(store, Kind.SERVE) as mine:
        with (
            pytest.raises(Unavailable, match=rf"in use: build by process {os.getpid()} on"),
            exclusive(store, Kind.PRUNE, {Kind.BUILD}, wait_s=0),
        ):
            pass
        with pytest.raises(Unavailable, match="in use: build by"):
            wait_for(store, mine, Kind.BUILD, wait_s=0)
    with exclusive(store, Kind.PRUNE, {Kind.BUILD}, wait_s=0):
        pass
