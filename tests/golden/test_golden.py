"""The paper's method on the committed snapshot ranks as it did."""

import asyncio
import json

import pytest

from tests.golden import RANKINGS, rank


def test_the_papers_method_ranks_the_committed_snapshot_as_it_did() -> None:
    golden = json.loads(RANKINGS.read_text("utf-8"))
    ranked = asyncio.run(rank([row["question"] for row in golden]))
    assert len(golden) >= 10
    for now, then in zip(ranked, golden, strict=True):
        assert [i for i, _ in now["hits"]] == [i for i, _ in then["hits"]], then["question"]
        assert [s for _, s in now["hits"]] == pytest.approx([s for _, s in then["hits"]], abs=2e-6)
