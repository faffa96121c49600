"""FAISS behind one shard of one view: exact candidates, dense and lexical, and its passages.

Only flat indexes are served. FAISS's own scores vary in their last bits with the size of the
batch, so it proposes rows and `_similarity` scores them; the order is by that score alone.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import groupby

import faiss
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reciper_ray.adapters import tables
from reciper_ray.errors import CorruptSnapshot, MissingExtra
from reciper_ray.evidence import Evidence, parts
from reciper_ray.lexical import LexicalIndex, by_row
from reciper_ray.protocols import EvidenceQuery, ShardQuery, ShardReply
from reciper_ray.ranking import Candidate, PaperCandidate
from reciper_ray.types import Filters, Passage, View

# FAISS and the rescoring kernel differ by less than this for unit vectors in float32.
_ROUNDING = 1e-5
_SLACK = 16


def index_bytes(vectors: NDArray[np.float32]) -> bytes:
    """A serialised flat inner-product index of unit rows, shape (n, d); n may be 0."""
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(np.ascontiguousarray(vectors, np.float32))
    data: bytes = faiss.serialize_index(index).tobytes()
    return data


def vectors_of(data: bytes) -> NDArray[np.float32]:
    """The vectors of an index made by `index_bytes`, bit by bit, shape (n, d)."""
    index = faiss.deserialize_index(np.frombuffer(data, np.uint8))
    vectors: NDArray[np.float32] = index.reconstruct_n(0, index.ntotal)
    return vectors


class ShardIndex:
    """One logical shard of one view, loaded from its index file and passages table."""

    def __init__(
        self, view: View, shard: int, index: bytes, passages: pa.Table, device: str = "cpu"
    ) -> None:
        """`passages` row i belongs to vector i. Raises `CorruptSnapshot` if they do not fit and
        `MissingExtra` if `device` is `gpu` and this FAISS has no GPU support."""
        self.view, self.shard = view, shard
        try:
            cpu = faiss.deserialize_index(np.frombuffer(index, np.uint8))
        except RuntimeError as error:
            raise CorruptSnapshot(f"{view} shard {shard}: index does not load: {error}") from error
        if cpu.ntotal != passages.num_rows:
            raise CorruptSnapshot(
                f"{view} shard {shard}: {cpu.ntotal} vectors for {passages.num_rows} passages"
            )
        self._vectors = cpu
        self._index = _on_device(cpu, device)
        # Fewer columns in one piece each: rows are read from here with every query.
        self._passages = passages.select(list(Passage.__dataclass_fields__)).combine_chunks()
        self._ids: list[str] = passages["passage_id"].to_pylist()
        self._papers: list[str] = passages["paper_id"].to_pylist()
        self._row = {passage_id: row for row, passage_id in enumerate(self._ids)}
        # The rows of a paper are neighbours: the table is in order of paper id.
        sizes = [(paper, len(list(rows))) for paper, rows in groupby(self._papers)]
        ends = np.cumsum([size for _, size in sizes], dtype=np.int64)
        self._rows_of = {
            paper: slice(int(end) - size, int(end))
            for (paper, size), end in zip(sizes, ends, strict=True)
        }
        self._paper_ids = list(self._rows_of)
        self._first_rows = np.array([rows.start for rows in self._rows_of.values()], np.int64)
        self._paper_of = np.repeat(np.arange(len(sizes)), [size for _, size in sizes])
        self._lexical = _lexical_index(passages, self._paper_of)
        self._traits = tables.trait_columns(passages)

    @property
    def dimension(self) -> int:
        return int(self._vectors.d)

    @cached_property
    def _years(self) -> NDArray[np.float64]:
        years = pc.cast(self._passages["year"], pa.float64())
        return np.asarray(years.to_numpy(zero_copy_only=False), np.float64)

    def candidates(self, queries: Sequence[ShardQuery]) -> list[ShardReply]:
        """The shard's best candidates for each query, independent of its neighbours."""
        proposals = self._propose(queries)
        return [self._reply(q, proposals.get(i)) for i, q in enumerate(queries)]

    def evidence(self, queries: Sequence[EvidenceQuery]) -> list[tuple[Evidence, ...]]:
        """For each query the best `depth` passages of those of its papers that are here."""
        return [self._evidence(query) for query in queries]

    def passages(self, ids: Sequence[str]) -> list[Passage]:
        """The passages of `ids`, in their order. Raises `KeyError` for an id of another shard."""
        return self._read(np.array([self._row[i] for i in ids], np.int64))

    def _read(self, rows: NDArray[np.int64]) -> list[Passage]:
        found = self._passages.take(pa.array(rows))
        return [tables.passage_of(row) for row in found.to_pylist()]

    def _propose(self, queries: Sequence[ShardQuery]) -> dict[int, NDArray[np.int64]]:
        """Rows that hold each unfiltered dense query's best `depth`, ties at the end included."""
        open_ = [i for i, q in enumerate(queries) if q.vector is not None and not q.filters]
        rows: dict[int, NDArray[np.int64]] = {}
        fetch = max((queries[i].depth for i in open_), default=0) + _SLACK
        total = len(self._ids)
        while open_ and total:
            fetch = min(fetch, total)
            vectors = np.stack([v for i in open_ if (v := queries[i].vector) is not None])
            scores, found = self._index.search(vectors, fetch)
            unsure = []
            for i, score, row in zip(open_, scores, found, strict=True):
                depth = queries[i].depth
                if fetch == total or score[depth - 1] - score[-1] > 2 * _ROUNDING:
                    rows[i] = row
                else:
                    unsure.append(i)
            open_, fetch = unsure, fetch * 2
        return rows

    def _reply(self, query: ShardQuery, proposed: NDArray[np.int64] | None) -> ShardReply:
        allowed = self._allowed(query.filters)
        lexical = None
        if query.weights:
            lexical = self._lexical.scores(query.weights.passage, query.mean_length)
        dense_rows = lexical_rows = np.zeros(0, np.int64)
        if query.vector is not None:
            if proposed is None:
                proposed = np.arange(len(self._ids)) if allowed is None else allowed
            dense_rows = _best(
                proposed, self._similarity(proposed, query.vector), self._ids, query.depth
            )
        if lexical is not None:
            rows = np.flatnonzero(lexical > 0) if allowed is None else allowed[lexical[allowed] > 0]
            lexical_rows = _best(rows, lexical[rows], self._ids, query.depth)
        return ShardReply(
            self._candidates(dense_rows, query, lexical),
            self._candidates(lexical_rows, query, lexical),
            self._paper_candidates(query, lexical, allowed, [*dense_rows, *lexical_rows]),
        )

    def _paper_candidates(
        self,
        query: ShardQuery,
        lexical: NDArray[np.float64] | None,
        allowed: NDArray[np.int64] | None,
        rows: Sequence[int],
    ) -> tuple[PaperCandidate, ...]:
        """The papers of `rows` and the best `depth` of the allowed ones."""
        if lexical is None or not query.weights or not len(lexical):
            return ()
        whole = self._lexical.paper_scores(query.weights.paper, query.mean_paper_length)
        best = np.maximum.reduceat(lexical, self._first_rows)
        numbers = np.arange(len(whole)) if allowed is None else np.unique(self._paper_of[allowed])
        numbers = numbers[whole[numbers] > 0.0]
        top = _best(numbers, whole[numbers], self._paper_ids, query.depth)
        chosen = {*top.tolist(), *self._paper_of[np.array(rows, np.int64)].tolist()}
        order = sorted(chosen, key=lambda n: (-whole[n], self._paper_ids[n]))
        return tuple(
            PaperCandidate(self._paper_ids[n], self.shard, float(whole[n]), float(best[n]))
            for n in order
        )

    def _evidence(self, query: EvidenceQuery) -> tuple[Evidence, ...]:
        owned = query.papers.keys() & self._rows_of.keys()
        chosen = sorted(owned, key=lambda paper: self._rows_of[paper].start)
        blocks = [self._rows_of[paper] for paper in chosen]
        if not blocks:
            return ()
        inside = np.concatenate([np.arange(rows.start, rows.stop) for rows in blocks])
        sizes = [rows.stop - rows.start for rows in blocks]
        gains = list(self._lexical.gains_within(blocks, query.asked, query.mean_length))
        words = np.zeros(len(inside))
        for _, rows, gain in gains:
            words[np.searchsorted(inside, rows)] += gain
        tops = np.maximum.reduceat(words, np.cumsum([0, *sizes[:-1]]))
        share = np.repeat(1.0 / np.maximum(tops, 1e-9), sizes)
        found = parts(
            words * share,
            self._similarity(inside, query.vector),
            self._traits.take(inside),
            query.kinds,
            query.weights,
        )
        whole = {
            name: np.repeat([query.papers[paper].get(name, 0.0) for paper in chosen], sizes)
            for name in sorted(set().union(*(query.papers[paper] for paper in chosen)))
        }
        every = {**whole, **found}
        scores = sum(every.values(), np.zeros(len(inside)))
        at = np.searchsorted(inside, _best(inside, scores, self._ids, query.depth))
        scale = query.weights.lexical * share[at]
        return tuple(
            Evidence(
                passage,
                float(scores[i]),
                {name: float(part[i]) for name, part in every.items()},
                {term: float(factor * gain) for term, gain in terms.items()},
            )
            for passage, i, factor, terms in zip(
                self._read(inside[at]), at, scale, by_row(inside[at], gains), strict=True
            )
        )

    def _allowed(self, filters: Filters) -> NDArray[np.int64] | None:
        """Rows that pass, ascending; None when all do."""
        if not filters:
            return None
        keep = np.ones(len(self._ids), bool)
        if filters.paper_ids:
            keep &= np.fromiter((p in filters.paper_ids for p in self._papers), bool, len(keep))
        if filters.year_from is not None:
            keep &= self._years >= filters.year_from
        if filters.year_to is not None:
            keep &= self._years <= filters.year_to
        return np.flatnonzero(keep)

    def _similarity(
        self, rows: NDArray[np.int64], vector: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """Inner products, shape (len(rows),), each a function of its row and `vector` alone."""
        scores = np.empty(len(rows))
        for start in range(0, len(rows), 65536):
            part = slice(start, start + 65536)
            # A matrix product would pick its kernel, and so its rounding, by shape.
            vectors = self._vectors.reconstruct_batch(rows[part])
            scores[part] = (vectors.astype(np.float64) * vector).sum(axis=1)
        return scores

    def _candidates(
        self,
        rows: NDArray[np.int64],
        query: ShardQuery,
        lexical: NDArray[np.float64] | None,
    ) -> tuple[Candidate, ...]:
        nothing = np.full(len(rows), np.nan)
        dense = nothing if query.vector is None else self._similarity(rows, query.vector)
        words = nothing if lexical is None else lexical[rows]
        terms: Sequence[Mapping[str, float]] = [{}] * len(rows)
        if query.explain and query.weights:
            terms = self._lexical.explain(rows, query.weights.passage, query.mean_length)
        return tuple(
            Candidate(self._ids[r], self._papers[r], self.view, self.shard, d, w, t)
            for r, d, w, t in zip(rows.tolist(), dense.tolist(), words.tolist(), terms, strict=True)
        )


def _best(
    rows: NDArray[np.int64], scores: NDArray[np.float64], names: Sequence[str], depth: int
) -> NDArray[np.int64]:
    """The best `depth` of `rows` by (-score, name); `scores` is parallel to `rows`."""
    if len(rows) > depth:
        floor = np.partition(scores, len(rows) - depth)[len(rows) - depth]
        rows, scores = rows[scores >= floor], scores[scores >= floor]
    order = sorted(
        zip((-scores).tolist(), [names[int(r)] for r in rows], rows.tolist(), strict=True)
    )
    return np.array([row for _, _, row in order[:depth]], np.int64)


def _on_device(index: faiss.Index, device: str) -> faiss.Index:
    if device == "cpu":
        return index
    if not hasattr(faiss, "StandardGpuResources"):
        raise MissingExtra("index.device = 'gpu' needs the extra: pip install reciper-ray[gpu]")
    return faiss.index_cpu_to_gpu(faiss.StandardGpuResources(), 0, index)


def _lexical_index(passages: pa.Table, paper_of: NDArray[np.int64]) -> LexicalIndex:
    lengths = passages["length"].to_numpy().astype(np.float64)
    terms = passages["terms"].combine_chunks()
    encoded = pc.dictionary_encode(terms.flatten())
    return LexicalIndex(
        encoded.dictionary.to_pylist(),
        pc.list_parent_indices(terms).to_numpy().astype(np.int64),
        encoded.indices.to_numpy().astype(np.int64),
        passages["counts"].combine_chunks().flatten().to_numpy().astype(np.float64),
        lengths,
        paper_of,
    )
