from pathlib import Path

import faiss
import numpy as np
import pytest

from reciper_ray.adapters import tables
from reciper_ray.adapters.index import ShardIndex
from reciper_ray.copies import Copy
from reciper_ray.errors import CorruptSnapshot, NotFound
from reciper_ray.manifest import Role, shard_of
from reciper_ray.snapshot import Snapshot
from reciper_ray.types import View
from tests import stores

# Two of them fall in shard 0 of 2, three in shard 1.
IDS = ("a", "b", "c", "g", "h")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    stores.write_store(tmp_path, IDS)
    return tmp_path


def test_a_paper_is_found_with_its_recipes_and_passages(store: Path) -> None:
    found = Snapshot.open(store).paper("c")
    paper = stores.paper("c")
    assert found.paper == paper
    assert found.recipes == stores.recipes(paper)
    assert list(found.passages) == stores.passages(paper)


def test_asking_for_a_copy_finds_the_paper_kept(tmp_path: Path) -> None:
    copy = Copy("b2", "b2.pdf", "b", "b.xml", "same DOI 10.1000/x")
    stores.write_store(tmp_path, IDS, copies=[copy])
    snapshot = Snapshot.open(tmp_path)
    assert snapshot.copies() == [copy]
    assert snapshot.manifest.copies == 1
    assert snapshot.kept_ids() == {"b2": "b"}
    assert snapshot.paper("b2") == snapshot.paper("b")


def test_an_unknown_paper_is_named(store: Path) -> None:
    with pytest.raises(NotFound, match=r"snapshot [0-9a-f]{16} holds no paper 'z'"):
        Snapshot.open(store).paper("z")


@pytest.mark.parametrize("view", View)
def test_row_i_of_the_passages_belongs_to_vector_i_of_the_index(store: Path, view: View) -> None:
    snapshot = Snapshot.open(store)
    for shard in range(2):
        table = snapshot.passages(view, shard)
        papers = sorted(p for p in IDS if shard_of(p, 2) == shard)
        both = [stores.passages(stores.paper(p)) for p in papers]
        rows = [[n for n, p in enumerate(b) if p.view is view] for b in both]
        expected = [b[n] for b, chosen in zip(both, rows, strict=True) for n in chosen]
        assert list(map(tables.passage_of, table.to_pylist())) == expected
        vectors = [stores.vectors(stores.paper(p))[r] for p, r in zip(papers, rows, strict=True)]
        index = faiss.deserialize_index(np.frombuffer(snapshot.index(view, shard), np.uint8))
        np.testing.assert_array_equal(index.reconstruct_n(0, len(expected)), np.vstack(vectors))


def test_statistics_are_of_the_whole_corpus(store: Path) -> None:
    statistics = Snapshot.open(store).statistics(View.RECIPE)
    assert statistics.passages == len(IDS)
    assert statistics.frequencies["850"] == len(IDS)
    assert statistics.frequencies["c"] >= 1
    tables_ = [Snapshot.open(store).passages(View.RECIPE, shard) for shard in range(2)]
    tokens = sum(sum(table["length"].to_pylist()) for table in tables_)
    assert statistics.mean_length == tokens / len(IDS)


def test_the_quarantine_is_kept(store: Path) -> None:
    snapshot = Snapshot.open(store)
    assert snapshot.quarantine() == list(stores.REJECTIONS)
    assert snapshot.manifest.quarantined == {"empty file": 2}


def test_shards_without_papers_are_whole(tmp_path: Path) -> None:
    stores.write_store(tmp_path, ["a"], shards=7)
    snapshot = Snapshot.open(tmp_path)
    empty = (shard_of("a", 7) + 1) % 7
    for view in View:
        table = snapshot.passages(view, empty)
        assert table.schema.equals(tables.PASSAGES)
        index = ShardIndex(view, empty, snapshot.index(view, empty), table)
        assert index.dimension == stores.DIMENSION
    with pytest.raises(NotFound):
        snapshot.paper(next(p for p in map(str, range(99)) if shard_of(p, 7) == empty))


def test_an_empty_store_holds_no_snapshot(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=rf"{tmp_path} holds no snapshot"):
        Snapshot.open(tmp_path)


def test_an_unknown_snapshot_is_named(store: Path) -> None:
    with pytest.raises(NotFound, match="holds no snapshot 0123456789abcdef"):
        Snapshot.open(store, "0123456789abcdef")


def test_an_older_snapshot_stays_readable(store: Path) -> None:
    old = Snapshot.open(store).id
    stores.write_store(store, [*IDS, "f"])
    assert Snapshot.open(store).manifest.parent == old
    assert Snapshot.open(store, old).manifest.papers == len(IDS)


def test_another_encoder_is_refused_naming_both(store: Path) -> None:
    snapshot = Snapshot.open(store)
    snapshot.require_encoder("test:0")
    with pytest.raises(CorruptSnapshot, match="encoder test:0; encoder minilm:1 cannot search it"):
        snapshot.require_encoder("minilm:1")


@pytest.mark.parametrize("role", Role)
def test_a_flipped_byte_is_refused_by_name(store: Path, role: Role) -> None:
    snapshot = Snapshot.open(store)
    file = next(f for f in snapshot.manifest.files if f.role is role and f.size)
    path = store / file.path
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(CorruptSnapshot, match=rf"{path.name} has sha256 .* says {file.sha256}"):
        snapshot.verify()
    with pytest.raises(CorruptSnapshot, match=path.name):
        load_all(snapshot)


def test_a_shortened_file_is_refused_with_both_sizes(store: Path) -> None:
    snapshot = Snapshot.open(store)
    file = snapshot.manifest.file(Role.INDEX, View.PARAGRAPH, 0)
    (store / file.path).write_bytes((store / file.path).read_bytes()[:-1])
    with pytest.raises(CorruptSnapshot, match=rf"has {file.size - 1} bytes; .* says {file.size}"):
        snapshot.index(View.PARAGRAPH, 0)


def test_a_missing_file_is_refused_by_name(store: Path) -> None:
    snapshot = Snapshot.open(store)
    file = snapshot.manifest.file(Role.PASSAGES, View.PARAGRAPH, 1)
    (store / file.path).unlink()
    with pytest.raises(CorruptSnapshot, match=rf"{file.path} is missing"):
        snapshot.passages(View.PARAGRAPH, 1)


def test_a_current_file_without_a_snapshot_id_is_refused(store: Path) -> None:
    (store / "CURRENT").write_text("../../etc\n")
    with pytest.raises(CorruptSnapshot, match=r"CURRENT holds '\.\./\.\./etc'"):
        Snapshot.open(store)


def load_all(snapshot: Snapshot) -> None:
    for view in View:
        snapshot.statistics(view)
        for shard in range(snapshot.manifest.shards):
            snapshot.index(view, shard)
            snapshot.passages(view, shard)
    snapshot.quarantine()
    snapshot.copies()
    for paper_id in IDS:
        snapshot.paper(paper_id)
