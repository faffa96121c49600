"""The lexical half: formula- and unit-aware tokens, and BM25 over one shard.

A shard stores term counts and lengths only. Document frequencies and the mean length are the
whole corpus's (`Statistics`) and come with each query, so a passage's score does not depend on
how the corpus is sharded.
"""

import math
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import Stemmer
from numpy.typing import NDArray

from reciper_ray.types import Passage

TOKENIZER_VERSION = "1"

K1 = 0.9
B = 0.5
# A formula's element-amount pairs find its reordered and doped relatives; at full weight they
# outvote the words that say what was done.
PAIR_WEIGHT = 0.3

_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d"), "-")
_THOUSANDS = re.compile(r"(?<![\d.,])(\d{1,3}),(?=\d{3}(?!\d))")
# A number keeps its decimals; a word keeps digits and inner decimal points, so that
# LiNi0.5Mn1.5O4 is one token.
_TOKEN = re.compile(r"[^\W_]+(?:\.\d+[^\W_]*)*")
_NUMBER_UNIT = re.compile(r"(\d+(?:\.\d+)?)([^\W\d_]+)")
_ELEMENT = re.compile(r"[A-Z][a-z]?(?:\d+(?:\.\d+)?)?")
_FORMULA = re.compile(r"(?:[A-Z][a-z]?(?:\d+(?:\.\d+)?)?){2,}")

_stemmer = Stemmer.Stemmer("english")
_stemming = threading.Lock()  # a stemmer holds the word it works on

# Words that carry no content in a procedure question; everything else is left to idf.
STOP = frozenset(
    """a an and are as at be by can did do does for from had has have how in into is it its of on
    or that the their them then there these they this those to was were what when where which
    while who why will with""".split()
)


def tokens(text: str) -> list[str]:
    """Lexical tokens of `text` in order: stems in lower case, without stop words.

    A formula of several elements yields itself and its element-amount pairs, which alone keep
    their capital (`Co0.8`); a number written onto its unit (`600h`) yields both.
    """
    normal = unicodedata.normalize("NFKC", text).translate(_DASHES)
    found: list[str] = []
    for match in _TOKEN.finditer(_THOUSANDS.sub(r"\1", normal)):
        token = match.group()
        lowered = token.lower()
        if lowered in STOP:
            continue
        if split := _NUMBER_UNIT.fullmatch(lowered):
            found.extend(split.groups())
            continue
        found.append(_stem(lowered))
        if any(map(str.isdigit, token)) and _FORMULA.fullmatch(token):
            found.extend(_ELEMENT.findall(token))
    return found


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    if not (word.isascii() and word.isalpha()):
        return word
    with _stemming:
        stem: str = _stemmer.stemWord(word)
    return stem


def is_pair(term: str) -> bool:
    """Whether a term is an element-amount pair out of a formula."""
    return term[:1].isupper()


def term_counts(passage: Passage) -> dict[str, int]:
    """How often each term stands in the passage's title, heading and text."""
    return dict(Counter(tokens(f"{passage.title}\n{passage.heading}\n{passage.text}")))


def length(counts: Mapping[str, int]) -> int:
    """A passage's length in tokens; pairs repeat their formula and do not count."""
    return sum(count for term, count in counts.items() if not is_pair(term))


@dataclass(frozen=True, slots=True)
class Weights:
    """A question's terms in order of first appearance, each with its idf times its count.

    `passage` weights come from how many passages hold a term, `paper` weights from how many
    papers do; `within` are the counts alone. Pairs count `PAIR_WEIGHT`.
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
        """The weights of the terms of `question`."""
        within = {
            term: count * (PAIR_WEIGHT if is_pair(term) else 1.0)
            for term, count in Counter(tokens(question)).items()
        }
        return Weights(
            passage={
                t: w * idf(self.passages, self.frequencies.get(t, 0)) for t, w in within.items()
            },
            paper={
                t: w * idf(self.papers, self.paper_frequencies.get(t, 0)) for t, w in within.items()
            },
            within=within,
        )


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
        """BM25 of every paper taken as one document, shape (papers,); `mean_length` is a paper's."""
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
