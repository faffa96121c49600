"""The RECIPER authors' released `rag_database.json`: an array of papers with text and recipes.

Any field may be missing, null or the string "None". Recipes come in four shapes and become plain
texts; the entities tagged in paragraphs are left out.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from reciper_ray.errors import UnreadableInput
from reciper_ray.readers.metadata import find_doi
from reciper_ray.readers.source import HEAD, Block, Format, compose, decode, stem
from reciper_ray.text import normalise, squeeze
from reciper_ray.types import Kind, Paper, Rejection

_KNOWN = frozenset(["paper_id", "title", "abstract", "sections", "recipes"])


def _parse(source: str, data: bytes) -> Iterator[Paper | Rejection]:
    try:
        records = json.loads(decode(data))
    except json.JSONDecodeError as error:
        raise UnreadableInput(
            f"broken JSON at line {error.lineno}, column {error.colno}: {error.msg}"
        ) from error
    if not isinstance(records, list):
        raise UnreadableInput(
            f"unknown JSON shape: {_kind(records)} where an array of papers is expected"
        )
    if not records:
        raise UnreadableInput("no papers: the array is empty")
    if not any(isinstance(record, dict) and _KNOWN & record.keys() for record in records):
        raise UnreadableInput(
            f"unknown JSON shape: no entry has any of {', '.join(sorted(_KNOWN))}"
        )
    return (_paper_or_rejection(source, n, record) for n, record in enumerate(records, 1))


_JSON = re.compile(r"\s*(?:\[\s*[\[{\]\"]|\{\s*[\"}])")
FORMAT = Format("rag_database", lambda head: _JSON.match(head) is not None, _parse)


def _paper_or_rejection(source: str, number: int, record: Any) -> Paper | Rejection:
    path = f"{source}#{number}"
    try:
        return _paper(path, number, record)
    except UnreadableInput as error:
        written = json.dumps(record, ensure_ascii=True, sort_keys=True).encode()
        return Rejection(path, "read", str(error), hashlib.sha256(written[:HEAD]).hexdigest())


def _paper(path: str, number: int, record: Any) -> Paper:
    if not isinstance(record, dict):
        raise UnreadableInput(f"the record is {_kind(record)}, not an object")
    metadata = record.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    return compose(
        _line(record.get("paper_id")) or f"{stem(path.rpartition('#')[0])}#{number}",
        path,
        FORMAT.name,
        _line(record.get("title")),
        [
            Block(_line(record.get("abstract")), "Abstract", Kind.ABSTRACT),
            *_blocks(record.get("sections")),
        ],
        doi=find_doi(_line(metadata.get("doi"))),
        recipes=tuple(filter(None, map(_recipe, _list(record.get("recipes"))))),
    )


def _blocks(sections: Any) -> Iterator[Block]:
    for section in _list(sections):
        if isinstance(section, dict):
            heading = _line(section.get("heading"))
            for paragraph in _list(section.get("paragraphs_with_entities")):
                text = paragraph.get("text") if isinstance(paragraph, dict) else paragraph
                yield Block(_line(text), heading)


def _recipe(recipe: Any) -> str:
    """A recipe of any of the four shapes as text, "" for an empty one."""
    if not isinstance(recipe, dict):
        return _line(recipe)
    if "text" in recipe or "recipe" in recipe:
        return _recipe(recipe.get("text")) or _recipe(recipe.get("recipe"))
    parts = [
        _labelled("Material", recipe.get("material_name")),
        _labelled("Method", recipe.get("synthesis_method")),
    ]
    for number, step in enumerate(_list(recipe.get("steps")), 1):
        description = step.get("description") if isinstance(step, dict) else step
        parts.append(_labelled(f"Step {number}", description))
    points = recipe.get("key_points")
    for point in points if isinstance(points, list) else [points]:
        parts.append(_labelled("Key point", point))
    return " ".join(filter(None, parts))


def _labelled(label: str, value: Any) -> str:
    text = _line(value)
    return f"{label}: {text.rstrip('.')}." if text else ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _line(value: Any) -> str:
    """`value` as one line of text; "" unless it is text or a number and not "None"."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    line = squeeze(normalise(str(value)))
    return "" if line == "None" else line


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "an array", str: "a string", type(None): "null"}
    return names.get(type(value), "a number or boolean")
