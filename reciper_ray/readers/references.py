"""Lists of references that no heading announces, or whose heading was lost.

A reference is told by how it ends: year, volume and pages in one of the orders that journals use.
Only many such ends in close sequence are certain to be a list; prose never has them.
"""

import re
from collections.abc import Iterator, Sequence

from reciper_ray.readers.source import Block
from reciper_ray.types import Kind, Span

_YEAR = r"(?:19|20)\d\d"
_VOLUME = r"\d{1,4}(?:[–-]\d{1,4})?(?:\s?\(\d{1,4}\))?"
_PAGES = r"[A-Z]?\d{1,7}(?!\d|\.\d)"
_TO = r"\s?[–−‐-]\s?"
_END = re.compile(
    # 2012, 12, 1326–1328 · 2012 12 1326 1328
    rf"\(?{_YEAR}[a-z]?\)?[,;:]?\s{_VOLUME}[,;:]?\s(?:{_PAGES}(?:{_TO}{_PAGES}|\s{_PAGES})?)"
    # 12, 1326–1328 (2012)
    rf"|{_VOLUME}[,:]\s{_PAGES}(?:{_TO}{_PAGES})?[,;]?\s\(?{_YEAR}\)?(?!\d)"
)
_BEHIND = re.compile(
    r"\.?(?:\s(?:doi\s?:?\s?)?10\.\d{4,9}/\S+)?(?:\s\d{7,8}\b)?[.;]?(?:\s\[\w+\]){0,2}"
)
# `12. Li`, `(12) Li`, `[12] Li`, `12 W. Li`, `LiW.`, `Li, W.`
_START = re.compile(
    r"(?<!\S)(?:[\[(]?\d{1,3}[\]).]?\s+(?=[A-Z])|(?=[A-Z][a-z]+[A-Z]{1,3}\.)"
    r"|(?=[A-Z][\w’'-]+,? [A-Z]\.(?:[ -]?[A-Z]\.)*[,;]? ))"
)
_FIRST = re.compile(r"[\[(]?1[\]).]?\s")
_FAR = 600
_ENTRY = 400
_MANY = 6


def without_references(blocks: Sequence[Block]) -> list[Block]:
    """`blocks` with the lists of references cut out of their prose."""
    prose = [block.text if block.kind is Kind.TEXT else "" for block in blocks]
    cuts = runs("\n\n".join(prose))
    if not cuts:
        return list(blocks)
    kept: list[Block] = []
    at = 0
    for block, text in zip(blocks, prose, strict=True):
        if text:
            kept += (block.part(part.start, part.end) for part in _outside(text, at, cuts))
        else:
            kept.append(block)
        at += len(text) + 2
    return kept


def _outside(text: str, offset: int, cuts: Sequence[Span]) -> Iterator[Span]:
    """The parts of `text`, which begins at `offset`, outside of `cuts`."""
    at = 0
    for cut in cuts:
        start, end = cut.start - offset, cut.end - offset
        if start < len(text) and end > 0:
            if text[at : max(start, 0)].strip():
                yield Span(at, max(start, 0))
            at = end
    if text[at:].strip():
        yield Span(at, len(text))


def runs(text: str) -> list[Span]:
    """Where lists of references stand in `text`: at least six ends no more than 600 characters
    apart. A list begins with the first entry whose start can be told."""
    found: list[Span] = []
    held: list[re.Match[str]] = []
    for end in _END.finditer(text):
        if held and end.start() - held[-1].end() > _FAR:
            found += _run(text, held)
            held = []
        held.append(end)
    return found + _run(text, held)


def _run(text: str, ends: Sequence[re.Match[str]]) -> list[Span]:
    """The list that has these ends, from the first whose entry's start is seen."""
    for number, end in enumerate(ends[: len(ends) - _MANY + 1]):
        first = end.start()
        before = ends[number - 1].end() if number else 0
        since = max(text.rfind("\n\n", 0, first) + 2, first - _ENTRY, before)
        starts = [start.start() for start in _START.finditer(text, since, first)]
        if starts:
            numbered = [start for start in starts if _FIRST.match(text, start)]
            behind = _BEHIND.match(text, ends[-1].end())
            until = behind.end() if behind else ends[-1].end()
            return [Span((numbered or starts)[0], until)]
    return []
