"""Whether a sentence of an answer says what the passages that it cites say.

Each of its quantities, formulas, atmospheres and other numbers must stand in a cited passage,
within at most three adjacent sentences and not negated there, and half of its words must. Those
sentences become the citation's quote. Whether the words are put together to the same meaning
(which operation a temperature belongs to) is not judged.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from reciper_ray import formula, quantity
from reciper_ray.recipe import conditions
from reciper_ray.recipe.claims import Claim
from reciper_ray.recipe.conditions import Field
from reciper_ray.recipe.source import Sentence, denied
from reciper_ray.terms import tokens
from reciper_ray.text import fold, sentences
from reciper_ray.types import Passage, Span

T = TypeVar("T")

MOST_ADJACENT = 3
MIN_WORDS = 0.5

_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?!\w)")
_OTHER_WORDS = "other words than what it cites"


@dataclass(frozen=True, slots=True)
class Quote:
    """What of a passage a sentence rests on: `span` of its support text."""

    passage: Passage
    span: Span

    @property
    def text(self) -> str:
        return self.passage.support[self.span.start : self.span.end]


def verify(sentence: str, cited: Sequence[Passage], question: str) -> tuple[Quote, ...] | str:
    """The quotes that support `sentence`, one a passage, or why it is not supported.

    Numbers and words that `question` holds need not stand in a quote; quantities and formulas do.
    """
    if not cited:
        return "cites nothing"
    stated = _Stated(sentence)
    found = [_best(stated, passage) for passage in cited]
    held = frozenset().union(*(mine for _, mine in found))
    quotes = [quote for quote, mine in found if mine] or [quote for quote, _ in found]
    together = " ".join(quote.text for quote in quotes)
    if fold(sentence) in fold(together):
        return tuple(quotes)
    for name, claims in stated.claims.items():
        if not claims <= held:
            return f"{name} not in what it cites"
    if stated.denies:
        return "denies a value"
    known = f"{together} {question}"
    if any(number not in _numbers(known) for number in stated.numbers):
        return "number not in what it cites"
    titles = " ".join(quote.passage.title for quote in quotes)
    words = frozenset(tokens(sentence))
    if len(words & {*tokens(known), *tokens(titles)}) < MIN_WORDS * len(words):
        return _OTHER_WORDS
    return tuple(quotes)


class _Stated:
    """What a sentence states: its `claims` by the name of their kind, numbers apart."""

    def __init__(self, sentence: str) -> None:
        quantities = quantity.find(sentence)
        formulas = formula.find(sentence)
        self.text = sentence
        self.claims: dict[str, frozenset[Claim | str]] = {
            "quantity": frozenset(
                Claim("", None, "", part) for q in quantities for part in q.stated()
            ),
            "formula": frozenset(f.canonical for _, f in formulas),
            "atmosphere": frozenset(
                Claim("", Field.ATMOSPHERE, c.text)
                for c in conditions.find(sentence)
                if c.field is Field.ATMOSPHERE and not c.loose
            ),
        }
        places = [q.span for q in quantities] + [span for span, _ in formulas]
        self.denies = any(denied(sentence, place.start) for place in places)
        self.numbers = [
            number[0]
            for number in _NUMBER.finditer(sentence)
            if not any(Span(*number.span()).overlaps(place) for place in places)
        ]
        self.all = frozenset().union(*self.claims.values())

    def held(self, sentence: Sentence) -> frozenset[Claim | str]:
        """The claims that `sentence` states too."""
        return frozenset(
            claim
            for claim in self.all
            if (claim in sentence.formulas if isinstance(claim, str) else claim.find(sentence))
        )


def _best(stated: _Stated, passage: Passage) -> tuple[Quote, frozenset[Claim | str]]:
    """The sentences of a passage that hold most claims, as few and as much to the point as they
    may be, and the claims that they hold."""
    support = passage.support
    spans = sentences(support) or [Span(0, len(support))]
    held = [stated.held(Sentence(support[s.start : s.end], s, "")) for s in spans]
    said = frozenset(tokens(stated.text))
    words = [said.intersection(tokens(support[s.start : s.end])) for s in spans]

    def worth(window: range) -> tuple[int, int, int]:
        claims = _union(held, window)
        return len(claims), len(_union(words, window)) - 2 * len(window), -window.start

    best = max(_windows(len(spans)), key=worth)
    return Quote(passage, Span(spans[best.start].start, spans[best.stop - 1].end)), _union(
        held, best
    )


def _windows(count: int) -> Iterator[range]:
    for size in range(1, MOST_ADJACENT + 1):
        for start in range(count - size + 1):
            yield range(start, start + size)


def _union(sets: Sequence[frozenset[T]], window: range) -> frozenset[T]:
    return frozenset().union(*(sets[number] for number in window))


def _numbers(text: str) -> Collection[str]:
    return frozenset(number[0] for number in _NUMBER.finditer(text))
