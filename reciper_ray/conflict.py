"""Evidence that contradicts itself: two sentences that say different values of the same thing.

Only single quantities are compared, and only between sentences that hold the same words of the
question, nearly all of them, and otherwise name the same compositions and samples: a false
contradiction costs an answer. Ranges, lists and values without a number (atmospheres) are not
covered, nor is what sets two sentences apart by other words than `second` or `series`.
"""

import re
from dataclasses import dataclass, replace

from reciper_ray import formula, quantity
from reciper_ray.asked import Attribute
from reciper_ray.quantity import Quantity
from reciper_ray.quotes import Evidence, Sentence
from reciper_ray.recipe.source import denied, is_others
from reciper_ray.terms import tokens
from reciper_ray.types import Span

# The share of the question's words, those for the kind of value apart, that both sentences hold
# with their papers' titles, and by themselves. No question of the development set has a conflict
# from 0.65 of the first on.
MIN_SHARED = 0.75
MIN_OWN = 0.4

# Words for one of several runs, samples or cases.
_ONE_OF_SEVERAL = re.compile(
    r"\b(?:another|other|second|third|re-?\w+ed|final(?:ly)?|compar\w+|reference|control|series"
    r"|var(?:y|ied|ying)|respectively|either|different|each|whereas|while|instead|subsequent\w*"
    r"|further|again|batch\w*|optimal|optimum|best|up to|higher|lower)\b",
    re.IGNORECASE,
)

# What samples and figures are called: `3`, `S2`, `BM-4`, `B`.
_LABEL = re.compile(r"(?<![\w.])(?:[A-Z]{0,4}-?\d+|[A-Z])(?![\w.]*\w)")


@dataclass(frozen=True, slots=True)
class Conflict:
    """`one` and `other` state different values of `attribute`."""

    attribute: Attribute
    one: Sentence
    other: Sentence


@dataclass(frozen=True, slots=True)
class _Side:
    sentence: Sentence
    value: Quantity
    held: frozenset[str]
    names: frozenset[str]


def conflict(question: str, evidence: Evidence) -> Conflict | None:
    """The first conflict about something that `question` asks for, None if there is none."""
    given = quantity.find(question)
    named = {f.canonical for _, f in formula.find(question)}
    kinds = {t for a in evidence.attributes if a.kind for t in set(tokens(a.text)) - a.terms}
    about = frozenset(evidence.weights) - kinds
    for attribute in evidence.attributes:
        sides = [
            side
            for sentence in evidence.sentences
            if (side := _side(attribute, sentence, evidence, about, given, named))
        ]
        for number, one in enumerate(sides):
            for other in sides[number + 1 :]:
                if _contradict(one, other):
                    return Conflict(attribute, one.sentence, other.sentence)
    return None


def _side(
    attribute: Attribute,
    sentence: Sentence,
    evidence: Evidence,
    about: frozenset[str],
    given: list[Quantity],
    named: set[str],
) -> _Side | None:
    """What a sentence states of an attribute: one value, about all that is asked."""
    kind = attribute.kind
    if not kind or kind.name not in sentence.states or not attribute.terms <= sentence.terms:
        return None
    held = (sentence.terms | evidence.titles[sentence.passage.paper_id]) & about
    whole = evidence.share(about)
    if not whole or evidence.share(held) < MIN_SHARED * whole:
        return None
    if evidence.share(sentence.terms & about) < MIN_OWN * whole:
        return None
    text = sentence.text
    if is_others(text) or _ONE_OF_SEVERAL.search(text):
        return None
    quantities = quantity.find(text)
    values = [
        q
        for q in quantities
        if q.unit.si in kind.units and not any(quantity.contains(g, q) for g in given)
    ]
    if len(values) != 1 or len(values[0].values) != 1 or denied(text, values[0].span.start):
        return None
    formulas = formula.find(text)
    places = [span for span, _ in formulas] + [q.span for q in quantities]
    labels = {
        match[0]
        for match in _LABEL.finditer(text)
        if not any(Span(*match.span()).overlaps(place) for place in places)
    }
    names = labels.union(f.canonical for _, f in formulas) - named
    return _Side(sentence, values[0], held, frozenset(names))


def _contradict(one: _Side, other: _Side) -> bool:
    # A current may be written with either sign.
    return (
        one.held == other.held
        and one.names == other.names
        and not quantity.equal(_unsigned(one.value), _unsigned(other.value))
    )


def _unsigned(value: Quantity) -> Quantity:
    return replace(value, values=tuple(map(abs, value.values)))
