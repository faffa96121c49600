"""Plain text to a paper: one sentence a line, or one unbroken line out of a PDF.

There is no markup, so title, sections and the reference list are recognised by their looks, and
only where these are clear. Words that a line break hyphenated are joined where the rest of the
text shows that it is one word. Tables stay as the extraction left them.
"""

import re
from collections.abc import Iterator

from reciper_ray.errors import UnreadableInput
from reciper_ray.readers import xml
from reciper_ray.readers.hyphens import join_hyphenated
from reciper_ray.readers.latex import strip_math
from reciper_ray.readers.layout import Heading, lay_out
from reciper_ray.readers.metadata import find_arxiv_id, find_doi, find_licence, find_year
from reciper_ray.readers.source import Block, Format, compose, decode, stem
from reciper_ray.readers.title import split_title
from reciper_ray.text import normalise, squeeze
from reciper_ray.types import Paper

_BREAK = re.compile(r"\n[^\S\n]*\n\s*|(?<=\S)[^\S\n]{3,}(?=\S)")
_NAMES = (
    r"Abstract|Introduction|Experimental(?: (?:Section|Procedures?|Methods?|Details))?"
    r"|Materials and Methods|Methods(?: and Materials)?|Results(?: and Discussion)?|Discussion"
    r"|Conclusions?(?: and Outlook)?|Acknowledge?ments?|Author Contributions"
    r"|Conflicts? of Interest|Supplementary (?:Materials?|Information)"
)
_NUMBER = r"(?:■\s*|(?:\d{1,2}\.?|[IVX]{1,4}\.)\s*)?"
_HEADING_ALONE = re.compile(
    rf"{_NUMBER}(?:{_NAMES})\s*[:.]?"
    r"|(?:■\s*|\d{1,2}(?:\.\d{1,2}){0,3}\.?\s*|[IVX]{1,4}\.\s*)(?=[A-Z])[^.;=]{3,90}",
    re.IGNORECASE,
)
_HEADING_INSIDE = re.compile(
    rf"(?:^|(?<=[.!?)\]] )|(?<= )(?=\d{{1,2}}\. )){_NUMBER}"
    rf"(?:{_NAMES}|ABSTRACT|INTRODUCTION|METHODS|RESULTS|DISCUSSION|CONCLUSIONS?)"
    r"(?=:? +[A-Z0-9(“]|:?$):?"
)
_OF_A_FLOAT = re.compile(r"(?:Fig(?:ure|s?\.)|Table|Scheme) ?$")
_REFERENCES = re.compile(
    r"\s(?:■\s*)?(?:References|REFERENCES|Bibliography)\s+[\[(]?1[\].)\s]"
    r"|(?:\n|\s{2}|[.!?)\]] )(?:References|REFERENCES|Bibliography)(?:\s*\n|\s{2}|\s+(?=[A-Z]))"
)
_TABLE_LINES = 20
_FLOATS = re.compile(r"(?<=\s)(?:Figure|Fig\.|Table|Scheme) 1\b")
_HEAD, _STAMP, _TAIL = 6000, 1000, 3000


def _parse(source: str, data: bytes) -> Iterator[Paper]:
    written = decode(data)
    if _is_table(written):
        raise UnreadableInput("a table of tab-separated values, not a paper")
    text = join_hyphenated(strip_math(normalise(written)))
    title, body = split_title(text)
    body, floats = _without_references(body if body.strip() else text)
    elements = [element for part in _BREAK.split(body) for element in _elements(squeeze(part))]
    if floats:
        elements += [Heading("Figures and tables", 1), Block(squeeze(floats))]
    paper = compose(
        stem(source),
        source,
        FORMAT.name,
        title,
        lay_out(elements, weak_breaks=True),
        written,
        year=find_year(text),
        doi=find_doi(text[:_HEAD]),
        arxiv_id=find_arxiv_id(text[:_STAMP]),
        licence=find_licence(text[:_HEAD] + text[-_TAIL:]),
    )
    return iter([paper])


def _is_table(text: str) -> bool:
    """Whether all of the first lines have the same number of tabs."""
    tabs = [line.count("\t") for line in text.strip().splitlines()[:_TABLE_LINES]]
    return len(tabs) >= 3 and len(set(tabs)) == 1 and tabs[0] > 0


FORMAT = Format("plain", lambda head: not xml.is_document(head), _parse)


def _without_references(body: str) -> tuple[str, str]:
    """`body` up to its reference list, and the captions and tables behind that.

    The list counts as one only where it has a heading, in the second half.
    """
    headings = list(_REFERENCES.finditer(body, len(body) // 2))
    if not headings:
        return body, ""
    heading = headings[-1]
    floats = _FLOATS.search(body, heading.end())
    return body[: heading.start() + 1], body[floats.start() :] if floats else ""


def _elements(segment: str) -> Iterator[Heading | Block]:
    """The headings and blocks in a stretch of text between two breaks."""
    if _HEADING_ALONE.fullmatch(segment):
        yield _heading(segment)
        return
    at = 0
    for match in _HEADING_INSIDE.finditer(segment):
        if not _OF_A_FLOAT.search(segment[max(0, match.start() - 8) : match.start()]):
            yield Block(segment[at : match.start()].strip())
            yield _heading(match[0])
            at = match.end()
    yield Block(segment[at:].strip())


def _heading(text: str) -> Heading:
    return Heading(text.strip("■:. "), 1)
