"""BM25 over one shard, its passages and its papers, with the whole corpus's statistics.

A shard stores term counts and lengths only. Document frequencies and the mean length are the
whole corpus's (`Statistics`) and come with each query, so a passage's score does not depend on
how the corpus is sharded.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reciper_ray import terms as written
from reciper_ray.terms import corrected

K1 = 0.9
B = 0.5


@dataclass(frozen=True, slots=True)
class Weights:
    """A question's terms in order of first appearance, each with its idf times its count.

    `passage` weights come from how many passages hold a term, `paper` weights from how many
    papers do; `within` are the counts alone. Each counts as much as its kind
    (`reciper_ray.terms.weight`).
    """

    passage: Mapping[str, float]
    paper: Mapping[str, float]
    within: Mapping[str, float]


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

    def weights(self, question: str) -> Weights:
        """The weights of the terms of `question`; a word that nothing holds is taken for a slip
        of the nearest that something does."""
        asked = written.terms(question, lambda word: corrected(word, self._frequency))
        within = {term: count * written.weight(term) for term, count in Counter(asked).items()}
        return Weights(
            passage={
                t: w * idf(self.passages, self.frequencies.get(t, 0)) for t, w in within.items()
            },
            paper={
                t: w * idf(self.papers, self.paper_frequencies.get(t, 0)) for t, w in within.items()
            },
            within=within,
        )

    def _frequency(self, term: str) -> int:
        return self.frequencies.get(term, 0)


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

    def scores_within(
        self, rows: slice, weights: Mapping[str, float], mean_length: float
    ) -> NDArray[np.float64]:
        """BM25 of the passages `rows` of one paper, idf taken over these passages alone: a term
        that is everywhere in the paper does not tell its passages apart."""
        size = rows.stop - rows.start
        total = np.zeros(size)
        for term, weight in weights.items():
            found, counts = self._postings(term)
            first, last = np.searchsorted(found, (rows.start, rows.stop))
            if first < last:
                mine = found[first:last]
                gain = saturated(counts[first:last], self._lengths[mine], mean_length)
                total[mine - rows.start] += weight * idf(size, last - first) * gain
        return total

    def _postings(self, term: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        number = self._number.get(term)
        block = slice(0) if number is None else slice(*self._starts[number : number + 2])
        return self._rows[block], self._counts[block]


def saturated(
    counts: NDArray[np.float64], lengths: NDArray[np.float64], mean_length: float
) -> NDArray[np.float64]:
    """BM25's `f(k1 + 1) / (f + k1(1 - b + b * len / mean))` (Robertson & Zaragoza, 2009)."""
    norm = K1 * (1.0 - B + B * lengths / max(mean_length, 1e-9))
    return counts * (K1 + 1.0) / (counts + norm)
