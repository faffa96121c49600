"""A store that fails, or ends the process, at a chosen write.

To those who ask, a local folder is no local file system either: what is written is there whole or
not at all, as in an object store.
"""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyarrow import fs

from reciper_ray.adapters.storage import Store


class FaultyFileSystem:
    """Calls `fault` with the number of each write, before it is made."""

    def __init__(self, real: fs.FileSystem, fault: Callable[[int], None]) -> None:
        self.writes = 0
        self._fault = fault
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    @contextmanager
    def open_output_stream(self, path: str) -> Iterator[Any]:
        number, self.writes = self.writes, self.writes + 1
        self._fault(number)
        if isinstance(self._real, fs.LocalFileSystem):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        with self._real.open_output_stream(path) as stream:
            yield stream


def store(where: Path | str, fault: Callable[[int], None] = lambda number: None) -> Store:
    real = Store.open(where)
    return replace(real, filesystem=FaultyFileSystem(real.filesystem, fault))  # type: ignore[arg-type]


def full_from(first: int) -> Callable[[int], None]:
    """The disk is full from that write on."""

    def fault(number: int) -> None:
        if number >= first:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return fault


def dies_at(fatal: int) -> Callable[[int], None]:
    """The process ends before that write, as if it were killed."""

    def fault(number: int) -> None:
        if number == fatal:
            os._exit(9)

    return fault
