"""The comparison of methods: what it fuses, what it times, and when a difference is one."""

import asyncio

import numpy as np
import pytest

from jobs import evaluate as job
from reciper_ray.qa import Question
from reciper_ray.types import Hit, Method, Query, SearchResult
from tests import support


class Fixed:
    """Always the same hits, in the time given."""

    method = Method.BM25

    def __init__(self, ids: str, total: float) -> None:
        self._result = SearchResult(
            tuple(
                Hit(support.passage(f"p:{i}", i), 1.0 / n, n) for n, i in enumerate(ids, start=1)
            ),
            "s",
            {"embed": 1.0, "total": total},
            (),
        )

    async def __call__(self, query: Query) -> SearchResult:
        return self._result


def test_rrf_adds_up_reciprocal_ranks_and_what_the_searches_took() -> None:
    fused = job.Rrf([Fixed("ab", 3.0), Fixed("bc", 4.0)])  # type: ignore[list-item]
    result = asyncio.run(fused(Query("?", k=2)))
    assert [(h.passage.text, h.rank) for h in result.hits] == [("b", 1), ("a", 2)]
    assert [h.score for h in result.hits] == pytest.approx([1 / 62 + 1 / 61, 1 / 61])
    assert result.stage_ms == {"embed": 2.0, "total": 7.0}


def test_a_querys_time_leaves_out_its_encoding() -> None:
    questions = [Question(str(n), "?") for n in range(3)]
    assert asyncio.run(job.median_ms(Fixed("a", 5.0), questions)) == 4.0  # type: ignore[arg-type]


@pytest.fixture
def draws() -> np.ndarray:
    return np.random.default_rng(0).normal(0.9, 0.05, 200)


def test_a_difference_on_every_question_is_significant_and_none_is_not(draws: np.ndarray) -> None:
    assert job.p_value(draws, draws) == 1.0
    assert job.p_value(draws, draws - 0.1) < 0.001


def test_noise_alone_is_not_significant(draws: np.ndarray) -> None:
    other = draws + np.random.default_rng(1).choice([-0.1, 0.1], 200)
    assert job.p_value(draws, other) > 0.05
