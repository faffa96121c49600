"""Markdown, hand-written or out of a PDF by OCR, to a paper.

markdown-it-py parses the blocks. Read are headings, paragraphs, lists, pipe and HTML tables,
captions, LaTeX mathematics as plain text, and YAML front matter. Left out: images, references.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import yaml
from lxml import etree, html
from markdown_it import MarkdownIt
from markdown_it.token import Token

from reciper_ray.readers import xml
from reciper_ray.readers.latex import strip_math
from reciper_ray.readers.layout import Heading, lay_out, opens_caption
from reciper_ray.readers.metadata import find_arxiv_id, find_doi, find_licence, find_year
from reciper_ray.readers.script import superscript
from reciper_ray.readers.source import Block, Format, compose, decode, stem
from reciper_ray.readers.table import Cell, rows_of_text
from reciper_ray.text import normalise, squeeze
from reciper_ray.types import Kind, Paper

_MARKS = re.compile(r"^#{1,6} +\S|^!\[[^\]\n]*\]\(|^\|[ :-]*-{3}[ :|-]*$", re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?P<yaml>(?:[^\n]*\n){1,200}?)---[ \t]*\n")
_PARSER = MarkdownIt("commonmark").enable("table").disable(["code", "reference"])
_SCRIPTS = re.compile(
    r"<su(?P<tag>[bp])>(?P<html>[^<]{0,80})</su[bp]>"
    r"|(?<=[\w)])~(?P<low>[^~\s^]{1,30})~|(?<=[\w)])\^(?P<high>[^~\s^{}]{1,30})\^"
)
_EN_DASH = re.compile(r"(?<=\w)--(?=\w)")
_HEADING_CHARS = 200
_ABSTRACT = re.compile(r"Abstract\s*[:.—–-]\s*|Abstract\s+(?=[A-Z])", re.IGNORECASE)
_MASTHEAD = re.compile(
    r"(?:(?:original |full |research |review )?(?:article|paper|review|letter|communication)|open"
    r"|abstract|(?:\d\.? ?)?introduction|keywords|scientific reports|nature communications)\W*",
    re.IGNORECASE,
)
_CONTENT = re.compile(r"\w\w")
_FILE_NAME = re.compile(r"|\S*\.(?:jpe?g|png|gif|svg|tiff?|webp)|(?:img|image|fig)[-_]?\d*", re.I)
_HEAD, _STAMP = 6000, 1000


def _parse(source: str, data: bytes) -> Iterator[Paper]:
    written = decode(data)
    front, text = _front_matter(normalise(written))
    title, elements = _titled(list(_elements(_PARSER.parse(_plain(text)))))
    names = front.get("authors", front.get("author"))
    authors = map(_text, names if isinstance(names, list) else [names])
    year = re.search(r"\b[12]\d{3}\b", _field(front, "year", "date"))
    paper = compose(
        stem(source),
        source,
        FORMAT.name,
        _field(front, "title") or title,
        lay_out(elements),
        written,
        authors=tuple(filter(None, authors)),
        year=int(year[0]) if year else find_year(text),
        doi=find_doi(_field(front, "doi") or text[:_HEAD]),
        arxiv_id=find_arxiv_id(text[:_STAMP]),
        journal=_field(front, "journal"),
        licence=find_licence(_field(front, "license", "licence") or text),
    )
    return iter([paper])


def _sniff(head: str) -> bool:
    return _MARKS.search(head) is not None and not xml.is_document(head)


FORMAT = Format("markdown", _sniff, _parse)


def _front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The YAML front matter and the rest; what is no YAML mapping stays in the rest."""
    match = _FRONT_MATTER.match(text)
    if match:
        try:
            front = yaml.safe_load(match["yaml"])
        except yaml.YAMLError:
            front = None
        if isinstance(front, dict):
            return front, text[match.end() :]
    return {}, text


def _field(front: dict[str, Any], *names: str) -> str:
    return next((text for text in (_text(front.get(name)) for name in names) if text), "")


def _text(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("name")
    return "" if value is None or isinstance(value, (list, dict)) else squeeze(str(value))


def _titled(elements: list[Heading | Block]) -> tuple[str, list[Heading | Block]]:
    """The first heading that is no masthead, and the elements without headings up to it; the
    first short block, which then stays, where there is no such heading."""
    for at, element in enumerate(elements):
        if (
            isinstance(element, Heading)
            and _CONTENT.search(element.text)
            and not _MASTHEAD.fullmatch(element.text)
        ):
            before = [other for other in elements[:at] if isinstance(other, Block)]
            return element.text, before + elements[at + 1 :]
    blocks = (element.text for element in elements if isinstance(element, Block))
    short = (text for text in blocks if _CONTENT.search(text) and len(text) <= _HEADING_CHARS)
    return next(short, ""), elements


def _plain(text: str) -> str:
    """`text` with mathematics, raised and lowered script, and dashes written out."""
    return _EN_DASH.sub("–", _SCRIPTS.sub(_script, strip_math(text)))


def _script(match: re.Match[str]) -> str:
    before = match.string[max(0, match.start() - 8) : match.start()]
    if match["low"] is not None or match["tag"] == "b":
        return match["low"] or match["html"] or ""
    return superscript(match["high"] or match["html"] or "", before)


def _elements(tokens: list[Token]) -> Iterator[Heading | Block]:
    caption = ""
    at = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token.type == "heading_open":
            heading = squeeze(_inline(tokens[at]))
            if len(heading) <= _HEADING_CHARS:
                yield Heading(heading, int(token.tag[1:]))
            else:
                yield Block(heading)
            at += 1
        elif token.type == "table_open":
            end = next(i for i in range(at, len(tokens)) if tokens[i].type == "table_close")
            yield Block(_pipe_table(tokens[at:end]), caption, Kind.TABLE)
            at = end
        else:
            for block in _blocks(token):
                if block.kind is Kind.CAPTION:
                    caption = block.text[:_HEADING_CHARS] if block.text[:1] in "Tt" else ""
                yield replace(block, heading=caption) if block.kind is Kind.TABLE else block


def _blocks(token: Token) -> Iterator[Block]:
    if token.type == "inline":
        yield from _paragraphs(_inline(token))
    elif token.type == "fence":
        yield Block(squeeze(token.content))
    elif token.type == "html_block" and token.content.strip():
        yield from _html(token.content)


def _paragraphs(text: str) -> Iterator[Block]:
    """A paragraph's lines as blocks: a line that opens a caption starts one of its own."""
    lines: list[str] = []
    kind = Kind.TEXT
    for line in text.split("\n"):
        if opens_caption(line.strip()):
            yield _block(lines, kind)
            lines, kind = [], Kind.CAPTION
        lines.append(line)
    yield _block(lines, kind)


def _block(lines: list[str], kind: Kind) -> Block:
    text = squeeze(" ".join(lines))
    label = _ABSTRACT.match(text)
    if label and kind is Kind.TEXT:
        return Block(text[label.end() :], "Abstract", Kind.ABSTRACT)
    return Block(text, "", kind)


def _inline(token: Token) -> str:
    parts: list[str] = []
    for child in token.children or ():
        if child.type in ("text", "text_special", "code_inline"):
            parts.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif child.type == "image" and not _FILE_NAME.fullmatch(child.content):
            parts.append(f"\n{child.content}\n")
        elif child.type == "html_inline" and child.content.lower().startswith("<br"):
            parts.append(" ")
    return "".join(parts)


def _pipe_table(tokens: list[Token]) -> str:
    rows: list[list[Cell]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(Cell(squeeze(_inline(token))))
    return rows_of_text(rows)


def _html(content: str) -> Iterator[Block]:
    root = html.fragment_fromstring(content, create_parent=True)
    for table in root.iter("table"):
        yield Block(rows_of_text(map(_html_row, table.iter("tr"))), "", Kind.TABLE)
    etree.strip_elements(root, "table", "script", "style", with_tail=False)
    yield from _paragraphs(root.text_content())


def _html_row(row: html.HtmlElement) -> list[Cell]:
    return [
        Cell.of(squeeze(cell.text_content()), cell.get("rowspan"), cell.get("colspan"))
        for cell in row.iter("td", "th")
    ]
