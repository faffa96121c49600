"""The arithmetic of ranking: merge, dedup, the paper's base score and lexical rerank, fusion.

Plain functions over candidates; nothing here does I/O or knows of shards beyond their number.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reciper_ray.types import Passage, View

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that a shard proposes. `dense` is the inner product of unit vectors, `lexical`
    the BM25 score over the corpus's statistics, NaN where it was not asked for; `terms` is what
    each term adds to the latter, empty where that was not asked for."""

    passage_id: str
    paper_id: str
    view: View
    shard: int
    dense: float = math.nan
    lexical: float = math.nan
    terms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PaperCandidate:
    """A paper that a shard proposes: its BM25 as `whole` document and that of its best
    `passage`."""

    paper_id: str
    shard: int
    whole: float
    passage: float


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


def held(asked: frozenset[str], passage: Passage) -> frozenset[str]:
    """The words of `asked` that stand in a passage's title or text."""
    return asked & words(f"{passage.title} {passage.text}")


def word_coverage(question: str, passage: Passage) -> float:
    """RECIPER's `o = |Q & D| / max(|Q|, 1)` over token sets, D of title and text."""
    asked = words(question)
    return len(held(asked, passage)) / max(len(asked), 1)


def paper_parts(
    features: Mapping[str, Mapping[str, float]], weights: Mapping[str, float], best: float
) -> dict[str, dict[str, float]]:
    """What each paper's score is made of; the best paper's parts add up to `best`.

    `features` gives, by name, what is known of each paper; each counts as a share of its best
    paper's. A paper outside a dense list is as far as the list's last.
    """
    parts: dict[str, dict[str, float]] = {p: {} for p in sorted(set().union(*features.values()))}
    for name, values in features.items():
        top = max(values.values(), default=0.0)
        if top <= 0.0:
            continue
        unknown = min(values.values()) if name.endswith("dense") else 0.0
        for paper, own in parts.items():
            own[name] = weights[name] * values.get(paper, unknown) / top
    top = max((sum(own.values()) for own in parts.values()), default=0.0)
    scale = best / top if top else 0.0
    return {p: {name: scale * v for name, v in own.items()} for p, own in parts.items()}


def best_of(
    candidates: Iterable[Candidate], score: Callable[[Candidate], float]
) -> dict[str, float]:
    """The best score of each candidate's paper."""
    best: dict[str, float] = {}
    for candidate in candidates:
        value = score(candidate)
        best[candidate.paper_id] = max(best.get(candidate.paper_id, value), value)
    return best
