"""Records of the RECIPER authors' released `rag_database.json`: papers with text and recipes.

Any field may be missing, null or the string "None". Recipes come in four shapes and become plain
texts; the entities tagged in paragraphs are left out.
"""

from collections.abc import Iterator
from typing import Any

from reciper_ray.readers.fields import as_dict, as_list, line, written
from reciper_ray.readers.metadata import find_doi
from reciper_ray.readers.source import Block, compose
from reciper_ray.types import Kind, Paper

FORMAT = "rag_database"


def matches(record: dict[str, Any]) -> bool:
    """Whether the record has the authors' shape: recipes, or paragraphs with entities."""
    return "recipes" in record or any(
        "paragraphs_with_entities" in as_dict(section)
        for section in as_list(record.get("sections"))
    )


def paper(path: str, default_id: str, record: dict[str, Any]) -> Paper:
    """The paper of one record."""
    metadata = as_dict(record.get("metadata"))
    return compose(
        line(record.get("paper_id")) or default_id,
        path,
        FORMAT,
        line(record.get("title")),
        [
            Block(line(record.get("abstract")), "Abstract", Kind.ABSTRACT),
            *_blocks(record.get("sections")),
        ],
        written(record),
        doi=find_doi(line(metadata.get("doi"))),
        recipes=tuple(filter(None, map(recipe_text, as_list(record.get("recipes"))))),
    )


def _blocks(sections: Any) -> Iterator[Block]:
    for section in as_list(sections):
        if isinstance(section, dict):
            heading = line(section.get("heading"))
            for paragraph in as_list(section.get("paragraphs_with_entities")):
                text = paragraph.get("text") if isinstance(paragraph, dict) else paragraph
                yield Block(line(text), heading)


def recipe_text(recipe: Any) -> str:
    """A recipe of any of the four shapes as text, "" for an empty one."""
    if not isinstance(recipe, dict):
        return line(recipe)
    if "text" in recipe or "recipe" in recipe:
        return recipe_text(recipe.get("text")) or recipe_text(recipe.get("recipe"))
    parts = [
        _labelled("Material", recipe.get("material_name")),
        _labelled("Method", recipe.get("synthesis_method")),
    ]
    for number, step in enumerate(as_list(recipe.get("steps")), 1):
        description = step.get("description") if isinstance(step, dict) else step
        parts.append(_labelled(f"Step {number}", description))
    points = recipe.get("key_points")
    for point in points if isinstance(points, list) else [points]:
        parts.append(_labelled("Key point", point))
    return " ".join(filter(None, parts))


def _labelled(label: str, value: Any) -> str:
    text = line(value)
    return f"{label}: {text.rstrip('.')}." if text else ""
