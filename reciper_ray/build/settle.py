"""What the driver decides when all papers are worked on: which copy counts, and its shard."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from reciper_ray.copies import Copy, Traits, clusters
from reciper_ray.manifest import shard_of
from reciper_ray.types import Rejection

# Part file → numbers of its rows.
Parts = Mapping[str, Sequence[int]]


@dataclass(frozen=True, slots=True)
class Settled:
    """Where each shard's papers are, the copies of these, and everything else with its reason.

    `missing` are digests of papers whose work is nowhere: they were copies of one that is gone.
    """

    shards: Sequence[Parts]
    copies: Sequence[Copy]
    rejections: Sequence[Rejection]
    missing: frozenset[str]


def settle(receipts: pa.Table, done: Mapping[str, tuple[str, int]], shards: int) -> Settled:
    """Decide, by the receipts of all papers; `done` says where those are that were `finished`.

    Of several papers with one id that are no copies the first by path counts.
    """
    kept: dict[str, str] = {}
    copies: list[Copy] = []
    rejections: list[Rejection] = []
    missing: set[str] = set()
    parts: list[dict[str, list[int]]] = [defaultdict(list) for _ in range(shards)]
    rows = receipts.to_pylist()
    papers = [number for number, row in enumerate(rows) if row["reason"] is None]
    same = clusters([_traits(rows[number]["traits"]) for number in papers])
    instead = {papers[at]: (rows[papers[other]], why) for at, (other, why) in same.items()}
    for number, row in enumerate(rows):
        paper_id, source = row["paper_id"], row["source"]
        if row["reason"] is not None:
            rejections.append(Rejection(source, row["stage"], row["reason"], row["head_hash"]))
        elif number in instead:
            other, why = instead[number]
            copies.append(
                Copy(paper_id, source, other["paper_id"], other["source"], why, row["digest"])
            )
        elif paper_id in kept:
            reason = f"paper id {paper_id!r} is already that of {kept[paper_id]}"
            rejections.append(Rejection(source, "shard", reason))
        else:
            kept[paper_id] = source
            here = (row["part"], row["row"])
            part, at = done.get(row["digest"], here) if row["finished"] else here
            if part is None:
                missing.add(row["digest"])
            else:
                parts[shard_of(paper_id, shards)][part].append(at)
    placed = [{part: sorted(at) for part, at in p.items()} for p in parts]
    return Settled(placed, copies, rejections, frozenset(missing))


def _traits(row: Mapping[str, Any]) -> Traits:
    return Traits(**{**row, "signature": tuple(row["signature"])})
