"""Archives of papers: gzip, ZIP, and tar inside or outside of gzip.

Nothing is written to disk, so a member's path is only a name; what would leave the archive, is
hidden, encrypted or no file is rejected under its name. Bombs are bounded by what is really
unpacked, whatever the headers say. Office and EPUB files are ZIPs too and are refused.
"""

import gzip
import io
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import IO

from reciper_ray.errors import UnreadableInput
from reciper_ray.readers.source import head_hash
from reciper_ray.types import Paper, Rejection

MAX_MEMBER = 256 << 20
MAX_TOTAL = 2 << 30
MAX_MEMBERS = 200_000
MAX_DEPTH = 3
_PIECE = 1 << 20
_TAR_AT, _TAR = 257, b"ustar"
_DOCUMENTS = {
    "word/document.xml": "a Word file",
    "xl/workbook.xml": "an Excel file",
    "ppt/presentation.xml": "a PowerPoint file",
    "META-INF/container.xml": "an EPUB file",
    "content.xml": "an OpenDocument file",
}
_BROKEN: tuple[type[Exception], ...] = (
    zipfile.BadZipFile,
    tarfile.TarError,
    OSError,
    EOFError,
    zlib.error,
    ValueError,
    NotImplementedError,  # an unknown compression
)
_REFUSED: tuple[type[Exception], ...] = (UnreadableInput, *_BROKEN)

Read = Callable[[str, bytes, int], Iterator[Paper | Rejection]]
"""Reads (source, data) at a depth of archives."""


@dataclass(slots=True)
class _Budget:
    """What may still be unpacked of one archive."""

    left: int = MAX_TOTAL

    def take(self, stream: IO[bytes] | gzip.GzipFile) -> bytes:
        """All of `stream`. Raises `UnreadableInput` when that is too much."""
        limit = min(MAX_MEMBER, self.left)
        pieces: list[bytes] = []
        size = 0
        while piece := stream.read(_PIECE):
            size += len(piece)
            if size > limit:
                raise UnreadableInput(f"unpacks to more than {limit >> 20} MiB")
            pieces.append(piece)
        self.left -= size
        return b"".join(pieces)


def is_archive(data: bytes) -> bool:
    return data.startswith((b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b")) or _is_tar(data)


def _is_tar(data: bytes) -> bool:
    return data[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR


def papers(source: str, data: bytes, depth: int, read: Read) -> Iterator[Paper | Rejection]:
    """What `read` finds in the members of the archive, each called `source/member`.

    Raises `UnreadableInput` at once when the archive itself cannot be opened.
    """
    if depth >= MAX_DEPTH:
        raise UnreadableInput(f"archives inside one another more than {MAX_DEPTH} deep")
    budget = _Budget()
    if data.startswith(b"\x1f\x8b"):
        data = _gunzip(data, budget)
        if not _is_tar(data):
            name = PurePosixPath(source).name
            inner = name.removesuffix(".gz") if name.endswith(".gz") else name
            return read(f"{source}/{inner}", data, depth + 1)
    members = _tar(data, budget) if _is_tar(data) else _zip(data, budget)
    return _read_members(source, members, depth, read)


def _gunzip(data: bytes, budget: _Budget) -> bytes:
    try:
        with gzip.open(io.BytesIO(data)) as stream:
            return budget.take(stream)
    except _BROKEN as error:
        raise UnreadableInput(f"broken gzip file: {error}") from error


Member = tuple[str, Callable[[], bytes]]


def _read_members(
    source: str, members: Iterator[Member], depth: int, read: Read
) -> Iterator[Paper | Rejection]:
    number = 0
    while True:
        path, data = source, b""
        try:
            name, load = next(members)
            number += 1
            path = f"{source}/{name}"
            if number > MAX_MEMBERS:
                raise UnreadableInput(f"more than {MAX_MEMBERS} files in the archive; rest unread")
            _refuse_name(name)
            data = load()
            yield from read(path, data, depth + 1)
        except StopIteration:
            break
        except _REFUSED as error:
            yield Rejection(path, "read", _reason(error), head_hash(data))
            if path == source or number > MAX_MEMBERS:
                break
    if not number:
        yield Rejection(source, "read", "no files in the archive")


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, UnreadableInput) else f"broken archive: {error}"


def _refuse_name(name: str) -> None:
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if name.startswith("/") or ".." in parts or name[1:2] == ":" or "\0" in name:
        raise UnreadableInput("the member's path leads out of the archive")
    if any(part.startswith(".") or part == "__MACOSX" for part in parts):
        raise UnreadableInput("hidden file")


def _zip(data: bytes, budget: _Budget) -> Iterator[Member]:
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except _BROKEN as error:
        raise UnreadableInput(f"broken ZIP archive: {error}") from error
    names = set(archive.namelist())
    for name, what in _DOCUMENTS.items():
        if name in names and ("mimetype" in names or "[Content_Types].xml" in names):
            raise UnreadableInput(f"binary: the file is {what}")

    def load(member: zipfile.ZipInfo) -> bytes:
        if member.flag_bits & 1:
            raise UnreadableInput("encrypted: it needs a password")
        with archive.open(member) as stream:
            return budget.take(stream)

    return (
        (_printable(member.filename), partial(load, member))
        for member in archive.infolist()
        if not member.is_dir()
    )


def _tar(data: bytes, budget: _Budget) -> Iterator[Member]:
    try:
        archive = tarfile.TarFile(fileobj=io.BytesIO(data))
    except _BROKEN as error:
        raise UnreadableInput(f"broken tar archive: {error}") from error

    def load(member: tarfile.TarInfo) -> bytes:
        stream = archive.extractfile(member) if member.isfile() else None
        if stream is None:
            raise UnreadableInput("not a regular file")
        return budget.take(stream)

    return (
        (_printable(member.name), partial(load, member)) for member in archive if not member.isdir()
    )


def _printable(name: str) -> str:
    """`name` without what cannot be written as UTF-8."""
    return name.encode("utf-8", "backslashreplace").decode()
