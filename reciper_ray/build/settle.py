"""What the driver decides when all papers are worked on: which copy counts, and its shard."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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

    Of several papers with one id that are no copies the first by path counts; a copy stands in
    for one that cannot have its id.
    """
    kept: dict[str, str] = {}
    copies: list[Copy] = []
    rejections: list[Rejection] = []
    missing: set[str] = set()
    parts: list[dict[str, list[int]]] = [defaultdict(list) for _ in range(shards)]
    rows = receipts.to_pylist()
    papers = [number for number, row in enumerate(rows) if row["reason"] is None]
    same = clusters([_traits(rows[number]["traits"]) for number in papers])
    clustered = {papers[at]: (papers[other], why) for at, (other, why) in same.items()}
    instead = {
        number: (rows[other], why)
        for number, (other, why) in _with_own_ids(rows, papers, clustered).items()
    }
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
            reason = (
                f"paper id {paper_id!r} is already that of {kept[paper_id]}, a different paper: "
                f"give one of them another id (a file's id is its name)"
            )
            rejections.append(Rejection(source, "shard", reason))
        else:
            kept[paper_id] = source
            here = (row["part"], row["row"])
            part, at = done.get(row["digest"], here) if row["finished"] else here
            if part is None:
                missing.add(row["digest"])
            else:
                parts[shard_of(paper_id, shards)][part].append(at)
    # A copy's id that another paper bears means that one.
    copies = [replace(c, paper_id=c.kept_id) if c.paper_id in kept else c for c in copies]
    placed = [{part: sorted(at) for part, at in p.items()} for p in parts]
    return Settled(placed, copies, rejections, frozenset(missing))


def _with_own_ids(
    rows: Sequence[Mapping[str, Any]],
    papers: Sequence[int],
    instead: Mapping[int, tuple[int, str]],
) -> dict[int, tuple[int, str]]:
    """`instead` (number of a copy → of the paper kept, and why) when each paper kept must have an
    id of its own: the first copy with a free id stands in for one whose id another paper bears.
    Where no copy has one, none of them is kept, nor a copy."""
    holders: dict[str, int] = {}
    for number in papers:
        if number not in instead:
            holders.setdefault(rows[number]["paper_id"], number)
    found = dict(instead)
    for number in papers:
        if number in instead or holders[rows[number]["paper_id"]] == number:
            continue
        copies = [copy for copy, (other, _) in instead.items() if other == number]
        stand_in = next((c for c in sorted(copies) if rows[c]["paper_id"] not in holders), None)
        for copy in copies:
            del found[copy]
        if stand_in is not None:
            holders[rows[stand_in]["paper_id"]] = stand_in
            found[number] = (stand_in, instead[stand_in][1])
            found |= {c: (stand_in, instead[c][1]) for c in copies if c != stand_in}
    return found


def _traits(row: Mapping[str, Any]) -> Traits:
    return Traits(**{**row, "signature": tuple(row["signature"])})
