"""Which operation a value belongs to, so that the next step's temperature is not taken for this
one's, nor the second run's time for the first one's."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from reciper_ray.recipe.conditions import Field
from reciper_ray.recipe.operations import Operation, Tells
from reciper_ray.recipe.source import Source, Value

_PURPOSE = re.compile(r"\b(?:for|to)\s(?:the\s|a\s)?(?:[\w-]+\s){0,2}$")
_PURPOSE_REACH = 40  # characters


@dataclass(frozen=True, slots=True)
class Place:
    """The operation number `operation` of the sentence number `sentence`."""

    sentence: int
    operation: int


@dataclass(frozen=True, slots=True)
class Owned:
    """A value of the sentence number `sentence`, and the operations it belongs to."""

    sentence: int
    value: Value
    owners: frozenset[Place]


class Ownership:
    """The operations of a source and what they own, by window; remembers what it was asked."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._owned: dict[range, list[Owned]] = {}

    def operation(self, place: Place) -> Operation:
        return self._source.at(place.sentence).operations[place.operation]

    def owned(self, window: range) -> list[Owned]:
        """The values in `window` by place."""
        if window not in self._owned:
            self._owned[window] = [
                Owned(number, value, self.owners(window, number, value))
                for number in window
                for value in self._source.at(number).values
            ]
        return self._owned[window]

    def runs(self, window: range, place: Place) -> list[list[Owned]]:
        """What `place` owns in `window`, by run: `900 °C for 5 h, then 1000 °C for 10 h` is two.

        A run ends where a field comes again after another one. What is the only one of its field
        belongs to each run.
        """
        mine = [owned for owned in self.owned(window) if place in owned.owners]
        fields = [owned.value.field for owned in mine]
        runs: list[list[Owned]] = [[]]
        last: Field | None = None
        for owned in mine:
            field = owned.value.field
            if field is None or fields.count(field) == 1:
                continue
            if field is not last and any(other.value.field is field for other in runs[-1]):
                runs.append([])
            runs[-1].append(owned)
            last = field
        shared = [o for o in mine if o.value.field is None or fields.count(o.value.field) == 1]
        return [run + shared for run in runs]

    def owners(self, window: range, number: int, value: Value) -> frozenset[Place]:
        """The operations in `window` that `value` of sentence `number` belongs to.

        It is the one it stands by. Where that tells little (`held`, `carried out`) or there is
        none, also a telling one that has no such value of its own: the one before it, or behind
        it what it is done for, or one of the sentences before, or the one behind it.
        """
        sentence = self._source.at(number)
        field = value.field
        if field in sentence.ambiguous:
            return frozenset()
        near = sentence.nearest(value.start, value.end)
        if near is not None and sentence.operations[near].tells is Tells.WHAT:
            return frozenset({Place(number, near)})
        found = set() if near is None else {Place(number, near)}
        other = self._telling(window, number, near)
        if other and (other.operation, field) not in self._source.at(other.sentence).has:
            found.add(other)
        return frozenset(found)

    def _telling(self, window: range, number: int, near: int | None) -> Place | None:
        sentence = self._source.at(number)
        own = sentence.operations
        before = _telling(own, range((near or 0) - 1, -1, -1))
        if before is not None:
            return Place(number, before)
        behind = None if near is None else _telling(own, range(near + 1, len(own)))
        if behind is not None:
            start = own[behind].start
            if _PURPOSE.search(sentence.text, max(0, start - _PURPOSE_REACH), start):
                return Place(number, behind)
        for earlier in range(number - 1, window.start - 1, -1):
            theirs = self._source.at(earlier).operations
            last = _telling(theirs, range(len(theirs) - 1, -1, -1))
            if last is not None:
                return Place(earlier, last)
        return None if behind is None else Place(number, behind)


def _telling(operations: Sequence[Operation], numbers: Collection[int]) -> int | None:
    return next((at for at in numbers if operations[at].tells is Tells.WHAT), None)
