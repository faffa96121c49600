"""Drafts: recipes as a language model wrote them, before any of it is checked.

The schema bounds what structured output may be; `parse` also reads what models write without it:
reasoning before the answer, markdown fences, other types and key names, output cut in the middle.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from reciper_ray.recipe import conditions, operations
from reciper_ray.recipe.conditions import Field

MOST_RECIPES, MOST_STEPS, MOST_ITEMS, MOST_POINTS = 4, 24, 12, 6
_NAME_CHARS, _VALUE_CHARS, _POINT_CHARS = 120, 80, 240


@dataclass(frozen=True, slots=True)
class DraftStep:
    """One step as written; `conditions` are whatever else it states."""

    operation: str = ""
    materials: tuple[str, ...] = ()
    temperature: str = ""
    time: str = ""
    atmosphere: str = ""
    conditions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """One recipe as written."""

    material: str = ""
    method: str = ""
    precursors: tuple[str, ...] = ()
    steps: tuple[DraftStep, ...] = ()
    key_points: tuple[str, ...] = ()


def _string(most: int) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": most}


def _array(items: Mapping[str, Any], most: int) -> dict[str, Any]:
    return {"type": "array", "items": items, "maxItems": most}


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


# What `parse` reads without any repair. What a paper does not state is left out, which is shorter
# than an empty value and does not invite filling it.
SCHEMA: dict[str, Any] = _object(
    ["recipes"],
    recipes=_array(
        _object(
            ["steps"],
            material=_string(_NAME_CHARS),
            method=_string(_NAME_CHARS),
            precursors=_array(_string(_NAME_CHARS), MOST_ITEMS),
            steps=_array(
                _object(
                    ["operation"],
                    operation=_string(_VALUE_CHARS),
                    materials=_array(_string(_NAME_CHARS), MOST_ITEMS),
                    temperature=_string(_VALUE_CHARS),
                    time=_string(_VALUE_CHARS),
                    atmosphere=_string(_VALUE_CHARS),
                    conditions=_array(_string(_VALUE_CHARS), MOST_ITEMS),
                ),
                MOST_STEPS,
            ),
            key_points=_array(_string(_POINT_CHARS), MOST_POINTS),
        ),
        MOST_RECIPES,
    ),
)


class UnreadableDraft(ValueError):
    """No recipe can be read from what a model wrote; the message is the reason, for counting."""


def parse(text: str) -> list[Draft]:
    """The recipes in a model's output, possibly none: it may say that there is no procedure.

    Raises `UnreadableDraft` if there is no JSON, or none that is a recipe.
    """
    answer = without_reasoning(text)
    values = list(_json_values(answer))
    if not values:
        raise UnreadableDraft("unfinished JSON" if "{" in answer else "no JSON")
    found = [list(_recipes(value)) for value in values]
    if not any(found) and not any(_is_empty(value) for value in values):
        raise UnreadableDraft("JSON of something else")
    return [_draft(record) for records in found for record in records]


def stated_step(text: str) -> DraftStep:
    """A step told as a sentence: its operations by name, its conditions in their fields."""
    stated = conditions.find(text)
    values = {
        field: "; ".join(c.text for c in stated if c.field is field and not c.loose)
        for field in Field
    }
    # An order (`Stir for 3 h`) reads like an infinitive.
    named = operations.find(text) or operations.find(f"to {text[:1].lower()}{text[1:]}")
    return DraftStep(
        operation=", ".join(operation.text for operation in named) or _DETAIL.split(text, 1)[0],
        temperature=values[Field.TEMPERATURE],
        time=values[Field.TIME],
        atmosphere=values[Field.ATMOSPHERE],
    )


def without_reasoning(text: str) -> str:
    """`text` after a reasoning model's thinking; "" if the thinking never ends."""
    _, closed, answer = text.rpartition("</think>")
    if closed:
        return answer
    return text.partition("<think>")[0]


def _json_values(text: str) -> Iterator[Any]:
    """The outermost JSON objects and arrays in `text`; one that is cut off as far as it goes."""
    decoder = json.JSONDecoder(strict=False)
    at = 0
    while match := _OPENING.search(text, at):
        try:
            value, at = decoder.raw_decode(text, match.start())
            yield value
        except (ValueError, RecursionError):
            at = match.end()
            completed = _completed(text[match.start() :])
            if completed is not None:
                yield completed
                return


_DETAIL = re.compile(r"\s+(?:at|for|in|under|with|into|to)\s|\s*[,;:(]")
_OPENING = re.compile(r"\{|\[(?=\s*\{)")
_DEEPEST = 12


def _completed(text: str) -> Any:
    """The value that `text` begins, cut after its last whole member and closed; None if there is
    no whole member, or if it is not unfinished but no JSON."""
    closers: list[str] = []
    safe: list[tuple[int, str]] = []
    quoted = escaped = False
    for at, char in enumerate(text):
        if quoted:
            escaped, quoted = char == "\\" and not escaped, char != '"' or escaped
        elif char == '"':
            quoted = True
        elif char in "{[":
            closers.append("}" if char == "{" else "]")
            if len(closers) > _DEEPEST:
                return None
        elif char in "}]":
            if not closers or closers.pop() != char or not closers:
                return None
            safe.append((at + 1, "".join(reversed(closers))))
        elif char == ",":
            safe.append((at, "".join(reversed(closers))))
    for end, closing in reversed(safe[-3:]):
        try:
            return json.loads(text[:end] + closing, strict=False)
        except ValueError:
            continue
    return None


_RECIPE_KEYS = (
    "steps", "procedure", "material", "material_name", "target", "product", "precursors",
    "synthesis_method", "synthesis_steps",
)  # fmt: skip
_LISTS = ("recipes", "recipe", "data", "result", "results", "output", "answer")


def _recipes(value: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for item in value:
            yield from _recipes(item, depth + 1)
    elif isinstance(value, dict):
        record = {str(key).lower().replace(" ", "_"): item for key, item in value.items()}
        inner = [record[name] for name in _LISTS if isinstance(record.get(name), list | dict)]
        if inner:
            yield from _recipes(inner, depth + 1)
        elif any(key in record for key in _RECIPE_KEYS):
            yield record


def _is_empty(value: Any) -> bool:
    """Whether a model says in so many words that it found no recipe."""
    return value in ([], {}, [{}]) or (
        isinstance(value, dict)
        and any(value.get(name) in ([], {}, None) for name in _LISTS if name in value)
    )


def _draft(record: Mapping[str, Any]) -> Draft:
    steps = _first(record, "steps", "synthesis_steps", "procedure", "process", "operations")
    steps = list(steps.values()) if isinstance(steps, dict) else steps
    steps = steps if isinstance(steps, list) else [steps] if steps else []
    return Draft(
        material=_text(_first(record, "material", "material_name", "target", "product")),
        method=_text(_first(record, "method", "synthesis_method", "route")),
        precursors=_texts(
            _first(record, "precursors", "precursor", "starting_materials", "raw_materials")
        ),
        steps=tuple(step for item in steps for step in _steps(item)),
        key_points=_texts(_first(record, "key_points", "keypoints", "notes"), split=False),
    )


def _steps(item: Any) -> Iterator[DraftStep]:
    if isinstance(item, list):
        for inner in item:
            yield from _steps(inner)
        return
    if not isinstance(item, dict):
        if text := _text(item):
            yield stated_step(text)
        return
    record = {str(key).lower().replace(" ", "_"): value for key, value in item.items()}
    operation = _text(_first(record, "operation", "action", "process", "step", "name", "type"))
    if not operation or operation.isdigit():
        if told := _text(_first(record, "description", "text", "details")):
            yield stated_step(told)
        return
    yield DraftStep(
        operation=operation,
        materials=_texts(_first(record, "materials", "material", "ingredients", "inputs")),
        temperature=_text(_first(record, "temperature", "temp", "temperatures")),
        time=_text(_first(record, "time", "duration", "times")),
        atmosphere=_text(_first(record, "atmosphere", "environment", "gas", "medium")),
        conditions=_texts(_first(record, "conditions", "other_conditions", "condition", "notes")),
    )


def _first(record: Mapping[str, Any], *names: str) -> Any:
    return next((record[name] for name in names if record.get(name)), None)


_NOTHING = re.compile(
    r"(?:n/?a|none|null|nil|unknown|not (?:specified|mentioned|reported|given|stated|available"
    r"|applicable|provided)|unspecified|-+|string|\.\.\.)\.?",
    re.IGNORECASE,
)
_SPACES = re.compile(r"\s+")
_SEPARATOR = re.compile(r"\s*[,;\n]\s*(?![^()\[\]]*[)\]])|\s+and\s+")
_BULLET = re.compile(r"^(?:[-*•]|\d{1,2}[.)])\s+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def _text(value: Any) -> str:
    """`value` as one line: an amount with its unit, a list joined; "" where it says nothing."""
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, dict):
        parts = [_text(value.get(name)) for name in ("name", "formula", "value", "unit", "units")]
        return " ".join(part for part in parts if part) or "; ".join(
            text for item in value.values() if (text := _text(item))
        )
    if isinstance(value, list | tuple):
        return "; ".join(text for item in value if (text := _text(item)))
    if isinstance(value, float):
        value = f"{value:g}"
    text = _SPACES.sub(" ", _CONTROL.sub(" ", str(value))).strip(" \"'`*")
    text = _BULLET.sub("", text)
    return "" if _NOTHING.fullmatch(text) else text


def _texts(value: Any, split: bool = True) -> tuple[str, ...]:
    """`value` as items, each once: of a list, or between the commas of a text."""
    if isinstance(value, dict) and not {"name", "formula", "value"} & value.keys():
        value = [f"{key} {_text(item)}" for key, item in value.items() if _text(item)]
    if isinstance(value, str):
        items: list[Any] = list(_SEPARATOR.split(value)) if split else [value]
    else:
        items = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(text for item in items if (text := _text(item))))
