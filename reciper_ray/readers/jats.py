"""JATS XML (PubMed Central, Springer, most journals) to a paper.

Reads title, abstract, body sections with their heading path, lists, tables as rows, captions,
footnotes, supplementary notes, back matter, and the article's metadata; one file may hold several
articles in an envelope. Left out: references, the citation marks that stand raised in the text,
biographies, the files behind links.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from lxml import etree

from reciper_ray.errors import UnreadableInput
from reciper_ray.readers import xml
from reciper_ray.readers.inline import Inline
from reciper_ray.readers.metadata import find_licence
from reciper_ray.readers.source import Block, Format, compose, stem
from reciper_ray.readers.table import cals_table, html_table
from reciper_ray.types import Kind, Paper, Rejection

_ENVELOPES = {"response", "records", "pmc-articleset", "OAI-PMH"}
_FILES = {"graphic", "inline-graphic", "inline-supplementary-material", "media"}
_FILES |= {"alt-text", "long-desc", "object-id", "permissions"}
_LEFT_OUT = _FILES | {"bio", "ref-list", "label", "sec-meta"}
_FLOATS = {"fig", "table-wrap", "boxed-text", "supplementary-material", "fn"}
_LEAVES = {"p", "disp-formula", "list-item", "def-item", "verse-line", "preformat", "code"}
_APART = {"p", "list-item", "disp-formula", "break", "td", "th", "def-item", "def", "disp-quote"}
_SECONDARY_ABSTRACTS = {"graphical", "teaser", "toc", "key-points", "web-summary"}
_BETWEEN_MARKS = re.compile(r"[\s,;–—−‐-]*")
_HEADING_CHARS = 160


def _parse(source: str, data: bytes) -> Iterator[Paper | Rejection]:
    root = xml.parse(data)
    articles = [root] if root.tag == "article" else list(root.iter("article"))
    if not articles:
        raise UnreadableInput(f"XML with root <{xml.local(root)}> that holds no <article>")
    if len(articles) == 1:
        return iter([_paper(stem(source), source, articles[0])])
    return (
        _paper_or_rejection(source, number, article) for number, article in enumerate(articles, 1)
    )


def _paper_or_rejection(source: str, number: int, article: etree._Element) -> Paper | Rejection:
    """One of several articles, called by its PMC id, its DOI or its number."""
    path = f"{source}#{number}"
    ids = (
        _first(article, f"front/article-meta/article-id[@pub-id-type='{kind}']")
        for kind in ("pmcid", "pmc", "doi")
    )
    try:
        return _paper(next(filter(None, ids), f"{stem(source)}#{number}"), path, article)
    except UnreadableInput as error:
        return Rejection(path, "read", str(error))


def _paper(paper_id: str, source: str, article: etree._Element) -> Paper:
    meta = article.find("front/article-meta")
    front = meta if meta is not None else etree.Element("article-meta")
    return compose(
        paper_id,
        source,
        FORMAT.name,
        _title(front),
        [*_abstract(front), *_body(article), *_author_notes(front)],
        _WHOLE.inside(article, ""),
        authors=_authors(front),
        year=_year(front),
        doi=_first(front, "article-id[@pub-id-type='doi']"),
        journal=_first(article, "front/journal-meta//journal-title"),
        licence=_licence(front),
    )


FORMAT = Format("jats", lambda head: xml.root_name(head) in {"article"} | _ENVELOPES, _parse)


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


def _body(article: etree._Element) -> Iterator[Block]:
    for part in article:
        if part.tag in ("body", "back", "floats-group"):
            yield from _blocks(part, ())


def _author_notes(front: etree._Element) -> Iterator[Block]:
    for note in front.iterfind("author-notes/fn"):
        yield from _float(note, ())


def _blocks(container: etree._Element, path: tuple[str, ...]) -> Iterator[Block]:
    """The blocks in `container`, whose headings are `path`, in reading order."""
    for child in container:
        name = xml.local(child)
        if name in _LEAVES:
            yield Block(_line(child), " > ".join(path))
            for part in child.iter(*_FLOATS):
                if not any(up.tag in _FLOATS for up in _ancestors(part, child)):
                    yield from _float(part, path)
        elif name in _FLOATS:
            yield from _float(child, path)
        elif name not in _LEFT_OUT and name != "title":
            yield from _blocks(child, _below(path, child))


_NAMED = {"ack": "Acknowledgements", "fn-group": "Notes", "glossary": "Glossary"}


def _below(path: tuple[str, ...], section: etree._Element) -> tuple[str, ...]:
    title = _first(section, "title") or _NAMED.get(xml.local(section), "")
    return (*path, title) if title else path


def _ancestors(element: etree._Element, top: etree._Element) -> Iterator[etree._Element]:
    for up in element.iterancestors():
        if up is top:
            return
        yield up


def _float(element: etree._Element, path: tuple[str, ...]) -> Iterator[Block]:
    """The blocks of a figure, a table, a box, a supplement's description or a footnote."""
    name = xml.local(element)
    if name == "boxed-text":
        yield from _blocks(element, _below(path, element))
        return
    if name == "fn":
        yield Block(" ".join(map(_line, element.iter("p"))), " > ".join(path), Kind.CAPTION)
        return
    label, caption = _first(element, "label").rstrip("."), _first(element, "caption")
    named = f"{label}. {caption}" if label and caption else label or caption
    if caption:
        yield Block(named, " > ".join(path), Kind.CAPTION)
    under = " > ".join((*path, named[:_HEADING_CHARS]) if named else path)
    for table in element.iter("table"):
        groups = table.findall("tgroup")
        written = [cals_table(group, _line) for group in groups] or [html_table(table, _line)]
        yield Block("\n".join(written), under, Kind.TABLE)
    for note in element.iterfind("table-wrap-foot"):
        yield Block(" ".join(map(_line, note.iter("p"))), " > ".join(path), Kind.CAPTION)


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


_INLINE = Inline(frozenset(_LEFT_OUT | _FLOATS), frozenset(_APART), is_mark=_is_citation_mark)
_WHOLE = replace(_INLINE, left_out=frozenset(_FILES | {"ref-list", "label"}))
_line = _INLINE.line
