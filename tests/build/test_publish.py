import dataclasses
from pathlib import Path

import pytest

from reciper_ray.adapters.storage import Store
from reciper_ray.build.publish import publish
from reciper_ray.errors import PublishConflict
from reciper_ray.snapshot import Snapshot, current_id, manifest_path
from tests import stores


def test_publishing_over_a_snapshot_that_is_no_longer_current_is_refused(tmp_path: Path) -> None:
    first = stores.write_store(tmp_path, ["a"])
    second = stores.write_store(tmp_path, ["a", "b"])
    late = dataclasses.replace(first, parent=first.snapshot_id, tokenizer="late")
    store = Store.open(tmp_path)
    message = rf"began from snapshot {first.snapshot_id}, and snapshot {second.snapshot_id} is"
    with pytest.raises(PublishConflict, match=message):
        publish(store, late)
    assert current_id(store) == second.snapshot_id
    assert not store.exists(manifest_path(late.snapshot_id))


def test_publishing_the_current_content_again_changes_nothing(tmp_path: Path) -> None:
    manifest = stores.write_store(tmp_path, ["a"])
    before = (tmp_path / manifest_path(manifest.snapshot_id)).read_bytes()
    again = dataclasses.replace(manifest, parent=manifest.snapshot_id, created="later")
    publish(Store.open(tmp_path), again)
    assert (tmp_path / manifest_path(manifest.snapshot_id)).read_bytes() == before


def test_content_that_was_current_once_can_be_current_again(tmp_path: Path) -> None:
    first = stores.write_store(tmp_path, ["a"])
    stores.write_store(tmp_path, ["b"])
    stores.write_store(tmp_path, ["a"])
    assert Snapshot.open(tmp_path).id == first.snapshot_id


def test_without_a_manifest_nothing_is_published(tmp_path: Path) -> None:
    store = Store.open(tmp_path)
    stores.write_store(tmp_path, ["a"])
    (tmp_path / "CURRENT").unlink()
    assert current_id(store) == ""


def test_two_stores_of_the_same_papers_are_the_same_bytes(tmp_path: Path) -> None:
    for name, ids in (("one", "abcgh"), ("two", "hgcba")):
        stores.write_store(tmp_path / name, list(ids))
    one, two = (
        {f.relative_to(tmp_path / n): f.read_bytes() for f in (tmp_path / n / "data").iterdir()}
        for n in ("one", "two")
    )
    assert one == two
    assert current_id(Store.open(tmp_path / "one")) == current_id(Store.open(tmp_path / "two"))
