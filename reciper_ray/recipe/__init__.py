"""Recipes: extracted from a paper's text, rendered as passages of the recipe view."""

from collections.abc import Sequence
from typing import Protocol

from reciper_ray.recipe.extractive import ExtractiveExtractor
from reciper_ray.types import Paper, Recipe

__all__ = ["ExtractiveExtractor", "Extractor"]


class Extractor(Protocol):
    """Writes the recipes of papers.

    `name` is the fingerprint of what writes them (backend, version, model): recipes under the
    same name need not be written again.
    """

    @property
    def name(self) -> str: ...

    def extract(self, papers: Sequence[Paper]) -> list[tuple[Recipe, ...]]:
        """One row a paper, in order; an empty row for a paper without a procedure."""
        ...
