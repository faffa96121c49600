"""The corpus that grows is searched as a corpus, and what is altered differs."""

import numpy as np
import pytest

from jobs.growth import altered, grown_shard, grown_statistics, measure, rewritten, turned
from reciper_ray.lexical import Statistics
from reciper_ray.snapshot import Snapshot
from reciper_ray.types import View
from tests import support
from tests.golden import STORE, VECTORS


@pytest.mark.parametrize(
    ("term", "other"),
    [
        ("Co0.8", "Co0.83"),
        ("=O2Ti", "=O2Ti3"),
        ("lini0.5mn1.5o4", "lini0.5mn1.5o43"),
        ("@873K", "@873K"),
        ("anneal", "anneal"),
        ("600", "600"),
    ],
)
def test_terms_that_hold_an_amount_are_altered(term: str, other: str) -> None:
    assert altered(term, 0) == term
    assert altered(term, 3) == other


def test_a_round_has_other_papers_with_other_formulas() -> None:
    table = support.table([support.passage("a:1", "TiO2 was fired at 600 °C")])
    other = rewritten(table, 7)
    assert other["paper_id"].to_pylist() == ["7~a"]
    assert other["passage_id"].to_pylist() == ["7~a:1"]
    assert other["text"].to_pylist() == ["TiO27 was fired at 600 °C"]
    assert {"tio27", "fire"} <= set(other["terms"].to_pylist()[0])
    assert other["counts"].equals(table["counts"])
    assert rewritten(table, 0) is table


def test_turned_vectors_are_near_the_old_ones_and_of_unit_length() -> None:
    old = support.unit(np.random.default_rng(0).normal(size=(50, 384)).astype(np.float32))
    new = turned(old, 2)
    assert np.linalg.norm(new, axis=1) == pytest.approx(np.ones(50), abs=1e-6)
    similar = (old * new).sum(axis=1)
    assert 0.85 < similar.min() < similar.max() < 0.99


def test_statistics_grow_with_the_rounds() -> None:
    grown = grown_statistics(Statistics(10, 4, 5.0, {"air": 2, "Co0.8": 1}, {"air": 1}), 3)
    assert (grown.passages, grown.papers, grown.mean_length) == (30, 12, 5.0)
    assert grown.frequencies == {"air": 6, "Co0.8": 1, "Co0.81": 1, "Co0.82": 1}
    assert grown.paper_frequencies == {"air": 3}


def test_a_grown_corpus_is_measured_stage_by_stage() -> None:
    snapshot = Snapshot.open(STORE)
    before = sum(info.passages for info in snapshot.manifest.views.values())
    vectors = dict(zip(["How was it fired?", "In air?"], np.load(VECTORS), strict=False))
    count, taken = measure(snapshot, 2, list(vectors), vectors)
    assert count == 2 * before
    assert {"candidates", "evidence", "total", "scan"} <= set(taken)
    assert taken["total"] > taken["candidates"] > 0.0


def test_the_vectors_beside_a_grown_shard_are_those_it_searches() -> None:
    snapshot = Snapshot.open(STORE)
    shard, alone = grown_shard(snapshot, View.PARAGRAPH, 0, 2)
    assert alone.ntotal == 2 * snapshot.passages(View.PARAGRAPH, 0).num_rows
    assert shard.dimension == alone.d
