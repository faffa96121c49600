"""One shard: exact candidates whatever the batch, filters, and files that do not fit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reciper_ray.adapters.index import ShardIndex, index_bytes
from reciper_ray.errors import CorruptSnapshot
from reciper_ray.lexical import Weights, question_terms
from reciper_ray.protocols import EvidenceQuery, ShardQuery
from reciper_ray.types import Filters, View
from tests import support

RANDOM = np.random.default_rng(7)
PASSAGES = [
    support.passage(f"p{i // 4}:{i:03}", f"sample {i} fired at {i % 5}00 C", year=2000 + i % 10)
    for i in range(200)
]
VECTORS = support.unit(RANDOM.normal(size=(200, 24)))
# Rows 40..79 are one and the same vector: the tie is wider than any slack.
VECTORS[40:80] = VECTORS[40]
SHARD = support.shard(PASSAGES, VECTORS)


def ask(vector: np.ndarray, depth: int = 10, **more: object) -> ShardQuery:
    return ShardQuery(vector.astype(np.float32), None, 1.0, 1.0, depth, **more)  # type: ignore[arg-type]


def weights(question: str) -> Weights:
    statistics = support.statistics(PASSAGES)
    return statistics.weights(question_terms(question, [statistics]))


def brute_force(vector: np.ndarray, depth: int, rows: range | list[int]) -> list[str]:
    scores = {i: float(VECTORS[i].astype(np.float64) @ vector.astype(np.float64)) for i in rows}
    order = sorted(rows, key=lambda i: (-round(scores[i], 12), PASSAGES[i].passage_id))
    return [PASSAGES[i].passage_id for i in order[:depth]]


@settings(deadline=None)
@given(st.integers(0, 199), st.integers(1, 220))
def test_candidates_are_the_nearest_with_ties_by_id(row: int, depth: int) -> None:
    vector = support.unit(VECTORS[row : row + 1] + 0.01)[0]
    (reply,) = SHARD.candidates([ask(vector, depth)])
    assert [c.passage_id for c in reply.dense] == brute_force(vector, depth, range(200))


def test_a_tie_wider_than_the_over_fetch_is_cut_by_id() -> None:
    (reply,) = SHARD.candidates([ask(VECTORS[40], 3)])
    assert [c.passage_id for c in reply.dense] == ["p10:040", "p10:041", "p10:042"]


def test_a_query_is_answered_alike_alone_and_in_a_batch() -> None:
    asked = weights("fired at 300 C")
    vectors = support.unit(RANDOM.normal(size=(64, 24)))
    queries = [ShardQuery(v, asked, 8.0, 32.0, 10) for v in vectors]
    together = SHARD.candidates(queries)
    assert together == [SHARD.candidates([q])[0] for q in queries]


def test_a_filter_is_exact_and_finds_as_many_as_there_are() -> None:
    allowed = [i for i in range(200) if 2003 <= 2000 + i % 10 <= 2004]
    query = ask(VECTORS[0], 100, filters=Filters(year_from=2003, year_to=2004))
    (reply,) = SHARD.candidates([query])
    assert [c.passage_id for c in reply.dense] == brute_force(VECTORS[0], 100, allowed)
    assert len(reply.dense) == 40


def test_a_filter_on_a_paper_of_another_shard_finds_nothing() -> None:
    query = ask(VECTORS[0], filters=Filters(paper_ids=frozenset({"elsewhere"})))
    assert SHARD.candidates([query])[0].dense == ()


def test_a_paper_without_a_year_passes_no_year_filter() -> None:
    passages = [support.passage("a:1", "x", year=None), support.passage("b:1", "y", year=2020)]
    shard = support.shard(passages, support.unit(np.ones((2, 4), np.float32)))
    query = ask(np.ones(4), 5, filters=Filters(year_from=1900))
    assert [c.paper_id for c in shard.candidates([query])[0].dense] == ["b"]


def test_lexical_candidates_carry_their_dense_score_too() -> None:
    asked = weights("sample 17")
    (reply,) = SHARD.candidates([ShardQuery(VECTORS[0], asked, 8.0, 32.0, 5)])
    best = reply.lexical[0]
    assert best.passage_id == "p4:017"
    assert best.dense == pytest.approx(float(VECTORS[17] @ VECTORS[0]), abs=1e-6)


def test_a_lexical_query_proposes_only_passages_that_hold_a_term() -> None:
    asked = weights("17")
    (reply,) = SHARD.candidates([ShardQuery(None, asked, 8.0, 32.0, 50)])
    assert [c.passage_id for c in reply.lexical] == ["p4:017"]
    assert np.isnan(reply.lexical[0].dense)


def test_lexical_candidates_say_what_each_term_adds_when_asked_to() -> None:
    asked = weights("sample 17")
    (plain,) = SHARD.candidates([ShardQuery(None, asked, 8.0, 32.0, 5)])
    (reply,) = SHARD.candidates([ShardQuery(None, asked, 8.0, 32.0, 5, explain=True)])
    assert plain.lexical[0].terms == {}
    for candidate in reply.lexical:
        assert sum(candidate.terms.values()) == pytest.approx(candidate.lexical)
    assert set(reply.lexical[0].terms) == {"17", "sampl"}


def test_passages_come_back_in_the_order_asked() -> None:
    assert SHARD.passages(["p4:017", "p0:000"]) == [PASSAGES[17], PASSAGES[0]]


def test_an_empty_shard_answers_with_nothing() -> None:
    empty = support.shard([], np.zeros((0, 24), np.float32))
    asked = weights("sample 17")
    (reply,) = empty.candidates([ShardQuery(VECTORS[0], asked, 8.0, 32.0, 5)])
    assert (reply.dense, reply.lexical, reply.papers) == ((), (), ())


def test_an_index_of_another_length_than_its_passages_is_refused() -> None:
    with pytest.raises(CorruptSnapshot, match="paragraph shard 3: 5 vectors for 200 passages"):
        ShardIndex(View.PARAGRAPH, 3, index_bytes(VECTORS[:5]), support.table(PASSAGES))


def test_bytes_that_are_no_index_are_refused() -> None:
    with pytest.raises(CorruptSnapshot, match="recipe shard 1"):
        ShardIndex(View.RECIPE, 1, b"not an index at all", support.table([]))


def test_papers_hold_the_best_as_a_whole_and_those_of_every_candidate() -> None:
    asked = weights("sample 17")
    (reply,) = SHARD.candidates([ShardQuery(VECTORS[0], asked, 8.0, 32.0, 3)])
    papers = {p.paper_id: p for p in reply.papers}
    assert reply.papers[0].paper_id == "p4"
    assert papers["p4"].passage == reply.lexical[0].lexical
    assert {c.paper_id for c in reply.dense + reply.lexical} <= set(papers)


def test_evidence_is_the_best_of_the_chosen_papers_passages() -> None:
    query = EvidenceQuery(
        vector=VECTORS[0],
        asked={"17": 1.0, "sampl": 1.0},
        mean_length=8.0,
        kinds=(),
        papers={"p4": {"paper": 5.0}, "p9": {"paper": 1.0}, "elsewhere": {"paper": 9.0}},
        depth=5,
    )
    (found,) = SHARD.evidence([query])
    assert found[0].passage == PASSAGES[17]
    assert found[0].parts["lexical"] == 1.0
    assert found[0].score == sum(found[0].parts.values())
    assert sum(found[0].terms.values()) == pytest.approx(found[0].parts["lexical"])
    assert found[0].terms["17"] > found[0].terms["sampl"]
    assert [e.passage.paper_id for e in found] == ["p4"] * 4 + ["p9"]
    assert [e.score for e in found] == sorted((e.score for e in found), reverse=True)
