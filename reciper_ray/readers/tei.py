"""TEI XML as GROBID writes it to a paper.

Reads title, abstract, sections, formulas, figure and table captions, tables as rows, footnotes,
acknowledgements and annexes. Left out: the bibliography, and coordinates.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from lxml import etree

from reciper_ray.readers import xml
from reciper_ray.readers.inline import Inline
from reciper_ray.readers.layout import Heading, lay_out
from reciper_ray.readers.metadata import find_licence
from reciper_ray.readers.source import Block, Format, compose, stem
from reciper_ray.readers.table import Cell, rows_of_text
from reciper_ray.types import Kind, Paper

_LINE = Inline(
    left_out=frozenset(["figure", "note", "graphic", "listBibl"]),
    apart=frozenset(["p", "lb", "formula", "item", "cell", "head"]),
)
_WHOLE = replace(_LINE, left_out=frozenset(["listBibl"]))
_HEADING_CHARS = 160


def _parse(source: str, data: bytes) -> Iterator[Paper]:
    root = xml.parse(data)
    header = root.find("teiHeader")
    header = header if header is not None else etree.Element("teiHeader")
    work = "fileDesc/sourceDesc/biblStruct"
    title = xml.first(header, "fileDesc/titleStmt/title") or xml.first(header, f"{work}//title")
    paper = compose(
        stem(source),
        source,
        FORMAT.name,
        title,
        [*_abstract(header), *lay_out(list(_text(root)))],
        _WHOLE.inside(root, ""),
        authors=tuple(filter(None, map(_name, header.iterfind(f"{work}/analytic/author")))),
        year=_year(header),
        doi=xml.first(header, f"{work}//idno[@type='DOI']"),
        journal=xml.first(header, f"{work}/monogr/title[@level='j']"),
        licence=_licence(header),
    )
    return iter([paper])


FORMAT = Format("tei", lambda head: xml.root_name(head) in ("TEI", "TEI.2", "tei:TEI"), _parse)


def _name(author: etree._Element) -> str:
    names = [*author.iterfind("persName/forename"), *author.iterfind("persName/surname")]
    return " ".join(filter(None, map(_LINE.line, names)))


def _year(header: etree._Element) -> int | None:
    for date in header.iterfind("fileDesc//date"):
        year = re.match(r"[12]\d{3}\b", date.get("when", "") or (date.text or "").strip()[-4:])
        if year:
            return int(year[0])
    return None


def _licence(header: etree._Element) -> str:
    for part in header.iterfind("fileDesc/publicationStmt/availability"):
        links = [str(value) for child in part.iter() for value in child.attrib.values()]
        name = find_licence(" ".join([*links, _LINE.line(part)]))
        if name:
            return name
    return ""


def _abstract(header: etree._Element) -> Iterator[Block]:
    for abstract in header.iterfind("profileDesc/abstract"):
        for paragraph in list(abstract.iter("p")) or [abstract]:
            yield Block(_LINE.line(paragraph), "Abstract", Kind.ABSTRACT)


def _text(root: etree._Element) -> Iterator[Heading | Block]:
    for part in ("text/body", "text/back"):
        for container in root.iterfind(part):
            yield from _elements(container)


def _elements(container: etree._Element) -> Iterator[Heading | Block]:
    for child in container:
        if child.tag in ("p", "formula", "item"):
            yield Block(_LINE.line(child))
            for part in child.iter("figure", "note"):
                yield from _float(part)
        elif child.tag == "head":
            yield _heading(child)
        elif child.tag in ("figure", "note"):
            yield from _float(child)
        elif child.tag != "listBibl" and child.get("type") != "references":
            yield from _elements(child)


def _heading(head: etree._Element) -> Heading:
    number, text = head.get("n", "").strip("."), _LINE.line(head)
    return Heading(f"{number}. {text}" if number else text, number.count(".") + 1)


def _float(element: etree._Element) -> Iterator[Block]:
    """The blocks of a figure, a table or a footnote."""
    if element.tag == "note":
        yield Block(_LINE.line(element), "", Kind.CAPTION)
        return
    head, described = xml.first(element, "head"), element.find("figDesc")
    caption = _LINE.line(described) if described is not None else ""
    named = caption if caption.startswith(head) else f"{head} {caption}".strip()
    yield Block(named, "", Kind.CAPTION)
    for table in element.iter("table"):
        rows = (
            [Cell.of(_LINE.line(cell), cell.get("rows"), cell.get("cols")) for cell in row]
            for row in table.iter("row")
        )
        yield Block(rows_of_text(rows), named[:_HEADING_CHARS], Kind.TABLE)
    for note in element.iterfind("note"):
        yield from _float(note)
