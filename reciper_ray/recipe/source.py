"""What the sentences of a paper state of its own procedure: operations and values.

Negated operations and values count for nothing, and neither do sentences about other people's
work or ones that give a reader instructions. Irony, hypotheses and negation across sentences are
not covered.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from reciper_ray import formula, quantity, units
from reciper_ray.quantity import Quantity
from reciper_ray.recipe import conditions, operations
from reciper_ray.recipe.conditions import Field
from reciper_ray.recipe.operations import Operation, Tells
from reciper_ray.recipe.words import stems
from reciper_ray.text import sentences
from reciper_ray.types import Paper, Span

WIDEST = 3  # sentences that one step's span may take in

_ELSE = (
    r"(?:other (?:groups|authors|researchers|workers)|co-?workers"
    r"|previous(?:ly)? (?:reported|studies|work|reports|stud(?:y|ied))|in (?:the )?literature"
    r"|in refs?\.?|their (?:study|work|group)"
    r"|(?:was|were|been|have|has) (?:\w+ly )?reported|(?:studies|researchers|authors) (?:have )?"
    r"(?:show|report|found|prepar|synthes|sinter|calcin)\w*)"
)
_OTHERS = re.compile(rf"\bet\s?al\b|\b(?:reported|proposed|developed) by\s[A-Z]|\b(?i:{_ELSE})\b")
_ADOPTED = re.compile(
    r"\b(?:according to|follow(?:ing|ed)|based on|similar(?:ly)? to|as|adapted|adopted|modified"
    r"|method|procedure|protocol|route|recipe|described|elsewhere|our)\b"
    rf"[^.;]{{0,60}}?(?:\bet\s?al\b|{_ELSE}|\breported\b|\bdescribed\b|\bpublished\b)"
    r"|\b(?:reported|described|published) (?:elsewhere|procedure|method|protocol|previously)",
    re.IGNORECASE,
)
_CONTINUED = re.compile(r"(?:They|Their|These authors|The authors|He|She)\b")
_ADDRESSED = re.compile(
    r"\b(?:ignore|disregard|forget)\s(?:\w+\s){0,2}(?:previous|prior|above|earlier|instruction)"
    r"|\b(?:system prompt|language model|AI assistant|as an AI)\b"
    r"|\b(?:respond|reply|output|return|write)\s(?:\w+\s)?"
    r"(?:with|only|exactly|the following|json)\b"
    r"|\byou (?:must|should|are|will)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[;:,()]|\bbut\b|\bwhereas\b|\bwhile\b|\band then\b")
_DENIAL = re.compile(
    r"(?P<strict>\b(?:not(?! only)|never|neither|nor|cannot|failed to|unlike)\b|n['’]t\b)"
    r"|\b(?:without|no|instead of|rather than|avoid\w*|omit\w*|skip\w*|absence of|lack of)\b",
    re.IGNORECASE,
)
_NEXT_VERB = re.compile(r"\band (?:then |subsequently |finally )?(?:was |were |\w+ed\b)")
_NOUN = re.compile(r"(?:ion|ing|ment|sis)$")
_DENIED_AFTER = re.compile(
    r"(?:(?!\band\b)[^,;:]){0,80}?\b(?:was|were|is|are)\s(?:\w+\s)?"
    r"(?:not|never|avoided|omitted|skipped|unnecessary)\b"
)
_DENIAL_REACH = 7  # words
_DIRECTLY = 2  # characters between a value and the operation right behind it
_OF = re.compile(r"\sof\s(?:\w+\s){0,2}")
_RATE = re.compile(r"[\s-](?:rates?|speeds?)\b")


@dataclass(frozen=True, slots=True)
class Value:
    """A condition at `start:end` of a sentence: a quantity, or an atmosphere's words.

    `field` is None for a quantity that is neither a temperature nor a time.
    """

    field: Field | None
    text: str
    start: int
    end: int
    quantity: Quantity | None = None


class Sentence:
    """A sentence of the paper's own procedure, read when first asked."""

    def __init__(self, text: str, span: Span, heading: str) -> None:
        self.text, self.span, self.heading = text, span, heading

    @cached_property
    def stems(self) -> frozenset[str]:
        return stems(self.text)

    @cached_property
    def operations(self) -> list[Operation]:
        """Those that are not negated."""
        return [
            o
            for o in operations.find(self.text)
            if not denied(self.text, o.start)
            and not _RATE.match(self.text, o.end)
            and not (_NOUN.search(o.text) and _DENIED_AFTER.match(self.text, o.end))
        ]

    @cached_property
    def formulas(self) -> frozenset[str]:
        """Canonical, those that are not negated."""
        found = formula.find(self.text)
        return frozenset(f.canonical for span, f in found if not denied(self.text, span.start))

    @cached_property
    def values(self) -> list[Value]:
        """Those that are not negated, by place."""
        found = [
            Value(_field(q), self.text[q.span.start : q.span.end], q.span.start, q.span.end, q)
            for q in quantity.find(self.text)
        ]
        found += [
            Value(c.field, c.text, c.start, c.end)
            for c in conditions.find(self.text)
            if c.field is Field.ATMOSPHERE
        ]
        found = [value for value in found if not denied(self.text, value.start)]
        return sorted(found, key=lambda value: (value.start, value.end))

    def denies(self, at: int) -> bool:
        """Whether what stands at `at` is negated."""
        return denied(self.text, at)

    def nearest(self, start: int, end: int) -> int | None:
        """The operation that `start:end` stands by: right behind it (`24 h of milling`), else the
        nearest before it, else the first; None without operations."""
        owner = 0 if self.operations else None
        for at, operation in enumerate(self.operations):
            if operation.start <= start:
                owner = at
            elif 0 <= operation.start - end <= _DIRECTLY or _OF.fullmatch(
                self.text, end, max(end, operation.start)
            ):
                return at
        return owner

    @cached_property
    def has(self) -> frozenset[tuple[int, Field | None]]:
        """Which operation has a value of which field standing by it."""
        near = ((self.nearest(v.start, v.end), v.field) for v in self.values)
        return frozenset((at, field) for at, field in near if at is not None)

    @cached_property
    def ambiguous(self) -> frozenset[Field | None]:
        """Of which fields `respectively` deals values out to several operations."""
        telling = sum(o.tells is Tells.WHAT for o in self.operations)
        if telling < 2 or "respectively" not in self.text:
            return frozenset()
        counts: Counter[Field | None] = Counter()
        for value in self.values:
            counts[value.field] += len(value.quantity.values) if value.quantity else 1
        return frozenset(field for field, count in counts.items() if count > 1)


def _field(q: Quantity) -> Field | None:
    if q.unit.si == units.KELVIN.si:
        return Field.TEMPERATURE
    return Field.TIME if q.unit.si == units.SECOND.si else None


def denied(text: str, at: int) -> bool:
    """Whether what stands at `at` of a sentence is negated in its clause."""
    start = 0
    for border in _CLAUSE.finditer(text, 0, at):
        start = border.end()
    for denial in _DENIAL.finditer(text, start, at):
        between = text[denial.end() : at]
        near = len(between.split()) < _DENIAL_REACH
        if near and (denial["strict"] or not _NEXT_VERB.search(text[denial.end() : at + 12])):
            return True
    return False


def is_others(text: str) -> bool:
    """Whether a sentence is about other people's work rather than done after their procedure."""
    return bool(_OTHERS.search(text)) and not _ADOPTED.search(text)


def usable(text: str) -> bool:
    """Whether a sentence may state the paper's own procedure."""
    return not is_others(text) and not _ADDRESSED.search(text)


class Source:
    """The sentences of `paper` in order; those that cannot ground anything are None."""

    def __init__(self, paper: Paper) -> None:
        self.paper = paper
        self.spans = sentences(paper.text)
        self.sentences: list[Sentence | None] = list(self._read())

    def _read(self) -> Iterator[Sentence | None]:
        others = False
        paragraphs = iter(self.paper.paragraphs)
        paragraph = next(paragraphs, None)
        for span in self.spans:
            while paragraph and paragraph.end <= span.start:
                paragraph = next(paragraphs, None)
            text = self.paper.text[span.start : span.end]
            others = is_others(text) or (others and bool(_CONTINUED.match(text)))
            heading = paragraph.heading if paragraph else ""
            refused = others or _ADDRESSED.search(text)
            yield None if refused else Sentence(text, span, heading)

    def windows(self, within: Sequence[Span]) -> Iterator[range]:
        """Runs of up to WIDEST adjacent usable sentences of one section, inside spans `within`."""
        inside = [
            s is not None and any(w.start <= s.span.start < w.end for w in within)
            for s in self.sentences
        ]
        for first in range(len(self.sentences)):
            for end in range(first + 1, min(first + WIDEST, len(self.sentences)) + 1):
                last, begin = self.sentences[end - 1], self.sentences[first]
                if not inside[end - 1] or not last or not begin or last.heading != begin.heading:
                    break
                yield range(first, end)

    def at(self, number: int) -> Sentence:
        """The usable sentence `number`."""
        sentence = self.sentences[number]
        if sentence is None:
            raise ValueError(f"sentence {number} grounds nothing")
        return sentence
