"""The whole query path over real shards: rankings, filters, failures and deadlines."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from reciper_ray.adapters.index import ShardIndex
from reciper_ray.config import LimitsConfig, ScreenConfig, SearchConfig
from reciper_ray.errors import (
    CoverageTooLow,
    DeadlineExceeded,
    InvalidArgument,
    ReciperError,
    Unavailable,
)
from reciper_ray.evidence import Evidence
from reciper_ray.local import LocalGroup, LocalReranker
from reciper_ray.protocols import EvidenceQuery, Parts, ShardGroup, ShardQuery, ShardReply
from reciper_ray.ranking import base_score, word_coverage
from reciper_ray.search import search, validate
from reciper_ray.types import Filters, Method, Passage, Query, SearchResult, View
from tests import support

DIMENSION = 8
QUESTION = "At what temperature was TiO2 calcined in air?"
TEXTS = [
    "TiO2 was calcined at 500 C in air",
    "The powder was milled for 24 h",
    "Films of ZnO were sputtered in argon",
    "Calcined pellets were sintered at 1200 C",
    "X-ray diffraction showed anatase",
]


class FixedEmbedder:
    """Every question has the same unit vector."""

    async def embed(self, text: str) -> NDArray[np.float32]:
        return support.unit(np.ones((1, DIMENSION), np.float32))[0]


def corpus(view: View, papers: int, seed: int) -> tuple[list[Passage], NDArray[np.float32]]:
    """Passages whose texts and vectors repeat, so that ties are common."""
    random = np.random.default_rng(seed)
    passages = [
        support.passage(
            f"paper{p}:{view[0]}:{n}",
            TEXTS[(p + n * n) % len(TEXTS)],
            paper_id=f"paper{p}",
            view=view,
            title=f"On sample {p % 3}",
            year=2010 + p,
        )
        for p in range(papers)
        for n in range(3 if view is View.PARAGRAPH else 1)
    ]
    distinct = support.unit(random.normal(size=(5, DIMENSION)))
    return passages, distinct[[random.integers(5) for _ in passages]]


CORPORA = {view: corpus(view, 17, seed) for seed, view in enumerate(View)}
STATISTICS = {view: support.statistics(passages) for view, (passages, _) in CORPORA.items()}


@pytest.fixture(scope="module")
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


def parts(executor: ThreadPoolExecutor, shards: int = 1, groups: int = 1) -> Parts:
    """The corpora in `shards` logical shards a view, held by `groups` groups."""
    made: list[ShardGroup] = []
    for view, (passages, vectors) in CORPORA.items():
        loaded = {
            n: support.shard(*part, view=view, number=n)
            for n, part in support.split(passages, vectors, shards).items()
        }
        for g in range(groups):
            mine = {n: s for n, s in loaded.items() if n % groups == g}
            if mine:
                made.append(LocalGroup("snap", mine, view, executor))
    return Parts(
        snapshot_id="snap",
        statistics=STATISTICS,
        embedder=FixedEmbedder(),
        groups=made,
        reranker=LocalReranker(executor),
        config=SearchConfig(candidates=10),
    )


def run(query: Query, parts: Parts) -> SearchResult:
    return asyncio.run(search(query, parts))


def ranking(result: SearchResult) -> list[tuple[str, float]]:
    return [(h.passage.passage_id, h.score) for h in result.hits]


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(list(Method)), st.integers(1, 7), st.integers(1, 3), st.integers(1, 30))
def test_any_number_of_shards_and_groups_gives_the_same_ranking(
    executor: ThreadPoolExecutor, method: Method, shards: int, groups: int, k: int
) -> None:
    query = Query(QUESTION, method, k)
    whole, parted = run(query, parts(executor)), run(query, parts(executor, shards, groups))
    assert parted.hits == whole.hits
    assert whole.hits


def test_a_query_is_ranked_alike_alone_and_among_others(executor: ThreadPoolExecutor) -> None:
    queries = [Query(f"{QUESTION} {text}") for text in TEXTS for _ in range(3)]

    async def together() -> list[SearchResult]:
        shared = parts(executor, 3)
        return await asyncio.gather(*(search(q, shared) for q in queries))

    crowd = asyncio.run(together())
    alone = [run(q, parts(executor, 3)) for q in queries]
    assert [ranking(r) for r in crowd] == [ranking(r) for r in alone]


def test_the_papers_mode_is_its_formula_over_the_deduplicated_union(
    executor: ThreadPoolExecutor,
) -> None:
    query_vector = support.unit(np.ones((1, DIMENSION), np.float32))[0].astype(float)
    best: dict[tuple[str, View], tuple[float, str, Passage]] = {}
    for view, (passages, vectors) in CORPORA.items():
        scored = sorted(
            (-float((row.astype(float) * query_vector).sum()), p.passage_id, p)
            for p, row in zip(passages, vectors, strict=True)
        )
        for minus, passage_id, p in scored[:10]:
            best.setdefault((p.paper_id, view), (-minus, passage_id, p))
    expected = sorted(
        (-(base_score(ip, "l2") + 0.1 * word_coverage(QUESTION, p)), i)
        for ip, i, p in best.values()
    )
    found = run(Query(QUESTION, Method.RECIPER, 50), parts(executor, 2))
    assert [h.passage.passage_id for h in found.hits] == [i for _, i in expected]
    assert [h.score for h in found.hits] == pytest.approx([-s for s, _ in expected])


def test_a_hits_parts_explain_its_score(executor: ThreadPoolExecutor) -> None:
    paper = run(Query(QUESTION, Method.RECIPER), parts(executor)).hits[0]
    assert set(paper.parts) == {"dense", "coverage"}
    assert sum(paper.terms.values()) == pytest.approx(paper.parts["coverage"])
    hybrid = run(Query(QUESTION), parts(executor)).hits[0]
    weights = set(SearchConfig().hybrid.model_dump()) - {"paper"}
    assert set(hybrid.parts) == weights
    bm25 = run(Query(QUESTION, Method.BM25), parts(executor)).hits[0]
    for hit in (hybrid, bm25):
        assert sum(hit.terms.values()) == pytest.approx(hit.parts["lexical"])
        assert {"tio2", "calcin"} <= set(hit.terms)
    for hit in (paper, hybrid, bm25):
        assert hit.score == pytest.approx(sum(hit.parts.values()))


@pytest.mark.parametrize("method", list(Method))
def test_a_screen_leaves_one_hit_of_each_text_and_view(
    executor: ThreadPoolExecutor, method: Method
) -> None:
    screen = ScreenConfig(threshold=0.9)
    one = replace(parts(executor), config=SearchConfig(candidates=10, screen=screen))
    plain = run(Query(QUESTION, method, 10), parts(executor))
    hits = run(Query(QUESTION, method, 10), one).hits
    texts = [(h.passage.view, h.passage.text) for h in hits]
    assert len(texts) == len(set(texts)) > 1
    assert hits[0] == plain.hits[0]
    assert [h.rank for h in hits] == list(range(1, len(hits) + 1))


@pytest.mark.parametrize("method", list(Method))
def test_a_filter_by_a_copys_id_means_the_paper_kept(
    executor: ThreadPoolExecutor, method: Method
) -> None:
    own = parts(executor, 3)
    known = replace(own, kept_ids={"copy": "paper3"})
    asked = Filters(paper_ids=frozenset({"copy", "paper4"}))
    meant = Filters(paper_ids=frozenset({"paper3", "paper4"}))
    result = run(Query(QUESTION, method, filters=asked), known)
    assert {hit.passage.paper_id for hit in result.hits} == {"paper3", "paper4"}
    assert result.hits == run(Query(QUESTION, method, filters=meant), own).hits


def test_hybrid_returns_as_many_hits_as_there_are_passages(executor: ThreadPoolExecutor) -> None:
    result = run(Query(QUESTION, k=1000), parts(executor, 3))
    assert len(result.hits) == 17 * 3


def test_a_question_without_known_words_still_finds_by_meaning(
    executor: ThreadPoolExecutor,
) -> None:
    assert run(Query("unobtainium?"), parts(executor, 2)).hits


def test_one_view_can_be_asked_alone(executor: ThreadPoolExecutor) -> None:
    result = run(Query(QUESTION, views=frozenset({View.RECIPE})), parts(executor))
    assert {h.passage.view for h in result.hits} == {View.RECIPE}
    assert [c.view for c in result.coverage] == [View.RECIPE]


@pytest.mark.parametrize("method", Method)
def test_filters_hold_in_every_method(executor: ThreadPoolExecutor, method: Method) -> None:
    filters = Filters(paper_ids=frozenset({"paper3", "paper4"}), year_from=2014)
    result = run(Query(QUESTION, method, filters=filters), parts(executor, 3))
    assert {h.passage.paper_id for h in result.hits} == {"paper4"}


def test_more_hits_than_there_are_gives_all_of_them(executor: ThreadPoolExecutor) -> None:
    result = run(Query(QUESTION, Method.PARAGRAPH, 1000), parts(executor, 4))
    assert len(result.hits) == 17 * 3
    assert [h.rank for h in result.hits] == list(range(1, 52))


class Faulty:
    """A group whose chosen shards fail, or that answers late."""

    def __init__(
        self, group: ShardGroup, failing: frozenset[int] = frozenset(), delay: float = 0.0
    ) -> None:
        self.group, self.failing, self.delay = group, failing, delay
        self.view, self.shards = group.view, group.shards

    async def candidates(
        self, snapshot_id: str, query: ShardQuery
    ) -> Mapping[int, ShardReply | ReciperError]:
        await asyncio.sleep(self.delay)
        replies = dict(await self.group.candidates(snapshot_id, query))
        return {n: Unavailable("disk gone") if n in self.failing else r for n, r in replies.items()}

    async def evidence(
        self, snapshot_id: str, query: EvidenceQuery
    ) -> Mapping[int, Sequence[Evidence] | ReciperError]:
        return await self.group.evidence(snapshot_id, query)

    async def passages(
        self, snapshot_id: str, ids: Mapping[int, Sequence[str]]
    ) -> Mapping[int, Sequence[Passage] | ReciperError]:
        return await self.group.passages(snapshot_id, ids)


def with_fault(
    base: Parts, failing: frozenset[int] = frozenset(), delay: float = 0.0, group: int = 0
) -> Parts:
    paragraph = [g for g in base.groups if g.view is View.PARAGRAPH]
    other = [g for g in base.groups if g is not paragraph[group]]
    return replace(base, groups=[Faulty(paragraph[group], failing, delay), *other])


def test_a_failing_shard_costs_its_candidates_and_is_named(executor: ThreadPoolExecutor) -> None:
    result = run(Query(QUESTION), with_fault(parts(executor, 4), frozenset({2})))
    paragraph = next(c for c in result.coverage if c.view is View.PARAGRAPH)
    assert paragraph.answered == (0, 1, 3)
    assert paragraph.errors == {2: "disk gone"}
    assert result.hits


def test_a_shard_that_breaks_in_this_process_costs_its_candidates_only(
    executor: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: ShardIndex, queries: Sequence[ShardQuery]) -> list[ShardReply]:
        if self.shard == 1:
            raise MemoryError("no room")
        return whole(self, queries)

    whole = ShardIndex.candidates
    monkeypatch.setattr(ShardIndex, "candidates", broken)
    result = run(Query(QUESTION), parts(executor, 3))
    assert [c.answered for c in result.coverage] == [(0, 2), (0, 2)]
    assert "no room" in result.coverage[0].errors[1]


def test_too_little_coverage_is_refused_with_the_reason(executor: ThreadPoolExecutor) -> None:
    query = Query(QUESTION, min_coverage=0.9)
    with pytest.raises(CoverageTooLow, match=r"3 of 4 paragraph shards .*shard 2: disk gone"):
        run(query, with_fault(parts(executor, 4), frozenset({2})))


def test_a_late_group_is_left_behind(executor: ThreadPoolExecutor) -> None:
    result = run(Query(QUESTION, timeout_ms=300), with_fault(parts(executor, 4, 2), delay=5))
    paragraph = next(c for c in result.coverage if c.view is View.PARAGRAPH)
    assert paragraph.answered == (1, 3)
    assert set(paragraph.errors) == {0, 2}
    assert result.stage_ms["total"] < 300


def test_nobody_answering_is_an_error(executor: ThreadPoolExecutor) -> None:
    broken = with_fault(parts(executor, 2), frozenset({0, 1}))
    with pytest.raises(Unavailable, match="no shard answered: shard 0: disk gone"):
        run(Query(QUESTION, Method.PARAGRAPH), broken)


def test_a_deadline_before_anything_answers_is_exceeded(executor: ThreadPoolExecutor) -> None:
    class Slow(FixedEmbedder):
        async def embed(self, text: str) -> NDArray[np.float32]:
            await asyncio.sleep(1)
            return await super().embed(text)

    with pytest.raises(DeadlineExceeded, match="timeout_ms = 20"):
        run(Query(QUESTION, timeout_ms=20), replace(parts(executor), embedder=Slow()))


def test_a_group_of_another_snapshot_is_not_mixed_in(executor: ThreadPoolExecutor) -> None:
    with pytest.raises(Unavailable, match="snapshot other is not loaded here; snap is"):
        run(Query(QUESTION), replace(parts(executor), snapshot_id="other"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text": "  "}, "question is empty"),
        ({"text": "x" * 100_000}, "question has 100000 characters; at most 8000"),
        ({"k": 0}, "k = 0 is not between 1 and 1000"),
        ({"k": 10**6}, "k = 1000000 is not between 1 and 1000"),
        ({"timeout_ms": 0}, "timeout_ms = 0 is not between"),
        ({"min_coverage": 1.5}, "min_coverage = 1.5 is not between 0 and 1"),
        (
            {"method": Method.PARAGRAPH, "views": frozenset({View.RECIPE})},
            "method paragraph searches only",
        ),
        ({"filters": Filters(year_from=2020, year_to=2010)}, "year_from = 2020 is after"),
    ],
)
def test_a_wrong_request_names_the_field_and_the_value(
    change: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidArgument, match=message):
        validate(replace(Query(QUESTION), **change), LimitsConfig())  # type: ignore[arg-type]
