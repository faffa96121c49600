"""From a sequence of headings and blocks, as a page shows them, to a paper's blocks.

For sources that give no section tree: puts each block under its heading path, leaves out the
reference list and running heads, joins sentences that a page break or a figure tore in two.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from reciper_ray.readers.references import without_references
from reciper_ray.readers.source import Block
from reciper_ray.types import Kind

_NUMBERED = re.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,4})(?:\.\s*|\s+)(?=[^\W\d])")
_REFERENCES = re.compile(
    r"(?:\d{1,2}\.?\s*)?(?:References?(?: and notes)?|Bibliography|Literature cited)\W*",
    re.IGNORECASE,
)
_CAPTION = re.compile(
    r"(?:Supplementary )?(?:Fig(?:ure|\.)?|FIG(?:URE|\.)?|Table|TABLE|Scheme|Chart)"
    r" ?S?\d{1,3}[a-z]?(?:\s*[.:|]|\s+[A-Z(])"
)
_CAPTION_CHARS = 300
_ABSTRACT = re.compile(r"abstract\W*", re.IGNORECASE)
_ABSTRACT_CHARS = 4000
_CONTENT = re.compile(r"\w.*\w")
_PAGE_NUMBER = re.compile(r"^\d{1,5}\s+|\s+\d{1,5}(?: of \d{1,5})?$")
_ENDED = re.compile(r"[.!?:;][\"”’)\]]*$")
_REPEATS = 3
_HEAD_CHARS = 120
_TORN_CHARS = 60


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading and its level, 1 the highest."""

    text: str
    level: int


def depth(heading: Heading) -> int:
    """The heading's level: by its section number where it has one (2.1 is 2), else as marked."""
    number = _NUMBERED.match(heading.text)
    return number["number"].count(".") + 1 if number else heading.level


def lay_out(elements: Sequence[Heading | Block], *, weak_breaks: bool = False) -> list[Block]:
    """The blocks among `elements` in reading order, each under its heading path.

    With `weak_breaks` a break between blocks counts only where a sentence ends.
    """
    running = _running_heads(elements)
    blocks: list[Block] = []
    path: list[Heading] = []
    in_references = False
    last_text: int | None = None
    for element in elements:
        if isinstance(element, Heading):
            if _CONTENT.search(element.text):
                in_references = is_references(element.text)
                path = [up for up in path if depth(up) < depth(element)]
                path += [element] * (not in_references)
                last_text = None
        elif is_references(element.text):
            in_references = True
        elif not in_references and _CONTENT.search(element.text) and _bare(element) not in running:
            block = _placed(element, path, weak_breaks)
            if block.kind is not Kind.TEXT:
                blocks.append(block)
            elif last_text is not None and _torn(blocks[last_text].text, block.text, weak_breaks):
                blocks[last_text] = blocks[last_text].joined(block)
            else:
                if weak_breaks or len(block.text) >= _TORN_CHARS:
                    last_text = len(blocks)
                blocks.append(block)
    return without_references(blocks)


def _placed(block: Block, path: list[Heading], weak_breaks: bool) -> Block:
    """`block` under `path`, with the kind its place and its opening words tell."""
    headings = [up.text for up in path] + [block.heading] * bool(block.heading)
    kind = block.kind
    if kind is Kind.TEXT and opens_caption(block.text):
        alone = not weak_breaks or len(block.text) <= _CAPTION_CHARS
        kind = Kind.CAPTION if alone else Kind.TEXT
    elif kind is Kind.TEXT and path and _ABSTRACT.fullmatch(path[-1].text):
        kind = Kind.ABSTRACT if len(block.text) <= _ABSTRACT_CHARS else Kind.TEXT
    return replace(block, heading=" > ".join(headings), kind=kind)


def opens_caption(line: str) -> bool:
    """Whether `line` begins as a caption (`Figure 1. …`), not as a sentence (`Figure 1 shows`)."""
    return _CAPTION.match(line) is not None


def is_references(heading: str) -> bool:
    """Whether `heading` opens a list of references."""
    return _REFERENCES.fullmatch(heading) is not None


def _running_heads(elements: Sequence[Heading | Block]) -> frozenset[str]:
    counts = Counter(
        _bare(element)
        for element in elements
        if isinstance(element, Block)
        and element.kind is Kind.TEXT
        and len(element.text) <= _HEAD_CHARS
    )
    return frozenset(text for text, count in counts.items() if count >= _REPEATS)


def _bare(block: Block) -> str:
    return _PAGE_NUMBER.sub("", block.text)


def _torn(before: str, after: str, weak_breaks: bool) -> bool:
    return (weak_breaks or after[0].islower()) and not _ENDED.search(before[-6:])
