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
Gain = tuple[str, NDArray[np.int64], NDArray[np.float64]]


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
        self._rows = row_of[order]
        self._counts = counts[order]
        self._starts = np.searchsorted(term_of[order], np.arange(len(terms) + 1))
        self._number = {term: i for i, term in enumerate(terms)}
        self._lengths = lengths
        self._paper_of = paper_of
        self._papers = int(paper_of[-1]) + 1 if len(paper_of) else 0
        self._paper_lengths = np.bincount(paper_of, lengths, self._papers).astype(np.float64)

    def scores(self, weights: Mapping[str, float], mean_length: float) -> NDArray[np.float64]:
        """BM25 of every row, shape (n,), terms summed in the order of `weights`."""
        total = np.zeros(len(self._lengths))
        for term, weight in weights.items():
            rows, counts = self._postings(term)
            total[rows] += weight * saturated(counts, self._lengths[rows], mean_length)
        return total

    def explain(
        self, rows: NDArray[np.int64], weights: Mapping[str, float], mean_length: float
    ) -> list[dict[str, float]]:
        """What each term adds to the `scores` of each of `rows`."""
        gains = []
        for term, weight in weights.items():
            found, counts = self._postings(term)
            gains.append(
                (term, found, weight * saturated(counts, self._lengths[found], mean_length))
            )
        return by_row(rows, gains)

    def paper_scores(self, weights: Mapping[str, float], mean_length: float) -> NDArray[np.float64]:
        """BM25 of every paper as one document, shape (papers,); `mean_length` is a paper's."""
        total = np.zeros(self._papers)
        for term, weight in weights.items():
            rows, counts = self._postings(term)
            if len(rows):
                together = np.bincount(self._paper_of[rows], counts, self._papers)
                summed = together.astype(np.float64)
                total += weight * saturated(summed, self._paper_lengths, mean_length)
        return total

    def gains_within(
        self, papers: Sequence[slice], asked: Mapping[str, float], mean_length: float
    ) -> Iterator[Gain]:
        """Each term with the rows that it stands in and its BM25 there, idf taken over the
        passages of the row's paper alone: a term that is everywhere in a paper does not tell its
        passages apart. `papers` are the rows of some papers, ascending."""
        bounds = np.array([(rows.start, rows.stop) for rows in papers], np.int64).reshape(-1, 2)
        sizes = bounds[:, 1] - bounds[:, 0]
        for term, weight in asked.items():
            found, counts = self._postings(term)
            first, last = np.searchsorted(found, bounds).T
            holding = last - first
            # 0, 1, … within each paper's block of postings, moved to where the block begins.
            ends = np.cumsum(holding)
            at = np.repeat(first - ends + holding, holding) + np.arange(holding.sum())
            rows = found[at]
            gain = saturated(counts[at], self._lengths[rows], mean_length)
            rarity = [idf(*pair) for pair in zip(sizes.tolist(), holding.tolist(), strict=True)]
            yield term, rows, weight * np.repeat(rarity, holding) * gain

    def _postings(self, term: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        number = self._number.get(term)
        block = slice(0) if number is None else slice(*self._starts[number : number + 2])
        return self._rows[block], self._counts[block]


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
    counts: NDArray[np.float64], lengths: NDArray[np.float64], mean_length: float
) -> NDArray[np.float64]:
    """BM25's `f(k1 + 1) / (f + k1(1 - b + b * len / mean))` (Robertson & Zaragoza, 2009)."""
    norm = K1 * (1.0 - B + B * lengths / max(mean_length, 1e-9))
    return counts * (K1 + 1.0) / (counts + norm)
