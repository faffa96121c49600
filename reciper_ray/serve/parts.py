"""The deployments behind the router: what each loads, and its work on batches.

Everything is loaded and checked before a replica is ready. Blocking work runs in an executor, so
that a replica goes on answering health checks. None of them ranks: they call the same functions
as a search in one process. What a part needs is imported when it is made, because whoever binds
the graph needs none of it, and each part only its own.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, aclosing, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from reciper_ray.config import Config
from reciper_ray.errors import ConfigError, ReciperError, SnapshotNotLoaded, Unavailable
from reciper_ray.evidence import Evidence
from reciper_ray.protocols import EvidenceQuery, ShardQuery, ShardReply, Vector
from reciper_ray.serve.loading import Pool
from reciper_ray.serve.serving import Report, followed, wanted
from reciper_ray.snapshot import Snapshot
from reciper_ray.types import Answer, Hit, Passage, View

if TYPE_CHECKING:
    from reciper_ray.adapters.index import ShardIndex

Q = TypeVar("Q")
R = TypeVar("R")


class Embedder:
    """Questions to unit vectors."""

    def __init__(self, uri: str, snapshot_id: str, config: Config, coordinator: Any = None) -> None:
        """Raises `CorruptSnapshot` if the snapshot was indexed by another encoder."""
        from reciper_ray.adapters.encoder import query_encoder

        self._encoder = query_encoder(config.encoder)
        live = wanted(coordinator, snapshot_id).live
        Snapshot.open(uri, live).require_encoder(self._encoder.fingerprint)
        self._executor = ThreadPoolExecutor(1)

    async def embed(self, texts: list[str]) -> list[Vector]:
        loop = asyncio.get_running_loop()
        return list(await loop.run_in_executor(self._executor, self._encoder.encode_queries, texts))


class IndexShard:
    """Some logical shards of one view, of every snapshot that is live or about to be."""

    def __init__(
        self,
        uri: str,
        snapshot_id: str,
        view: View,
        shards: Sequence[int],
        config: Config,
        coordinator: Any = None,
    ) -> None:
        """Raises `CorruptSnapshot` naming the file that is not what the manifest says."""
        from reciper_ray.local import answers_of

        self._uri, self._view, self._shards = uri, view, tuple(shards)
        self._device = config.index.device
        self._pool = Pool(config.serve.memory_gib)
        self._answers_of = answers_of
        self._loaded: dict[str, dict[int, ShardIndex]] = {}
        self._loading = threading.Lock()
        self._orders: dict[str, asyncio.Task[Report]] = {}
        held = wanted(coordinator, snapshot_id)
        self._load(held.live)
        for other in held.others:
            # What is about to be refused must not keep this from starting.
            with suppress(ReciperError):
                self._load(other)
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
        indexes = self._pinned(snapshot_id)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._executor,
            lambda: [
                {shard: indexes[shard].passages(wanted) for shard, wanted in ids.items()}
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
        indexes = self._pinned(snapshot_id)
        async with self._turn:
            return await self._answers_of(indexes, self._executor, answer, queries)

    async def load(self, snapshot_id: str) -> Report:
        """Load a snapshot beside the others; does nothing if it is there."""
        return await followed(self._load, snapshot_id)

    async def release(self, keep: Sequence[str]) -> Report:
        """Let all snapshots go but those of `keep`; calls under way keep theirs until they end."""
        with self._loading:
            self._loaded = {id_: found for id_, found in self._loaded.items() if id_ in keep}
        return Report()

    def _load(self, snapshot_id: str) -> None:
        with self._loading:
            if snapshot_id not in self._loaded:
                snapshot = Snapshot.open(self._uri, snapshot_id)
                shards = self._pool.load(snapshot, self._view, self._shards, self._device)
                self._loaded = {**self._loaded, snapshot_id: shards}

    def _pinned(self, snapshot_id: str) -> "dict[int, ShardIndex]":
        """The shards of a snapshot. Who is asked for one that is not here loads it for the next
        time, and another replica may have it."""
        if found := self._loaded.get(snapshot_id):
            return found
        task = self._orders.get(snapshot_id)
        if task is None or task.done():
            self._orders = {snapshot_id: asyncio.create_task(self.load(snapshot_id))}
        here = ", ".join(sorted(self._loaded))
        raise SnapshotNotLoaded(f"snapshot {snapshot_id} is not loaded here; {here} is")


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
