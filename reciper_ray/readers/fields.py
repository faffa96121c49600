"""Values of records that may be missing, null, the string "None", or of an unexpected type."""

import re
from typing import Any

from reciper_ray.text import normalise, squeeze

_KINDS = {dict: "an object", list: "an array", str: "a string", type(None): "null"}
_YEAR = re.compile(r"\b(?:1[89]|20)\d{2}\b")


def line(value: Any) -> str:
    """`value` as one line of text; "" unless it is text or a number and not "None"."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    text = squeeze(normalise(str(value)))
    return "" if text == "None" else text


def first_line(record: dict[str, Any], *keys: str) -> str:
    """The first of the fields `keys` that has text, "" for none."""
    return next((text for text in (line(record.get(key)) for key in keys) if text), "")


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def kind(value: Any) -> str:
    """What `value` is, for a person."""
    return _KINDS.get(type(value), "a number or boolean")


def written(value: Any) -> str:
    """All texts in `value`, blank lines between."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return "\n\n".join(filter(None, map(written, value)))
    return value if isinstance(value, str) else ""


def names(value: Any) -> tuple[str, ...]:
    """Authors given as names, as objects with a name or its parts, or as one string."""
    if isinstance(value, str):
        value = re.split(r"\s*;\s*| and ", value)
    found = (_name(author) for author in as_list(value))
    return tuple(filter(None, found))


def _name(author: Any) -> str:
    if not isinstance(author, dict):
        return line(author)
    middle = author.get("middle")
    parts = [
        first_line(author, "first", "given", "first_name", "given_name"),
        " ".join(map(line, middle)) if isinstance(middle, list) else line(middle),
        first_line(author, "last", "family", "last_name", "surname"),
    ]
    return first_line(author, "name", "full_name") or " ".join(filter(None, parts))


def year(value: Any) -> int | None:
    """The year in a number or a date."""
    found = _YEAR.search(line(value))
    return int(found[0]) if found else None
