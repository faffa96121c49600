"""Elsevier's full-text XML (ScienceDirect articles and API responses) to a paper.

Reads the article below the API's envelope: abstract, sections with their heading path, lists,
formulas, captions, CALS tables as rows, footnotes, acknowledgements, appendices. An API response
that holds metadata only gives its abstract. Left out: the bibliography, graphical abstract,
highlights, attachments.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from lxml import etree

from reciper_ray.readers import xml
from reciper_ray.readers.inline import Inline
from reciper_ray.readers.metadata import find_licence
from reciper_ray.readers.source import Block, Format, compose, stem
from reciper_ray.readers.table import cals_table
from reciper_ray.types import Kind, Paper

_ROOTS = {"full-text-retrieval-response", "converted-article", "simple-article", "doc"}
_ROOTS |= {"xocs:doc", "ja:article", "ja:converted-article", "ja:simple-article"}
_ARTICLES = ("article", "converted-article", "simple-article", "book-review", "exam")
_FLOATS = {"figure", "table", "textbox", "e-component", "footnote", "table-footnote"}
_LEAVES = {"para", "simple-para", "list-item", "formula", "def-description", "note-para"}
_LEFT_OUT = {"bibliography", "further-reading", "biography", "link", "label", "alt-text"}
_LEFT_OUT |= {"float-anchor", "keywords", "author-group", "copyright", "indexed-name"}
_INLINE = Inline(
    left_out=frozenset(_FLOATS | _LEFT_OUT),
    apart=frozenset(["para", "simple-para", "list-item", "formula", "br", "hsp", "display"]),
    raised=frozenset(["sup"]),
    lowered=frozenset(["inf", "sub"]),
)
_WHOLE = replace(_INLINE, left_out=frozenset({"bibliography", "further-reading", "label"}))
_line = _INLINE.line
_HEADING_CHARS = 160


def _parse(source: str, data: bytes) -> Iterator[Paper]:
    root = xml.parse(data)
    article = _article(root)
    head = article.find("head")
    head = head if head is not None else etree.Element("head")
    paper = compose(
        stem(source),
        source,
        FORMAT.name,
        _first(head, "title") or xml.first(root, "coredata/title"),
        [*(list(_abstract(head)) or _description(root)), *_parts(article)],
        _WHOLE.inside(root, ""),
        authors=_authors(head) or tuple(_turned(root.iterfind("coredata/creator"))),
        year=_year(root, article),
        doi=xml.first(root, "coredata/doi") or xml.first(article, "item-info/doi"),
        journal=xml.first(root, "coredata/publicationName"),
        licence=find_licence(
            " ".join(
                text
                for name in ("openaccessUserLicense", "document-license", "user-license")
                for part in root.iter(name)
                for text in part.itertext(etree.Element)
            )
        ),
    )
    return iter([paper])


FORMAT = Format("elsevier", lambda head: xml.root_name(head) in _ROOTS, _parse)


def _article(root: etree._Element) -> etree._Element:
    """The article in its envelope; an empty one where there is metadata only."""
    return next(root.iter(*_ARTICLES), etree.Element("article"))


def _first(element: etree._Element, path: str) -> str:
    return next((line for line in map(_line, element.iterfind(path)) if line), "")


def _authors(head: etree._Element) -> tuple[str, ...]:
    names = (
        f"{_first(author, 'given-name')} {_first(author, 'surname')}".strip()
        for author in head.iterfind("author-group/author")
    )
    return tuple(filter(None, names))


def _turned(creators: Iterator[etree._Element]) -> Iterator[str]:
    """`Family, Given` as `Given Family`."""
    for creator in creators:
        family, _, given = _line(creator).partition(", ")
        yield f"{given} {family}".strip()


def _year(root: etree._Element, article: etree._Element) -> int | None:
    copyrights = [mark.get("year", "") for mark in article.iterfind("item-info/copyright")]
    for date in (xml.first(root, "coredata/coverDate"), *copyrights):
        if re.match(r"[12]\d{3}\b", date):
            return int(date[:4])
    return None


def _abstract(head: etree._Element) -> Iterator[Block]:
    for abstract in head.iterfind("abstract"):
        if abstract.get("class", "author") == "author":
            for part in abstract.iter("simple-para"):
                yield Block(_line(part), "Abstract", Kind.ABSTRACT)


def _description(root: etree._Element) -> list[Block]:
    described = root.iterfind("coredata/description")
    return [Block(_line(part), "Abstract", Kind.ABSTRACT) for part in described]


def _parts(article: etree._Element) -> Iterator[Block]:
    """Body, back matter, and the floats, which stand before them in the file."""
    for name in ("body", "tail", "back"):
        for part in article.iterfind(name):
            yield from _blocks(part, ())
    for name in ("head/footnote", "head/article-footnote", "head/data-availability"):
        for part in article.iterfind(name):
            yield from _float(part, ()) if part.tag == "footnote" else _blocks(part, ())
    for float_ in article.iterfind("floats/*"):
        yield from _float(float_, ())


def _blocks(container: etree._Element, path: tuple[str, ...]) -> Iterator[Block]:
    """The blocks in `container`, whose headings are `path`, in reading order."""
    for child in container:
        name = xml.local(child)
        if name in _LEAVES:
            yield Block(_line(child), " > ".join(path))
            for part in child.iter(*_FLOATS):
                yield from _float(part, path)
        elif name in _FLOATS:
            yield from _float(child, path)
        elif name not in _LEFT_OUT and name != "section-title":
            yield from _blocks(child, _below(path, child))


def _below(path: tuple[str, ...], section: etree._Element) -> tuple[str, ...]:
    title = " ".join(filter(None, (_first(section, "label"), _first(section, "section-title"))))
    return (*path, title) if section.find("section-title") is not None and title else path


def _float(element: etree._Element, path: tuple[str, ...]) -> Iterator[Block]:
    """The blocks of a figure, a table, a box or a footnote."""
    here = " > ".join(path)
    if element.tag == "textbox":
        yield from _blocks(element, path)
        return
    label, caption = _first(element, "label").rstrip("."), _first(element, "caption")
    if element.tag in ("footnote", "table-footnote"):
        notes = (*element.iterfind("note-para"), *element.iterfind("para"))
        yield Block(" ".join(map(_line, notes)), here, Kind.CAPTION)
        return
    named = f"{label}. {caption}" if label and caption else label or caption
    if caption:
        yield Block(named, here, Kind.CAPTION)
    under = " > ".join((*path, named[:_HEADING_CHARS]) if named else path)
    groups = [cals_table(group, _line) for group in element.iter("tgroup")]
    yield Block("\n".join(groups), under, Kind.TABLE)
    for name in ("legend", "table-footnote"):
        for note in element.iterfind(name):
            yield Block(_INLINE.line(note), here, Kind.CAPTION)
