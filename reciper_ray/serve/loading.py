"""What the router holds: a search's parts, in its own process or behind handles.

What a local part needs is imported with the part: a router without any stays small.
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from ray.serve.handle import DeploymentHandle

from reciper_ray.answer import Writer
from reciper_ray.config import Config
from reciper_ray.protocols import Embedder, Parts, Reranker, ShardGroup
from reciper_ray.serve.remote import RemoteEmbedder, RemoteGroup, RemoteReranker, RemoteWriter
from reciper_ray.snapshot import Snapshot
from reciper_ray.types import View


@dataclass(frozen=True, slots=True)
class Handles:
    """The deployments of a serving graph; what is None or empty here runs in the router.

    Each of `groups` is a view, the logical shards that a deployment serves of it, and its handle.
    """

    embedder: DeploymentHandle | None = None
    groups: Sequence[tuple[View, Sequence[int], DeploymentHandle]] = ()
    reranker: DeploymentHandle | None = None
    answerer: DeploymentHandle | None = None


def load_parts(snapshot: Snapshot, config: Config, handles: Handles, executor: Executor) -> Parts:
    """Everything that a search of `snapshot` needs.

    Raises `CorruptSnapshot` if a file, or the encoder, of a part that runs here does not fit.
    """
    serve = config.serve
    return Parts(
        snapshot_id=snapshot.id,
        statistics={view: snapshot.statistics(view) for view in View},
        embedder=RemoteEmbedder(handles.embedder, serve.embedder)
        if handles.embedder
        else _local_embedder(snapshot, config, executor),
        groups=[
            RemoteGroup(snapshot.id, view, shards, handle, serve.shards)
            for view, shards, handle in handles.groups
        ]
        or _local_groups(snapshot, config, executor),
        reranker=RemoteReranker(handles.reranker, serve.reranker)
        if handles.reranker
        else _local_reranker(executor),
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


def _local_groups(snapshot: Snapshot, config: Config, executor: Executor) -> list[ShardGroup]:
    from reciper_ray.local import LocalGroup, load_shards

    shards, device = range(snapshot.manifest.shards), config.index.device
    most = config.serve.shards.max_batch
    return [
        LocalGroup(snapshot.id, load_shards(snapshot, view, shards, device), view, executor, most)
        for view in View
    ]


def _local_reranker(executor: Executor) -> Reranker:
    from reciper_ray.local import LocalReranker

    return LocalReranker(executor)
