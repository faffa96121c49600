"""What makes a passage good evidence: its section, the conditions it states, its words.

Which paper answers is decided by `reciper_ray.ranking`; here is which passages of that paper do.
A passage's traits are found once, when it is indexed, and need no question.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from reciper_ray import asked, quantity
from reciper_ray.config import HybridConfig
from reciper_ray.types import Kind, Passage, Span

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
class Evidence:
    """A passage of a chosen paper with the parts of its score; the score is their sum."""

    passage: Passage
    parts: Mapping[str, float]

    @property
    def score(self) -> float:
        return sum(self.parts.values())


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


def kinds_asked(question: str) -> frozenset[str]:
    """The kinds of value that `question` asks for; see `Traits.states`."""
    return frozenset(a.kind.name for a in asked.attributes(question) if a.kind)


def parts(
    lexical: NDArray[np.float64],
    dense: NDArray[np.float64],
    found: Sequence[Traits],
    kinds: Collection[str],
    weights: HybridConfig,
) -> list[dict[str, float]]:
    """The parts of the scores of one paper's passages, each array of shape (n,).

    `lexical` are the passages' scores within the paper, `dense` their inner products with the
    question, `kinds` what it asks for.
    """
    top = max(float(lexical.max(initial=0.0)), 1e-9)
    return [
        {
            "lexical": weights.lexical * float(words) / top,
            "meaning": weights.meaning * float(meaning),
            "section": weights.section * t.section,
            "quantities": weights.quantities * min(t.quantities, MANY_QUANTITIES) / MANY_QUANTITIES,
            "steps": weights.steps * min(t.steps, MANY_STEPS) / MANY_STEPS,
            "asked": -weights.asked * sum(kind not in t.states for kind in kinds),
        }
        for words, meaning, t in zip(lexical, dense, found, strict=True)
    ]
