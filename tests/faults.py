"""A store in a local folder that fails, or ends the process, at a chosen write.

To those who ask it is no local file system: what is written is there whole or not at all, as in an
object store.
"""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyarrow import fs

from reciper_ray.adapters.storage import Store


class FaultyFileSystem:
    """Calls `fault` with the number of each write, before it is made."""

    def __init__(self, fault: Callable[[int], None]) -> None:
        self.writes = 0
        self._fault = fault
        self._local = fs.LocalFileSystem()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._local, name)

    @contextmanager
    def open_output_stream(self, path: str) -> Iterator[Any]:
        number, self.writes = self.writes, self.writes + 1
        self._fault(number)
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with self._local.open_output_stream(path) as stream:
            yield stream


def store(folder: Path, fault: Callable[[int], None] = lambda number: None) -> Store:
    return Store(str(folder), FaultyFileSystem(fault), str(folder))  # type: ignore[arg-type]


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
