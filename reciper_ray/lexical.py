"""BM25 over one shard, its passages and its papers, with the whole corpus's statistics.

A shard stores term counts and lengths only. Document frequencies and the mean length are the
whole corpus's (`Statistics`) and come with each query, so a passage's score does not depend on
how the corpus is sharded.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reciper_ray import terms as written
from reciper_ray.terms import corrected

K1 = 0.9
B = 0.5

# A term, the rows that it stands in, ascending, and what it adds to each.
Gain = tuple[str, NDArray[np.int32], NDArray[np.floating]]


@dataclass(frozen=True, slots=True)
class Weights:
    """The terms of a question (`question_terms`) times their idf: `passage` weights by how many
    passages hold a term, `paper` weights by how many papers do."""

    passage: Mapping[str, float]
    paper: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Of one view of the whole corpus: how many passages and papers, a passage's mean length in
    tokens, and in how many passages and papers each term stands."""

    passages: int
    papers: int
    mean_length: float
    frequencies: Mapping[str, int]
    paper_frequencies: Mapping[str, int]

    @property
    def mean_paper_length(self) -> float:
        return self.mean_length * self.passages / max(self.papers, 1)

    def weights(self, asked: Mapping[str, float]) -> Weights:
        """The weights of the terms of a question in this view."""
        return Weights(
            passage={
                t: w * idf(self.passages, self.frequencies.get(t, 0)) for t, w in asked.items()
            },
            paper={
                t: w * idf(self.papers, self.paper_frequencies.get(t, 0)) for t, w in asked.items()
            },
        )


def question_terms(question: str, views: Collection[Statistics]) -> dict[str, float]:
    """The terms of `question` in order of first appearance: how often it has each, times what a
    term of that kind counts (`reciper_ray.terms.weight`).

    A word that no passage of any of `views` holds is taken for a slip of the nearest one that
    some do.
    """

    def frequency(term: str) -> int:
        return sum(statistics.frequencies.get(term, 0) for statistics in views)

    asked = written.terms(question, lambda word: corrected(word, frequency))
    return {term: count * written.weight(term) for term, count in Counter(asked).items()}


def idf(total: int, holding: int) -> float:
    """`ln(1 + (N - n + 0.5) / (n + 0.5))`, Lucene's non-negative form of Robertson's idf."""
    return math.log(1.0 + (total - holding + 0.5) / (holding + 0.5))


class _Postings:
    """Per term the documents that hold it, ascending, and how much each gains by it.

    The gains follow from the corpus's mean length, which comes with every query and is the same
    for all queries of a snapshot: they are kept for the last one seen.
    """

    def __init__(
        self,
        documents: NDArray[np.int64],
        counts: NDArray[np.float64],
        starts: NDArray[np.int64],
        lengths: NDArray[np.float64],
    ) -> None:
        """Postings `starts[i]` to `starts[i + 1]` are those of term i."""
        self.lengths = lengths
        self._documents = documents.astype(np.int32)
        self._counts = counts.astype(np.float32)
        self._starts = starts.tolist()
        self._gains: tuple[float, NDArray[np.float32]] = (math.nan, np.zeros(0, np.float32))

    def of(
        self, term: int | None, mean_length: float
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The documents of a term and `saturated` for each; none for no term."""
        block = slice(0) if term is None else slice(self._starts[term], self._starts[term + 1])
        known, gains = self._gains
        if known != mean_length:
            lengths = self.lengths[self._documents]
            gains = saturated(self._counts, lengths, mean_length).astype(np.float32)
            self._gains = (mean_length, gains)
        return self._documents[block], gains[block]


class LexicalIndex:
    """Inverted lists of one shard's passages, rows 0..n-1, and of its papers.

    The passages of a paper are neighbours; `papers` are numbered in order of their first row.
    """

    def __init__(
        self,
        terms: Sequence[str],
        row_of: NDArray[np.int64],
        term_of: NDArray[np.int64],
        counts: NDArray[np.float64],
        lengths: NDArray[np.float64],
        paper_of: NDArray[np.int64],
    ) -> None:
        """From parallel arrays of (row, term number, count) triples; `terms[i]` is term i's text.
        `lengths`, in tokens, and `paper_of`, ascending paper numbers, have shape (n,)."""
        order = np.lexsort((row_of, term_of))
        rows, of_term, counts = row_of[order], term_of[order], counts[order]
        numbers = np.arange(len(terms) + 1)
        self._number = {term: i for i, term in enumerate(terms)}
        self._passages = _Postings(rows, counts, np.searchsorted(of_term, numbers), lengths)
        papers = int(paper_of[-1]) + 1 if len(paper_of) else 0
        # The first posting of each paper under each term.
        new = np.ones(len(rows), bool)
        of_paper = paper_of[rows]
        new[1:] = (np.diff(of_term) != 0) | (np.diff(of_paper) != 0)
        first = np.flatnonzero(new)
        self._papers = _Postings(
            of_paper[first],
            np.add.reduceat(counts, first) if len(first) else counts,
            np.searchsorted(of_term[first], numbers),
            np.bincount(paper_of, lengths, papers).astype(np.float64),
        )

    def scores(self, weights: Mapping[str, float], mean_length: float) -> NDArray[np.float64]:
        """BM25 of every row, shape (n,), terms summed in the order of `weights`."""
        return self._scores(self._passages, weights, mean_length)

    def paper_scores(self, weights: Mapping[str, float], mean_length: float) -> NDArray[np.float64]:
        """BM25 of every paper as one document, shape (papers,); `mean_length` is a paper's."""
        return self._scores(self._papers, weights, mean_length)

    def _scores(
        self, postings: _Postings, weights: Mapping[str, float], mean_length: float
    ) -> NDArray[np.float64]:
        total = np.zeros(len(postings.lengths))
        for term, weight in weights.items():
            documents, gains = postings.of(self._number.get(term), mean_length)
            total[documents] += weight * gains
        return total

    def explain(
        self, rows: NDArray[np.int64], weights: Mapping[str, float], mean_length: float
    ) -> list[dict[str, float]]:
        """What each term adds to the `scores` of each of `rows`."""
        gains = (
            (term, *self._passages.of(self._number.get(term), mean_length)) for term in weights
        )
        return [
            {term: weights[term] * gain for term, gain in added.items()}
            for added in by_row(rows, gains)
        ]

    def gains_within(
        self, papers: Sequence[slice], asked: Mapping[str, float], mean_length: float
    ) -> Iterator[Gain]:
        """Each term with the rows that it stands in and its BM25 there, idf taken over the
        passages of the row's paper alone: a term that is everywhere in a paper does not tell its
        passages apart. `papers` are the rows of some papers, ascending."""
        bounds = np.array([(rows.start, rows.stop) for rows in papers], np.int32).reshape(-1, 2)
        sizes = (bounds[:, 1] - bounds[:, 0]).tolist()
        for term, weight in asked.items():
            found, gains = self._passages.of(self._number.get(term), mean_length)
            first, last = np.searchsorted(found, bounds).T
            holding = last - first
            # 0, 1, … within each paper's block of postings, moved to where the block begins.
            at = np.repeat(first - np.cumsum(holding) + holding, holding)
            at += np.arange(len(at))
            rarity = [idf(n, held) for n, held in zip(sizes, holding.tolist(), strict=True)]
            yield term, found[at], weight * np.repeat(rarity, holding) * gains[at]


def by_row(rows: NDArray[np.int64], gains: Iterable[Gain]) -> list[dict[str, float]]:
    """What each term adds to each of `rows`; a row without it does not mention it."""
    found: list[dict[str, float]] = [{} for _ in rows]
    for term, held, gain in gains:
        at = np.searchsorted(held, rows)
        for terms, row, i in zip(found, rows, at.tolist(), strict=True):
            if i < len(held) and held[i] == row:
                terms[term] = float(gain[i])
    return found


def saturated(
    counts: NDArray[np.float32], lengths: NDArray[np.float64], mean_length: float
) -> NDArray[np.float64]:
    """BM25's `f(k1 + 1) / (f + k1(1 - b + b * len / mean))` (Robertson & Zaragoza, 2009)."""
    norm = K1 * (1.0 - B + B * lengths / max(mean_length, 1e-9))
    return counts * (K1 + 1.0) / (counts + norm)
