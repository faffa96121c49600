"""How good extracted recipes are against hand-made ones.

A gold value (temperature, time, atmosphere) counts as found when a step whose span overlaps the
gold evidence states it: unit-equal for quantities, the same words for atmospheres. A step is
right when its span overlaps some gold evidence of its paper.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import median

from reciper_ray import quantity
from reciper_ray.errors import UnreadableInput
from reciper_ray.metrics import Rate, rate
from reciper_ray.readers.latex import strip_math
from reciper_ray.recipe.view import recipe_text
from reciper_ray.text import fold, normalise
from reciper_ray.types import Paper, Recipe, Span, Step

FIELDS = ("temperature", "time", "atmosphere")


@dataclass(frozen=True, slots=True)
class GoldStep:
    """A step as a person wrote it, with a verbatim quote of the paper as evidence."""

    operation: str
    evidence: str
    temperature: str = ""
    time: str = ""
    atmosphere: str = ""


@dataclass(frozen=True, slots=True)
class GoldRecipe:
    """A recipe as a person wrote it."""

    paper_id: str
    material: str
    method: str
    precursors: tuple[str, ...]
    steps: tuple[GoldStep, ...]


@dataclass(frozen=True, slots=True)
class RecipeScores:
    """`recall` of gold values by field and of `all`; `precision` of steps, over papers that have
    gold; the share of `located` evidence; the median length of a recipe's text in characters
    (None without recipes); how many papers have gold and how many of them got a recipe."""

    recall: Mapping[str, Rate]
    precision: Rate
    located: Rate
    median_chars: float | None
    papers: int
    with_recipe: int


def load_gold(path: str | Path) -> list[GoldRecipe]:
    """The recipes in the JSON Lines file `path`: `paper_id, material, method, precursors,
    steps[{operation, temperature, time, atmosphere, evidence}]`.

    Raises `UnreadableInput` naming the line.
    """
    gold = []
    for number, line in enumerate(Path(path).read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            steps = tuple(
                GoldStep(
                    step.get("operation") or "",
                    step["evidence"],
                    *(step.get(field) or "" for field in FIELDS),
                )
                for step in record["steps"]
            )
            gold.append(
                GoldRecipe(
                    record["paper_id"],
                    record.get("material") or "",
                    record.get("method") or "",
                    tuple(record.get("precursors") or ()),
                    steps,
                )
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UnreadableInput(f"line {number} is no gold recipe: {error!r}") from error
    return gold


def score(
    gold: Sequence[GoldRecipe],
    recipes: Mapping[str, Sequence[Recipe]],
    papers: Mapping[str, Paper],
) -> RecipeScores:
    """Scores of `recipes` (by paper id) over the gold whose paper is among `papers`.

    Values of evidence that does not stand in the paper's text count as missed.
    """
    found: dict[str, list[bool]] = {field: [] for field in FIELDS}
    located: list[bool] = []
    right: list[bool] = []
    lengths: list[int] = []
    evidence: dict[str, list[Span]] = {}
    judged = [recipe for recipe in gold if recipe.paper_id in papers]
    for recipe in judged:
        spans = evidence.setdefault(recipe.paper_id, [])
        steps = list(chain.from_iterable(r.steps for r in recipes.get(recipe.paper_id, ())))
        finder = EvidenceFinder(papers[recipe.paper_id].text)
        for step in recipe.steps:
            span = finder.find(step.evidence)
            located.append(span is not None)
            if span:
                spans.append(span)
            near = [s for s in steps if span and s.span.overlaps(span)]
            for field in FIELDS:
                value = getattr(step, field)
                if value:
                    found[field].append(states(near, field, value))
    for paper_id, spans in evidence.items():
        for extracted in recipes.get(paper_id, ()):
            lengths.append(len(recipe_text(extracted)))
            right.extend(any(s.span.overlaps(span) for span in spans) for s in extracted.steps)
    recall = {field: rate(cases) for field, cases in found.items()}
    return RecipeScores(
        recall={**recall, "all": rate(chain.from_iterable(found.values()))},
        precision=rate(right),
        located=rate(located),
        median_chars=median(lengths) if lengths else None,
        papers=len(evidence),
        with_recipe=sum(bool(recipes.get(paper_id)) for paper_id in evidence),
    )


def states(steps: Sequence[Step], field: str, value: str) -> bool:
    """Whether the `field` of `steps` states the gold `value`, each quantity of it."""
    written = [text for step in steps if (text := getattr(step, field))]
    if field == "atmosphere":
        return any(_same_atmosphere(text, value) for text in written)
    stated = list(chain.from_iterable(map(quantity.find, written)))
    wanted = _alike(quantity.find(value), field)
    if not wanted:
        return any(fold(value) in fold(text) or fold(text) in fold(value) for text in written)
    return all(
        any(quantity.contains(have, part) for have in stated)
        for want in wanted
        for part in want.parts()
    )


def _alike(quantities: list[quantity.Quantity], field: str) -> list[quantity.Quantity]:
    """The quantities of the field's dimension; one of them where they say the same twice."""
    unit = "K" if field == "temperature" else "s"
    kept: list[quantity.Quantity] = []
    for q in quantities:
        if q.unit.si == unit and not any(quantity.equal(q, other) for other in kept):
            kept.append(q)
    return kept


# Words that describe an atmosphere without telling which one it is.
_LOOSE = re.compile(r"\b(?:atmospheres?|gas|flow(?:ing)?|a|an|the|in|under|mixture|of|carrier)\b")
_NAMES = {"argon": "ar", "nitrogen": "n2", "oxygen": "o2", "hydrogen": "h2", "helium": "he"}
_WORD = re.compile(r"[a-z0-9.]+")


def _same_atmosphere(text: str, value: str) -> bool:
    """Whether one names everything that the other names: `air` and `stagnant air` are the same."""
    a, b = (
        {_NAMES.get(word, word) for word in _WORD.findall(_LOOSE.sub(" ", fold(side)))}
        for side in (text, value)
    )
    return bool(a and b) and (a <= b or b <= a)


class EvidenceFinder:
    """Finds quotes in a text, whatever their white space, hyphenation, case and LaTeX."""

    def __init__(self, text: str) -> None:
        places = [(c, at) for at, char in enumerate(text) for c in _letters(char)]
        self._letters = "".join(c for c, _ in places)
        self._places = [at for _, at in places]

    def find(self, quote: str) -> Span | None:
        """The first place of `quote`, None if it does not stand in the text."""
        for written in (quote, normalise(strip_math(quote))):
            letters = "".join(map(_letters, written))
            at = self._letters.find(letters) if letters else -1
            if at >= 0:
                return Span(self._places[at], self._places[at + len(letters) - 1] + 1)
        return None


def _letters(char: str) -> str:
    """`char` as it counts in a comparison: dashes, which readers may join words over, do not."""
    return fold(char).strip("-")
