"""HTML, from publishers' sites or arXiv's LaTeXML, to a paper.

The article is found by its element or the page's landmarks; metadata come from Highwire and Dublin
Core tags. Read are headings, paragraphs, lists, tables as rows, captions, footnotes, MathML and
TeX. Left out: navigation, forms, scripts, references and raised links to them. Nothing is
fetched or run.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from lxml import etree, html

from reciper_ray.errors import UnreadableInput
from reciper_ray.readers import xml
from reciper_ray.readers.inline import Inline
from reciper_ray.readers.latex import strip_math
from reciper_ray.readers.layout import Heading, lay_out
from reciper_ray.readers.metadata import find_arxiv_id, find_doi, find_licence
from reciper_ray.readers.source import Block, Format, compose, decode, stem
from reciper_ray.readers.table import html_table
from reciper_ray.text import normalise, squeeze
from reciper_ray.types import Kind, Paper

_DROPPED: tuple[str, ...] = (
    *("script", "style", "noscript", "template", "nav", "header", "footer", "aside", "form"),
    *("button", "iframe", "object", "svg", "img", "video", "audio", "select", "dialog"),
)
_REFERENCES = re.compile(
    r"(?:^|[\s_-])(?:ltx_bibliography|references?(?:-?list)?|ref-?list|bibliography|citation-list)"
    r"(?:$|[\s_-])",
    re.IGNORECASE,
)
_FURNITURE = re.compile(
    r"(?:^|[\s_-])(?:ltx_page_(?:footer|navbar|header)|ltx_authors|ltx_dates|ltx_TOC|breadcrumbs?"
    r"|cookie\S*|sidebar|share|social\S*|toolbar|recommend\S*|related-\S+|visually-hidden|sr-only)"
    r"(?:$|[\s_-])",
    re.IGNORECASE,
)
_TITLE_CLASS = re.compile(r"(?:^|\s)ltx_title_document(?:$|\s)")
_CAPTION_CLASS = re.compile(r"caption|legend", re.IGNORECASE)
_CITES = re.compile(r"#\S*(?:ref|bib|cit|cr\d|b\d)", re.IGNORECASE)
_MARK = re.compile(r"[\s\d,;–—−‐\[\]-]+")
_LEVELS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_LEAVES = {"p", "li", "dd", "dt", "pre", "blockquote", "figcaption", "caption"}
_BLOCKS = {*_LEAVES, *_LEVELS, "div", "section", "article", "main", "ul", "ol", "dl", "table"}
_BLOCKS |= {"figure", "body"}
_MAIN = (".//article", ".//main", ".//*[@role='main']", ".//*[@id='content']", ".//body")
_HEADING_CHARS = 160


def _is_mark(element: etree._Element) -> bool:
    """Whether `element` is a raised link to references."""
    if element.tag == "sup":
        links = [link.get("href", "") for link in element.iter("a")]
        text = "".join(element.itertext(etree.Element))
        return any(map(_CITES.search, links)) and _MARK.fullmatch(text) is not None
    return "ltx_ERROR" in (element.get("class") or "")


_INLINE = Inline(
    left_out=frozenset({"figure", "table", "annotation", *_DROPPED}),
    apart=frozenset({"br", *_BLOCKS}),
    is_mark=_is_mark,
)
_WHOLE = replace(_INLINE, left_out=frozenset({"annotation", "head", *_DROPPED}))


def _parse(source: str, data: bytes) -> Iterator[Paper]:
    root = _tree(data)
    tags = _tags(root)
    arxiv = find_arxiv_id(" ".join([*tags.get("citation_arxiv_id", []), _watermark(root)]))
    licence = find_licence(
        " ".join(str(link.get("href")) for link in root.iter("a", "link") if link.get("href"))
    )
    for element in list(root.iter(*_DROPPED)):
        _drop(element)
    for element in list(root.iter(etree.Element)):
        named = f"{element.get('class') or ''} {element.get('id') or ''}"
        if element.tag not in ("body", "html") and (
            _REFERENCES.search(named) or _FURNITURE.search(named)
        ):
            _drop(element)
    elements = list(_elements(_main(root)))
    title, elements = _titled(elements, _first(tags, "citation_title", "dc.title", "og:title"))
    doi = _first(tags, "citation_doi", "dc.identifier", "prism.doi", "bepress_citation_doi")
    year = re.search(r"\b[12]\d{3}\b", _first(tags, *_DATES))
    paper = compose(
        stem(source),
        source,
        FORMAT.name,
        title,
        lay_out(elements),
        _WHOLE.inside(root, ""),
        authors=tuple(tags.get("citation_author", tags.get("dc.creator", []))),
        year=int(year[0]) if year else None,
        doi=find_doi(doi),
        arxiv_id=arxiv,
        journal=_first(tags, "citation_journal_title", "prism.publicationname"),
        licence=find_licence(_first(tags, "dc.rights", "citation_license")) or licence,
    )
    return iter([paper])


_HTML = re.compile(r"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S)
FORMAT = Format(
    "html",
    lambda head: _HTML.match(head) is not None or xml.root_name(head).lower() == "html",
    _parse,
)
_DATES = ("citation_publication_date", "citation_online_date", "citation_date", "dc.date")


def _tree(data: bytes) -> html.HtmlElement:
    parser = html.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True, huge_tree=False
    )
    text = re.sub(r"^\s*<\?xml[^>]*\?>", "", decode(data, declared=True))
    try:
        root = html.document_fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.ParserError, etree.XMLSyntaxError) as error:
        raise UnreadableInput(f"broken HTML: {error}") from error
    for element in root.iter(etree.Element):
        element.tag = str(element.tag).rpartition(":")[2]
    return root


def _drop(element: etree._Element) -> None:
    """Remove the element, not the text behind it."""
    parent = element.getparent()
    if parent is None:
        return
    before = element.getprevious()
    if element.tail and before is not None:
        before.tail = (before.tail or "") + element.tail
    elif element.tail:
        parent.text = (parent.text or "") + element.tail
    parent.remove(element)


def _tags(root: etree._Element) -> dict[str, list[str]]:
    """The contents of the page's meta tags by lower-case name."""
    tags: dict[str, list[str]] = {}
    for tag in root.iter("meta"):
        name = (tag.get("name") or tag.get("property") or "").lower().replace("dcterms.", "dc.")
        content = squeeze(normalise(tag.get("content") or ""))
        if name and content:
            tags.setdefault(name, []).append(content)
    return tags


def _first(tags: dict[str, list[str]], *names: str) -> str:
    return next((tags[name][0] for name in names if name in tags), "")


def _watermark(root: etree._Element) -> str:
    """What arXiv prints above its HTML (`arXiv:2401.01234v1 …`)."""
    return " ".join(
        "".join(element.itertext(etree.Element))
        for element in root.iter("div", "a")
        if "watermark" in (element.get("id") or "")
    )


def _main(root: etree._Element) -> etree._Element:
    """The element that holds the article: the first landmark with most of the text."""
    whole = len("".join(root.itertext(etree.Element)))
    for path in _MAIN:
        for found in root.iterfind(path):
            if 2 * len("".join(found.itertext(etree.Element))) > whole:
                return found
    return root


def _titled(elements: list[Heading | Block], known: str) -> tuple[str, list[Heading | Block]]:
    """The title by the page's tags, else its first heading; the elements without it."""
    for at, element in enumerate(elements):
        if isinstance(element, Heading) and (element.level == 1 or element.text == known):
            before = [other for other in elements[:at] if isinstance(other, Block)]
            return known or element.text, before + elements[at + 1 :]
    return known, elements


def _elements(container: etree._Element) -> Iterator[Heading | Block]:
    """Headings and blocks in reading order; text between blocks is a block too."""
    loose = [container.text or ""]
    for child in container:
        name = child.tag if isinstance(child.tag, str) else ""
        holds = name in _BLOCKS or any(part.tag in _BLOCKS for part in child.iter(etree.Element))
        if holds:
            yield from _loose(loose)
            loose = []
            yield from _block(child, name)
        else:
            loose.append(_inline(child))
        loose.append(child.tail or "")
    yield from _loose(loose)


def _inline(element: etree._Element) -> str:
    wrapper = etree.Element("span")
    copy = etree.fromstring(etree.tostring(element, with_tail=False))
    wrapper.append(copy)
    return _INLINE.inside(wrapper, "")


def _loose(parts: list[str]) -> Iterator[Block]:
    text = squeeze(normalise(strip_math("".join(parts))))
    if text:
        yield Block(text)


def _block(element: etree._Element, name: str) -> Iterator[Heading | Block]:
    classes = element.get("class") or ""
    if name in _LEVELS:
        level = 1 if _TITLE_CLASS.search(classes) else _LEVELS[name]
        text = _line(element)
        abstract = "ltx_title_abstract" in classes
        yield Heading("Abstract" if abstract else text, 2 if abstract else level)
    elif name == "table":
        yield from _table(element, classes)
    elif name == "figure":
        yield from _figure(element)
    elif name in ("figcaption", "caption") or (
        name == "div" and _CAPTION_CLASS.search(classes) and not list(element.iter("table"))
    ):
        yield Block(_line(element), "", Kind.CAPTION)
    elif name in _LEAVES and not any(part.tag in _BLOCKS for part in element.iterdescendants()):
        yield Block(_line(element))
    else:
        yield from _elements(element)


def _line(element: etree._Element) -> str:
    return squeeze(normalise(strip_math(_INLINE.inside(element, ""))))


def _table(table: etree._Element, classes: str) -> Iterator[Block]:
    caption = next((_line(part) for part in table.iter("caption")), "")
    if caption:
        yield Block(caption, "", Kind.CAPTION)
    if "ltx_equation" in classes or "ltx_eqn" in classes:
        yield Block(squeeze(" ".join(_line(cell) for cell in table.iter("td", "th"))))
        return
    yield Block(html_table(table, _line), caption[:_HEADING_CHARS], Kind.TABLE)


def _figure(figure: etree._Element) -> Iterator[Block]:
    """Caption first, then the rows of the tables in it."""
    caption = next((_line(part) for part in figure.iter("figcaption")), "")
    if caption:
        yield Block(caption, "", Kind.CAPTION)
    for table in figure.iter("table"):
        yield Block(html_table(table, _line), caption[:_HEADING_CHARS], Kind.TABLE)
