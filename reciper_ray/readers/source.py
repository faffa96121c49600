"""What every reader shares: bytes in, paragraphs out.

A reader turns the bytes of one source into `Block`s; `compose` lays them out as one `Paper`.
Neither knows a format.
"""

import codecs
import hashlib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import PurePosixPath

from reciper_ray.errors import UnreadableInput
from reciper_ray.readers.originals import originals
from reciper_ray.types import Kind, Paper, Paragraph, Rejection

HEAD = 4096
MAX_FILE = 1 << 30
"""Bytes of the largest file that is read."""
_MAGIC = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"II*\x00": "a TIFF image",
    b"MM\x00*": "a TIFF image",
    b"\xd0\xcf\x11\xe0": "an old Office file",
    b"{\\rtf": "an RTF file",
    b"%!PS": "PostScript",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"\xfd7zXZ": "an xz file",
    b"BZh": "a bzip2 file",
    b"SQLite format 3": "an SQLite database",
    b"\x7fELF": "a program",
}
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
_CONTROL_SHARE = 0.01
_FEW_CONTROLS = 8
_SNIFFED = 1 << 16
_TABLE_CHARS = 800
_HEADER_CHARS = 200
_WESTERN_SHARE = 0.1
_UTF8_CHARACTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}")
_DECLARED_WESTERN = re.compile(rb"charset=[\"']?(?:iso-8859-1|windows-1252|latin-?1)\b", re.I)
_FOOTNOTE_MARKS = " *†‡§¶☆"


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of source: `sniff(head)` recognises it by the start of its text, `parse(source, data)`
    reads it and raises `UnreadableInput` at once when the whole file cannot be read."""

    name: str
    sniff: Callable[[str], bool]
    parse: Callable[[str, bytes], Iterator[Paper | Rejection]]


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph on its way into a paper, its page where it has one, and the offsets in `text`
    of its further pages as in `Paragraph`. Only the rows of a table hold line breaks."""

    text: str
    heading: str = ""
    kind: Kind = Kind.TEXT
    page: int | None = None
    turns: tuple[int, ...] = ()

    @property
    def last_page(self) -> int | None:
        return None if self.page is None else self.page + len(self.turns)

    def part(self, start: int, end: int) -> "Block":
        """The block of `text[start:end]` without white space at its ends."""
        cut = self.text[start:end]
        start += len(cut) - len(cut.lstrip())
        cut = cut.strip()
        before = bisect_right(self.turns, start)
        inside = bisect_left(self.turns, start + len(cut))
        return replace(
            self,
            text=cut,
            page=None if self.page is None else self.page + before,
            turns=tuple(turn - start for turn in self.turns[before:inside]),
        )

    def joined(self, other: "Block") -> "Block":
        """This block with the text of `other` behind it, a space between."""
        turns = self.turns
        if self.last_page is not None and other.page is not None:
            begins = len(self.text) + 1
            turns += (begins,) * (other.page - self.last_page)
            turns += tuple(begins + turn for turn in other.turns)
        return replace(self, text=f"{self.text} {other.text}", turns=turns)


def stem(source: str) -> str:
    """The paper id of a file: its name without folder and last suffix."""
    return PurePosixPath(source).stem


def head_hash(data: bytes) -> str:
    """The sha256 hex digest of the first 4096 bytes, "" for none."""
    return hashlib.sha256(data[:HEAD]).hexdigest() if data else ""


def refuse_binary(data: bytes) -> None:
    """Raises `UnreadableInput` when `data` is empty or begins as a known binary format does."""
    if not data.strip():
        raise UnreadableInput("the file is empty")
    for magic, what in _MAGIC.items():
        if data.startswith(magic):
            raise UnreadableInput(f"binary: the file is {what}")


def head(data: bytes) -> str:
    """The start of `data` as text, good enough to recognise a format by."""
    return data[:_SNIFFED].decode(_encoding(data), errors="replace")


def decode(data: bytes, *, declared: bool = False) -> str:
    """`data` as text: UTF-8, UTF-16 or UTF-32, or an old Western file (Windows-1252).

    Windows-1252 is assumed only where nothing is valid UTF-8 beyond ASCII and most is ASCII, or
    where HTML (`declared`) says so. Raises `UnreadableInput` for any other text and for no text.
    """
    encoding = _encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        if not _is_western(data, declared):
            raise UnreadableInput(
                f"not {error.encoding} text: {error.reason} at byte {error.start}"
                f" (0x{data[error.start]:02x})"
            ) from error
        text = data.decode("cp1252", "replace")
    start = text[:_SNIFFED]
    controls = len(_CONTROL.findall(start))
    if controls > max(_FEW_CONTROLS, _CONTROL_SHARE * len(start)):
        raise UnreadableInput(f"binary: {controls} control characters near the start")
    return text


def _is_western(data: bytes, declared: bool) -> bool:
    if _encoding(data) != "utf-8-sig":
        return False
    if declared and _DECLARED_WESTERN.search(data[:HEAD]):
        return True
    high = sum(byte > 0x7F for byte in data)
    return high < _WESTERN_SHARE * len(data) and not _UTF8_CHARACTER.search(data)


def _encoding(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    start = data[:HEAD]
    for offset, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros = start[offset::2].count(0)
        if (
            zeros > 8
            and zeros > 0.4 * len(start[offset::2])
            and not start[1 - offset :: 2].count(0)
        ):
            return encoding
    return "utf-8-sig"


def _with_header(block: Block) -> Iterator[Block]:
    """A long table as several, each under its first row, so that no row is read without it."""
    if block.kind is not Kind.TABLE or len(block.text) <= _TABLE_CHARS:
        yield block
        return
    header, *rows = block.text.strip().split("\n")
    if len(header) > _HEADER_CHARS:
        yield block
        return
    part = [header]
    for row in rows:
        if len(part) > 1 and sum(map(len, part)) + len(part) + len(row) > _TABLE_CHARS:
            yield replace(block, text="\n".join(part))
            part = [header]
        part.append(row)
    yield replace(block, text="\n".join(part))


def compose(
    paper_id: str,
    source: str,
    format: str,
    title: str,
    blocks: Iterable[Block],
    written: str,
    *,
    authors: tuple[str, ...] = (),
    year: int | None = None,
    doi: str = "",
    arxiv_id: str = "",
    journal: str = "",
    licence: str = "",
    recipes: tuple[str, ...] = (),
) -> Paper:
    """The paper whose text is `blocks`, a blank line between two; blank blocks are left out, and
    long tables come in parts that each begin with the first row. `written` is the text of the
    file before it was normalised, without markup, paragraphs parted by blank lines.

    Its abstract is the blocks of kind ABSTRACT. A paper without a title bears its id as title.
    Raises `UnreadableInput` when there is neither text nor a recipe.
    """
    parts: list[str] = []
    paragraphs: list[Paragraph] = []
    at = 0
    for block in chain.from_iterable(map(_with_header, blocks)):
        block = block.part(0, len(block.text))
        if block.text:
            end = at + len(block.text)
            turns = tuple(at + turn for turn in block.turns)
            parts.append(block.text)
            paragraphs.append(Paragraph(at, end, block.heading, block.kind, block.page, turns))
            at = end + 2
    if not parts and not recipes:
        raise UnreadableInput("no text")
    text = "\n\n".join(parts)
    return Paper(
        paper_id=paper_id,
        title=title.rstrip(_FOOTNOTE_MARKS) or paper_id,
        text=text,
        paragraphs=tuple(paragraphs),
        source=source,
        format=format,
        abstract="\n\n".join(
            part for part, p in zip(parts, paragraphs, strict=True) if p.kind is Kind.ABSTRACT
        ),
        authors=authors,
        year=year,
        doi=doi,
        arxiv_id=arxiv_id,
        journal=journal,
        licence=licence,
        recipes=recipes,
        originals=originals(text, paragraphs, written),
    )
