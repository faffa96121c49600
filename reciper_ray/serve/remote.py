"""The parts of a search that live in deployments of their own, behind `reciper_ray.protocols`.

Concurrent calls are gathered: a deployment gets one call a batch, not one a query. The router
keeps as many batches under way as there may be replicas.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from ray.exceptions import RayActorError, RayTaskError
from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError
from ray.serve.handle import DeploymentHandle

from reciper_ray.batching import Drain
from reciper_ray.config import PartConfig
from reciper_ray.errors import Overloaded, ReciperError, SnapshotNotLoaded, Unavailable
from reciper_ray.evidence import Evidence
from reciper_ray.protocols import EvidenceQuery, ShardQuery, ShardReply, Vector
from reciper_ray.types import Answer, Hit, Passage, View

T = TypeVar("T")
R = TypeVar("R")
Replies = Mapping[int, T | ReciperError]
Ids = Mapping[int, Sequence[str]]
# Seconds after a replica without the snapshot, before the next is asked.
_PAUSES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


class RemoteEmbedder:
    """`protocols.Embedder` over the Embedder deployment."""

    def __init__(self, handle: DeploymentHandle, config: PartConfig) -> None:
        self.embed: Drain[str, Vector] = _drain(config, handle, "embed")


class RemoteGroup:
    """`protocols.ShardGroup` over one IndexShard deployment, for one snapshot."""

    def __init__(
        self,
        snapshot_id: str,
        view: View,
        shards: Sequence[int],
        handle: DeploymentHandle,
        config: PartConfig,
    ) -> None:
        self.view = view
        self.shards = tuple(shards)
        self._snapshot_id = snapshot_id
        self._candidates: Drain[ShardQuery, Replies[ShardReply]]
        self._candidates = _drain(config, handle, "candidates", snapshot_id)
        self._evidence: Drain[EvidenceQuery, Replies[Sequence[Evidence]]]
        self._evidence = _drain(config, handle, "evidence", snapshot_id)
        self._passages: Drain[Ids, Replies[Sequence[Passage]]]
        self._passages = _drain(config, handle, "passages", snapshot_id)

    async def candidates(self, snapshot_id: str, query: ShardQuery) -> Replies[ShardReply]:
        self._check(snapshot_id)
        return await self._candidates(query)

    async def evidence(self, snapshot_id: str, query: EvidenceQuery) -> Replies[Sequence[Evidence]]:
        self._check(snapshot_id)
        return await self._evidence(query)

    async def passages(self, snapshot_id: str, ids: Ids) -> Replies[Sequence[Passage]]:
        self._check(snapshot_id)
        return await self._passages(ids)

    def _check(self, snapshot_id: str) -> None:
        if snapshot_id != self._snapshot_id:
            raise SnapshotNotLoaded(
                f"snapshot {snapshot_id} is not served here; {self._snapshot_id} is"
            )


class RemoteReranker:
    """`protocols.Reranker` over the Reranker deployment."""

    def __init__(self, handle: DeploymentHandle, config: PartConfig) -> None:
        self._rerank: Drain[tuple[str, Sequence[Passage]], Sequence[float]]
        self._rerank = _drain(config, handle, "rerank")

    async def rerank(self, question: str, passages: Sequence[Passage]) -> Sequence[float]:
        return await self._rerank((question, passages))


class RemoteAnswerer:
    """Answers questions from hits in the Answerer deployment."""

    def __init__(self, handle: DeploymentHandle, config: PartConfig) -> None:
        self._answer: Drain[tuple[str, Sequence[Hit]], Answer] = _drain(config, handle, "answer")

    async def answer(self, question: str, hits: Sequence[Hit]) -> Answer:
        return await self._answer((question, hits))


class RemoteWriter:
    """`reciper_ray.answer.Writer` over the AnswerWriter deployment."""

    def __init__(self, handle: DeploymentHandle) -> None:
        self._handle = handle.options(stream=True)

    async def write(
        self, question: str, hits: Sequence[Hit], extractive: Answer
    ) -> AsyncGenerator[Answer, None]:
        """Closing the generator cancels the call."""
        with _own_errors(self._handle.deployment_name):
            answers = self._handle.write.remote(question, hits, extractive)
            try:
                async for answer in answers:
                    yield answer
            finally:
                answers.cancel()


def _drain(
    config: PartConfig, handle: DeploymentHandle, method: str, *first: object
) -> Drain[T, R]:
    """Batches for a method that takes `first` and then a list, and returns one as long."""

    async def run(batch: list[T]) -> Sequence[R]:
        results: Sequence[R] = await _call(handle, method, *first, batch)
        return results

    return Drain(
        run,
        max_batch=config.max_batch,
        concurrency=max(config.num_replicas, config.max_replicas),
        name=handle.deployment_name,
    )


async def _call(handle: DeploymentHandle, method: str, *args: object) -> Any:
    """One call of a deployment, made once more if the replica that had it died, and again, of
    whichever comes next, while it finds one without the snapshot.

    The product's own errors come out as they were raised, without Ray's wrapping.
    """
    for pause in _PAUSES:
        with suppress(SnapshotNotLoaded):
            return await _called(handle, method, *args)
        await asyncio.sleep(pause)
    return await _called(handle, method, *args)


async def _called(handle: DeploymentHandle, method: str, *args: object) -> Any:
    with _own_errors(handle.deployment_name):
        try:
            return await getattr(handle, method).remote(*args)
        except RayActorError:
            return await getattr(handle, method).remote(*args)


@contextmanager
def _own_errors(name: str) -> Iterator[None]:
    """Raises what Ray and Serve say of the deployment `name` as the product's own errors."""
    try:
        yield
    except BackPressureError as error:
        raise Overloaded(f"{name}: its queue is full") from error
    except (RayActorError, DeploymentUnavailableError) as error:
        raise Unavailable(f"{name}: no replica answers") from error
    except RayTaskError as error:
        if isinstance(error.cause, ReciperError):
            raise error.cause from None
        raise
