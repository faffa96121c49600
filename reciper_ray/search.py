"""The query path, once: embed, fan out to every shard, merge, dedup, rerank.

`search` runs unchanged in one process and inside the router of a cluster; what differs is who
stands behind `reciper_ray.protocols`. It handles one query and knows nothing of batches.

Every shard answers with its own best under one total order (-score, id), and nothing that is
decided here depends on which shard said it, so any sharding gives the ranking of a single shard.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from reciper_ray import lexical, ranking
from reciper_ray.config import LimitsConfig
from reciper_ray.errors import DeadlineExceeded, InvalidArgument
from reciper_ray.evidence import Evidence, kinds_asked, screened
from reciper_ray.fanout import FanOut
from reciper_ray.protocols import EvidenceQuery, Parts, ShardQuery, ShardReply, Vector
from reciper_ray.ranking import Candidate, Ranked
from reciper_ray.types import Hit, Method, Query, SearchResult, View

# Hybrid reads the passages of at least so many papers, however few hits are wanted.
PAPERS = 10


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

Replies = Mapping[View, Sequence[ShardReply]]


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
            f"views = {', '.join(sorted(query.views))}: method {query.method} searches only "
            f"{', '.join(sorted(METHODS[query.method].views))}"
        )
    first, last = query.filters.year_from, query.filters.year_to
    if first is not None and last is not None and first > last:
        raise InvalidArgument(f"year_from = {first} is after year_to = {last}")


async def search(query: Query, parts: Parts) -> SearchResult:
    """Rank the passages of `parts`'s snapshot for `query`. A filter by a copy's paper id means
    the paper that is indexed instead.

    Raises `DeadlineExceeded` when `timeout_ms` passes before there is anything to return,
    `CoverageTooLow` below `min_coverage`, and whatever the embedder or reranker raises. A shard
    that fails or is late costs its own candidates only and is named in the result's coverage.
    """
    try:
        async with asyncio.timeout(query.timeout_ms / 1000):
            return await _Search(query.with_kept(parts.kept_ids), parts).run()
    except TimeoutError:
        raise DeadlineExceeded(
            f"timeout_ms = {query.timeout_ms} passed before the search was complete"
        ) from None


class _Search:
    """One query under way."""

    def __init__(self, query: Query, parts: Parts) -> None:
        self.query = query
        self.parts = parts
        self.spec = METHODS[query.method]
        views = self.spec.views & query.views if query.views else self.spec.views
        self.fan = FanOut(query, parts.groups, views)
        # Some of them may be screened out again.
        self._wanted = query.k if parts.config.screen.threshold is None else 2 * query.k

    async def run(self) -> SearchResult:
        vector = None
        if self.spec.dense:
            with self.fan.stage("embed"):
                vector = await self.parts.embedder.embed(self.query.text)
        with self.fan.stage("candidates"):
            asked: Mapping[str, float] = {}
            if self.spec.lexical:
                asked = lexical.question_terms(self.query.text, self.parts.statistics.values())
            replies = await self._candidates(vector, asked)
        self.fan.coverage()
        match self.query.method:
            case Method.HYBRID if vector is not None:
                found = await self._best_evidence(replies, vector, asked)
            case Method.RECIPER:
                found = await self._reranked(ranking.dedup(self._scored(replies)))
            case _:
                found = await self._read(self._scored(replies)[: self._wanted])
        if (threshold := self.parts.config.screen.threshold) is not None:
            found = list(islice(screened(found, threshold), self.query.k))
        coverage = self.fan.coverage()
        self.fan.finish()
        return SearchResult(
            hits=tuple(
                Hit(e.passage, e.score, rank, e.parts, e.terms)
                for rank, e in enumerate(found[: self.query.k], 1)
            ),
            snapshot_id=self.parts.snapshot_id,
            stage_ms=self.fan.stage_ms,
            coverage=coverage,
        )

    def _depth(self) -> int:
        # The paper's K_c is exact in its own mode; elsewhere a list is as long as what is asked.
        k_c = self.parts.config.candidates
        return k_c if self.query.method is Method.RECIPER else max(k_c, self._wanted)

    async def _candidates(self, vector: Vector | None, asked: Mapping[str, float]) -> Replies:
        queries: dict[View, ShardQuery] = {}
        for view in self.fan.views:
            statistics = self.parts.statistics[view]
            queries[view] = ShardQuery(
                vector=vector,
                weights=statistics.weights(asked) if self.spec.lexical else None,
                mean_length=statistics.mean_length,
                mean_paper_length=statistics.mean_paper_length,
                depth=self._depth(),
                filters=self.query.filters,
                explain=not self.spec.dense,
            )
        replies = await self.fan.ask(
            lambda g: g.candidates(self.parts.snapshot_id, queries[g.view])
        )
        return {
            view: [reply for (v, _), reply in replies.items() if v is view]
            for view in self.fan.views
        }

    def _merged(
        self, lists: Iterable[Sequence[Candidate]], score: Callable[[Candidate], float]
    ) -> list[Candidate]:
        return ranking.merge(lists, score, self._depth())

    def _scored(self, replies: Replies) -> list[Ranked]:
        """The candidates of all views by the one score of the method."""
        ranked = []
        for view in self.fan.views:
            if self.spec.dense:
                for c in self._merged([r.dense for r in replies[view]], _dense):
                    score = ranking.base_score(c.dense, self.parts.config.distance)
                    ranked.append(Ranked(c, score, {"dense": score}))
            else:
                for c in self._merged([r.lexical for r in replies[view]], _lexical):
                    ranked.append(Ranked(c, c.lexical, {"lexical": c.lexical}))
        return sorted(ranked, key=lambda r: r.order)

    async def _read(self, ranked: Sequence[Ranked]) -> list[Evidence]:
        """The passages of `ranked`; those of a shard that failed meanwhile are missing."""
        wanted: dict[View, dict[int, list[str]]] = {view: {} for view in self.fan.views}
        for r in ranked:
            c = r.candidate
            wanted[c.view].setdefault(c.shard, []).append(c.passage_id)
        with self.fan.stage("passages"):
            replies = await self.fan.ask(
                lambda g: g.passages(
                    self.parts.snapshot_id,
                    {s: wanted[g.view][s] for s in g.shards if s in wanted[g.view]},
                ),
                wanted,
            )
        found = {p.passage_id: p for reply in replies.values() for p in reply}
        return [
            Evidence(found[r.candidate.passage_id], r.score, r.parts, r.candidate.terms)
            for r in ranked
            if r.candidate.passage_id in found
        ]

    async def _reranked(self, ranked: Sequence[Ranked]) -> list[Evidence]:
        """The paper's `s + lambda * o` over the deduplicated candidates."""
        read = await self._read(ranked)
        with self.fan.stage("rerank"):
            covered = await self.parts.reranker.rerank(self.query.text, [e.passage for e in read])
        weight = self.parts.config.rerank_weight
        final = [
            replace(e, score=e.score + weight * o, parts={**e.parts, "coverage": weight * o})
            for e, o in zip(read, covered, strict=True)
        ]
        final.sort(key=lambda e: (-e.score, e.passage.passage_id))
        words = ranking.words(self.query.text)
        share = weight / max(len(words), 1)
        return [
            replace(e, terms=dict.fromkeys(ranking.held(words, e.passage), share))
            for e in final[: self._wanted]
        ]

    async def _best_evidence(
        self, replies: Replies, vector: Vector, asked: Mapping[str, float]
    ) -> list[Evidence]:
        """Papers first, then the passages within the best of them.

        A recipe says which paper it is, and its steps which paragraphs hold them; it is a hit
        itself only where the recipe view alone is searched.
        """
        with self.fan.stage("merge"):
            papers, owner = self._papers(replies)
            scores = {paper: sum(own.values()) for paper, own in papers.items()}
            best = sorted(scores, key=lambda paper: (-scores[paper], paper))
        view = self.fan.views[0]
        kinds = kinds_asked(self.query.text)
        found: list[Evidence] = []
        count = max(PAPERS, self.query.k // 5)
        with self.fan.stage("evidence"):
            # Ten papers hold enough passages but for odd corpora and deep lists.
            while (chosen := best[:count]) and len(found) < self._wanted:
                ask = EvidenceQuery(
                    vector=vector,
                    asked=asked,
                    mean_length=self.parts.statistics[view].mean_length,
                    kinds=kinds,
                    papers={p: papers[p] for p in chosen},
                    depth=self._wanted,
                    weights=self.parts.config.hybrid,
                )
                found = await self._select(ask, view, {owner[p] for p in chosen})
                if count >= len(best):
                    break
                count *= 2
        found.sort(key=lambda e: (-e.score, e.passage.passage_id))
        return found

    async def _select(
        self, ask: EvidenceQuery, view: View, shards: Collection[int]
    ) -> list[Evidence]:
        answers = await self.fan.ask(
            lambda g: g.evidence(self.parts.snapshot_id, ask), {view: shards}
        )
        return [e for answer in answers.values() for e in answer]

    def _papers(self, replies: Replies) -> tuple[dict[str, dict[str, float]], dict[str, int]]:
        """What the score of each proposed paper is made of, and the shard that owns it."""
        known: dict[str, dict[str, float]] = {}
        owner: dict[str, int] = {}
        for view in self.fan.views:
            dense = self._merged([r.dense for r in replies[view]], _dense)
            lexical = self._merged([r.lexical for r in replies[view]], _lexical)
            whole = sorted(
                (p for r in replies[view] for p in r.papers), key=lambda p: (-p.whole, p.paper_id)
            )
            proposed = {c.paper_id for c in dense + lexical}
            proposed.update(p.paper_id for p in whole[: self._depth()])
            papers = [p for p in whole if p.paper_id in proposed]
            owner |= {c.paper_id: c.shard for c in dense + lexical}
            owner |= {p.paper_id: p.shard for p in papers}
            best = {p.paper_id: p.passage for p in papers}
            if view is View.PARAGRAPH:
                known["paper_whole"] = {p.paper_id: p.whole for p in papers}
                known["paper_passage"] = best
                known["paper_dense"] = ranking.best_of(dense, _dense)
            else:
                known["paper_recipe"] = best
                known["paper_recipe_dense"] = ranking.best_of(dense, _dense)
        weights = self.parts.config.hybrid
        return ranking.paper_parts(known, weights.model_dump(), weights.paper), owner


def _dense(candidate: Candidate) -> float:
    return candidate.dense


def _lexical(candidate: Candidate) -> float:
    return candidate.lexical
