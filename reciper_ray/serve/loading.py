"""What the router holds: a search's parts, in its own process or behind handles.

What a local part needs is imported with the part: a router without any stays small.
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import psutil
from ray.serve.handle import DeploymentHandle

from reciper_ray.answer import Writer
from reciper_ray.config import Config
from reciper_ray.errors import Unavailable
from reciper_ray.manifest import Role
from reciper_ray.protocols import Embedder, Parts, Reranker, ShardGroup
from reciper_ray.serve.remote import RemoteEmbedder, RemoteGroup, RemoteReranker, RemoteWriter
from reciper_ray.snapshot import Snapshot
from reciper_ray.types import View

if TYPE_CHECKING:
    from reciper_ray.adapters.index import ShardIndex

_SHARE = 0.9
# Times a passages file's size, once it is unpacked and indexed; measured on the sample papers.
_UNPACKED = 45.0


@dataclass(frozen=True, slots=True)
class Handles:
    """The deployments of a serving graph; what is None or empty here runs in the router.

    Each of `groups` is a view, the logical shards that a deployment serves of it, and its handle.
    """

    embedder: DeploymentHandle | None = None
    groups: Sequence[tuple[View, Sequence[int], DeploymentHandle]] = ()
    reranker: DeploymentHandle | None = None
    answerer: DeploymentHandle | None = None
    coordinator: DeploymentHandle | None = None


class Pool:
    """The shards that one process has loaded, for all its snapshots, as long as one uses them."""

    def __init__(self, memory_gib: float) -> None:
        self._budget = memory_gib * 2**30
        self._loaded: WeakValueDictionary[str, Any] = WeakValueDictionary()
        self._sizes: dict[str, float] = {}

    def load(
        self, snapshot: Snapshot, view: View, shards: Sequence[int], device: str
    ) -> "dict[int, ShardIndex]":
        """Some shards of a view. Raises `Unavailable` if they do not fit, before any is loaded."""
        from reciper_ray.local import load_shards, shard_key

        sizes = {shard_key(snapshot, view, n): _memory(snapshot, view, n) for n in shards}
        new = sum(size for key, size in sizes.items() if key not in self._loaded)
        used = sum(self._sizes[key] for key in list(self._loaded))
        free = self._budget - used if self._budget else _SHARE * psutil.virtual_memory().available
        if new > free:
            raise Unavailable(
                f"snapshot {snapshot.id} needs about {new / 2**30:.2f} GiB for {view} shards "
                f"{', '.join(map(str, shards))}, and {max(0.0, free) / 2**30:.2f} GiB are free"
                " (serve.memory_gib)"
            )
        self._sizes |= sizes
        return load_shards(snapshot, view, shards, device, self._loaded)


def _memory(snapshot: Snapshot, view: View, shard: int) -> float:
    """About what a loaded shard takes, in bytes."""
    index = snapshot.manifest.file(Role.INDEX, view, shard)
    return index.size + _UNPACKED * snapshot.manifest.file(Role.PASSAGES, view, shard).size


def load_parts(
    snapshot: Snapshot,
    config: Config,
    handles: Handles,
    executor: Executor,
    pool: Pool,
    like: Parts | None = None,
) -> Parts:
    """Everything that a search of `snapshot` needs; what no snapshot decides is that of `like`.

    Raises `CorruptSnapshot` if a file, or the encoder, of a part that runs here does not fit, and
    `Unavailable` if there is no room for it.
    """
    serve = config.serve
    if like:
        embedder, reranker = like.embedder, like.reranker
    else:
        embedder = (
            RemoteEmbedder(handles.embedder, serve.embedder)
            if handles.embedder
            else _local_embedder(snapshot, config, executor)
        )
        reranker = (
            RemoteReranker(handles.reranker, serve.reranker)
            if handles.reranker
            else _local_reranker(executor)
        )
    return Parts(
        snapshot_id=snapshot.id,
        statistics={view: snapshot.statistics(view) for view in View},
        embedder=embedder,
        groups=[
            RemoteGroup(snapshot.id, view, shards, handle, serve.shards)
            for view, shards, handle in handles.groups
        ]
        or _local_groups(snapshot, config, executor, pool),
        reranker=reranker,
        config=config.search,
        kept_ids=snapshot.kept_ids(),
    )


def load_writer(config: Config, handles: Handles) -> Writer:
    """Who writes answers in words of their own: a deployment, or a language model that this
    process loads (or asks) and keeps until it ends.

    Raises `ConfigError` naming a model or an endpoint that will not do.
    """
    if handles.answerer:
        return RemoteWriter(handles.answerer)
    from reciper_ray.serve.parts import AnswerWriter

    return AnswerWriter(config)


def _local_embedder(snapshot: Snapshot, config: Config, executor: Executor) -> Embedder:
    from reciper_ray.adapters.encoder import query_encoder
    from reciper_ray.local import LocalEmbedder

    encoder = query_encoder(config.encoder)
    snapshot.require_encoder(encoder.fingerprint)
    return LocalEmbedder(encoder, executor, config.serve.embedder.max_batch)


def _local_groups(
    snapshot: Snapshot, config: Config, executor: Executor, pool: Pool
) -> list[ShardGroup]:
    from reciper_ray.local import LocalGroup

    shards, device = range(snapshot.manifest.shards), config.index.device
    most = config.serve.shards.max_batch
    return [
        LocalGroup(snapshot.id, pool.load(snapshot, view, shards, device), view, executor, most)
        for view in View
    ]


def _local_reranker(executor: Executor) -> Reranker:
    from reciper_ray.local import LocalReranker

    return LocalReranker(executor)
