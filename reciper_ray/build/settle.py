"""What the driver decides when all papers are worked on: which copy counts, and its shard."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import pyarrow as pa

from reciper_ray.manifest import shard_of
from reciper_ray.types import Rejection

# Part file → numbers of its rows.
Parts = Mapping[str, Sequence[int]]


def settle(
    receipts: pa.Table, done: Mapping[str, tuple[str, int]], shards: int
) -> tuple[list[Parts], list[Rejection]]:
    """Where each shard's papers are, and everything else with its reason.

    Of several papers with one id the first by path counts.
    """
    kept: dict[str, str] = {}
    rejections: list[Rejection] = []
    parts: list[dict[str, list[int]]] = [defaultdict(list) for _ in range(shards)]
    for row in receipts.to_pylist():
        paper_id, source = row["paper_id"], row["source"]
        if row["reason"] is not None:
            rejections.append(Rejection(source, row["stage"], row["reason"], row["head_hash"]))
        elif paper_id in kept:
            reason = f"paper id {paper_id!r} is already that of {kept[paper_id]}"
            rejections.append(Rejection(source, "shard", reason))
        else:
            kept[paper_id] = source
            here = (row["part"], row["row"])
            part, number = done[row["digest"]] if row["finished"] else here
            parts[shard_of(paper_id, shards)][part].append(number)
    return [{part: sorted(rows) for part, rows in p.items()} for p in parts], rejections
