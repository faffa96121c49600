"""What a model may write about a part of a paper: a schema whose values the part itself states.

Its steps are listed by the sentences with an operation and a condition, each once and in order, a
step's operation and values being that sentence's. So even a small model chooses instead of
inventing or repeating itself, and grounding, which reads by the same recognisers, loses next to
nothing by it. Free words (key points) are left out.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from reciper_ray import formula
from reciper_ray.recipe import methods, substances
from reciper_ray.recipe.conditions import Field
from reciper_ray.recipe.draft import MOST_ITEMS, MOST_RECIPES
from reciper_ray.recipe.prompt import Part
from reciper_ray.recipe.source import Sentence, usable
from reciper_ray.text import sentences
from reciper_ray.types import Paper, Span

_MOST_SENTENCES = 32
_LENGTH = "m"  # a sample's size, seldom a condition
_LONGEST = 80  # characters of one value


def schema(paper: Paper, part: Part) -> dict[str, Any] | None:
    """The schema for `part`, None if no sentence of it can be a step."""
    read = [*_sentences(paper, part)]
    steps = [steps for sentence in read if (steps := _steps(sentence))][:_MOST_SENTENCES]
    if not steps:
        return None
    text = [sentence.text for sentence in read]
    about = [paper.title, *text]
    material = substances.material(paper.title, paper.abstract, " ".join(text), "")
    made = [material, *(f for words in about for f in _formulas(words))]
    route = methods.find([(paper.title, 2), *((words, 1) for words in text)])
    sources = [
        *substances.precursors(text, material),
        *(f for words in text for f in _formulas(words)),
    ]
    recipe = _object(
        ["steps"],
        material=_one_of(made),
        method=_one_of([route]),
        precursors=_some_of(sources),
        steps=_object([], **{str(number): step for number, step in enumerate(steps, 1)}),
    )
    recipes = {"type": "array", "items": recipe, "maxItems": MOST_RECIPES}
    return _object(["recipes"], recipes=recipes)


def _sentences(paper: Paper, part: Part) -> Iterator[Sentence]:
    for span in part.spans:
        whole = paper.text[span.start : span.end]
        for inner in sentences(whole):
            text = whole[inner.start : inner.end]
            if usable(text):
                yield Sentence(text, Span(span.start + inner.start, span.start + inner.end), "")


def _steps(sentence: Sentence) -> dict[str, Any] | None:
    values = sentence.values
    if not sentence.operations or not any(value.field for value in values):
        return None

    def stated(field: Field | None) -> list[str]:
        return [
            value.text
            for value in values
            if value.field is field and not (value.quantity and value.quantity.unit.si == _LENGTH)
        ]

    step = _object(
        ["operation"],
        operation=_one_of(operation.text for operation in sentence.operations),
        materials=_some_of(_formulas(sentence.text)),
        temperature=_one_of(stated(Field.TEMPERATURE)),
        time=_one_of(stated(Field.TIME)),
        atmosphere=_one_of(stated(Field.ATMOSPHERE)),
        conditions=_some_of(stated(None)),
    )
    most = len({operation.text for operation in sentence.operations})
    return {"type": "array", "items": step, "minItems": 1, "maxItems": most}


def _formulas(text: str) -> list[str]:
    return [text[span.start : span.end] for span, _ in formula.find(text)]


def _one_of(values: Iterable[str]) -> dict[str, Any] | None:
    """A choice of `values`, None if there are none."""
    kept = [value for value in dict.fromkeys(values) if value and len(value) <= _LONGEST]
    return {"enum": kept} if kept else None


def _some_of(values: Iterable[str]) -> dict[str, Any] | None:
    one = _one_of(values)
    most = min(MOST_ITEMS, len(one["enum"])) if one else 0
    return {"type": "array", "items": one, "maxItems": most} if one else None


def _object(required: list[str], **properties: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: value for name, value in properties.items() if value},
        "required": required,
        "additionalProperties": False,
    }
