import json
from pathlib import Path

import pytest

from reciper_ray import history
from reciper_ray.adapters.storage import Store
from reciper_ray.errors import CorruptSnapshot, NotFound, Unavailable
from reciper_ray.leases import Held, Kind
from reciper_ray.snapshot import Snapshot, current_id, manifest_path
from tests.stores import write_store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path)


@pytest.fixture
def ids(tmp_path: Path) -> list[str]:
    """Four snapshots, each made a second after the one before."""
    made = []
    for number, papers in enumerate(("a", "ab", "abc", "abcd")):
        made.append(write_store(tmp_path, list(papers)).snapshot_id)
        path = tmp_path / manifest_path(made[-1])
        manifest = json.loads(path.read_text("utf-8"))
        path.write_text(json.dumps(manifest | {"created": f"2026-01-01T00:00:0{number}"}), "utf-8")
    return made


def test_the_history_has_every_snapshot_the_newest_first(store: Store, ids: list[str]) -> None:
    with Held(store, Kind.SERVE, [ids[1]]):
        entries = history.history(store)
    assert [entry.snapshot_id for entry in entries] == ids[::-1]
    assert [entry.papers for entry in entries] == [4, 3, 2, 1]
    assert [entry.current for entry in entries] == [True, False, False, False]
    assert [bool(entry.held_by) for entry in entries] == [False, False, True, False]
    assert entries[0].parent == ids[2]
    assert history.history(Store.open("nowhere")) == []


def test_a_snapshot_that_cannot_be_read_is_listed_with_the_reason(
    store: Store, ids: list[str]
) -> None:
    store.write(manifest_path(ids[0]), b'{"format_version": 99}')
    *_, broken = history.history(store)
    assert broken.snapshot_id == ids[0]
    assert "format_version 99" in broken.problem


def test_going_back_makes_the_parent_or_any_other_current(store: Store, ids: list[str]) -> None:
    assert history.rollback(store) == ids[2] == current_id(store)
    assert history.rollback(store) == ids[1] == current_id(store)
    assert history.rollback(store, ids[3]) == ids[3] == current_id(store)
    Snapshot.open(store).verify()


def test_going_back_to_what_is_not_whole_is_refused_by_name(store: Store, ids: list[str]) -> None:
    gone = Snapshot.open(store, ids[0]).manifest.files[0]
    store.delete(gone.path)
    with pytest.raises(CorruptSnapshot, match=rf"{gone.path} has no bytes; the manifest of .*"):
        history.rollback(store, ids[0])
    with pytest.raises(NotFound, match="no snapshot 0123456789abcdef"):
        history.rollback(store, "0123456789abcdef")
    assert current_id(store) == ids[3]


def test_the_first_snapshot_has_nothing_before_it(tmp_path: Path) -> None:
    write_store(tmp_path, ["a"])
    with pytest.raises(NotFound, match="has no parent to go back to"):
        history.rollback(Store.open(tmp_path))


def test_pruning_spares_what_is_current_held_or_new_and_leaves_no_orphan(
    store: Store, ids: list[str]
) -> None:
    history.rollback(store, ids[1])
    store.write("data/orphan.parquet", b"x")
    with Held(store, Kind.SERVE, [ids[0]]):
        deleted = history.prune(store, keep=1)
    # Of the two that are neither current nor held, the newest stays.
    assert deleted.snapshots == (ids[2],)
    assert {entry.snapshot_id for entry in history.history(store)} == {ids[0], ids[1], ids[3]}
    for snapshot_id in (ids[0], ids[1], ids[3]):
        Snapshot.open(store, snapshot_id).verify()
    assert history.prune(store, keep=0).snapshots == (ids[3], ids[0])
    files = {file.path for file in Snapshot.open(store).manifest.files}
    assert {p for p, _ in store.files()} == files | {"CURRENT", manifest_path(ids[1])}


def test_nothing_is_pruned_while_a_build_is_under_way(store: Store, ids: list[str]) -> None:
    with Held(store, Kind.BUILD), pytest.raises(Unavailable, match="in use: build by process"):
        history.prune(store, keep=0)
    assert len(history.history(store)) == 4
    with Held(store, Kind.BUILD) as first, Held(store, Kind.BUILD):
        store.write("data/orphan.parquet", b"x")
        assert "in use: build by" in history.sweep(store, first, []).kept
    assert store.exists("data/orphan.parquet")


def test_no_data_is_deleted_while_a_manifest_cannot_be_read(store: Store, ids: list[str]) -> None:
    """It may be of a newer version, and its files are nobody else's."""
    before = store.files("data")
    store.write(manifest_path(ids[0]), b'{"format_version": 99}')
    deleted = history.prune(store, keep=0)
    assert deleted.snapshots == (ids[2], ids[1])
    assert "format_version 99" in deleted.kept
    assert store.files("data") == before
