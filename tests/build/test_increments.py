"""Builds over builds: what is taken over, what is done again, what is rewritten."""

import shutil
from pathlib import Path

import pytest

from reciper_ray.build.pipeline import Summary, build
from reciper_ray.config import parse
from reciper_ray.manifest import Role, shard_of
from reciper_ray.snapshot import Snapshot

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("ray_cluster")]

SHARDS = 8
CONFIG = parse({"build": {"shards": SHARDS, "block_papers": 1, "actors": 1}})


@pytest.fixture(scope="module")
def papers(sample: Path) -> list[Path]:
    """The sample's papers, the smallest first."""
    return sorted((sample / "papers").iterdir(), key=lambda path: (path.stat().st_size, path))


@pytest.fixture(scope="module")
def first(papers: list[Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Summary]:
    """A corpus of four papers and a copy of one, and its build."""
    folder = tmp_path_factory.mktemp("first")
    corpus = folder / "corpus"
    (corpus / "copies").mkdir(parents=True)
    for path in papers[:4]:
        shutil.copy(path, corpus)
    shutil.copy(papers[0], corpus / "copies" / f"copy-of-{papers[0].name}")
    return corpus, build(str(corpus), str(folder / "store"), CONFIG, print)


def fresh(corpus: Path, tmp_path: Path) -> str:
    """The id of a snapshot of the corpus in a store of its own."""
    return build(str(corpus), str(tmp_path / "fresh"), CONFIG, print).snapshot_id


def shards_of(uri: str, snapshot_id: str) -> dict[int | None, set[str]]:
    files = Snapshot.open(uri, snapshot_id).manifest.files
    return {n: {file.path for file in files if file.shard == n} for n in range(SHARDS)}


def test_building_the_same_corpus_again_does_and_changes_nothing(
    first: tuple[Path, Summary],
) -> None:
    corpus, before = first
    assert (before.extracted, before.copies, before.reused) == (5, 1, 0)
    assert before.embedded >= sum(before.passages.values())
    again = build(str(corpus), before.uri, CONFIG, print)
    assert again.snapshot_id == before.snapshot_id
    assert (again.extracted, again.embedded, again.rewritten) == (0, 0, 0)
    assert again.reused == 5


def test_what_is_added_changed_or_removed_costs_itself_and_the_shards_it_falls_in(
    first: tuple[Path, Summary], papers: list[Path], tmp_path: Path
) -> None:
    store, corpus = tmp_path / "store", tmp_path / "corpus"
    shutil.copytree(first[1].uri, store)
    shutil.copytree(first[0], corpus)
    shutil.copy(papers[4], corpus)
    added, removed, changed = papers[4].stem, papers[2].stem, papers[1].stem
    (corpus / papers[2].name).unlink()
    text = (corpus / papers[1].name).read_text("utf-8")
    (corpus / papers[1].name).write_text(text.replace(" the ", " this very ", 3), "utf-8")

    after = build(str(corpus), str(store), CONFIG, print)

    assert (after.extracted, after.reused, after.papers) == (2, 3, 4)
    snapshot = Snapshot.open(store)
    own = sum(len(snapshot.paper(paper).passages) for paper in (added, changed))
    assert after.embedded == own
    touched = {shard_of(paper, SHARDS) for paper in (added, removed, changed)}
    old, new = shards_of(str(store), first[1].snapshot_id), shards_of(str(store), snapshot.id)
    assert {n for n in range(SHARDS) if old[n] != new[n]} == touched
    assert after.rewritten == len(touched) < SHARDS
    assert snapshot.manifest.parent == first[1].snapshot_id
    # As if there had been no build before it.
    assert snapshot.id == fresh(corpus, tmp_path)
    snapshot.verify()


def test_a_copy_whose_original_is_gone_is_worked_on_then(
    first: tuple[Path, Summary], papers: list[Path], tmp_path: Path
) -> None:
    store, corpus = tmp_path / "store", tmp_path / "corpus"
    shutil.copytree(first[1].uri, store)
    shutil.copytree(first[0], corpus)
    (copy,) = Snapshot.open(store).copies()
    (corpus / copy.kept_source).unlink()
    after = build(str(corpus), str(store), CONFIG, print)
    assert (after.copies, after.papers, after.extracted) == (0, 4, 1)
    assert Snapshot.open(store).paper(copy.paper_id).paper.source == copy.source


def test_a_damaged_shard_is_made_again_from_the_corpus(
    first: tuple[Path, Summary], tmp_path: Path
) -> None:
    store = tmp_path / "store"
    shutil.copytree(first[1].uri, store)
    manifest = Snapshot.open(store).manifest
    file = max(
        (f for f in manifest.files if f.role is Role.PASSAGES), key=lambda f: (f.rows, f.path)
    )
    (store / file.path).write_bytes(b"PAR1 not at all")
    lines: list[str] = []
    after = build(str(first[0]), str(store), CONFIG, lines.append)
    assert any(f"shard {file.shard} of snapshot {manifest.snapshot_id}" in line for line in lines)
    assert after.snapshot_id == manifest.snapshot_id
    assert 0 < after.extracted < 5
    Snapshot.open(store).verify()


def test_other_settings_do_all_of_the_work_again(
    first: tuple[Path, Summary], tmp_path: Path
) -> None:
    store = tmp_path / "store"
    shutil.copytree(first[1].uri, store)
    config = parse({**CONFIG.model_dump(), "chunk": {"max_chars": 500}})
    after = build(str(first[0]), str(store), config, print)
    assert (after.reused, after.extracted) == (0, 5)
    assert after.snapshot_id != first[1].snapshot_id
