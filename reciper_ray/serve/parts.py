"""The deployments behind the router: what each loads, and its work on batches.

Everything is loaded and checked before a replica is ready. Blocking work runs in an executor, so
that a replica goes on answering health checks. None of them ranks: they call the same functions
as a search in one process. What a part needs is imported when it is made, because whoever binds
the graph needs none of it, and each part only its own.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, aclosing
from typing import TYPE_CHECKING, TypeVar

from reciper_ray.config import Config
from reciper_ray.errors import ConfigError, ReciperError, SnapshotNotLoaded, Unavailable
from reciper_ray.evidence import Evidence
from reciper_ray.protocols import EvidenceQuery, ShardQuery, ShardReply, Vector
from reciper_ray.snapshot import Snapshot
from reciper_ray.types import Answer, Hit, Passage, View

if TYPE_CHECKING:
    from reciper_ray.adapters.index import ShardIndex

Q = TypeVar("Q")
R = TypeVar("R")


class Embedder:
    """Questions to unit vectors."""

    def __init__(self, uri: str, snapshot_id: str, config: Config) -> None:
        """Raises `CorruptSnapshot` if the snapshot was indexed by another encoder."""
        from reciper_ray.adapters.encoder import query_encoder

        self._encoder = query_encoder(config.encoder)
        Snapshot.open(uri, snapshot_id).require_encoder(self._encoder.fingerprint)
        self._executor = ThreadPoolExecutor(1)

    async def embed(self, texts: list[str]) -> list[Vector]:
        loop = asyncio.get_running_loop()
        return list(await loop.run_in_executor(self._executor, self._encoder.encode_queries, texts))


class IndexShard:
    """Some logical shards of one view."""

    def __init__(
        self, uri: str, snapshot_id: str, view: View, shards: Sequence[int], config: Config
    ) -> None:
        """Raises `CorruptSnapshot` naming the file that is not what the manifest says."""
        from reciper_ray.local import answers_of, load_shards

        snapshot = Snapshot.open(uri, snapshot_id)
        self._snapshot_id = snapshot.id
        self._answers_of = answers_of
        self._indexes = load_shards(snapshot, view, shards, config.index.device)
        self._executor = ThreadPoolExecutor(len(shards))
        # FAISS on a GPU bears one thread an index, so batches take turns.
        self._turn = asyncio.Lock()

    async def candidates(
        self, snapshot_id: str, queries: Sequence[ShardQuery]
    ) -> list[dict[int, ShardReply | ReciperError]]:
        return await self._each(snapshot_id, queries, lambda shard, batch: shard.candidates(batch))

    async def evidence(
        self, snapshot_id: str, queries: Sequence[EvidenceQuery]
    ) -> list[dict[int, Sequence[Evidence] | ReciperError]]:
        return await self._each(snapshot_id, queries, lambda shard, batch: shard.evidence(batch))

    async def passages(
        self, snapshot_id: str, batch: Sequence[Mapping[int, Sequence[str]]]
    ) -> list[dict[int, Sequence[Passage]]]:
        self._check(snapshot_id)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._executor,
            lambda: [
                {shard: self._indexes[shard].passages(wanted) for shard, wanted in ids.items()}
                for ids in batch
            ],
        )

    async def _each(
        self,
        snapshot_id: str,
        queries: Sequence[Q],
        answer: "Callable[[ShardIndex, Sequence[Q]], Sequence[R]]",
    ) -> list[dict[int, R | ReciperError]]:
        """Each shard's answers to a batch, turned to one answer a query."""
        self._check(snapshot_id)
        async with self._turn:
            return await self._answers_of(self._indexes, self._executor, answer, queries)

    def _check(self, snapshot_id: str) -> None:
        if snapshot_id != self._snapshot_id:
            raise SnapshotNotLoaded(
                f"snapshot {snapshot_id} is not loaded here; {self._snapshot_id} is"
            )


class Reranker:
    """How well passages cover questions."""

    def __init__(self) -> None:
        from reciper_ray.local import coverages

        self._coverages = coverages

    async def rerank(self, batch: Sequence[tuple[str, Sequence[Passage]]]) -> list[Sequence[float]]:
        return await asyncio.to_thread(
            lambda: [self._coverages(question, passages) for question, passages in batch]
        )


class Answerer:
    """Extractive answers from hits."""

    def __init__(self) -> None:
        from reciper_ray.answer import extractive

        self._answer = extractive

    async def answer(self, batch: Sequence[tuple[str, Sequence[Hit]]]) -> list[Answer]:
        return await asyncio.to_thread(
            lambda: [self._answer(question, hits) for question, hits in batch]
        )


class AnswerWriter:
    """Answers in a language model's words; the model is loaded when it is made."""

    def __init__(self, config: Config) -> None:
        """Raises `ConfigError` naming a model or an endpoint that will not do."""
        from reciper_ray.adapters.answerer import loaded

        self._running = ExitStack()
        writer = self._running.enter_context(loaded(config.answer))
        if writer is None:
            raise ConfigError("answer.backend = 'extractive' writes no answers of its own")
        self._writer = writer

    async def write(
        self, question: str, hits: Sequence[Hit], extractive: Answer
    ) -> AsyncGenerator[Answer, None]:
        """See `reciper_ray.answer.Writer`."""
        async with aclosing(self._writer.write(question, hits, extractive)) as answers:
            async for answer in answers:
                yield answer

    def check_health(self) -> None:
        """Serve replaces a replica whose engine cannot be started again."""
        if self._writer.generator.gone:
            raise Unavailable("the engine died too often (answer.vllm.restarts)")
