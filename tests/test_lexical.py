"""BM25 of passages and papers, against a well-kept library."""

import math
from collections import Counter
from collections.abc import Iterable

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reciper_ray import lexical, terms
from reciper_ray.lexical import LexicalIndex, Statistics, idf, question_terms


def index_of(documents: list[list[str]]) -> LexicalIndex:
    vocabulary = sorted({t for d in documents for t in d})
    triples = [
        (row, vocabulary.index(t), d.count(t)) for row, d in enumerate(documents) for t in set(d)
    ]
    rows, terms, counts = (np.array(column) for column in zip(*triples, strict=True))
    return LexicalIndex(
        vocabulary,
        rows,
        terms,
        counts.astype(float),
        np.array([len(d) for d in documents], float),
        np.arange(len(documents)) // 2,
    )


def statistics_of(documents: list[list[str]]) -> Statistics:
    return Statistics(
        passages=len(documents),
        papers=len(documents),
        mean_length=sum(map(len, documents)) / len(documents),
        frequencies=Counter(term for d in documents for term in set(d)),
        paper_frequencies={},
    )


def weights_of(terms: Iterable[str], statistics: Statistics) -> dict[str, float]:
    return {t: idf(statistics.passages, statistics.frequencies.get(t, 0)) for t in terms}


corpora = st.lists(
    st.lists(st.sampled_from(["anneal", "sinter", "air", "argon", "600"]), min_size=1, max_size=12),
    min_size=2,
    max_size=8,
)


@given(corpora, st.lists(st.sampled_from(["anneal", "air", "600"]), min_size=1, unique=True))
def test_scores_equal_those_of_a_foreign_bm25(corpus: list[list[str]], query: list[str]) -> None:
    oracle = bm25s.BM25(method="lucene", k1=lexical.K1, b=lexical.B)
    oracle.index(corpus, show_progress=False)
    known = [t for t in query if any(t in d for d in corpus)]
    if not known:
        return
    statistics = statistics_of(corpus)
    weights = weights_of(known, statistics)
    ours = index_of(corpus).scores(weights, statistics.mean_length)
    # That library's form leaves out the constant factor k1 + 1.
    np.testing.assert_allclose(
        ours / (lexical.K1 + 1), oracle.get_scores(known), rtol=1e-5, atol=1e-6
    )


@given(corpora, st.integers(1, 4))
def test_a_documents_score_does_not_depend_on_its_shard(
    corpus: list[list[str]], shards: int
) -> None:
    statistics = statistics_of(corpus)
    weights = weights_of(("anneal", "air", "600"), statistics)
    whole = index_of(corpus).scores(weights, statistics.mean_length)
    for shard in range(min(shards, len(corpus))):
        part = index_of(corpus[shard::shards]).scores(weights, statistics.mean_length)
        assert part.tolist() == whole[shard::shards].tolist()


def test_a_question_of_unknown_terms_scores_nothing() -> None:
    index = index_of([["anneal"], ["sinter"]])
    assert index.scores({"unobtainium": 3.0}, 1.0).tolist() == [0.0, 0.0]


def test_terms_asked_for_are_counted_in_order() -> None:
    assert list(question_terms("Air, argon, air?", ()).items()) == [("air", 2), ("argon", 1)]


def test_weights_are_by_passages_and_by_papers() -> None:
    statistics = Statistics(10, 4, 5.0, {"air": 2}, {"air": 1})
    weights = statistics.weights({"air": 2.0, "argon": 1.0})
    assert list(weights.passage) == ["air", "argon"]
    assert weights.passage["air"] == 2 * math.log(1 + (10 - 2 + 0.5) / (2 + 0.5))
    assert weights.paper["air"] == 2 * math.log(1 + (4 - 1 + 0.5) / (1 + 0.5))


def test_a_mark_weighs_what_its_kind_does() -> None:
    asked = question_terms("TiO2", ())
    assert (asked["tio2"], asked["Ti"]) == (1.0, terms.PAIR_WEIGHT)


def test_a_slip_is_taken_for_the_word_that_passages_hold() -> None:
    statistics = Statistics(10, 4, 5.0, {terms.stem("calcination"): 3}, {})
    assert "calcin" in question_terms("calcinatoin", [statistics])


def test_a_word_that_another_view_holds_is_no_slip() -> None:
    recipes = Statistics(10, 4, 5.0, {terms.stem("sintering"): 3}, {})
    paragraphs = Statistics(10, 4, 5.0, {terms.stem("hintering"): 3}, {})
    assert list(question_terms("hintering", [recipes])) == [terms.stem("sintering")]
    assert list(question_terms("hintering", [recipes, paragraphs])) == [terms.stem("hintering")]


@given(corpora)
def test_what_the_terms_add_explains_the_score(corpus: list[list[str]]) -> None:
    index, weights = index_of(corpus), {"air": 1.0, "argon": 2.0, "unobtainium": 3.0}
    rows = np.arange(len(corpus))[::-1].copy()
    scores = index.scores(weights, 4.0)
    for row, added in zip(rows, index.explain(rows, weights, 4.0), strict=True):
        assert sum(added.values()) == pytest.approx(scores[row])
        assert set(added) == {t for t in weights if t in corpus[row]}


def test_a_paper_scores_as_one_document_of_its_passages() -> None:
    pairs = [["anneal", "air"], ["air"], ["sinter"], ["argon"]]
    papers = [["anneal", "air", "air"], ["sinter", "argon"]]
    weights = {"air": 1.0, "anneal": 2.0}
    together = index_of(papers).scores(weights, 2.5)
    assert index_of(pairs).paper_scores(weights, 2.5).tolist() == pytest.approx(together.tolist())


def test_within_a_paper_a_term_of_every_passage_hardly_counts() -> None:
    index = index_of([["air", "anneal"], ["air", "air"], ["air"], ["anneal"]])
    asked = {"air": 1.0, "anneal": 1.0}
    gain, even, double = lexical.K1 + 1, 1 / (1 + lexical.K1), 2 / (2 + lexical.K1)
    found = {
        term: dict(zip(rows.tolist(), added.tolist(), strict=True))
        for term, rows, added in index.gains_within([slice(0, 2)], asked, 2.0)
    }
    # Lengths are 2, as is the mean.
    assert found == {
        "air": pytest.approx({0: idf(2, 2) * gain * even, 1: idf(2, 2) * gain * double}),
        "anneal": pytest.approx({0: idf(2, 1) * gain * even}),
    }


@given(corpora)
def test_papers_are_scored_within_alike_alone_and_together(corpus: list[list[str]]) -> None:
    index, asked = index_of(corpus), {"air": 1.0, "argon": 2.0}
    papers = [slice(n, min(n + 2, len(corpus))) for n in range(0, len(corpus), 2)]
    together = [(t, r.tolist(), g.tolist()) for t, r, g in index.gains_within(papers, asked, 4.0)]
    alone = {term: ([], []) for term in asked}
    for paper in papers:
        for term, rows, gains in index.gains_within([paper], asked, 4.0):
            alone[term][0].extend(rows.tolist())
            alone[term][1].extend(gains.tolist())
    assert together == [(term, *lists) for term, lists in alone.items()]
