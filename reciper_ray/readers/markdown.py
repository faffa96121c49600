"""Markdown, hand-written or out of a PDF by OCR, to a paper.

markdown-it-py parses the blocks. Read are headings (their path), paragraphs, lists, pipe and HTML
tables, captions, LaTeX mathematics as plain text, YAML front matter. Left out: images, reference
sections, running heads. A sentence that a page break or a figure tore in two is joined again.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import yaml
from lxml import etree, html
from markdown_it import MarkdownIt
from markdown_it.token import Token

from reciper_ray.readers.latex import strip_math
from reciper_ray.readers.metadata import find_doi, find_licence, find_year
from reciper_ray.readers.script import superscript
from reciper_ray.readers.source import Block, Format, compose, decode, stem
from reciper_ray.readers.table import Cell, rows_of_text
from reciper_ray.text import normalise, squeeze
from reciper_ray.types import Kind, Paper

_MARKS = re.compile(
    r"^#{1,6} +\S|^!\[[^\]\n]*\]\(|^\|.*\|\s*$|^---\n(?:.*\n){1,40}?---\n|\$[^$\n]*\\[a-z]+[^$\n]*\$",
    re.MULTILINE,
)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?P<yaml>(?:.*\n){1,200}?)---[ \t]*\n")
_PARSER = MarkdownIt("commonmark").enable("table").disable(["code", "reference"])
_SCRIPTS = re.compile(
    r"<su(?P<tag>[bp])>(?P<html>[^<]{0,80})</su[bp]>"
    r"|(?<=[\w)])~(?P<low>[^~\s^]{1,30})~|(?<=[\w)])\^(?P<high>[^~\s^{}]{1,30})\^"
)
_EN_DASH = re.compile(r"(?<=\w)--(?=\w)")
_NUMBERED = re.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2})*)\.?\s+\S")
_HEADING_CHARS = 200
_CAPTION = re.compile(
    r"(?:Supplementary )?(?:Fig(?:ure|\.)?|Table|Scheme|Chart) ?S?\d{1,3}[a-z]?(?:\s*[.:|]|\s+[A-Z(])",
    re.IGNORECASE,
)
_REFERENCES = re.compile(r"(?:\d+\.?\s*)?(?:References?|Bibliography|Literature cited)\W*", re.I)
_ABSTRACT = re.compile(r"Abstract\b[\s:.—–-]*", re.I)
_MASTHEAD = re.compile(
    r"(?:(?:original |full |research |review )?(?:article|paper|review|letter|communication)|open"
    r"|abstract|\d*\.? ?introduction|keywords|scientific reports|nature communications)\W*",
    re.I,
)
_CONTENT = re.compile(r"\w\w")
_PAGE_NUMBER = re.compile(r"^\d+\s+|\s+\d+(?: of \d+)?$")
_FILE_NAME = re.compile(r"\S*\.(?:jpe?g|png|gif|svg|tiff?|webp)|img\S*|image\S*|", re.I)
_ENDED = re.compile(r"[.!?:;][\"”’)\]]*$")


def _parse(source: str, data: bytes) -> Iterator[Paper]:
    text = normalise(decode(data))
    front, text = _front_matter(text)
    title, blocks = _lay_out(_elements(_PARSER.parse(_plain_scripts(text))), squeeze(_str(front, "title")))
    ends = text[:6000] + text[-3000:]
    yield compose(
        stem(source),
        source,
        FORMAT.name,
        title,
        blocks,
        authors=_authors(front),
        year=_front_year(front) or find_year(ends),
        doi=_str(front, "doi") or find_doi(text[:6000]),
        journal=_str(front, "journal"),
        licence=find_licence(_str(front, "license") or _str(front, "licence") or text),
    )


FORMAT = Format("markdown", lambda head: _MARKS.search(head) is not None, _parse)
