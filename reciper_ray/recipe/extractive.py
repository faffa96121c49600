"""Recipes without a language model: the sentences that state steps of the paper's own procedure.

A sentence with an operation and a condition is a candidate; cues of wording, place and company
decide. Its conditions go to the operations they stand by, so one sentence may give several steps,
all with that sentence as their span. Conditions that only a table or figure holds, and steps
without any condition, are not covered.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from reciper_ray.recipe import conditions, cues, methods, operations, substances
from reciper_ray.recipe.conditions import Condition, Field
from reciper_ray.recipe.operations import Operation, Tells
from reciper_ray.text import sentences
from reciper_ray.types import Paper, Recipe, Span, Step

VERSION = 1

_LEAST_SCORE = -1.2  # see `cues`; a lower one trades precision for recall
_NEIGHBOURHOOD = 3  # sentences on either side
_MOST_SENTENCES = 16
_LONGEST = 2000  # characters; a longer sentence is a table or a list
_BEGINNING = 1800  # characters that stand in for a missing abstract
_DIRECTLY = 2  # characters between a condition and the operation right behind it
_CLOSE = 25  # characters between two operations named together
_BREAK = re.compile(r"[.;:]")
_OBJECT_REACH = 70
_OBJECT = re.compile(
    r"\b(?P<object>(?:(?!(?i:the|an?|these|this|all|each|both|such|some|obtained|result\w+|of|and"
    r"|then)\s)[\w.()/−–+-]+\s){0,2}(?:powders?|pellets?|solutions?|mixtures?|slurry|slurries|inks?"
    r"|pastes?|gels?|precursors?|suspensions?|films?|ingots?|alloys?|samples?|specimens?"
    r"|substrates?|membranes?|electrodes?|layers?|disks?|discs?|tapes?|precipitates?|cells?"
    r"|products?|nanofib(?:er|re)s|electrolytes?|cathodes?|anodes?|steels?|sheets?|plates?|bars?"
    r"|wafers?|fib(?:er|re)s|composites?|coatings?))\s(?:\w+\s)?(?:was|were|is|are)\s"
    r"(?:\w+ly\s|then\s|first\s|further\s|subsequently\s){0,2}$"
)
_MAY_STATE = re.compile(
    r"[0-9]|[Tt]emperature|night|hour|minute|vacu|\b[Aa]ir\b|[Aa]rgon|[Nn]itrogen|atmosph|inert"
)


@dataclass(frozen=True, slots=True)
class _Candidate:
    index: int
    text: str
    span: Span
    conditions: list[Condition]
    operations: list[Operation]


class ExtractiveExtractor:
    """An `Extractor` that selects and reads sentences; deterministic, needs no model."""

    name = f"extractive-{VERSION}"

    def extract(self, papers: Sequence[Paper]) -> list[tuple[Recipe, ...]]:
        """One row a paper: its recipe, or none where no sentence states a step."""
        return [self._extract(paper) for paper in papers]

    def _extract(self, paper: Paper) -> tuple[Recipe, ...]:
        spans = sentences(paper.text)
        chosen = _choose(paper, spans)
        if not chosen:
            return ()
        steps = [step for candidate in chosen for step in _steps(candidate)]
        near = sorted({c.index + away for c in chosen for away in (-2, -1, 0, 1)})
        procedure = [_text(paper, spans[i]) for i in near if 0 <= i < len(spans)]
        beginning = paper.abstract or paper.text[:_BEGINNING]
        material = substances.material(paper.title, beginning, " ".join(procedure), paper.text)
        weighted = [(paper.title, 4), (beginning, 2), *((text, 1) for text in procedure)]
        return (
            Recipe(
                material=material,
                method=methods.find(weighted),
                precursors=substances.precursors(procedure, material),
                steps=tuple(steps),
                extractor=self.name,
            ),
        )


def _text(paper: Paper, span: Span) -> str:
    return paper.text[span.start : span.end]


def _choose(paper: Paper, spans: Sequence[Span]) -> list[_Candidate]:
    """The sentences that state steps, in order; the best where there are too many."""
    read = (_candidate(i, _text(paper, span), span) for i, span in enumerate(spans))
    candidates = [candidate for candidate in read if candidate]
    indices = {candidate.index for candidate in candidates}
    scored: list[tuple[float, _Candidate]] = []
    has_procedure = any(map(cues.is_procedure, {p.heading for p in paper.paragraphs}))
    paragraphs = iter(paper.paragraphs)
    paragraph = next(paragraphs, None)
    for candidate in candidates:
        while paragraph and paragraph.end <= candidate.span.start:
            paragraph = next(paragraphs, None)
        neighbours = sum(
            candidate.index + away in indices
            for away in range(-_NEIGHBOURHOOD, _NEIGHBOURHOOD + 1)
            if away
        )
        score = _stated(candidate) + cues.company(neighbours)
        if paragraph:
            score += cues.place(paragraph.heading, paragraph.kind, has_procedure)
        if score > _LEAST_SCORE:
            scored.append((score, candidate))
    scored.sort(key=lambda item: (-item[0], item[1].index))
    return sorted((candidate for _, candidate in scored[:_MOST_SENTENCES]), key=lambda c: c.index)


def _candidate(index: int, text: str, span: Span) -> _Candidate | None:
    if len(text) > _LONGEST or not _MAY_STATE.search(text):
        return None
    stated = conditions.find(text)
    if all(condition.loose for condition in stated):
        return None
    named = operations.find(text)
    if not named:
        return None
    # A loose condition inside an operation's name (oil quenching) is that name's.
    stated = [c for c in stated if not c.loose or not any(_overlap(c, o) for o in named)]
    return _Candidate(index, text, span, stated, named)


def _overlap(condition: Condition, operation: Operation) -> bool:
    return condition.start < operation.end and operation.start < condition.end


def _stated(candidate: _Candidate) -> float:
    fields = {condition.field for condition in candidate.conditions if not condition.loose}
    return cues.wording(candidate.text) + cues.stating(
        sum(operation.tells > Tells.LITTLE for operation in candidate.operations),
        Field.TEMPERATURE in fields,
        Field.TIME in fields,
    )


def _steps(candidate: _Candidate) -> list[Step]:
    """The operations of a sentence that have conditions, each with those that stand by it."""
    stated: dict[int, list[Condition]] = {}
    for condition in sorted(candidate.conditions, key=lambda condition: condition.loose):
        owner = _owner(condition, candidate)
        if condition.loose and owner not in stated:
            owner = max((o for o in stated if o < owner), default=min(stated))
        stated.setdefault(owner, []).append(condition)
    steps = []
    first = 0
    for last in sorted(stated):
        values = {
            field: "; ".join(dict.fromkeys(c.text for c in stated[last] if c.field is field))
            for field in Field
        }
        steps.append(
            Step(
                operation=_named(candidate, first, last),
                span=candidate.span,
                temperature=values[Field.TEMPERATURE],
                time=values[Field.TIME],
                atmosphere=values[Field.ATMOSPHERE],
            )
        )
        first = last + 1
    return steps


def _owner(condition: Condition, candidate: _Candidate) -> int:
    """The operation that `condition` belongs to: the one it directly precedes (`a 24 h milling`),
    else the nearest before it, else the first."""
    owner = 0
    for at, operation in enumerate(candidate.operations):
        if operation.start < condition.start:
            owner = at
        elif 0 <= operation.start - condition.end <= _DIRECTLY:
            return at
    return owner


def _named(candidate: _Candidate, first: int, last: int) -> str:
    """The operation `last` by name, with the one just before it (`pressed and sintered`) down to
    `first`, and with what is worked on where the text says so."""
    run = candidate.operations[last : last + 1]
    if last > first:
        before = candidate.operations[last - 1]
        gap = candidate.text[before.end : run[0].start]
        if len(gap) <= _CLOSE and not _BREAK.search(gap):
            run.insert(0, before)
    telling = [operation for operation in run if operation.tells is Tells.WHAT] or run[-1:]
    names = list(dict.fromkeys(operation.text.lower() for operation in telling))
    worked = _object(candidate.text, telling[0])
    return f"{worked} {', '.join(names)}" if worked else ", ".join(names)


def _object(text: str, operation: Operation) -> str:
    """What `operation` works on: the noun phrase before its `was` or `were`."""
    match = _OBJECT.search(text, max(0, operation.start - _OBJECT_REACH), operation.start)
    return match["object"] if match else ""
