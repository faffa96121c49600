from dataclasses import asdict
from typing import Any

import pyarrow as pa

from reciper_ray.build.settle import Settled, settle
from reciper_ray.build.stages import RECEIPTS
from reciper_ray.copies import Copy, traits
from reciper_ray.manifest import shard_of
from reciper_ray.types import Paper, Rejection


def receipts(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), RECEIPTS)


def told(source: str, doi: str = "") -> dict[str, Any]:
    return asdict(traits(Paper("", f"On {source}", "Short.", (), source=source, doi=doi)))


def done(paper_id: str, source: str, part: str, row: int, doi: str = "") -> dict[str, Any]:
    place = {"paper_id": paper_id, "source": source, "part": part, "row": row}
    return place | {"traits": told(source, doi)}


def test_papers_go_to_the_shard_of_their_id() -> None:
    rows = [done(p, f"{p}.txt", f"part{n % 2}", n // 2) for n, p in enumerate("abcgh")]
    settled = settle(receipts(*rows), {}, 2)
    # a part0:0, b part1:0, c part0:1, g part1:1, h part0:2
    assert [shard_of(p, 2) for p in "abcgh"] == [1, 1, 1, 0, 0]
    assert settled.shards == [{"part1": [1], "part0": [2]}, {"part0": [0, 1], "part1": [0]}]
    assert settled.copies == settled.rejections == []


def test_the_first_paper_of_an_id_counts_and_the_others_are_quarantined_naming_it() -> None:
    rows = receipts(done("x", "a/x.txt", "p", 4), done("x", "b/x.md", "p", 5))
    settled = settle(rows, {}, 1)
    assert settled.shards == [{"p": [4]}]
    (rejection,) = settled.rejections
    assert (rejection.path, rejection.stage) == ("b/x.md", "shard")
    assert "paper id 'x' is already that of a/x.txt, a different paper" in rejection.reason


def test_a_copy_stands_in_for_a_paper_whose_id_another_bears() -> None:
    """The copy was once listed as one of the other paper, and its text was nowhere."""
    doi = "10.1000/x"
    rows = [done("x", "a/x", "p", 0), done("x", "b/x", "p", 1, doi), done("y", "b/y", "p", 2, doi)]
    rows[1] |= {"digest": "dx"}
    settled = settle(receipts(*rows), {}, 1)
    assert settled.shards == [{"p": [0, 2]}]
    assert settled.copies == [Copy("y", "b/x", "y", "b/y", f"same DOI {doi}", "dx")]
    assert settled.rejections == []


def test_copies_of_which_none_can_have_its_id_are_all_rejected() -> None:
    doi = "10.1000/x"
    rows = [done("x", "a/x", "p", 0), done("x", "b/x", "p", 1, doi), done("x", "b/x2", "p", 2, doi)]
    settled = settle(receipts(*rows), {}, 1)
    assert (settled.shards, settled.copies) == ([{"p": [0]}], [])
    assert [rejection.path for rejection in settled.rejections] == ["b/x", "b/x2"]


def test_a_rejected_paper_does_not_take_the_id() -> None:
    bad = {"paper_id": "x", "source": "a", "stage": "chunk", "reason": "no text", "head_hash": ""}
    settled = settle(receipts(bad, done("x", "b", "p", 0)), {}, 1)
    assert settled.shards == [{"p": [0]}]
    assert settled.rejections == [Rejection("a", "chunk", "no text", "")]


def test_a_finished_paper_is_taken_from_the_part_it_was_found_in() -> None:
    finished = {"paper_id": "x", "source": "x", "digest": "d1", "finished": True}
    rows = receipts(finished | {"traits": told("x")})
    assert settle(rows, {"d1": ("old", 3)}, 1) == Settled([{"old": [3]}], [], [], frozenset())


def test_a_finished_paper_whose_work_is_nowhere_is_missing_unless_it_is_a_copy() -> None:
    doi = "10.1000/x"
    copy = done("y", "y", "", 0, doi) | {"part": None, "digest": "dy", "finished": True}
    kept = done("x", "x", "p", 0, doi)
    assert settle(receipts(kept, copy), {}, 1).missing == frozenset()
    assert settle(receipts(copy), {}, 1).missing == {"dy"}


def test_a_copy_is_listed_with_the_paper_kept_instead() -> None:
    doi = "10.1000/x"
    rows = [done("x", "x", "p", 0, doi), done("y", "y", "p", 1, doi)]
    rows[1] |= {"digest": "dy"}
    settled = settle(receipts(*rows), {}, 1)
    assert settled.shards == [{"p": [0]}]
    assert settled.copies == [Copy("y", "y", "x", "x", f"same DOI {doi}", "dy")]
    rows.append(done("y", "z/y", "p", 2))
    settled = settle(receipts(*rows), {}, 1)
    # The copy gives its id up: the paper at z/y has it.
    assert settled.shards == [{"p": [0, 2]}]
    assert settled.copies == [Copy("x", "y", "x", "x", f"same DOI {doi}", "dy")]
    assert settled.rejections == []
