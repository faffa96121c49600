"""The arithmetic of ranking: merge, dedup, the paper's base score and lexical rerank, fusion.

Plain functions over candidates; nothing here does I/O or knows of shards beyond their number.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from reciper_ray.lexical import K1
from reciper_ray.types import View

# Measured on the development questions; see README.
DENSE_WEIGHT = 0.3
VIEW_WEIGHT = {View.PARAGRAPH: 0.5, View.RECIPE: 0.3}

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that a shard proposes. `dense` is the inner product of unit vectors, `lexical`
    the BM25 score over the corpus's statistics; NaN where it was not asked for."""

    passage_id: str
    paper_id: str
    view: View
    shard: int
    dense: float = math.nan
    lexical: float = math.nan


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its final score and what the score was made of."""

    candidate: Candidate
    score: float
    parts: dict[str, float]

    @property
    def order(self) -> tuple[float, str]:
        return (-self.score, self.candidate.passage_id)


def merge(
    lists: Iterable[Sequence[Candidate]], score: Callable[[Candidate], float], depth: int
) -> list[Candidate]:
    """The best `depth` candidates of all lists by (-score, passage_id); greater is better."""
    union = [candidate for candidates in lists for candidate in candidates]
    return sorted(union, key=lambda c: (-score(c), c.passage_id))[:depth]


def dedup(ranked: Iterable[Ranked]) -> list[Ranked]:
    """Only the best-ranked candidate of each (paper, view), best first (RECIPER's stream-aware
    dedup)."""
    best: dict[tuple[str, View], Ranked] = {}
    for item in sorted(ranked, key=lambda r: r.order):
        best.setdefault((item.candidate.paper_id, item.candidate.view), item)
    return list(best.values())


def base_score(inner_product: float, distance: str) -> float:
    """RECIPER's `s = 1 / (1 + d)` from the inner product of unit vectors.

    `distance` is `l2` (d = sqrt(2 - 2ip)), `squared_l2` (2 - 2ip) or `cosine` (1 - ip).
    """
    squared = max(0.0, 2.0 - 2.0 * inner_product)
    match distance:
        case "l2":
            return 1.0 / (1.0 + math.sqrt(squared))
        case "squared_l2":
            return 1.0 / (1.0 + squared)
        case "cosine":
            return 1.0 / (1.0 + squared / 2.0)
    raise ValueError(f"distance {distance!r} is not one of l2, squared_l2, cosine")


def words(text: str) -> frozenset[str]:
    r"""The paper's tokens: `\w+` of the lower-cased text."""
    return frozenset(_WORD.findall(text.lower()))


def word_coverage(question: str, document: str) -> float:
    """RECIPER's `o = |Q & D| / max(|Q|, 1)` over token sets."""
    asked = words(question)
    return len(asked & words(document)) / max(len(asked), 1)


def fuse(
    candidates: Iterable[Candidate], weights: Mapping[View, Mapping[str, float]]
) -> list[Ranked]:
    """Hybrid scores: BM25 as a share of the most the question's terms could give, plus cosine,
    plus what the best passage of the paper's other view says for the paper.

    `weights` are the question's term weights per view. Unordered; each passage once.
    """
    unique = {c.passage_id: c for c in candidates}.values()
    own: dict[str, tuple[float, float]] = {}
    best: dict[tuple[str, View], float] = {}
    for c in unique:
        ceiling = (K1 + 1.0) * sum(weights[c.view].values())
        lexical = c.lexical / ceiling if ceiling else 0.0
        own[c.passage_id] = (lexical, DENSE_WEIGHT * c.dense)
        key = (c.paper_id, c.view)
        best[key] = max(best.get(key, 0.0), sum(own[c.passage_id]))
    ranked = []
    for c in unique:
        lexical, dense = own[c.passage_id]
        paper = sum(
            VIEW_WEIGHT[view] * best.get((c.paper_id, view), 0.0) for view in View
        )
        parts = {"lexical": lexical, "dense": dense, "paper": paper}
        ranked.append(Ranked(c, lexical + dense + paper, parts))
    return ranked
