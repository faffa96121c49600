from typing import Any

import pyarrow as pa

from reciper_ray.build.settle import settle
from reciper_ray.build.stages import RECEIPTS
from reciper_ray.manifest import shard_of
from reciper_ray.types import Rejection


def receipts(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), RECEIPTS)


def done(paper_id: str, source: str, part: str, row: int) -> dict[str, Any]:
    return {"paper_id": paper_id, "source": source, "part": part, "row": row}


def test_papers_go_to_the_shard_of_their_id() -> None:
    rows = [done(p, f"{p}.txt", f"part{n % 2}", n // 2) for n, p in enumerate("abcgh")]
    parts, rejections = settle(receipts(*rows), {}, 2)
    # a part0:0, b part1:0, c part0:1, g part1:1, h part0:2
    assert [shard_of(p, 2) for p in "abcgh"] == [1, 1, 1, 0, 0]
    assert parts == [{"part1": [1], "part0": [2]}, {"part0": [0, 1], "part1": [0]}]
    assert rejections == []


def test_the_first_paper_of_an_id_counts_and_the_others_are_quarantined_naming_it() -> None:
    parts, rejections = settle(
        receipts(done("x", "a/x.txt", "p", 4), done("x", "b/x.md", "p", 5)), {}, 1
    )
    assert parts == [{"p": [4]}]
    assert rejections == [
        Rejection("b/x.md", "shard", "paper id 'x' is already that of a/x.txt", "")
    ]


def test_a_rejected_paper_does_not_take_the_id() -> None:
    bad = {"paper_id": "x", "source": "a", "stage": "chunk", "reason": "no text", "head_hash": ""}
    parts, rejections = settle(receipts(bad, done("x", "b", "p", 0)), {}, 1)
    assert parts == [{"p": [0]}]
    assert rejections == [Rejection("a", "chunk", "no text", "")]


def test_a_finished_paper_is_taken_from_the_part_it_was_found_in() -> None:
    finished = {"paper_id": "x", "source": "x", "digest": "d1", "finished": True}
    assert settle(receipts(finished), {"d1": ("old", 3)}, 1) == ([{"old": [3]}], [])
