"""Recipes by a language model, grounded in the paper; the extractive ones where it fails.

All parts of all papers of a batch are generated together. What a model writes is parsed, tried
once more where that fails, grounded in the part that it was shown, and merged in the order of the
text. Generating is a `Generator`'s.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reciper_ray import formula
from reciper_ray.generation import Generator, digest
from reciper_ray.recipe import options, prompt
from reciper_ray.recipe.draft import SCHEMA, Draft, UnreadableDraft, parse
from reciper_ray.recipe.extractive import ExtractiveExtractor
from reciper_ray.recipe.ground import ground
from reciper_ray.recipe.prompt import Part
from reciper_ray.recipe.source import Source
from reciper_ray.recipe.words import stems
from reciper_ray.text import fold
from reciper_ray.types import Paper, Recipe, Span, Step

VERSION = 1


@dataclass(frozen=True, slots=True)
class Extraction:
    """The recipes of one paper with what it took to get them.

    `fallback` is why the extractive extractor wrote them, "" if the model did. Counted: model
    outputs by `valid` and `failed` (by reason, after the retry), fields `kept` by name and
    `dropped` by `<field>: <why>`, tokens read and written.
    """

    recipes: tuple[Recipe, ...]
    fallback: str
    valid: int
    failed: Counter[str]
    kept: Counter[str]
    dropped: Counter[str]
    prompt_tokens: int
    tokens: int


@dataclass(slots=True)
class _Job:
    """One part on its way: of which paper, what was written, or why it failed."""

    paper: int
    part: Part
    schema: Mapping[str, Any]
    drafts: list[Draft] | None = None
    error: str = ""
    prompt_tokens: int = 0
    tokens: int = 0


class LlmExtractor:
    """An `Extractor` around a `Generator`.

    Parts have at most `part_tokens` tokens, or as many as the model's context allows for 0. Of a
    paper at most `max_parts` parts are read, all for 0; recipes say what was read. A part whose
    output cannot be read is tried `retries` times more. With `constrain` the model chooses among
    what the part states (see `options`), and is not asked about a part that states no step.
    """

    def __init__(
        self,
        generator: Generator,
        part_tokens: int = 0,
        max_parts: int = 0,
        retries: int = 1,
        constrain: bool = False,
    ) -> None:
        self._generator, self._constrain = generator, constrain
        self._part_tokens, self._max_parts, self._retries = part_tokens, max_parts, retries
        self._extractive = ExtractiveExtractor()
        self.name = fingerprint(generator.name, part_tokens, max_parts, retries, constrain)

    def extract(self, papers: Sequence[Paper]) -> list[tuple[Recipe, ...]]:
        """One row a paper, in order; raises what the generator raises."""
        return [extraction.recipes for extraction in self.run(papers)]

    def run(self, papers: Sequence[Paper]) -> list[Extraction]:
        """As `extract`, with counts."""
        jobs = [
            self._job(number, paper, part)
            for number, paper in enumerate(papers)
            for part in self._parts(paper)
        ]
        waiting = [job for job in jobs if job.drafts is None]
        for attempt in range(1 + self._retries):
            if waiting:
                self._generate(papers, waiting, attempt)
            waiting = [job for job in waiting if job.drafts is None]
        by_paper: list[list[_Job]] = [[] for _ in papers]
        for job in jobs:
            by_paper[job.paper].append(job)
        return [self._extraction(paper, mine) for paper, mine in zip(papers, by_paper, strict=True)]

    def _job(self, number: int, paper: Paper, part: Part) -> _Job:
        if not self._constrain:
            return _Job(number, part, SCHEMA)
        schema = options.schema(paper, part)
        return _Job(number, part, schema or SCHEMA, None if schema else [])

    def _parts(self, paper: Paper) -> list[Part]:
        most = prompt.room(paper, self._generator.room, self._generator.count)
        if self._part_tokens:
            most = min(most, self._part_tokens)
        found = prompt.parts(paper, most, self._generator.count)
        return found[: self._max_parts] if self._max_parts else found

    def _generate(self, papers: Sequence[Paper], jobs: Sequence[_Job], attempt: int) -> None:
        prompts = [prompt.prompt(papers[job.paper], job.part, job.schema) for job in jobs]
        completions = self._generator.generate(prompts, attempt)
        for job, completion in zip(jobs, completions, strict=True):
            job.prompt_tokens += completion.prompt_tokens
            job.tokens += completion.tokens
            job.error = completion.error
            if not job.error:
                try:
                    job.drafts = parse(completion.text)
                except UnreadableDraft as error:
                    job.error = str(error)

    def _extraction(self, paper: Paper, jobs: Sequence[_Job]) -> Extraction:
        source = Source(paper)
        kept: Counter[str] = Counter()
        dropped: Counter[str] = Counter()
        failed = Counter(job.error for job in jobs if job.drafts is None)
        found: list[Recipe] = []
        read: list[Span] = []
        for job in jobs:
            if job.drafts is None:
                continue
            read += job.part.spans
            grounded = ground(source, job.drafts, job.part.spans, self.name)
            found += grounded.recipes
            kept.update(grounded.kept)
            dropped.update(grounded.dropped)
        reasons = [f"part: {why}" for why in failed.elements()] + list((+dropped).elements())
        recipes = tuple(replace(recipe, read=tuple(read)) for recipe in _merged(found))
        fallback = "" if recipes else _reason(jobs, failed)
        if fallback:
            ((*own,),) = self._extractive.extract([paper])
            recipes = tuple(replace(recipe, fallback=fallback) for recipe in own)
        recipes = tuple(
            replace(recipe, dropped=() if number else tuple(sorted(reasons)))
            for number, recipe in enumerate(recipes)
        )
        return Extraction(
            recipes=recipes,
            fallback=fallback,
            valid=sum(job.drafts is not None for job in jobs),
            failed=failed,
            kept=+kept,
            dropped=+dropped,
            prompt_tokens=sum(job.prompt_tokens for job in jobs),
            tokens=sum(job.tokens for job in jobs),
        )


def fingerprint(
    generator: str, part_tokens: int, max_parts: int, retries: int, constrain: bool
) -> str:
    """What recipes depend on besides the paper: model, prompt, parts, this code's versions."""
    options = (VERSION, prompt.VERSION, part_tokens, max_parts, retries, constrain)
    return f"llm-{VERSION}:{generator}:{digest(*options)}"


def _reason(jobs: Sequence[_Job], failed: Counter[str]) -> str:
    """Why a model left a paper without a recipe: the commonest failure, if any part failed."""
    if failed:
        return min(failed, key=lambda why: (-failed[why], why))
    if not any(job.drafts for job in jobs):
        return "no recipe written"
    return "nothing written stands in the paper"


def _merged(recipes: Iterable[Recipe]) -> list[Recipe]:
    """Those of one material as one, steps in the order of the text, each once.

    A part of a paper that does not name what is made belongs to the recipe before it.
    """
    found: list[Recipe] = []
    for recipe in recipes:
        same = (n for n, other in enumerate(found) if _same(other.material, recipe.material))
        at = next(same, len(found) - 1 if not recipe.material else -1)
        if at < 0:
            found.append(recipe)
        else:
            found[at] = _joined(found[at], recipe)
    seen: list[Step] = []
    for at, recipe in enumerate(found):
        steps = sorted(recipe.steps, key=lambda step: (step.span.start, step.span.end))
        own = [step for step in steps if not any(_repeats(step, other) for other in seen)]
        seen += own
        found[at] = replace(recipe, steps=tuple(_once(own)))
    return [recipe for recipe in found if recipe.steps]


def _joined(one: Recipe, other: Recipe) -> Recipe:
    return replace(
        one,
        material=one.material or other.material,
        method=one.method or other.method,
        precursors=tuple(dict.fromkeys(one.precursors + other.precursors)),
        steps=one.steps + other.steps,
        key_points=tuple(dict.fromkeys(one.key_points + other.key_points)),
    )


def _same(one: str, other: str) -> bool:
    a, b = formula.parse(one), formula.parse(other)
    if a and b:
        return a.canonical == b.canonical
    return fold(one) == fold(other) or not one


def _once(steps: Sequence[Step]) -> list[Step]:
    kept: list[Step] = []
    for step in steps:
        if not any(_repeats(step, other) for other in kept):
            kept.append(step)
    return kept


def _repeats(step: Step, other: Step) -> bool:
    """Whether `other` says all that `step` says, of the same place."""
    return (
        step.span.overlaps(other.span)
        and bool(stems(step.operation) & stems(other.operation))
        and all(
            not mine or mine == theirs
            for mine, theirs in (
                (step.temperature, other.temperature),
                (step.time, other.time),
                (step.atmosphere, other.atmosphere),
            )
        )
        and set(step.materials) <= set(other.materials)
        and set(step.conditions) <= set(other.conditions)
    )
