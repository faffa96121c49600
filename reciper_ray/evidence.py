"""What makes a passage good evidence: its section, the conditions it states, its words.

Which paper answers is decided by `reciper_ray.ranking`; here is which passages of that paper do.
A passage's traits are found once, when it is indexed, and need no question.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from reciper_ray import asked, quantity
from reciper_ray.config import HybridConfig
from reciper_ray.ranking import words
from reciper_ray.types import Kind, Passage, Span, View

# More quantities or recipe steps than these say nothing more.
MANY_QUANTITIES = 8
MANY_STEPS = 3


class Section(IntEnum):
    """Where in a paper a passage stands, by what such a section is for."""

    BACKGROUND = -1
    OTHER = 0
    PROCEDURE = 1


_PROCEDURE = re.compile(
    r"experiment|method|material|synthes|preparation|fabricat|procedure|processing|characteri[sz]",
    re.IGNORECASE,
)
_BACKGROUND = re.compile(
    r"introduction|abstract|conclusion|acknowledg|summary|reference|background|availability"
    r"|contribution|supplement",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Traits:
    """`quantities` counts the numbers with units in a passage, `steps` the recipe steps it holds,
    `states` names the kinds of value (`reciper_ray.asked.KINDS`) that it gives."""

    section: Section
    quantities: int
    steps: int
    states: frozenset[str]


@dataclass(frozen=True, slots=True)
class TraitColumns:
    """The traits of many passages, arrays of one shape (n,); `states` maps each kind of value to
    whether a passage gives it."""

    section: NDArray[np.int8]
    quantities: NDArray[np.uint32]
    steps: NDArray[np.uint32]
    states: Mapping[str, NDArray[np.bool_]]

    def take(self, rows: NDArray[np.int64]) -> "TraitColumns":
        """Those of `rows`."""
        states = {kind: gives[rows] for kind, gives in self.states.items()}
        return TraitColumns(self.section[rows], self.quantities[rows], self.steps[rows], states)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage with its score, the parts that the score is the sum of, and what each term of the
    question adds to the lexical part or to coverage."""

    passage: Passage
    score: float
    parts: Mapping[str, float]
    terms: Mapping[str, float] = field(default_factory=dict)


def section(heading: str, kind: Kind) -> Section:
    """By the headings that a passage stands under, outermost first."""
    outermost = heading.partition(">")[0]
    if kind is Kind.ABSTRACT or _BACKGROUND.search(outermost):
        return Section.BACKGROUND
    return Section.PROCEDURE if _PROCEDURE.search(heading) else Section.OTHER


def traits(passage: Passage, steps: Sequence[Span]) -> Traits:
    """Of a passage of a paper whose recipes' steps stand at `steps`."""
    quantities = quantity.find(passage.text)
    return Traits(
        section(passage.heading, passage.kind),
        len(quantities),
        sum(any(span.overlaps(step) for span in passage.spans) for step in steps),
        frozenset(k.name for k in asked.KINDS if k.states(passage.text, quantities)),
    )


def screened(ranked: Iterable[Evidence], threshold: float) -> Iterator[Evidence]:
    """Without what says again what a better one of the same view says: of whose words and those
    of the better one more than `threshold` (0..1) of all are common (RECIPER's screener; Jaccard's
    coefficient)."""
    kept: dict[View, list[frozenset[str]]] = {view: [] for view in View}
    for e in ranked:
        own, better = words(e.passage.text), kept[e.passage.view]
        if not any(_alike(own, other, threshold) for other in better):
            better.append(own)
            yield e


def _alike(one: frozenset[str], other: frozenset[str], threshold: float) -> bool:
    fewer, more = sorted((len(one), len(other)))
    # No more words can be common than the smaller set has.
    return fewer > threshold * more and len(one & other) > threshold * len(one | other)


def kinds_asked(question: str) -> frozenset[str]:
    """The kinds of value that `question` asks for; see `Traits.states`."""
    return frozenset(a.kind.name for a in asked.attributes(question) if a.kind)


def parts(
    lexical: NDArray[np.float64],
    dense: NDArray[np.float64],
    traits: TraitColumns,
    kinds: Collection[str],
    weights: HybridConfig,
) -> dict[str, NDArray[np.float64]]:
    """The parts of the scores of some passages by name, all arrays of shape (n,).

    `lexical` are shares of the best passage of the same paper, `dense` inner products with the
    question, `kinds` what it asks for.
    """
    nowhere = np.zeros(len(lexical), bool)
    lacking = np.zeros(len(lexical))
    for kind in kinds:
        lacking += ~traits.states.get(kind, nowhere)
    return {
        "lexical": weights.lexical * lexical,
        "dense": weights.dense * dense,
        "section": weights.section * traits.section.astype(np.float64),
        "quantities": weights.quantities
        * np.minimum(traits.quantities, MANY_QUANTITIES)
        / MANY_QUANTITIES,
        "steps": weights.steps * np.minimum(traits.steps, MANY_STEPS) / MANY_STEPS,
        "asked": -weights.asked * lacking,
    }
