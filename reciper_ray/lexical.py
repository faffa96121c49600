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
class Statistics:
    """Of one view of the whole corpus: passages, their mean length in tokens, and in how many
    passages each term stands."""

    passages: int
    mean_length: float
    frequencies: Mapping[str, int]

    def idf(self, term: str) -> float:
        """`ln(1 + (N - n + 0.5) / (n + 0.5))`, Lucene's non-negative form of Robertson's idf."""
        n = self.frequencies.get(term, 0)
        return math.log(1.0 + (self.passages - n + 0.5) / (n + 0.5))

    def weights(self, question: str) -> dict[str, float]:
        """Idf times count of each term of `question`, in order of first appearance; pairs at
        `PAIR_WEIGHT`."""
        return {
            t: c * self.idf(t) * (PAIR_WEIGHT if is_pair(t) else 1.0)
            for t, c in Counter(tokens(question)).items()
        }


class LexicalIndex:
    """Inverted lists of one shard's passages, rows 0..n-1."""

    def __init__(
        self,
        terms: Sequence[str],
        row_of: NDArray[np.int64],
        term_of: NDArray[np.int64],
        counts: NDArray[np.float64],
        lengths: NDArray[np.float64],
    ) -> None:
        """From parallel arrays of (row, term number, count) triples; `terms[i]` is term i's text
        and `lengths` has shape (n,), in tokens."""
        order = np.lexsort((row_of, term_of))
        self._rows = row_of[order]
        self._counts = counts[order]
        self._starts = np.searchsorted(term_of[order], np.arange(len(terms) + 1))
        self._number = {term: i for i, term in enumerate(terms)}
        self._lengths = lengths

    def scores(self, weights: Mapping[str, float], mean_length: float) -> NDArray[np.float64]:
        """BM25 of every row, shape (n,): `sum w * f(k1+1) / (f + k1(1 - b + b*len/mean))`
        (Robertson & Zaragoza, 2009), terms summed in the order of `weights`."""
        total = np.zeros(len(self._lengths))
        norm = K1 * (1.0 - B + B * self._lengths / max(mean_length, 1e-9))
        for term, weight in weights.items():
            number = self._number.get(term)
            if number is None:
                continue
            block = slice(self._starts[number], self._starts[number + 1])
            rows, count = self._rows[block], self._counts[block]
            total[rows] += weight * count * (K1 + 1.0) / (count + norm[rows])
        return total
