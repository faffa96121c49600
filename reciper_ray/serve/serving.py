"""The snapshots that a router holds: the one that new requests get, and others while they last.

A request is pinned to the snapshot that is live when it begins. Another snapshot is loaded beside
it, checked, made live in one step, and the old one let go when its last request has ended.
"""

import asyncio
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from reciper_ray.config import Config
from reciper_ray.errors import CorruptSnapshot, ReciperError, SnapshotNotLoaded
from reciper_ray.manifest import Role
from reciper_ray.protocols import Parts
from reciper_ray.serve.loading import Handles, Pool, load_parts
from reciper_ray.snapshot import Snapshot
from reciper_ray.types import View

_ANSWER_WITHIN_S = 60.0


@dataclass(frozen=True, slots=True)
class Held:
    """Snapshots that a router or the coordinator has: the live one, and others."""

    live: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """One replica's answer to an order; `error` says why it did not follow."""

    error: ReciperError | None = None


@dataclass(slots=True)
class Loaded:
    """A snapshot with all that a search of it needs; `users` requests are pinned to it."""

    snapshot: Snapshot
    parts: Parts
    users: int = 0


def wanted(coordinator: Any, snapshot_id: str) -> Held:
    """What a starting replica must load: what the coordinator says, without one `snapshot_id`."""
    if coordinator is None:
        return Held(snapshot_id)
    # A constructor may run in an event loop, where Serve refuses to block.
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(lambda: coordinator.held.remote().result(timeout_s=_ANSWER_WITHIN_S))
        held: Held = asked.result()
    return held


class Serving:
    """What a router holds. Requests come in one event loop, orders from any thread."""

    def __init__(
        self, uri: str, held: Held, config: Config, handles: Handles, executor: Executor
    ) -> None:
        """Raises `CorruptSnapshot` if the live one, as far as it is loaded here, does not fit."""
        self._uri, self._config, self._handles = uri, config, handles
        self._executor, self._pool = executor, Pool(config.serve.memory_gib)
        self._loaded: dict[str, Loaded] = {}
        self._lock = threading.Lock()
        self._live = held.live
        self.load(held.live)
        for snapshot_id in held.others:
            # What is about to be refused must not keep this from starting.
            with suppress(ReciperError):
                self.load(snapshot_id)

    @property
    def live(self) -> Loaded:
        return self._loaded[self._live]

    @contextmanager
    def pinned(self) -> Iterator[Loaded]:
        """The snapshot that is live now, which stays loaded for the length of the block."""
        loaded = self.live
        loaded.users += 1
        try:
            yield loaded
        finally:
            loaded.users -= 1

    def held(self) -> Held:
        """The live snapshot, and those that requests are pinned to."""
        others = [id_ for id_, loaded in self._loaded.items() if loaded.users and id_ != self._live]
        return Held(self._live, tuple(sorted(others)))

    def load(self, snapshot_id: str) -> None:
        """Load a snapshot beside the live one; does nothing if it is there.

        Raises `NotFound`, `CorruptSnapshot` naming what does not fit, and `Unavailable` if there
        is no room for it.
        """
        with self._lock:
            if snapshot_id in self._loaded:
                return
            snapshot = Snapshot.open(self._uri, snapshot_id)
            live = self._loaded.get(self._live)
            if live:
                _require_alike(snapshot, live.snapshot)
            parts = load_parts(
                snapshot,
                self._config,
                self._handles,
                self._executor,
                self._pool,
                live.parts if live else None,
            )
            self._loaded = {**self._loaded, snapshot_id: Loaded(snapshot, parts)}

    def flip(self, snapshot_id: str) -> None:
        """Make a loaded snapshot the live one."""
        if snapshot_id not in self._loaded:
            raise SnapshotNotLoaded(f"snapshot {snapshot_id} is not loaded in this router")
        self._live = snapshot_id

    def release(self, keep: Collection[str]) -> None:
        """Let all go but those of `keep`, the live one, and what requests are pinned to."""
        with self._lock:
            self._loaded = {
                id_: loaded
                for id_, loaded in self._loaded.items()
                if id_ in keep or id_ == self._live or loaded.users
            }


def _require_alike(new: Snapshot, live: Snapshot) -> None:
    """Raise `CorruptSnapshot` unless `new` can take the place of `live`, as far as its manifest
    tells."""
    new.require_encoder(live.manifest.encoder.fingerprint)
    if new.manifest.shards != live.manifest.shards:
        raise CorruptSnapshot(
            f"snapshot {new.id} has {new.manifest.shards} shards; {live.manifest.shards} are served"
        )
    for view in View:
        for shard in range(new.manifest.shards):
            for role in (Role.INDEX, Role.PASSAGES):
                new.manifest.file(role, view, shard)


async def followed(order: Callable[[str], None], snapshot_id: str) -> Report:
    """The report of an order, which is carried out off the event loop."""
    try:
        await asyncio.to_thread(order, snapshot_id)
    except ReciperError as error:
        return Report(error)
    except Exception as error:
        return Report(ReciperError(f"{type(error).__name__}: {error}"))
    return Report()
