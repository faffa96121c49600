"""Where in a paper a draft step stands: the span and the operations that own most of its values.

A window is tried for each operation in it that the step names, and for each that owns a value the
step claims; of the latter the step then takes the name.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from reciper_ray.recipe import cues
from reciper_ray.recipe.claims import Claim, claims
from reciper_ray.recipe.draft import DraftStep
from reciper_ray.recipe.operations import Tells
from reciper_ray.recipe.ownership import Owned, Ownership, Place
from reciper_ray.recipe.source import Source, Value
from reciper_ray.recipe.standing import standing
from reciper_ray.recipe.words import stem, stems
from reciper_ray.types import Span

_OPERATION, _VALUE, _OTHER = 3.0, 2.0, 1.0
_WIDER = -0.25  # for each further sentence
_IN_ORDER, _IN_PROCEDURE = 0.5, 0.5
_MOST_RUNS = 16
_WORD = re.compile(r"[A-Za-z]{4,}")

_Matches = Mapping[int, Sequence[tuple[Claim, Value]]]
_Values = dict[Claim, tuple[int, Value]]


@dataclass(frozen=True, slots=True)
class Choice:
    """How a step stands in a window: its operations `group` there, the values they own by claim
    with their sentence's number, the materials that stand there, and whether its operation is one
    that it names itself."""

    score: float
    window: range
    group: frozenset[Place]
    values: Mapping[Claim, tuple[int, Value]]
    materials: tuple[str, ...]
    named: bool


class Chooser:
    """Chooses for step after step among the windows inside the spans `read` of a source."""

    def __init__(self, source: Source, read: Sequence[Span]) -> None:
        self._source = source
        self._ownership = Ownership(source)
        self.windows = list(source.windows(read))
        self.inside = sorted({number for window in self.windows for number in window})

    def choose(self, step: DraftStep, previous: int = 0) -> Choice | None:
        """The window that states most of `step`, None if none states anything; of equals one at
        or behind sentence `previous`, one in a section on the procedure, the first."""
        wanted = claims(step)
        heads = stems(step.operation)
        matches = {number: self._matches(number, wanted) for number in self.inside}
        named = {
            number: [
                Place(number, at)
                for at, operation in enumerate(self._source.at(number).operations)
                if _head(operation.text) in heads
            ]
            for number in self.inside
        }
        best: Choice | None = None
        for window in self.windows:
            if not any(matches[number] or named[number] for number in window):
                continue
            bonus = _IN_ORDER * (window.start >= previous)
            bonus += _IN_PROCEDURE * cues.is_procedure(self._source.at(window.start).heading)
            anchors = [place for number in window for place in named[number]]
            for choice in self._choices(step, wanted, window, matches, anchors):
                if best is None or choice.score + bonus > best.score:
                    best = replace(choice, score=choice.score + bonus)
        return best

    def names(self, step: DraftStep, group: Iterable[Place]) -> str:
        """The operations of `group` as the text names them, in its order; where these tell little
        (`put`, `carried out`), what words of the step's own stand beside them."""
        own = "" if self._tells(group) else self._own_words(step, group)
        if own:
            return own
        texts = (self._ownership.operation(place).text.lower() for place in _ordered(group))
        return ", ".join(dict.fromkeys(texts))

    def _matches(self, number: int, wanted: Sequence[Claim]) -> list[tuple[Claim, Value]]:
        sentence = self._source.at(number)
        return [(claim, value) for claim in wanted for value in claim.find(sentence)]

    def _choices(
        self,
        step: DraftStep,
        wanted: Sequence[Claim],
        window: range,
        matches: _Matches,
        anchors: Sequence[Place],
    ) -> Iterator[Choice]:
        groups = dict.fromkeys((self._group(place, anchors), True) for place in anchors)
        matched = [(n, value) for n in window for _, value in matches[n]]
        owners = [self._ownership.owners(window, n, value) for n, value in matched]
        others = frozenset().union(*owners).difference(anchors)
        groups |= dict.fromkeys((frozenset({place}), False) for place in _ordered(others))
        text = [self._source.at(number) for number in window]
        materials = tuple(filter(None, (standing(item, text) for item in step.materials)))
        for group, named in groups:
            values = self._values(window, group, matches)
            worded = named or bool(self._own_words(step, group))
            if not named and not self._may_rename(group, wanted, values, worded):
                continue
            says_more = bool(wanted or step.materials)
            if not values and not materials and (says_more or not self._tells(group)):
                continue
            score = _OPERATION if named else _OTHER * worded
            score += _OTHER * len(materials) + _WIDER * (len(window) - 1)
            score += sum(_VALUE if claim.field else _OTHER for claim in values)
            yield Choice(score, window, group, values, materials, named)

    def _values(self, window: range, group: frozenset[Place], matches: _Matches) -> _Values:
        """The claims that `group` owns, of one run of each of its operations.

        Several runs count together where the step lists all their values, for each field of as
        many runs.
        """
        runs = [self._ownership.runs(window, place)[:_MOST_RUNS] for place in _ordered(group)]
        loose: _Values = {}
        for number in window:
            own = self._source.at(number).values
            for claim, value in matches[number]:
                if value not in own and self._ownership.owners(window, number, value) & group:
                    loose.setdefault(claim, (number, value))
        best = loose
        for chosen in product(*runs) if len(group) <= 2 else [tuple(r[0] for r in runs)]:
            values = loose | _claimed(chosen, matches)
            if len(values) > len(best):
                best = values
        if len(group) == 1 and len(runs[0]) > 1:
            each = [_claimed([run], matches) for run in runs[0]]
            touched: dict[object, set[int]] = {}
            for number, values in enumerate(each):
                for claim in values:
                    touched.setdefault(claim.field, set()).add(number)
            if len({frozenset(numbers) for numbers in touched.values()}) == 1:
                listed = {claim: at for values in each for claim, at in values.items()}
                best = loose | listed if len(listed) > len(best) else best
        return best

    def _group(self, anchor: Place, anchors: Sequence[Place]) -> frozenset[Place]:
        """`anchor` with the nearest place of each other operation that the step names."""

        def away(place: Place) -> tuple[int, int, int, int]:
            apart = abs(place.sentence - anchor.sentence)
            return (
                apart,
                abs(place.operation - anchor.operation),
                place.sentence,
                place.operation,
            )

        group: dict[str, Place] = {}
        for place in sorted(anchors, key=away):
            group.setdefault(_head(self._ownership.operation(place).text), place)
        return frozenset(group.values())

    def _may_rename(
        self, group: Iterable[Place], wanted: Sequence[Claim], values: _Values, worded: bool
    ) -> bool:
        """Whether a step may stand for an operation that it does not name: by two values, half of
        what it claims, or by words of its own and a value."""
        claimed = sum(claim.field is not None for claim in wanted)
        stated = [claim.field for claim in values if claim.field is not None]
        if worded:
            return bool(stated)
        return self._tells(group) and len(stated) >= max(2, claimed / 2)

    def _own_words(self, step: DraftStep, group: Iterable[Place]) -> str:
        """The words of the step's operation that stand in the sentences of `group`."""
        there = frozenset().union(*(self._source.at(p.sentence).stems for p in group))
        return " ".join(w for w in _WORD.findall(step.operation) if stem(w) in there)

    def _tells(self, group: Iterable[Place]) -> bool:
        return any(self._ownership.operation(p).tells is not Tells.LITTLE for p in group)


def _claimed(runs: Iterable[Sequence[Owned]], matches: _Matches) -> _Values:
    owned = {(o.sentence, o.value): o for run in runs for o in run}
    values: _Values = {}
    for number in sorted({number for number, _ in owned}):
        for claim, value in matches[number]:
            if (number, value) in owned:
                values.setdefault(claim, (number, value))
    return values


def _head(operation: str) -> str:
    """The stem of the word that names an operation: `mill` of `ball milling`."""
    return stem(operation.removesuffix(" out").replace("-", " ").split()[-1])


def _ordered(places: Iterable[Place]) -> list[Place]:
    return sorted(places, key=lambda place: (place.sentence, place.operation))
