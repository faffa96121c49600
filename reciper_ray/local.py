"""The parts of a search inside one process, and a snapshot opened whole with them.

Used by the command line's `--snapshot` and by every part that a serving configuration keeps in
the router (`num_replicas: 0`). Blocking work runs in a bounded executor, never on the event
loop; concurrent calls are gathered into batches.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Mapping, MutableMapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, aclosing
from functools import cached_property
from types import TracebackType
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from reciper_ray import ranking, search
from reciper_ray.adapters.answerer import loaded
from reciper_ray.adapters.encoder import Encoder, query_encoder
from reciper_ray.adapters.index import ShardIndex
from reciper_ray.answer import Answering
from reciper_ray.batching import Drain
from reciper_ray.config import Config
from reciper_ray.errors import ReciperError, SnapshotNotLoaded, Unavailable
from reciper_ray.evidence import Evidence
from reciper_ray.manifest import Role
from reciper_ray.protocols import EvidenceQuery, Parts, ShardQuery, ShardReply
from reciper_ray.snapshot import IndexedPaper, Snapshot
from reciper_ray.types import Answer, Passage, Piece, Query, SearchResult, View

Q = TypeVar("Q")
R = TypeVar("R")

MAX_BATCH = 32


class LocalEmbedder:
    """`search.Embedder` over a loaded encoder."""

    def __init__(self, encoder: Encoder, executor: Executor, max_batch: int = MAX_BATCH) -> None:
        self._encoder = encoder
        self._executor = executor
        self.embed: Drain[str, NDArray[np.float32]] = Drain(
            self._run, max_batch=max_batch, name="embedder"
        )

    async def _run(self, texts: list[str]) -> list[NDArray[np.float32]]:
        loop = asyncio.get_running_loop()
        return list(await loop.run_in_executor(self._executor, self._encoder.encode_queries, texts))


class LocalGroup:
    """`search.ShardGroup` over loaded shards of one view and one snapshot."""

    def __init__(
        self,
        snapshot_id: str,
        shards: Mapping[int, ShardIndex],
        view: View,
        executor: Executor,
        max_batch: int = MAX_BATCH,
    ) -> None:
        self.view = view
        self.shards = tuple(sorted(shards))
        self._snapshot_id = snapshot_id
        self._indexes = shards
        self._executor = executor
        self._batches: Drain[ShardQuery, dict[int, ShardReply | ReciperError]] = Drain(
            self._propose, max_batch=max_batch, name=f"{view} shards"
        )
        self._evidence: Drain[EvidenceQuery, dict[int, tuple[Evidence, ...] | ReciperError]] = (
            Drain(self._select, max_batch=max_batch, name=f"{view} shards")
        )

    async def candidates(
        self, snapshot_id: str, query: ShardQuery
    ) -> Mapping[int, ShardReply | ReciperError]:
        self._check(snapshot_id)
        return await self._batches(query)

    async def evidence(
        self, snapshot_id: str, query: EvidenceQuery
    ) -> Mapping[int, Sequence[Evidence] | ReciperError]:
        self._check(snapshot_id)
        return await self._evidence(query)

    async def passages(
        self, snapshot_id: str, ids: Mapping[int, Sequence[str]]
    ) -> Mapping[int, Sequence[Passage] | ReciperError]:
        self._check(snapshot_id)
        loop = asyncio.get_running_loop()
        return {
            shard: await loop.run_in_executor(self._executor, self._indexes[shard].passages, wanted)
            for shard, wanted in ids.items()
        }

    def _check(self, snapshot_id: str) -> None:
        if snapshot_id != self._snapshot_id:
            raise SnapshotNotLoaded(
                f"snapshot {snapshot_id} is not loaded here; {self._snapshot_id} is"
            )

    async def _propose(
        self, queries: list[ShardQuery]
    ) -> list[dict[int, ShardReply | ReciperError]]:
        return await answers_of(self._indexes, self._executor, ShardIndex.candidates, queries)

    async def _select(
        self, queries: list[EvidenceQuery]
    ) -> list[dict[int, tuple[Evidence, ...] | ReciperError]]:
        return await answers_of(self._indexes, self._executor, ShardIndex.evidence, queries)


async def answers_of(
    shards: Mapping[int, ShardIndex],
    executor: Executor,
    answer: Callable[[ShardIndex, Sequence[Q]], Sequence[R]],
    queries: Sequence[Q],
) -> list[dict[int, R | ReciperError]]:
    """Each shard's answers to a batch, turned to one answer a query; a shard that fails answers
    every query of the batch with its error."""
    loop = asyncio.get_running_loop()
    columns = await asyncio.gather(
        *(loop.run_in_executor(executor, answer, shard, queries) for shard in shards.values()),
        return_exceptions=True,
    )
    return [
        {
            number: _failure(shard, column) if isinstance(column, BaseException) else column[row]
            for (number, shard), column in zip(shards.items(), columns, strict=True)
        }
        for row in range(len(queries))
    ]


def _failure(shard: ShardIndex, error: BaseException) -> ReciperError:
    if isinstance(error, ReciperError):
        return error
    return Unavailable(f"{shard.view} shard {shard.shard}: {type(error).__name__}: {error}")


class LocalReranker:
    """`search.Reranker` by the paper's lexical coverage of title and text."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    async def rerank(self, question: str, passages: Sequence[Passage]) -> Sequence[float]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, coverages, question, passages)


def coverages(question: str, passages: Sequence[Passage]) -> list[float]:
    """RECIPER's coverage of the question by each passage's title and text."""
    return [ranking.word_coverage(question, passage) for passage in passages]


def load_shards(
    snapshot: Snapshot,
    view: View,
    shards: Sequence[int],
    device: str,
    loaded: MutableMapping[str, ShardIndex] | None = None,
) -> dict[int, ShardIndex]:
    """The given shards of a view, their files checked. Raises `CorruptSnapshot` naming the file.

    Shards that are the same in another snapshot are taken from `loaded`, and others put there.
    """
    known = {} if loaded is None else loaded
    found = {}
    for n in shards:
        key = shard_key(snapshot, view, n)
        # Asked once and held here: `known` may not keep what nobody else does.
        shard = known.get(key)
        if shard is None:
            index, passages = snapshot.index(view, n), snapshot.passages(view, n)
            shard = ShardIndex(view, n, index, passages, device)
        found[n] = known[key] = shard
    return found


def shard_key(snapshot: Snapshot, view: View, shard: int) -> str:
    """The same for shards of the same files."""
    files = (snapshot.manifest.file(role, view, shard) for role in (Role.INDEX, Role.PASSAGES))
    return " ".join(file.sha256 for file in files)


class Engine:
    """A snapshot opened in this process. Use it as a context manager."""

    def __init__(self, snapshot: Snapshot, config: Config) -> None:
        """Raises `CorruptSnapshot` naming what is wrong with a file or with the encoder."""
        self.snapshot = snapshot
        self.config = config
        self._open = ExitStack()
        self._executor = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="search")
        encoder = query_encoder(config.encoder)
        snapshot.require_encoder(encoder.fingerprint)
        shards = range(snapshot.manifest.shards)
        self.parts = Parts(
            snapshot_id=snapshot.id,
            statistics={view: snapshot.statistics(view) for view in View},
            embedder=LocalEmbedder(encoder, self._executor),
            groups=[
                LocalGroup(
                    snapshot.id,
                    load_shards(snapshot, view, shards, config.index.device),
                    view,
                    self._executor,
                )
                for view in View
            ],
            reranker=LocalReranker(self._executor),
            config=config.search,
            kept_ids=snapshot.kept_ids(),
        )

    def __enter__(self) -> "Engine":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()
        self._executor.shutdown(cancel_futures=True)

    async def search(self, query: Query) -> SearchResult:
        """As `reciper_ray.search.search`, after checking the query against the limits."""
        search.validate(query, self.config.serve.limits)
        return await search.search(query, self.parts)

    async def answer(self, query: Query) -> tuple[Answer, SearchResult]:
        """A cited answer from the query's hits, and the hits."""
        return await self._answering.answer(query)

    async def stream(self, query: Query) -> AsyncGenerator[Piece, None]:
        """The answer as it is written, then the whole with the hits."""
        async with aclosing(self._answering.stream(query)) as pieces:
            async for piece in pieces:
                yield piece

    @cached_property
    def _answering(self) -> Answering:
        # A language model is loaded by the first question that it is to answer.
        return Answering(
            self.search,
            writer=self._open.enter_context(loaded(self.config.answer)),
            reserve_s=self.config.answer.reserve_ms / 1000,
        )

    def paper(self, paper_id: str) -> IndexedPaper:
        """An indexed paper. Raises `NotFound` naming the id."""
        return self.snapshot.paper(paper_id)


def open_snapshot(uri: str | os.PathLike[str], config: Config | None = None) -> Engine:
    """The current snapshot at `uri`, ready to search. Raises `NotFound` and `CorruptSnapshot`."""
    return Engine(Snapshot.open(uri), config or Config())
