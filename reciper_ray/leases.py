"""Who is at work on a store: small files below `leases/` that their holders renew.

Works on any store, with no more than files that are visible to all once written. A lease is alive
while it is renewed, by the store's own clock, and while its process lives, if that is on this
machine. Two holders who exclude each other both write first and look then, so at least one of them
sees the other and steps back.
"""

import contextlib
import json
import os
import random
import socket
import threading
import time
import uuid
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Any

import psutil

from reciper_ray.adapters.storage import Store
from reciper_ray.errors import ReciperError, Unavailable

FOLDER = "leases"
TTL_S = 120.0
_RENEW_S = 20.0
_PAUSE_S = 0.2


class Kind(StrEnum):
    """What its holder does: builds, moves CURRENT, deletes, or serves snapshots."""

    BUILD = "build"
    PUBLISH = "publish"
    PRUNE = "prune"
    SERVE = "serve"


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease as others see it; `snapshots` are the ids that must stay."""

    path: str
    kind: Kind
    holder: str
    snapshots: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kind} by {self.holder}"


class Held:
    """A lease of this process, renewed until it is released. Use it as a context manager."""

    def __init__(self, store: Store, kind: Kind, snapshots: Collection[str] = ()) -> None:
        """Raises `Unavailable` if the store cannot be written."""
        self.path = f"{FOLDER}/{kind}-{uuid.uuid4().hex[:12]}.json"
        self._store, self._kind = store, kind
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._snapshots: tuple[str, ...] = ()
        self._renewed = 0.0
        self.name(snapshots)
        self._thread = threading.Thread(target=self._renew, daemon=True)
        self._thread.start()

    def name(self, snapshots: Collection[str]) -> None:
        """From now on these are the snapshots that must stay."""
        self._snapshots = tuple(sorted(set(snapshots)))
        self._write()

    def require(self) -> None:
        """Raise `Unavailable` if it may have run out, because the store could not be reached."""
        if time.monotonic() - self._renewed > TTL_S / 2:
            raise Unavailable(
                f"{self._store.address(self.path)} could not be renewed for {TTL_S / 2:.0f} s"
            )

    def release(self) -> None:
        self._ended.set()
        self._thread.join()
        with self._lock, contextlib.suppress(ReciperError):
            self._store.delete(self.path)

    def __enter__(self) -> "Held":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def _write(self) -> None:
        with self._lock:
            if self._ended.is_set():
                return
            began = time.monotonic()
            content = _myself() | {"kind": self._kind, "snapshots": self._snapshots}
            self._store.write(self.path, json.dumps(content).encode())
            self._renewed = began

    def _renew(self) -> None:
        while not self._ended.wait(_RENEW_S):
            with contextlib.suppress(ReciperError):
                self._write()


def alive(store: Store, mine: Held | None = None) -> list[Lease]:
    """The leases that are held now, by path, without `mine`, which tells the store's time; without
    one this machine's clock has to do."""
    now = (store.info(mine.path).mtime_ns or 0) if mine else time.time_ns()
    found = []
    for path, info in store.infos(FOLDER):
        if (mine and path == mine.path) or now - (info.mtime_ns or 0) > TTL_S * 1e9:
            continue
        with contextlib.suppress(ReciperError, ValueError, KeyError, TypeError):
            content = json.loads(store.read(path))
            if not _known_dead(content):
                holder = f"process {content['pid']} on {content['host']}"
                kind, snapshots = Kind(content["kind"]), tuple(content["snapshots"])
                found.append(Lease(path, kind, holder, snapshots))
    return found


@contextlib.contextmanager
def exclusive(
    store: Store, kind: Kind, others: Collection[Kind], wait_s: float, besides: Held | None = None
) -> Iterator[Held]:
    """A lease of `kind`, held while there is none of the kinds `others` but `besides`.

    Raises `Unavailable` naming the holder if that does not come about within `wait_s`.
    """
    end = time.monotonic() + wait_s
    while True:
        with Held(store, kind) as held:
            ours = besides.path if besides else ""
            found = [x for x in alive(store, held) if x.kind in others and x.path != ours]
            if not found:
                yield held
                return
        if time.monotonic() > end:
            raise Unavailable(f"{store.uri} is in use: {', '.join(map(str, found))}")
        time.sleep(_PAUSE_S * (1 + random.random()))


def wait_for(store: Store, mine: Held, kind: Kind, wait_s: float) -> None:
    """Return when nobody holds a lease of `kind`; raises `Unavailable` naming who still does after
    `wait_s`."""
    end = time.monotonic() + wait_s
    while found := [lease for lease in alive(store, mine) if lease.kind is kind]:
        if time.monotonic() > end:
            raise Unavailable(f"{store.uri} is in use: {', '.join(map(str, found))}")
        time.sleep(_PAUSE_S)


def _myself() -> dict[str, Any]:
    return {
        "host": socket.gethostname(),
        "space": _process_space(),
        "pid": os.getpid(),
        "started": psutil.Process().create_time(),
    }


def _known_dead(content: dict[str, Any]) -> bool:
    """Whether the holder's process, if this machine would know it, has ended."""
    if (content["host"], content["space"]) != (socket.gethostname(), _process_space()):
        return False
    try:
        process = psutil.Process(content["pid"])
        return (
            process.create_time() != content["started"] or process.status() == psutil.STATUS_ZOMBIE
        )
    except psutil.NoSuchProcess:
        return True


def _process_space() -> str:
    """What process numbers are counted in: containers of one machine have their own."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
