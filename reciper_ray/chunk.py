"""Chunking: a paper's paragraphs to passages that fit the encoder.

Neighbouring paragraphs of the same heading and kind are packed together while they fit; a longer
one is split between sentences, a table between rows. Nothing overlaps and nothing is lost.
Recipe passages are not made here.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b

from reciper_ray.provenance import originals_of, pages_of
from reciper_ray.text import sentences
from reciper_ray.types import Kind, Paper, Paragraph, Passage, Span, View

_WORD = re.compile(r"\S+")
_ROW = re.compile(r"\S(?:[^\n]*\S)?")


@dataclass(frozen=True, slots=True)
class Limit:
    """What a passage may hold: `max_chars` characters and `max_tokens` of the encoder's tokens.

    `count_tokens(text)` counts without special tokens; `max_tokens` leaves room for those and
    for whatever is put before the passage. It is called once a sentence, and its counts are added
    up; a tokenizer that splits at white space makes the sum exact.
    """

    max_chars: int
    max_tokens: int
    count_tokens: Callable[[str], int]

    def __post_init__(self) -> None:
        if self.max_chars < 1 or self.max_tokens < 1:
            raise ValueError(
                f"a passage must hold something: max_chars {self.max_chars}, "
                f"max_tokens {self.max_tokens}"
            )


def passage_id(paper_id: str, view: View, content: str, occurrence: int) -> str:
    """The id of the passage of `paper_id` with this `content`, the same in every build.

    `occurrence` counts equal contents of one view of the paper from 0.
    """
    written = content if occurrence == 0 else f"{content}\0{occurrence}"
    digest = blake2b(written.encode(), digest_size=6).hexdigest()
    return f"{paper_id}:{view[0]}:{digest}"


def chunk(paper: Paper, limit: Limit) -> list[Passage]:
    """The paragraph passages of `paper` in reading order.

    Each has one span, `text == support == paper.text[span]`, within `limit`. A passage ends
    inside a sentence only where the sentence alone is over the limit (then between words, and
    inside a word only where the word alone is).
    """
    passages: list[Passage] = []
    seen: dict[str, int] = {}
    for heading, kind, span in _packed(paper, limit):
        text = paper.text[span.start : span.end]
        content = f"{heading}\n{text}"
        occurrence = seen.get(content, 0)
        seen[content] = occurrence + 1
        page, last_page = pages_of(paper, (span,))
        passages.append(
            Passage(
                passage_id=passage_id(paper.paper_id, View.PARAGRAPH, content, occurrence),
                paper_id=paper.paper_id,
                view=View.PARAGRAPH,
                ordinal=len(passages),
                title=paper.title,
                heading=heading,
                text=text,
                support=text,
                spans=(span,),
                kind=kind,
                year=paper.year,
                originals=originals_of(paper, (span,)),
                page=page,
                last_page=last_page,
            )
        )
    return passages


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence or a table row, with what it weighs."""

    start: int
    end: int
    tokens: int


def _packed(paper: Paper, limit: Limit) -> Iterator[tuple[str, Kind, Span]]:
    """The spans of passages: whole paragraphs together while they fit, a longer one in parts."""
    held: list[_Unit] = []
    place = ("", Kind.TEXT)
    for paragraph in paper.paragraphs:
        units = _units(paper.text, paragraph, limit)
        here = (paragraph.heading, paragraph.kind)
        if held and (here != place or not _fits([*held, *units], limit)):
            yield from ((*place, span) for span in _parts(held, limit))
            held = []
        place = here
        held += units
    yield from ((*place, span) for span in _parts(held, limit))


def _units(text: str, paragraph: Paragraph, limit: Limit) -> list[_Unit]:
    """The paragraph's sentences or rows, those over the limit cut between words."""
    body = text[paragraph.start : paragraph.end]
    split = _rows if paragraph.kind is Kind.TABLE else sentences
    units: list[_Unit] = []
    for span in split(body):
        start, end = paragraph.start + span.start, paragraph.start + span.end
        unit = _Unit(start, end, limit.count_tokens(text[start:end]))
        units += [unit] if _fits([unit], limit) else _cut(text, unit, limit)
    return units


def _rows(text: str) -> list[Span]:
    return [Span(row.start(), row.end()) for row in _ROW.finditer(text)]


def _cut(text: str, unit: _Unit, limit: Limit) -> Iterator[_Unit]:
    """A unit over the limit as units within it: runs of words, and pieces of too long a word."""
    words: list[_Unit] = []
    for match in _WORD.finditer(text, unit.start, unit.end):
        word = _Unit(match.start(), match.end(), limit.count_tokens(match[0]))
        words += [word] if _fits([word], limit) else _characters(text, word, limit)
    for span in _parts(words, limit):
        yield _Unit(span.start, span.end, limit.count_tokens(text[span.start : span.end]))


def _characters(text: str, word: _Unit, limit: Limit) -> Iterator[_Unit]:
    """A word over the limit in pieces within it; a single character is never over."""
    for start in range(word.start, word.end, limit.max_chars):
        yield from _halved(text, start, min(start + limit.max_chars, word.end), limit)


def _halved(text: str, start: int, end: int, limit: Limit) -> Iterator[_Unit]:
    piece = _Unit(start, end, limit.count_tokens(text[start:end]))
    if end - start == 1 or _fits([piece], limit):
        yield piece
    else:
        middle = (start + end) // 2
        yield from _halved(text, start, middle, limit)
        yield from _halved(text, middle, end, limit)


def _parts(units: list[_Unit], limit: Limit) -> Iterator[Span]:
    """`units` packed in order, each part as full as the limit allows."""
    part: list[_Unit] = []
    for unit in units:
        if part and not _fits([*part, unit], limit):
            yield Span(part[0].start, part[-1].end)
            part = []
        part.append(unit)
    if part:
        yield Span(part[0].start, part[-1].end)


def _fits(units: list[_Unit], limit: Limit) -> bool:
    chars = units[-1].end - units[0].start
    return chars <= limit.max_chars and sum(u.tokens for u in units) <= limit.max_tokens
