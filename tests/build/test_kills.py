"""Builds in processes of their own that are killed, at three points of their work."""

import random
import shutil
from pathlib import Path

import pytest

from jobs import chaos

pytestmark = pytest.mark.slow

CONFIG = {"build": {"shards": 2, "block_papers": 1, "actors": 1}}
PAPERS = 4


@pytest.fixture(scope="module")
def corpus(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    papers = sorted((sample / "papers").iterdir(), key=lambda path: (path.stat().st_size, path))
    for path in papers[:PAPERS]:
        shutil.copy(path, folder)
    return folder


@pytest.fixture(scope="module")
def ids() -> set[str]:
    """The snapshots that came of it: one, in the end."""
    return set()


# A part a paper, then three files and three a shard: a lease, four parts, ten of shards and more.
@pytest.mark.parametrize(("seed", "low", "high"), [(1, 2, 3), (2, 4, 5), (3, 7, 15)])
def test_a_killed_build_goes_on_and_ends_with_the_same_snapshot(
    seed: int, low: int, high: int, corpus: Path, ids: set[str], tmp_path: Path
) -> None:
    dice = random.Random(seed)
    files, moment = dice.randint(low, high), dice.random() * 0.3
    found = chaos.killed_round(corpus, tmp_path / "round", CONFIG, files, moment)
    assert found["papers_taken_over"] >= found["papers_committed"]
    assert found["papers_done_again"] + found["papers_taken_over"] == PAPERS
    # At the kill the lease and this many papers, at least, had been written.
    assert found["papers_taken_over"] >= min(files - 1, PAPERS)
    assert found["left"] == []
    ids.add(found["snapshot_id"])
    assert len(ids) == 1
