"""What the driver decides when all papers are worked on: which copy counts, and its shard."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from reciper_ray.copies import Copy, Traits, clusters
from reciper_ray.manifest import shard_of
from reciper_ray.types import Rejection

# Part file → numbers of its rows.
Parts = Mapping[str, Sequence[int]]


def settle(
    receipts: pa.Table, done: Mapping[str, tuple[str, int]], shards: int
) -> tuple[list[Parts], list[Copy], list[Rejection]]:
    """Where each shard's papers are, the copies of these, and everything else with its reason.

    Of several papers with one id that are no copies the first by path counts.
    """
    kept: dict[str, str] = {}
    copies: list[Copy] = []
    rejections: list[Rejection] = []
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
            copies.append(Copy(paper_id, source, other["paper_id"], other["source"], why))
        elif paper_id in kept:
            reason = f"paper id {paper_id!r} is already that of {kept[paper_id]}"
            rejections.append(Rejection(source, "shard", reason))
        else:
            kept[paper_id] = source
            here = (row["part"], row["row"])
            part, at = done[row["digest"]] if row["finished"] else here
            parts[shard_of(paper_id, shards)][part].append(at)
    # A copy's id that another paper bears means that one.
    copies = [replace(c, paper_id=c.kept_id) if c.paper_id in kept else c for c in copies]
    return [{part: sorted(at) for part, at in p.items()} for p in parts], copies, rejections


def _traits(row: Mapping[str, Any]) -> Traits:
    return Traits(**{**row, "signature": tuple(row["signature"])})
