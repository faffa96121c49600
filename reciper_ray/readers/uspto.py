"""USPTO patent XML (grants since 2002, applications since 2001) to a paper.

Reads title, abstract, description under its headings, tables as rows, and the claims. Left out:
classifications, cited documents, drawings, and chemistry drawn as pictures.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from lxml import etree

from reciper_ray.readers import xml
from reciper_ray.readers.inline import Inline
from reciper_ray.readers.layout import Heading, lay_out
from reciper_ray.readers.source import Block, Format, compose, stem
from reciper_ray.readers.table import cals_table
from reciper_ray.types import Kind, Paper

_ROOTS = {"us-patent-grant", "us-patent-application", "PATDOC", "patent-application-publication"}
_FLOATS = {"tables", "table", "table-cwu", "table-external-doc"}
_INLINE = Inline(
    left_out=frozenset(_FLOATS | {"chemistry", "img", "chemistry-cwu", "in-line-formula-image"}),
    apart=frozenset(["br", "li", "claim-text", "maths", "p", "paragraph", "dd", "dt"]),
    raised=frozenset(["sup", "sup2", "superscript", "SP"]),
    lowered=frozenset(["sub", "sub2", "subscript", "SB"]),
)
_WHOLE = replace(_INLINE, left_out=frozenset())
_line = _INLINE.line
_PARAGRAPHS = {"p", "paragraph"}
_HEADINGS = {"heading", "H"}
_TITLES = ("invention-title", "title-of-invention", "B540")


def _parse(source: str, data: bytes) -> Iterator[Paper]:
    root = xml.parse(data)
    paper = compose(
        stem(source),
        source,
        FORMAT.name,
        next((_line(title) for title in root.iter(*_TITLES)), ""),
        [*_abstract(root), *lay_out([*_description(root), *_claims(root)])],
        _WHOLE.inside(root, ""),
        authors=_inventors(root),
        year=_year(root),
        journal="US patent",
    )
    return iter([paper])


FORMAT = Format("uspto", lambda head: xml.root_name(head) in _ROOTS, _parse)


def _inventors(root: etree._Element) -> tuple[str, ...]:
    names = (
        f"{xml.first(book, 'first-name')} {xml.first(book, 'last-name')}".strip()
        for group in root.iter("applicants", "inventors", "us-applicants")
        for book in group.iter("addressbook")
    )
    return tuple(dict.fromkeys(filter(None, names)))


def _year(root: etree._Element) -> int | None:
    for date in root.iter("publication-reference", "document-date", "B140"):
        year = re.search(r"\b[12]\d{3}(?=\d{4}\b)", " ".join(date.itertext(etree.Element)))
        if year:
            return int(year[0])
    return None


def _abstract(root: etree._Element) -> Iterator[Block]:
    for abstract in root.iter("abstract", "subdoc-abstract", "SDOAB"):
        for paragraph in abstract.iter(*_PARAGRAPHS):
            yield Block(_line(paragraph), "Abstract", Kind.ABSTRACT)


def _description(root: etree._Element) -> Iterator[Heading | Block]:
    for description in root.iter("description", "subdoc-description", "SDODE"):
        yield from _elements(description)


def _elements(container: etree._Element) -> Iterator[Heading | Block]:
    for child in container:
        if child.tag in _HEADINGS:
            yield Heading(_line(child), 1)
        elif child.tag in _PARAGRAPHS:
            yield Block(_line(child))
            for table in child.iter("tables", "table-cwu"):
                yield _table(table)
        elif child.tag in _FLOATS:
            yield _table(child)
        else:
            yield from _elements(child)


def _table(tables: etree._Element) -> Block:
    groups = [cals_table(group, _line) for group in tables.iter("tgroup")]
    return Block("\n".join(filter(None, groups)), "", Kind.TABLE)


def _claims(root: etree._Element) -> Iterator[Heading | Block]:
    claims = [claim for group in root.iter("claims") for claim in group.iterfind("claim")]
    if claims:
        yield Heading("Claims", 1)
    for claim in claims:
        yield Block(_line(claim))
        for table in claim.iter("tables"):
            yield _table(table)
