"""Grounding: what of a draft recipe the paper itself states; the rest is dropped and counted.

A step selects its span, at most three adjacent sentences of one section, in which its operation
stands and owns most of what the draft says of it. Values are compared as quantities and
formulas, and written as the source writes them. Whether words that do stand there mean what the
draft means by them is not judged.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reciper_ray import quantity
from reciper_ray.recipe import cues
from reciper_ray.recipe.choose import Choice, Chooser
from reciper_ray.recipe.claims import Claim, claims
from reciper_ray.recipe.conditions import Field
from reciper_ray.recipe.draft import Draft, DraftStep, stated_step
from reciper_ray.recipe.source import Sentence, Source
from reciper_ray.recipe.standing import method, named, standing
from reciper_ray.text import sentences
from reciper_ray.types import Recipe, Span, Step

_NEAR = 2  # sentences on either side of a step that may name what it starts from
_BEGINNING = 1800  # characters that stand in for a missing abstract

_Stand = Callable[[str, Sequence[Sentence]], str]


@dataclass(frozen=True, slots=True)
class Grounded:
    """`recipes` with something left in them; how many fields were `kept` by field name, and
    `dropped` by `<field>: <why>`."""

    recipes: tuple[Recipe, ...]
    kept: Mapping[str, int]
    dropped: Mapping[str, int]


def ground(
    source: Source, drafts: Sequence[Draft], read: Sequence[Span], extractor: str
) -> Grounded:
    """What the spans `read` of the paper state of `drafts`, written from them; linear in the
    paper's length for each step."""
    return _Grounding(source, read, extractor).ground(drafts)


class _Grounding:
    def __init__(self, source: Source, read: Sequence[Span], extractor: str) -> None:
        self._source, self._extractor = source, extractor
        self._chooser = Chooser(source, read)
        self._kept: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()

    def ground(self, drafts: Sequence[Draft]) -> Grounded:
        recipes = [recipe for draft in drafts if (recipe := self._recipe(draft))]
        return Grounded(tuple(recipes), self._kept, self._dropped)

    def _recipe(self, draft: Draft) -> Recipe | None:
        steps: list[Step] = []
        numbers: set[int] = set()
        previous = -1
        for written in draft.steps:
            choice = self._chooser.choose(written, previous)
            if choice is None:
                self._drop_all(written)
                continue
            step, used = self._step(written, choice)
            previous = used.start
            numbers.update(used)
            if step in steps:
                self._dropped["step: said twice"] += 1
            else:
                steps.append(step)
        if not steps:
            if draft.steps:
                self._dropped["recipe: no step left"] += 1
            return None
        near = self._near(numbers)
        about = [*self._head(), *near]
        return Recipe(
            material=self._stands("material", draft.material, about),
            method=self._stands("method", draft.method, about, method),
            precursors=tuple(
                found
                for item in draft.precursors
                if (found := self._stands("precursors", item, near))
            ),
            steps=tuple(steps),
            extractor=self._extractor,
            key_points=tuple(self._points(draft.key_points)),
        )

    def _step(self, written: DraftStep, choice: Choice) -> tuple[Step, range]:
        """The step as its span states it, and the sentences of that span."""
        numbers = [place.sentence for place in choice.group]
        numbers += [number for number, _ in choice.values.values()]
        for item in choice.materials:
            one = [n for n in choice.window if standing(item, [self._source.at(n)])]
            numbers += one[:1] if one and not set(one) & set(numbers) else []
            numbers += [] if one else [choice.window.start, choice.window.stop - 1]
        used = range(min(numbers), max(numbers) + 1)
        text = [self._source.at(number) for number in used]
        for claim in claims(written):
            self._count(claim.name, claim in choice.values, claim)
        materials = tuple(filter(None, (standing(item, text) for item in written.materials)))
        self._kept["materials"] += len(materials)
        for item in written.materials:
            if not standing(item, text):
                self._dropped[f"materials: {self._why_text(item)}"] += 1
        whole = choice.named and standing(written.operation, text) == written.operation
        whole = whole and not quantity.find(written.operation)
        self._count("operation", whole, None)
        operation = written.operation if whole else self._chooser.names(written, choice.group)
        fields = {
            field: "; ".join(
                dict.fromkeys(
                    value.text
                    for claim, (_, value) in choice.values.items()
                    if claim.field is field
                )
            )
            for field in Field
        }
        step = Step(
            operation=operation,
            span=Span(text[0].span.start, text[-1].span.end),
            temperature=fields[Field.TEMPERATURE],
            time=fields[Field.TIME],
            atmosphere=fields[Field.ATMOSPHERE],
            materials=materials,
            conditions=tuple(
                dict.fromkeys(
                    standing(claim.text, text) or value.text
                    for claim, (_, value) in choice.values.items()
                    if claim.field is None
                )
            ),
        )
        return step, used

    def _drop_all(self, written: DraftStep) -> None:
        self._dropped["step: nothing left"] += 1
        self._dropped["operation: not in a span with the rest"] += bool(written.operation)
        for claim in claims(written):
            self._count(claim.name, False, claim)
        for item in written.materials:
            self._dropped[f"materials: {self._why_text(item)}"] += 1

    def _count(self, name: str, kept: bool, claim: Claim | None) -> None:
        if kept:
            self._kept[name] += 1
        else:
            self._dropped[f"{name}: {self._why(claim) if claim else 'other words'}"] += 1

    def _why(self, claim: Claim) -> str:
        anywhere = any(claim.find(self._source.at(number)) for number in self._chooser.inside)
        return "elsewhere in the text" if anywhere else "not in the text"

    def _why_text(self, item: str) -> str:
        anywhere = any(standing(item, [self._source.at(number)]) for number in self._chooser.inside)
        return "elsewhere in the text" if anywhere else "not in the text"

    def _head(self) -> list[Sentence]:
        """Title and abstract, or the beginning of the text in its place."""
        paper = self._source.paper
        beginning = paper.abstract or paper.text[:_BEGINNING]
        spans = sentences(beginning)
        texts = [paper.title, *(beginning[span.start : span.end] for span in spans)]
        return [Sentence(text, Span(0, 0), "") for text in texts if text]

    def _near(self, numbers: Iterable[int]) -> list[Sentence]:
        """The sentences around steps, and those of sections on the procedure."""
        near = {number + away for number in numbers for away in range(-_NEAR, _NEAR + 1)}
        return [
            sentence
            for number in self._chooser.inside
            if (sentence := self._source.at(number)) is not None
            and (number in near or cues.is_procedure(sentence.heading))
        ]

    def _stands(
        self, name: str, written: str, text: Sequence[Sentence], stand: _Stand = named
    ) -> str:
        found = stand(written, text) if written else ""
        if written:
            self._kept[name] += bool(found)
            self._dropped[f"{name}: not in the text"] += not found
        return found

    def _points(self, points: Sequence[str]) -> Iterator[str]:
        """The key points that stand whole in a window, with values that their operation owns."""
        for point in points:
            step = stated_step(point)
            wanted = claims(step)
            choice = self._chooser.choose(step) if wanted else None
            windows = [choice.window] if choice and len(choice.values) == len(wanted) else []
            if not wanted:
                windows = self._chooser.windows
            texts = ([self._source.at(number) for number in window] for window in windows)
            if any(standing(point, text) == point for text in texts):
                self._kept["key_points"] += 1
                yield point
            else:
                self._dropped["key_points: not in the text"] += 1
