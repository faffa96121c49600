"""Files by URI through pyarrow.fs: local folders, `s3://`, `gs://` and whatever else it knows.

A `Store` is one folder; every path given to it is relative, with `/` between its parts. Writes
are whole files and become visible at once or not at all. Retrying a store that is down is left
to pyarrow's own clients; locking is not covered.
"""

import contextlib
import os
import re
import stat
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import fs

from reciper_ray.errors import InvalidArgument, NotFound, ReciperError, Unavailable

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
# A password in a URI, and the query, which pyarrow takes options and keys from.
_SECRET = re.compile(r"(?<=://)[^/@:]*:[^/@]*@|\?.*")


def why(error: OSError) -> str:
    """The operating system's words for `error`, without the path it names."""
    if error.errno:
        return os.strerror(error.errno)
    return str(error).splitlines()[0]


@dataclass(frozen=True, slots=True)
class Store:
    """A folder at `uri` (shown in messages, without credentials). Pickles, so workers can use it.

    Methods raise `NotFound` for a path that does not exist and `Unavailable` when the store
    fails; both name the full address.
    """

    uri: str
    filesystem: fs.FileSystem
    root: str

    @classmethod
    def open(cls, uri: str | os.PathLike[str]) -> "Store":
        """The store at a plain path or URI; nothing is created or read.

        Raises `InvalidArgument` for a URI that pyarrow.fs does not understand.
        """
        text = os.fspath(uri)
        if not text:
            raise InvalidArgument("an empty string is no path or URI")
        if not _SCHEME.match(text):
            return cls(text, fs.LocalFileSystem(), os.path.abspath(text))
        shown = _SECRET.sub("", text)
        try:
            filesystem, root = fs.FileSystem.from_uri(text)
        except (pa.ArrowException, OSError, ValueError) as error:
            reason = _SECRET.sub("", str(error).splitlines()[0])
            raise InvalidArgument(f"{shown} is not a usable URI: {reason}") from error
        return cls(shown, filesystem, root.rstrip("/") or "/")

    @property
    def is_local(self) -> bool:
        return isinstance(self.filesystem, fs.LocalFileSystem)

    def address(self, path: str = "") -> str:
        """What messages call `path`."""
        return f"{self.uri.rstrip('/')}/{path}" if path else self.uri

    def read(self, path: str) -> bytes:
        with self.open_input(path) as file, self._errors(path, "read"):
            return bytes(file.read())

    def open_input(self, path: str) -> pa.NativeFile:
        """A file open for random access."""
        with self._errors(path, "read"):
            return self.filesystem.open_input_file(self._full(path))

    def write(self, path: str, data: bytes | pa.Buffer) -> None:
        """Put `data` at `path`, over whatever is there.

        Locally a temporary file is flushed to disk and renamed over it; an object store makes
        an object visible when its upload is complete.
        """
        with self._errors(path, "write"):
            if self.is_local:
                _replace(Path(self._full(path)), data)
            else:
                with self.filesystem.open_output_stream(self._full(path)) as stream:
                    stream.write(data)

    def exists(self, path: str) -> bool:
        return bool(self.info(path).type != fs.FileType.NotFound)

    def info(self, path: str = "") -> fs.FileInfo:
        with self._errors(path, "look at"):
            return self.filesystem.get_file_info(self._full(path))

    def files(self, folder: str = "") -> list[tuple[str, int]]:
        """(path, bytes) of all files below `folder`, sorted by path; [] if there is no such."""
        selector = fs.FileSelector(self._full(folder), allow_not_found=True, recursive=True)
        with self._errors(folder, "list"):
            found = self.filesystem.get_file_info(selector)
        below = len(self.root.rstrip("/")) + 1
        return sorted((f.path[below:], f.size) for f in found if f.type == fs.FileType.File)

    def delete_folder(self, folder: str) -> None:
        """Delete `folder` and all below it, if it exists."""
        with self._errors(folder, "delete"), contextlib.suppress(FileNotFoundError):
            self.filesystem.delete_dir(self._full(folder))

    def _full(self, path: str) -> str:
        return f"{self.root.rstrip('/')}/{path}" if path else self.root

    @contextlib.contextmanager
    def _errors(self, path: str, verb: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise NotFound(f"{self.address(path)} does not exist") from error
        except (OSError, pa.ArrowException) as error:
            reason = why(error) if isinstance(error, OSError) else str(error).splitlines()[0]
            raise Unavailable(f"cannot {verb} {self.address(path)}: {reason}") from error


def _replace(target: Path, data: bytes | pa.Buffer) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """A file of a corpus; `problem` says why it must not be opened ("" if it may)."""

    path: str
    size: int
    problem: str = ""


def open_corpus(uri: str | os.PathLike[str]) -> tuple[Store, list[CorpusFile]]:
    """The folder at `uri` (of the single file at `uri`: its parent) and all files, by path.

    Folders are walked recursively. What is no readable file (hidden, no regular file, a link
    to nowhere or into its own parents) is listed with its `problem`, never left out. Raises
    `NotFound` for a missing corpus and `InvalidArgument` for one without files.
    """
    store = Store.open(uri)
    info = store.info()
    if info.type == fs.FileType.NotFound:
        raise NotFound(f"corpus {store.uri} does not exist")
    if info.type == fs.FileType.File:
        folder, _, name = store.root.rpartition("/")
        parent = Store(store.uri.rpartition("/")[0] or ".", store.filesystem, folder or "/")
        return parent, [CorpusFile(name, info.size)]
    if store.is_local:
        files = list(_walk(store.root, "", (os.path.realpath(store.root),)))
    else:
        files = [CorpusFile(path, size) for path, size in store.files()]
    if not files:
        raise InvalidArgument(f"corpus {store.uri} holds no files")
    return store, sorted(map(_refuse_hidden, files), key=lambda file: file.path)


def _refuse_hidden(file: CorpusFile) -> CorpusFile:
    hidden = any(part.startswith(".") for part in file.path.split("/"))
    return CorpusFile(file.path, file.size, "hidden file") if hidden else file


def _walk(folder: str, prefix: str, parents: tuple[str, ...]) -> Iterator[CorpusFile]:
    try:
        entries = list(os.scandir(folder))
    except OSError as error:
        yield CorpusFile(prefix.rstrip("/"), 0, f"folder cannot be read: {why(error)}")
        return
    for entry in entries:
        path = prefix + os.fsencode(entry.name).decode("utf-8", "backslashreplace")
        try:
            status = entry.stat()
        except OSError as error:
            problem = "broken link" if entry.is_symlink() else f"cannot be read: {why(error)}"
            yield CorpusFile(path, 0, problem)
            continue
        if stat.S_ISDIR(status.st_mode):
            real = os.path.realpath(entry.path)
            if real in parents:
                yield CorpusFile(path, 0, "link to a folder above it")
            else:
                yield from _walk(entry.path, f"{path}/", (*parents, real))
        elif not stat.S_ISREG(status.st_mode):
            yield CorpusFile(path, 0, "not a regular file")
        elif path != prefix + entry.name:
            yield CorpusFile(path, status.st_size, "file name is not UTF-8")
        else:
            yield CorpusFile(path, status.st_size)


def read_corpus_file(store: Store, path: str) -> bytes:
    """The bytes of a corpus file.

    Raises `InvalidArgument` with the reason if it is this file that cannot be read, and
    `Unavailable` if it is the store that fails, so that an outage is not taken for bad input.
    """
    try:
        return store.read(path)
    except ReciperError as error:
        if not store.is_local:
            store.info(path)
        cause = error.__cause__
        reason = why(cause) if isinstance(cause, OSError) else str(error)
        raise InvalidArgument(f"cannot be read: {reason}") from error
