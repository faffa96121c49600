"""Files by URI through pyarrow.fs: local folders, `s3://`, `gs://` and whatever else it knows.

A `Store` is one folder; every path given to it is relative, with `/` between its parts. Writes
are whole files and become visible at once or not at all. What fails in a store that is not this
machine's is tried again for a while, unless it cannot pass. Locking is in `reciper_ray.leases`.
"""

import contextlib
import errno
import os
import re
import stat
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
from pyarrow import fs

from reciper_ray.errors import InvalidArgument, NotFound, ReciperError, Unavailable

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
# A password in a URI, and the query, which pyarrow takes options and keys from.
_SECRET = re.compile(r"(?<=://)[^/@:]*:[^/@]*@|\?.*")
# Seconds between attempts at a store that fails.
_PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)
# Errors that another attempt meets again.
_LASTING = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM}
_REFUSED = re.compile(r"ACCESS_DENIED|INVALID_ACCESS_KEY|SIGNATURE_DOES_NOT_MATCH|NO_SUCH_BUCKET")

T = TypeVar("T")


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
        return self.load(path, lambda file: bytes(file.read()))

    def load(self, path: str, work: Callable[[pa.NativeFile], T]) -> T:
        """What `work` makes of the file, open for random access; it may be called again."""

        def attempt() -> T:
            with self.filesystem.open_input_file(self._full(path)) as file:
                return work(file)

        return self._attempt(path, "read", attempt)

    def write(self, path: str, data: bytes | pa.Buffer) -> None:
        """Put `data` at `path`, over whatever is there.

        Locally a temporary file is flushed to disk and renamed over it; an object store makes
        an object visible when its upload is complete.
        """

        def attempt() -> None:
            if self.is_local:
                _replace(Path(self._full(path)), data)
                return
            with self.filesystem.open_output_stream(self._full(path)) as stream:
                stream.write(data)
            # Closing a stream that failed may still complete what there was of it.
            size = self.filesystem.get_file_info(self._full(path)).size
            if size != len(memoryview(data)):
                raise OSError(f"{size} of {len(memoryview(data))} bytes arrived")

        self._attempt(path, "write", attempt)

    def exists(self, path: str) -> bool:
        return bool(self.info(path).type != fs.FileType.NotFound)

    def info(self, path: str = "") -> fs.FileInfo:
        return self._attempt(
            path, "look at", lambda: self.filesystem.get_file_info(self._full(path))
        )

    def files(self, folder: str = "") -> list[tuple[str, int]]:
        """(path, bytes) of all files below `folder`, sorted by path; [] if there is no such."""
        return [(path, info.size) for path, info in self.infos(folder)]

    def infos(self, folder: str = "") -> list[tuple[str, fs.FileInfo]]:
        """(path, what is known of it) of all files below `folder`, sorted by path."""
        selector = fs.FileSelector(self._full(folder), allow_not_found=True, recursive=True)
        found = self._attempt(folder, "list", lambda: self.filesystem.get_file_info(selector))
        below = len(self.root.rstrip("/")) + 1
        files = [(f.path[below:], f) for f in found if f.type == fs.FileType.File]
        return sorted(files, key=lambda file: file[0])

    def delete(self, path: str) -> None:
        """Delete a file, if it exists."""
        with contextlib.suppress(NotFound):
            self._attempt(path, "delete", lambda: self.filesystem.delete_file(self._full(path)))

    def delete_folder(self, folder: str) -> None:
        """Delete `folder` and all below it, if it exists."""
        with contextlib.suppress(NotFound):
            self._attempt(folder, "delete", lambda: self.filesystem.delete_dir(self._full(folder)))

    def _full(self, path: str) -> str:
        return f"{self.root.rstrip('/')}/{path}" if path else self.root

    def _attempt(self, path: str, verb: str, work: Callable[[], T]) -> T:
        began = time.monotonic()
        for pause in (*_PAUSES, None):
            try:
                return work()
            except FileNotFoundError as error:
                raise NotFound(f"{self.address(path)} does not exist") from error
            except (OSError, pa.ArrowException) as error:
                reason = why(error) if isinstance(error, OSError) else str(error).splitlines()[0]
                if pause is None:
                    reason += f" (tried for {time.monotonic() - began:.0f} s)"
                if pause is None or self.is_local or not _may_pass(error):
                    raise Unavailable(f"cannot {verb} {self.address(path)}: {reason}") from error
            time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")


def _may_pass(error: Exception) -> bool:
    if isinstance(error, OSError) and error.errno in _LASTING:
        return False
    if isinstance(error, pa.ArrowException) and not isinstance(error, OSError):
        return False
    return not _REFUSED.search(str(error))


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
