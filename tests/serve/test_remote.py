"""The router's side of a call: batches, and errors as they were raised."""

import asyncio
from typing import Any

import numpy as np
import pytest
from ray.exceptions import ActorDiedError, RayTaskError
from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError

from reciper_ray.config import PartConfig
from reciper_ray.errors import CorruptSnapshot, Overloaded, SnapshotNotLoaded, Unavailable
from reciper_ray.protocols import ShardQuery, ShardReply
from reciper_ray.serve.remote import RemoteEmbedder, RemoteGroup, RemoteReranker
from reciper_ray.types import View
from tests.serve.fakes import Handle
from tests.support import passage

ONE = PartConfig(num_replicas=1, max_batch=4)
QUERY = ShardQuery(None, None, 1.0, 1.0, 1)


class Embedder:
    async def embed(self, texts: list[str]) -> list[Any]:
        await asyncio.sleep(0)
        return [np.full(2, len(text), np.float32) for text in texts]


class Failing:
    """Raises the given errors in turn, then answers."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)

    async def embed(self, texts: list[str]) -> list[Any]:
        if self.errors:
            raise self.errors.pop(0)
        return [np.zeros(2, np.float32) for _ in texts]


def wrapped(error: Exception) -> Exception:
    """What a caller sees of an exception that a replica raised."""
    return RayTaskError("embed", "traceback", error).as_instanceof_cause()


async def embed(part: Any) -> Any:
    return await RemoteEmbedder(Handle(part, "embedder"), ONE).embed("abc")


def test_concurrent_questions_share_a_call_and_get_their_own_vectors() -> None:
    async def run() -> tuple[Handle, list[Any]]:
        handle = Handle(Embedder())
        remote = RemoteEmbedder(handle, ONE)
        return handle, await asyncio.gather(*(remote.embed("x" * n) for n in range(1, 7)))

    handle, vectors = asyncio.run(run())
    assert [v[0] for v in vectors] == [1, 2, 3, 4, 5, 6]
    # The first leaves at once; of the five that arrived meanwhile four fit into a batch.
    assert [len(call[0]) for call in handle.calls] == [1, 4, 1]


@pytest.mark.parametrize("replicas", [1, 3])
def test_as_many_batches_run_as_there_may_be_replicas(replicas: int) -> None:
    running = most = 0

    class Slow(Embedder):
        async def embed(self, texts: list[str]) -> list[Any]:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.01)
            running -= 1
            return texts

    async def run() -> None:
        config = PartConfig(num_replicas=1, max_replicas=replicas, max_batch=1)
        remote = RemoteEmbedder(Handle(Slow()), config)
        await asyncio.gather(*(remote.embed("x") for _ in range(8)))

    asyncio.run(run())
    assert most == replicas


def test_our_own_error_arrives_without_rays_wrapping() -> None:
    with pytest.raises(CorruptSnapshot) as raised:
        asyncio.run(embed(Failing(wrapped(CorruptSnapshot("index 3 is damaged")))))
    assert type(raised.value) is CorruptSnapshot
    assert str(raised.value) == "index 3 is damaged"


def test_a_foreign_error_arrives_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        asyncio.run(embed(Failing(wrapped(ZeroDivisionError("x")))))


def test_a_replica_that_died_is_replaced_by_another_once() -> None:
    assert asyncio.run(embed(Failing(ActorDiedError()))) is not None
    with pytest.raises(Unavailable, match="embedder: no replica answers"):
        asyncio.run(embed(Failing(ActorDiedError(), ActorDiedError())))


@pytest.mark.parametrize(
    ("theirs", "ours", "sentence"),
    [
        (BackPressureError(1, 1), Overloaded, "embedder: its queue is full"),
        (DeploymentUnavailableError(None), Unavailable, "embedder: no replica answers"),
    ],
)
def test_serves_own_refusals_become_ours(
    theirs: Exception, ours: type[Exception], sentence: str
) -> None:
    with pytest.raises(ours, match=sentence):
        asyncio.run(embed(Failing(theirs)))


def test_a_group_answers_for_its_snapshot_only() -> None:
    class Shards:
        async def candidates(self, snapshot_id: str, queries: list[ShardQuery]) -> list[Any]:
            return [{2: ShardReply(), 5: ShardReply()} for _ in queries]

    async def run(snapshot_id: str) -> Any:
        group = RemoteGroup("s1", View.RECIPE, [2, 5], Handle(Shards()), ONE)
        assert (group.view, group.shards) == (View.RECIPE, (2, 5))
        return await group.candidates(snapshot_id, QUERY)

    assert asyncio.run(run("s1")) == {2: ShardReply(), 5: ShardReply()}
    with pytest.raises(SnapshotNotLoaded, match="snapshot s2 is not served here; s1 is"):
        asyncio.run(run("s2"))


def test_reranking_keeps_questions_and_passages_together() -> None:
    class Reranker:
        async def rerank(self, batch: list[Any]) -> list[Any]:
            return [[float(len(q) + len(p.text)) for p in passages] for q, passages in batch]

    async def run() -> Any:
        remote = RemoteReranker(Handle(Reranker()), ONE)
        one, two = passage("a:1", "x"), passage("b:1", "xyz")
        return await asyncio.gather(remote.rerank("q", [one, two]), remote.rerank("qq", [two]))

    assert asyncio.run(run()) == [[2.0, 4.0], [5.0]]
