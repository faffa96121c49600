"""Small real material for tests: passages, their tables, shards over them."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reciper_ray import terms
from reciper_ray.adapters import tables
from reciper_ray.adapters.index import ShardIndex, index_bytes
from reciper_ray.lexical import Statistics
from reciper_ray.types import Passage, Span, View


def passage(
    passage_id: str,
    text: str,
    *,
    paper_id: str = "",
    view: View = View.PARAGRAPH,
    title: str = "",
    year: int | None = None,
) -> Passage:
    """A passage of one span; the paper is the id's part before the colon unless given."""
    paper = paper_id or passage_id.partition(":")[0]
    spans = (Span(0, len(text)),)
    return Passage(passage_id, paper, view, 0, title, "", text, text, spans, year=year)


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def table(passages: Sequence[Passage]) -> pa.Table:
    """The columns of a passages file that serving reads."""
    rows = [tables.indexed_row(p, ()) for p in passages]
    return pa.Table.from_pylist(rows, tables.PASSAGES)


def shard(
    passages: Sequence[Passage],
    vectors: NDArray[np.float32],
    *,
    view: View = View.PARAGRAPH,
    number: int = 0,
) -> ShardIndex:
    return ShardIndex(view, number, index_bytes(vectors), table(passages))


def statistics(passages: Sequence[Passage]) -> Statistics:
    counts = [terms.term_counts(p) for p in passages]
    papers: dict[str, set[str]] = {}
    for p, mine in zip(passages, counts, strict=True):
        papers.setdefault(p.paper_id, set()).update(mine)
    return Statistics(
        passages=len(passages),
        papers=len(papers),
        mean_length=sum(map(terms.length, counts)) / max(len(counts), 1),
        frequencies=Counter(term for mine in counts for term in mine),
        paper_frequencies=Counter(term for mine in papers.values() for term in mine),
    )


def split(
    passages: Sequence[Passage], vectors: NDArray[np.float32], shards: int
) -> Mapping[int, tuple[list[Passage], NDArray[np.float32]]]:
    """Passages and their vectors by shard, papers kept whole."""
    papers = sorted({p.paper_id for p in passages})
    owner = {paper: i % shards for i, paper in enumerate(papers)}
    rows = {n: [i for i, p in enumerate(passages) if owner[p.paper_id] == n] for n in range(shards)}
    return {n: ([passages[i] for i in r], vectors[r]) for n, r in rows.items()}
