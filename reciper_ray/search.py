"""The query path, once: embed, fan out to every shard, merge, dedup, rerank.

`search` runs unchanged in one process and inside the router of a cluster; what differs is who
stands behind the small protocols here. It handles one query and knows nothing of batches:
whoever implements a protocol may gather concurrent calls (`reciper_ray.batching`).

Every shard answers with its own best candidates under the one total order
(-score, passage_id), so merging and cutting gives the ranking of a single shard.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from reciper_ray import ranking
from reciper_ray.config import LimitsConfig, SearchConfig
from reciper_ray.errors import (
    CoverageTooLow,
    DeadlineExceeded,
    InvalidArgument,
    ReciperError,
    Unavailable,
)
from reciper_ray.lexical import Statistics
from reciper_ray.ranking import Candidate, Ranked
from reciper_ray.types import Coverage, Filters, Hit, Method, Passage, Query, SearchResult, View

Vector = NDArray[np.float32]
T = TypeVar("T")

# Of the time left, what the shards may use: the rest is for merging, passages and the reply.
FAN_OUT_SHARE = 0.8


@dataclass(frozen=True, slots=True)
class ShardQuery:
    """What a shard needs to answer alone.

    `vector` is the unit query vector, shape (d,), None when no dense list is wanted. `weights`
    maps query terms to idf times count, from the whole corpus's statistics; empty when no
    lexical list is wanted. `mean_length` is the corpus's mean passage length in tokens. `depth`
    candidates are wanted per list.
    """

    vector: Vector | None
    weights: Mapping[str, float]
    mean_length: float
    depth: int
    filters: Filters = Filters()


@dataclass(frozen=True, slots=True)
class ShardReply:
    """One shard's best candidates per list, each ordered by (-score, passage_id).

    Where a query has both a vector and weights, every candidate carries both scores.
    """

    dense: tuple[Candidate, ...] = ()
    lexical: tuple[Candidate, ...] = ()


class Embedder(Protocol):
    """Turns a question into a unit vector of shape (d,)."""

    async def embed(self, text: str) -> Vector: ...


class ShardGroup(Protocol):
    """Some logical shards of one view, reached by one call.

    Replies are keyed by shard; a shard that fails has its error there instead of costing its
    neighbours. `passages` returns the passages of the given ids in the given order.
    """

    @property
    def view(self) -> View: ...

    @property
    def shards(self) -> tuple[int, ...]: ...

    async def candidates(
        self, snapshot_id: str, query: ShardQuery
    ) -> Mapping[int, ShardReply | ReciperError]: ...

    async def passages(
        self, snapshot_id: str, ids: Mapping[int, Sequence[str]]
    ) -> Mapping[int, Sequence[Passage] | ReciperError]: ...


class Reranker(Protocol):
    """How well each passage covers a question, 0..1 each."""

    async def rerank(self, question: str, passages: Sequence[Passage]) -> Sequence[float]: ...


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything a search needs, pinned to one snapshot."""

    snapshot_id: str
    statistics: Mapping[View, Statistics]
    embedder: Embedder
    groups: Sequence[ShardGroup]
    reranker: Reranker
    config: SearchConfig = field(default_factory=SearchConfig)


@dataclass(frozen=True, slots=True)
class MethodSpec:
    """What a method asks of the shards."""

    views: frozenset[View]
    dense: bool
    lexical: bool


METHODS: Mapping[Method, MethodSpec] = {
    Method.HYBRID: MethodSpec(frozenset(View), dense=True, lexical=True),
    Method.RECIPER: MethodSpec(frozenset(View), dense=True, lexical=False),
    Method.PARAGRAPH: MethodSpec(frozenset({View.PARAGRAPH}), dense=True, lexical=False),
    Method.RECIPE: MethodSpec(frozenset({View.RECIPE}), dense=True, lexical=False),
    Method.BM25: MethodSpec(frozenset({View.PARAGRAPH}), dense=False, lexical=True),
}


def validate(query: Query, limits: LimitsConfig) -> None:
    """Raise `InvalidArgument` naming the field, its value and what is allowed."""
    if not query.text.strip():
        raise InvalidArgument("question is empty: ask something, for example how X was calcined")
    if len(query.text) > limits.question_chars:
        raise InvalidArgument(
            f"question has {len(query.text)} characters; at most {limits.question_chars} allowed"
        )
    if not 1 <= query.k <= limits.k:
        raise InvalidArgument(f"k = {query.k} is not between 1 and {limits.k}")
    if not 1 <= query.timeout_ms <= limits.timeout_ms:
        raise InvalidArgument(
            f"timeout_ms = {query.timeout_ms} is not between 1 and {limits.timeout_ms}"
        )
    if not 0.0 <= query.min_coverage <= 1.0:
        raise InvalidArgument(f"min_coverage = {query.min_coverage} is not between 0 and 1")
    if query.views and not query.views & METHODS[query.method].views:
        raise InvalidArgument(
            f"views = {sorted(query.views)}: method {query.method} searches only "
            f"{sorted(METHODS[query.method].views)}"
        )
    first, last = query.filters.year_from, query.filters.year_to
    if first is not None and last is not None and first > last:
        raise InvalidArgument(f"year_from = {first} is after year_to = {last}")


async def search(query: Query, parts: Parts) -> SearchResult:
    """Rank the passages of `parts`'s snapshot for `query`.

    Raises `DeadlineExceeded` when `timeout_ms` passes before there is anything to return,
    `CoverageTooLow` below `min_coverage`, and whatever the embedder or reranker raises. A shard
    that fails or is late costs its own candidates only and is named in the result's coverage.
    """
    try:
        async with asyncio.timeout(query.timeout_ms / 1000):
            return await _Search(query, parts).run()
    except TimeoutError:
        raise DeadlineExceeded(
            f"timeout_ms = {query.timeout_ms} passed before the search was complete"
        ) from None


class _Search:
    """One query under way: its deadline, its timings and which shards failed it."""

    def __init__(self, query: Query, parts: Parts) -> None:
        self.query = query
        self.parts = parts
        self.spec = METHODS[query.method]
        self.views = sorted(self.spec.views & query.views if query.views else self.spec.views)
        self.groups = [g for g in parts.groups if g.view in self.views]
        self.errors: dict[View, dict[int, str]] = {view: {} for view in self.views}
        self.stage_ms: dict[str, float] = {}
        self.started = time.perf_counter()

    async def run(self) -> SearchResult:
        with self._stage("embed"):
            vector = await self.parts.embedder.embed(self.query.text) if self.spec.dense else None
        with self._stage("candidates"):
            replies = await self._candidates(vector)
        with self._stage("merge"):
            shortlist = self._shortlist(replies)
        if self.query.method is Method.RECIPER:
            shortlist, passages = await self._rerank(shortlist)
        else:
            shortlist = shortlist[: self.query.k]
            passages = await self._passages(shortlist)
        coverage = self._coverage()
        found = [r for r in shortlist if r.candidate.passage_id in passages][: self.query.k]
        self.stage_ms["total"] = (time.perf_counter() - self.started) * 1000
        return SearchResult(
            hits=tuple(
                Hit(passages[r.candidate.passage_id], r.score, rank, r.parts)
                for rank, r in enumerate(found, 1)
            ),
            snapshot_id=self.parts.snapshot_id,
            stage_ms=self.stage_ms,
            coverage=coverage,
        )

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.stage_ms[name] = (time.perf_counter() - start) * 1000

    async def _candidates(self, vector: Vector | None) -> dict[View, list[ShardReply]]:
        asked: dict[View, ShardQuery] = {}
        for view in self.views:
            statistics = self.parts.statistics[view]
            asked[view] = ShardQuery(
                vector=vector,
                weights=statistics.weights(self.query.text) if self.spec.lexical else {},
                mean_length=statistics.mean_length,
                depth=self._depth(),
                filters=self.query.filters,
            )
        replies = await self._ask(
            self.groups, lambda g: g.candidates(self.parts.snapshot_id, asked[g.view])
        )
        self._coverage()
        return {
            view: [reply for (v, _), reply in sorted(replies.items()) if v is view]
            for view in self.views
        }

    def _depth(self) -> int:
        # The paper's K_c is exact in its own mode; elsewhere a list is as long as what is asked.
        k_c = self.parts.config.candidates
        return k_c if self.query.method is Method.RECIPER else max(k_c, self.query.k)

    async def _ask(
        self,
        groups: Sequence[ShardGroup],
        call: Callable[[ShardGroup], Awaitable[Mapping[int, T | ReciperError]]],
    ) -> dict[tuple[View, int], T]:
        """Each shard's reply, by (view, shard); the shards without one go to `self.errors`."""
        if not groups:
            return {}
        tasks = {asyncio.ensure_future(call(g)): g for g in groups}
        left = self.query.timeout_ms / 1000 - (time.perf_counter() - self.started)
        try:
            await asyncio.wait(tasks, timeout=max(0.0, left * FAN_OUT_SHARE))
        finally:
            for task in tasks:
                if not task.done():
                    task.cancel()
        replies: dict[tuple[View, int], T] = {}
        for task, group in tasks.items():
            for shard in group.shards:
                reply = _outcome(task, shard)
                if isinstance(reply, ReciperError):
                    self.errors[group.view][shard] = str(reply)
                elif reply is not None:
                    replies[group.view, shard] = reply
        return replies

    def _coverage(self) -> tuple[Coverage, ...]:
        """Who answered so far; raises if that is nobody, or less than the caller asked for."""
        result = []
        for view in self.views:
            shards = sorted(s for g in self.groups if g.view is view for s in g.shards)
            errors = self.errors[view]
            answered = tuple(s for s in shards if s not in errors)
            coverage = Coverage(view, len(shards), answered, dict(sorted(errors.items())))
            if coverage.share < self.query.min_coverage:
                raise CoverageTooLow(
                    f"{len(answered)} of {len(shards)} {view} shards answered, below min_coverage"
                    f" = {self.query.min_coverage}: {_reasons(errors)}"
                )
            result.append(coverage)
        if self.groups and not any(c.answered for c in result):
            raise Unavailable(f"no shard answered: {_reasons(self.errors[self.views[0]])}")
        return tuple(result)

    def _shortlist(self, replies: Mapping[View, Sequence[ShardReply]]) -> list[Ranked]:
        """The candidates worth reading, scored and in order."""
        depth = self._depth()
        dense = [
            c
            for view in self.views
            for c in ranking.merge([r.dense for r in replies[view]], lambda c: c.dense, depth)
        ]
        lexical = [
            c
            for view in self.views
            for c in ranking.merge([r.lexical for r in replies[view]], lambda c: c.lexical, depth)
        ]
        distance = self.parts.config.distance
        match self.query.method:
            case Method.BM25:
                ranked = [Ranked(c, c.lexical, {"lexical": c.lexical}) for c in lexical]
            case Method.HYBRID:
                ranked = ranking.fuse(
                    dense + lexical,
                    {v: self.parts.statistics[v].weights(self.query.text) for v in self.views},
                )
            case _:
                ranked = [
                    Ranked(c, s := ranking.base_score(c.dense, distance), {"dense": s})
                    for c in dense
                ]
        if self.query.method is Method.RECIPER:
            return ranking.dedup(ranked)
        return sorted(ranked, key=lambda r: r.order)

    async def _rerank(self, shortlist: list[Ranked]) -> tuple[list[Ranked], dict[str, Passage]]:
        """The paper's `s + lambda * o` over the deduplicated candidates."""
        passages = await self._passages(shortlist)
        kept = [r for r in shortlist if r.candidate.passage_id in passages]
        with self._stage("rerank"):
            covered = await self.parts.reranker.rerank(
                self.query.text, [passages[r.candidate.passage_id] for r in kept]
            )
        weight = self.parts.config.rerank_weight
        final = [
            Ranked(r.candidate, r.score + weight * o, {**r.parts, "coverage": o})
            for r, o in zip(kept, covered, strict=True)
        ]
        return sorted(final, key=lambda r: r.order), passages

    async def _passages(self, ranked: Sequence[Ranked]) -> dict[str, Passage]:
        """The passages of `ranked` by id; those of a shard that failed meanwhile are missing."""
        wanted: dict[View, dict[int, list[str]]] = {view: {} for view in self.views}
        for r in ranked:
            c = r.candidate
            wanted[c.view].setdefault(c.shard, []).append(c.passage_id)
        with self._stage("passages"):
            replies = await self._ask(
                [g for g in self.groups if any(s in wanted[g.view] for s in g.shards)],
                lambda g: g.passages(
                    self.parts.snapshot_id,
                    {s: wanted[g.view][s] for s in g.shards if s in wanted[g.view]},
                ),
            )
        return {p.passage_id: p for reply in replies.values() for p in reply}


def _outcome(
    task: "asyncio.Future[Mapping[int, T | ReciperError]]", shard: int
) -> T | ReciperError | None:
    if not task.done() or task.cancelled():
        return DeadlineExceeded("no answer within the request's time")
    if error := task.exception():
        return error if isinstance(error, ReciperError) else Unavailable(repr(error))
    return task.result().get(shard)


def _reasons(errors: Mapping[int, str]) -> str:
    return "; ".join(f"shard {shard}: {error}" for shard, error in sorted(errors.items()))
