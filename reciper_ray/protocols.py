"""What a search asks of the parts it is made of, and what they answer.

Whoever implements a protocol may stand in the same process or behind a network, and may gather
concurrent calls into one (`reciper_ray.batching`).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from reciper_ray.config import HybridConfig, SearchConfig
from reciper_ray.errors import ReciperError
from reciper_ray.evidence import Evidence
from reciper_ray.lexical import Statistics, Weights
from reciper_ray.ranking import Candidate, PaperCandidate
from reciper_ray.types import Filters, Passage, View

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ShardQuery:
    """What a shard needs to propose candidates alone.

    `vector` is the unit query vector, shape (d,), None when no dense list is wanted. `weights`
    come from the whole corpus's statistics, None when no lexical list is wanted. `mean_length`
    and `mean_paper_length` are the corpus's, in tokens. `depth` candidates are wanted a list.
    `explain` asks what each term adds to the candidates' lexical scores.
    """

    vector: Vector | None
    weights: Weights | None
    mean_length: float
    mean_paper_length: float
    depth: int
    filters: Filters = field(default_factory=Filters)
    explain: bool = False


@dataclass(frozen=True, slots=True)
class ShardReply:
    """One shard's best per list, each ordered by (-score, id).

    Where a query has both a vector and weights, every candidate carries both scores, and
    `papers` holds every paper of the candidates besides the best `depth` papers.
    """

    dense: tuple[Candidate, ...] = ()
    lexical: tuple[Candidate, ...] = ()
    papers: tuple[PaperCandidate, ...] = ()


@dataclass(frozen=True, slots=True)
class EvidenceQuery:
    """Asks for the best passages of chosen papers.

    `papers` maps each to what the paper itself adds to its passages' scores, part by part, `asked`
    the question's terms to what they count, `kinds` names the kinds of value asked for. A shard
    returns the best `depth` passages of those papers that it owns.
    """

    vector: Vector
    asked: Mapping[str, float]
    mean_length: float
    kinds: Collection[str]
    papers: Mapping[str, Mapping[str, float]]
    depth: int
    weights: HybridConfig = field(default_factory=HybridConfig)


class Embedder(Protocol):
    """Turns a question into a unit vector of shape (d,)."""

    async def embed(self, text: str) -> Vector: ...


class ShardGroup(Protocol):
    """Some logical shards of one view, reached by one call.

    Replies are keyed by shard; a shard that fails has its error there instead of costing its
    neighbours. `passages` returns the passages of the given ids in the given order, `evidence`
    each shard's best by (-score, passage_id).
    """

    @property
    def view(self) -> View: ...

    @property
    def shards(self) -> tuple[int, ...]: ...

    async def candidates(
        self, snapshot_id: str, query: ShardQuery
    ) -> Mapping[int, ShardReply | ReciperError]: ...

    async def evidence(
        self, snapshot_id: str, query: EvidenceQuery
    ) -> Mapping[int, Sequence[Evidence] | ReciperError]: ...

    async def passages(
        self, snapshot_id: str, ids: Mapping[int, Sequence[str]]
    ) -> Mapping[int, Sequence[Passage] | ReciperError]: ...


class Reranker(Protocol):
    """How well each passage covers a question, 0..1 each."""

    async def rerank(self, question: str, passages: Sequence[Passage]) -> Sequence[float]: ...


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything a search needs, pinned to one snapshot.

    `kept_ids` maps the id of each copy of a paper to the id of the one that is indexed.
    """

    snapshot_id: str
    statistics: Mapping[View, Statistics]
    embedder: Embedder
    groups: Sequence[ShardGroup]
    reranker: Reranker
    config: SearchConfig = field(default_factory=SearchConfig)
    kept_ids: Mapping[str, str] = field(default_factory=dict)
