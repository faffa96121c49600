"""The arithmetic of ranking, with the sums in sight."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reciper_ray import ranking
from reciper_ray.ranking import Candidate, Ranked
from reciper_ray.types import View
from tests import support


def candidate(
    name: str, paper: str = "p", view: View = View.PARAGRAPH, **scores: float
) -> Candidate:
    return Candidate(name, paper, view, 0, **scores)


def test_inner_products_are_merged_as_similarities_so_the_greatest_wins() -> None:
    lists = [[candidate("a", dense=0.9), candidate("b", dense=0.1)], [candidate("c", dense=0.5)]]
    merged = ranking.merge(lists, lambda c: c.dense, 2)
    assert [c.passage_id for c in merged] == ["a", "c"]


def test_ties_are_broken_by_passage_id() -> None:
    lists = [[candidate("b", dense=0.5)], [candidate("a", dense=0.5)], [candidate("c", dense=0.6)]]
    merged = ranking.merge(lists, lambda c: c.dense, 3)
    assert [c.passage_id for c in merged] == ["c", "a", "b"]


scored = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), max_size=30)


@given(scored, st.integers(1, 7), st.integers(1, 10))
def test_any_number_of_shards_merges_to_the_ranking_of_one(
    scores: list[float], shards: int, depth: int
) -> None:
    everything = [candidate(f"{i:02}", dense=s) for i, s in enumerate(scores)]
    whole = ranking.merge([everything], lambda c: c.dense, depth)
    parts = [
        ranking.merge([everything[n::shards]], lambda c: c.dense, depth) for n in range(shards)
    ]
    assert ranking.merge(parts, lambda c: c.dense, depth) == whole


def test_dedup_keeps_the_best_candidate_of_each_paper_and_view() -> None:
    ranked = [
        Ranked(candidate("a1", "a"), 0.3, {}),
        Ranked(candidate("a2", "a"), 0.7, {}),
        Ranked(candidate("a3", "a", View.RECIPE), 0.5, {}),
        Ranked(candidate("b1", "b"), 0.6, {}),
    ]
    assert [r.candidate.passage_id for r in ranking.dedup(ranked)] == ["a2", "b1", "a3"]


@pytest.mark.parametrize(
    ("distance", "expected"),
    [
        ("l2", 1 / (1 + math.sqrt(2 - 2 * 0.5))),
        ("squared_l2", 1 / (1 + (2 - 2 * 0.5))),
        ("cosine", 1 / (1 + (1 - 0.5))),
    ],
)
def test_the_base_score_is_one_over_one_plus_distance(distance: str, expected: float) -> None:
    assert ranking.base_score(0.5, distance) == pytest.approx(expected)


def test_an_inner_product_just_above_one_is_at_distance_zero() -> None:
    assert ranking.base_score(1.0000001, "l2") == 1.0


def test_an_unknown_distance_is_named() -> None:
    with pytest.raises(ValueError, match="'manhattan'"):
        ranking.base_score(0.5, "manhattan")


def test_the_papers_tokens_cut_a_formula_at_its_points() -> None:
    assert ranking.words("LiNi0.5Mn1.5O4") == {"lini0", "5mn1", "5o4"}


def test_coverage_is_the_share_of_the_questions_words_in_title_and_text() -> None:
    passage = support.passage("p:1", "It was CALCINED in air", title="At once")
    assert ranking.word_coverage("calcined at 900", passage) == 2 / 3
    assert ranking.held(ranking.words("calcined at 900"), passage) == {"calcined", "at"}


def test_coverage_of_a_question_without_words_is_zero() -> None:
    assert ranking.word_coverage("?!", support.passage("p:1", "anything")) == 0.0


def test_a_papers_parts_are_shares_of_the_best_and_add_up_to_what_the_best_paper_gets() -> None:
    features = {"whole": {"a": 4.0, "b": 2.0}, "passage": {"b": 3.0}}
    parts = ranking.paper_parts(features, {"whole": 0.5, "passage": 2.0}, best=9.0)
    # a: 0.5, b: 0.25 + 2, which is scaled to 9.
    assert parts == {
        "a": {"whole": 0.5 * 4, "passage": 0.0},
        "b": {"whole": 0.25 * 4, "passage": 2.0 * 4},
    }


def test_a_paper_outside_a_dense_list_is_as_far_as_its_last() -> None:
    features = {"whole": {"a": 1.0}, "dense": {"b": 0.8, "c": 0.6}}
    parts = ranking.paper_parts(features, {"whole": 2.0, "dense": 0.5}, best=2.375)
    assert parts["a"] == pytest.approx({"whole": 2.0, "dense": 0.5 * 0.6 / 0.8})
    assert parts["c"] == pytest.approx({"whole": 0.0, "dense": 0.5 * 0.6 / 0.8})


def test_no_candidates_are_no_papers() -> None:
    assert ranking.paper_parts({"whole": {}}, {"whole": 1.0}, best=5.0) == {}


def test_a_paper_has_the_score_of_its_best_candidate() -> None:
    candidates = [candidate("1", "a", dense=0.2), candidate("2", "a", dense=0.4)]
    assert ranking.best_of(candidates, lambda c: c.dense) == {"a": 0.4}
