"""A publisher whose disk is full, or that is killed, at each of its writes."""

import os
import shutil
from pathlib import Path

import pytest

from reciper_ray import history
from reciper_ray.adapters.storage import Store
from reciper_ray.errors import Unavailable
from reciper_ray.leases import Held, Kind
from reciper_ray.snapshot import Snapshot, current_id
from tests import faults
from tests.stores import cleaned_by_the_next_build, write_store


@pytest.fixture
def old(tmp_path: Path) -> tuple[Path, str]:
    """A store with a snapshot, and its id."""
    folder = tmp_path / "old"
    return folder, write_store(folder, ["a", "b"]).snapshot_id


def writes(folder: Path, copy: Path) -> int:
    """How many writes it takes to publish the next snapshot."""
    shutil.copytree(folder, copy)
    counted = faults.store(copy)
    write_store(counted, ["a", "b", "c"])
    return int(counted.filesystem.writes)


def test_a_full_disk_at_any_write_leaves_the_old_snapshot_and_says_why(
    old: tuple[Path, str], tmp_path: Path
) -> None:
    folder, snapshot_id = old
    number = writes(folder, tmp_path / "counted")
    assert number > 12
    for first in range(number):
        copy = tmp_path / f"full-{first}"
        shutil.copytree(folder, copy)
        with pytest.raises(Unavailable, match=r"cannot write .*: No space left on device"):
            write_store(faults.store(copy, faults.full_from(first)), ["a", "b", "c"])
        assert current_id(Store.open(copy)) == snapshot_id
        Snapshot.open(copy).verify()
        cleaned_by_the_next_build(Store.open(copy))


def test_a_death_before_any_write_leaves_the_old_snapshot_and_the_next_build_cleans_up(
    old: tuple[Path, str], tmp_path: Path
) -> None:
    folder, snapshot_id = old
    for fatal in range(writes(folder, tmp_path / "counted")):
        copy = tmp_path / f"dead-{fatal}"
        shutil.copytree(folder, copy)
        child = os.fork()
        if not child:
            write_store(faults.store(copy, faults.dies_at(fatal)), ["a", "b", "c"])
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 9
        assert current_id(Store.open(copy)) == snapshot_id
        Snapshot.open(copy).verify()
        cleaned_by_the_next_build(Store.open(copy))


def test_a_write_that_is_cut_off_on_a_local_disk_leaves_a_file_that_is_cleaned_up(
    old: tuple[Path, str],
) -> None:
    folder, _ = old
    for place in ("data/.x.parquet", "snapshots/0123456789abcdef/.manifest.json", ".CURRENT"):
        path = folder / f"{place}.0a1b2c3d.tmp"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"cut o")
    (folder / "notes.tmp").write_text("somebody's own")
    with Held(Store.open(folder), Kind.BUILD) as build:
        assert history.sweep(Store.open(folder), build, []).files >= 3
    assert sorted(p.name for p in folder.rglob("*.tmp")) == ["notes.tmp"]
