"""JATS XML (PubMed Central, most journals) to a paper.

Reads title, abstract, body sections with their heading path, lists, tables as rows, captions,
appendices, and the article's metadata. Left out: references and the citation marks that stand
raised in the text, acknowledgements, footnotes, biographies, supplementary files.
"""

import re
from collections.abc import Iterator

from lxml import etree

from reciper_ray.readers import mathml, xml
from reciper_ray.readers.latex import strip_math
from reciper_ray.readers.metadata import find_licence
from reciper_ray.readers.script import superscript
from reciper_ray.readers.source import Block, Format, compose, stem
from reciper_ray.readers.table import Cell, rows_of_text
from reciper_ray.text import normalise, squeeze
from reciper_ray.types import Kind, Paper

_BACK_MATTER = {"ack", "bio", "fn-group", "glossary", "notes", "ref-list"}
_FILES = {"graphic", "inline-graphic", "inline-supplementary-material", "media"}
_FILES |= {"supplementary-material", "alt-text", "long-desc", "object-id", "permissions"}
_LEFT_OUT = _BACK_MATTER | _FILES | {"fn", "label", "sec-meta"}
_FLOATS = {"fig", "table-wrap", "boxed-text"}
_LEAVES = {"p", "disp-formula", "list-item", "def-item", "verse-line", "preformat", "code"}
_APART = {"p", "list-item", "disp-formula", "break", "td", "th", "def-item", "def", "disp-quote"}
_SECONDARY_ABSTRACTS = {"graphical", "teaser", "toc", "key-points", "web-summary"}
_BETWEEN_MARKS = re.compile(r"[\s,;–—−‐-]*")
_LOOK_BACK = 8
_HEADING_CHARS = 160


def _parse(source: str, data: bytes) -> Iterator[Paper]:
    root = xml.parse(data)
    meta = root.find("front/article-meta")
    front = meta if meta is not None else etree.Element("article-meta")
    paper = compose(
        stem(source),
        source,
        FORMAT.name,
        _title(front),
        [*_abstract(front), *_body(root)],
        authors=_authors(front),
        year=_year(front),
        doi=_first(front, "article-id[@pub-id-type='doi']"),
        journal=_first(root, "front/journal-meta//journal-title"),
        licence=_licence(front),
    )
    return iter([paper])


FORMAT = Format("jats", lambda head: xml.root_name(head) == "article", _parse)


def _first(element: etree._Element, path: str) -> str:
    return next((line for line in map(_line, element.findall(path)) if line), "")


def _title(front: etree._Element) -> str:
    parts = (_first(front, f"title-group/{part}") for part in ("article-title", "subtitle"))
    return ": ".join(part for part in parts if part)


def _authors(front: etree._Element) -> tuple[str, ...]:
    names: list[str] = []
    for author in front.iterfind("contrib-group/contrib"):
        if author.get("contrib-type", "author") == "author":
            given, family = _first(author, ".//given-names"), _first(author, ".//surname")
            whole = _first(author, "string-name") or _first(author, "collab")
            names.append(f"{given} {family}".strip() or whole)
    return tuple(filter(None, names))


def _year(front: etree._Element) -> int | None:
    dates = (date for date in front.iterfind("pub-date") if date.get("pub-type") != "pmc-release")
    years = (_first(date, "year") for date in dates)
    return min((int(year) for year in years if re.fullmatch(r"[12]\d{3}", year)), default=None)


def _licence(front: etree._Element) -> str:
    for licence in front.iterfind("permissions/license"):
        links = [str(value) for part in licence.iter() for value in part.attrib.values()]
        name = find_licence(" ".join([*links, _line(licence)]))
        if name:
            return name
    return ""


def _abstract(front: etree._Element) -> Iterator[Block]:
    for abstract in front.iterfind("abstract"):
        if abstract.get("abstract-type") not in _SECONDARY_ABSTRACTS:
            for block in _blocks(abstract, ("Abstract",)):
                yield Block(block.text, block.heading, Kind.ABSTRACT)


def _body(root: etree._Element) -> Iterator[Block]:
    for part in root:
        if xml.local(part) in ("body", "back", "floats-group"):
            yield from _blocks(part, ())


def _blocks(container: etree._Element, path: tuple[str, ...]) -> Iterator[Block]:
    """The blocks in `container`, whose headings are `path`, in reading order."""
    for child in container:
        name = xml.local(child)
        if name in _LEAVES:
            yield Block(_line(child), " > ".join(path))
            for part in child.iter(*_FLOATS):
                if not any(xml.local(up) in _FLOATS for up in _ancestors(part, child)):
                    yield from _float(part, path)
        elif name in _FLOATS:
            yield from _float(child, path)
        elif name not in _LEFT_OUT and name != "title":
            yield from _blocks(child, _below(path, child))


def _below(path: tuple[str, ...], section: etree._Element) -> tuple[str, ...]:
    title = _first(section, "title")
    return (*path, title) if title else path


def _ancestors(element: etree._Element, top: etree._Element) -> Iterator[etree._Element]:
    for up in element.iterancestors():
        if up is top:
            return
        yield up


def _float(element: etree._Element, path: tuple[str, ...]) -> Iterator[Block]:
    """The blocks of a figure, a table or a box."""
    if xml.local(element) == "boxed-text":
        yield from _blocks(element, _below(path, element))
        return
    label, caption = _first(element, "label").rstrip("."), _first(element, "caption")
    named = f"{label}. {caption}" if label and caption else label or caption
    if caption:
        yield Block(named, " > ".join(path), Kind.CAPTION)
    for table in element.iter("table"):
        under = (*path, named[:_HEADING_CHARS]) if named else path
        yield Block(_table(table), " > ".join(under), Kind.TABLE)
    for note in element.iterfind("table-wrap-foot"):
        yield Block(" ".join(map(_line, note.iter("p"))), " > ".join(path), Kind.CAPTION)


def _table(table: etree._Element) -> str:
    return rows_of_text(
        [
            Cell.of(_line(cell), cell.get("rowspan"), cell.get("colspan"))
            for cell in row
            if xml.local(cell) in ("td", "th")
        ]
        for row in table.iter("tr")
    )


def _line(element: etree._Element) -> str:
    """The text of `element` on one line."""
    return squeeze(normalise(_inline(element, "")))


def _inline(element: etree._Element, before: str) -> str:
    """The text inside `element`, which stands behind `before`."""
    out = element.text or ""
    for child in element:
        out += _written(child, out[-_LOOK_BACK:] or before) + (child.tail or "")
    return out


def _written(child: etree._Element, before: str) -> str:
    name = xml.local(child)
    if not name:
        return xml.entity(child)
    if name in _FLOATS or name in _LEFT_OUT or _is_citation_mark(child):
        return ""
    if name == "sup":
        return superscript(_inline(child, ""), before)
    if name == "sub":
        return "".join(_inline(child, before).split())
    if name == "math":
        return mathml.text(child, before)
    if name == "tex-math":
        return squeeze(strip_math(child.text or ""))
    if name == "alternatives":
        return _one_of(child, before)
    inner = _inline(child, before)
    return f" {inner} " if name in _APART else inner


def _is_citation_mark(element: etree._Element) -> bool:
    """Whether `element` holds nothing but raised links to references, as `word<sup>1,2</sup>`."""
    name = xml.local(element)
    if name == "xref":
        return _is_bibr(element) and len(element) == 1 and xml.local(element[0]) == "sup"
    if name != "sup" or not any(map(_is_bibr, element)):
        return False
    outside = [element.text or "", *(child.tail or "" for child in element)]
    return all(map(_is_bibr, element)) and _BETWEEN_MARKS.fullmatch("".join(outside)) is not None


def _is_bibr(element: etree._Element) -> bool:
    return xml.local(element) == "xref" and element.get("ref-type") == "bibr"


def _one_of(alternatives: etree._Element, before: str) -> str:
    """One rendering of a formula given as MathML, TeX and picture."""
    by_name = {xml.local(child): child for child in reversed(alternatives)}
    for name in ("math", "tex-math", "textual-form"):
        if name in by_name:
            return _written(by_name[name], before)
    return " ".join(_written(child, before) for child in alternatives)
