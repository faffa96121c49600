"""Reading in a process of its own, so that no file takes anything else down with it.

Parsers of PDF and XML are C code fed by strangers. A child process with bounded memory reads one
file after the other; if it dies or takes too long, that file is refused and a new child reads the
next one. What a child may do otherwise (files, network) is not restricted.
"""

import contextlib
import os
import pickle
import resource
import select
import signal
import struct
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from reciper_ray import readers
from reciper_ray.errors import UnreadableInput
from reciper_ray.types import Paper, Rejection

_SERVE = "from reciper_ray.readers.isolated import serve; serve()"
_LENGTH = struct.Struct(">Q")
_PIECE = 1 << 20
_START_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Limits:
    """What reading may take: `memory` in bytes of address space, `seconds` for each record."""

    memory: int = 4 << 30
    seconds: float = 120.0


class IsolatedReader:
    """`readers.read` in a child process, which starts with the first file. Not for threads."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._child: subprocess.Popen[bytes] | None = None
        self._stop: weakref.finalize[..., IsolatedReader] | None = None

    def read(self, source: str, data: bytes) -> Iterator[Paper | Rejection]:
        """As `readers.read`, but raises `UnreadableInput` when it gets there, which may be behind
        the first records, and also when reading crashes or exceeds a limit."""
        child = self._running()
        done = False
        try:
            self._send(child, (source, data))
            while True:
                kind, value = self._receive(child, self._limits.seconds)
                if kind != "record":
                    break
                yield value
            done = True
        finally:
            if not done:
                self.close()
        if kind == "refused":
            raise UnreadableInput(value)

    def close(self) -> None:
        """End the child, if there is one. Also done when the reader goes or Python exits."""
        self._child = None
        if self._stop:
            self._stop()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            self.close()
            self._child = subprocess.Popen(
                [sys.executable, "-c", _SERVE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                bufsize=0,
            )
            self._stop = weakref.finalize(self, _end, self._child)
            self._send(self._child, self._limits.memory)
            self._receive(self._child, _START_SECONDS)
        return self._child

    def _send(self, child: subprocess.Popen[bytes], message: Any) -> None:
        assert child.stdin
        try:
            _write(child.stdin, message)
        except BrokenPipeError:
            raise UnreadableInput(_ending(child)) from None

    def _receive(self, child: subprocess.Popen[bytes], seconds: float) -> tuple[str, Any]:
        assert child.stdout
        until = time.monotonic() + seconds
        (size,) = _LENGTH.unpack(self._exactly(child, child.stdout, _LENGTH.size, until))
        message: tuple[str, Any] = pickle.loads(self._exactly(child, child.stdout, size, until))
        return message

    def _exactly(
        self, child: subprocess.Popen[bytes], pipe: IO[bytes], size: int, until: float
    ) -> bytes:
        pieces = bytearray()
        while len(pieces) < size:
            left = until - time.monotonic()
            if left <= 0 or not select.select([pipe], [], [], left)[0]:
                raise UnreadableInput(f"reading took longer than {self._limits.seconds:g} s")
            piece = os.read(pipe.fileno(), min(_PIECE, size - len(pieces)))
            if not piece:
                raise UnreadableInput(_ending(child))
            pieces += piece
        return bytes(pieces)


def _end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe:
            with contextlib.suppress(OSError):
                pipe.close()


def _ending(child: subprocess.Popen[bytes]) -> str:
    code = child.wait()
    how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    return f"reading crashed ({how})"


def _write(pipe: IO[bytes], message: Any) -> None:
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    view = memoryview(_LENGTH.pack(len(data)) + data)
    while view:
        view = view[pipe.write(view) :]


def serve() -> None:
    """The child: reads what the parent sends until it closes the pipe."""
    taken, given = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    # What a library prints must not get between the messages.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    memory = _read(taken)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _write(given, ("ready", None))
    while (request := _read(taken)) is not None:
        try:
            for record in readers.read(*request):
                _write(given, ("record", record))
            answer: tuple[str, str] = ("end", "")
        except UnreadableInput as error:
            answer = ("refused", str(error))
        except MemoryError:
            answer = ("refused", f"reading needs more than {memory >> 20} MiB of memory")
        except Exception as error:
            text = str(error).splitlines()[0] if str(error) else ""
            answer = ("refused", f"{type(error).__name__}: {text}".removesuffix(": "))
        _write(given, answer)


def _read(pipe: IO[bytes]) -> Any:
    head = pipe.read(_LENGTH.size)
    return pickle.loads(pipe.read(_LENGTH.unpack(head)[0])) if head else None
