import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reciper_ray.errors import CorruptSnapshot
from reciper_ray.manifest import EncoderInfo, File, Manifest, Role, ViewInfo, shard_of
from reciper_ray.types import View

INDEX = File("data/i.faiss", 1581, "a" * 64, Role.INDEX, 1, View.RECIPE, 0)
QUARANTINE = File("data/q.parquet", 791, "b" * 64, Role.QUARANTINE, 2)
MANIFEST = Manifest(
    encoder=EncoderInfo("minilm", "minilm:0123", 384),
    tokenizer="1",
    extractor="extractive",
    index="flat",
    shards=1,
    papers=1,
    recipes=1,
    views={View.PARAGRAPH: ViewInfo(4, 2, 100), View.RECIPE: ViewInfo(1, 1, 30)},
    quarantined={"empty file": 2},
    files=(INDEX, QUARANTINE),
    parent="0123456789abcdef",
    created="2026-01-02T03:04:05+00:00",
    corpus="papers",
    builder="0.1.0",
)


def edited(**changes: object) -> bytes:
    return json.dumps(json.loads(MANIFEST.to_json()) | changes).encode()


def test_a_manifest_survives_its_json_form() -> None:
    assert Manifest.from_json(MANIFEST.to_json(), "m") == MANIFEST


def test_the_snapshot_id_does_not_depend_on_how_the_snapshot_came_about() -> None:
    later = dataclasses.replace(
        MANIFEST, parent="", created="2027-01-01", corpus="s3://b/papers", builder="9"
    )
    elsewhere = dataclasses.replace(
        later, encoder=dataclasses.replace(MANIFEST.encoder, model="/models/minilm")
    )
    assert later.snapshot_id == elsewhere.snapshot_id == MANIFEST.snapshot_id


@pytest.mark.parametrize(
    "change",
    [
        {"files": (INDEX, dataclasses.replace(QUARANTINE, sha256="c" * 64))},
        {"files": (INDEX,)},
        {"encoder": EncoderInfo("minilm", "minilm:4567", 384)},
        {"tokenizer": "2"},
        {"shards": 2},
        {"views": {View.PARAGRAPH: ViewInfo(4, 2, 101), View.RECIPE: ViewInfo(1, 1, 30)}},
    ],
)
def test_the_snapshot_id_depends_on_all_content(change: dict[str, Any]) -> None:
    assert dataclasses.replace(MANIFEST, **change).snapshot_id != MANIFEST.snapshot_id


def test_the_snapshot_id_is_the_same_in_every_version() -> None:
    assert MANIFEST.snapshot_id == "c84f93ef8f7253df"


def test_the_mean_length_is_tokens_per_passage() -> None:
    assert MANIFEST.views[View.PARAGRAPH].mean_length == 100 / 4
    assert ViewInfo().mean_length == 0.0


def test_a_file_is_found_by_role_view_and_shard() -> None:
    assert MANIFEST.file(Role.INDEX, View.RECIPE, 0) is INDEX
    assert MANIFEST.file(Role.QUARANTINE) is QUARANTINE


def test_a_file_that_is_not_listed_is_named() -> None:
    with pytest.raises(CorruptSnapshot, match="lists no paragraph index file of shard 3"):
        MANIFEST.file(Role.INDEX, View.PARAGRAPH, 3)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x00\x01", "store/m.json is not JSON"),
        (b"[]", "store/m.json is no manifest: it has no format_version"),
        (edited(format_version=2), r"format_version 2; this version of reciper-ray reads up to 1"),
        (edited(shards="many"), "store/m.json: shards: Input should be a valid integer"),
        (edited(encoder={"model": "m"}), "encoder.fingerprint: Field required"),
        (edited(papers=2), "says snapshot_id '[0-9a-f]{16}', but its content is that of"),
    ],
)
def test_what_is_no_manifest_is_refused_by_name(data: bytes, message: str) -> None:
    with pytest.raises(CorruptSnapshot, match=message):
        Manifest.from_json(data, "store/m.json")


def test_a_paper_stays_in_its_shard_for_ever() -> None:
    assert [shard_of(paper, 7) for paper in ("PMC5700654", "steel_11", "Zürich")] == [5, 6, 5]


@given(st.text(st.characters(codec="utf-8")), st.integers(1, 50))
def test_every_paper_has_a_shard(paper_id: str, shards: int) -> None:
    assert 0 <= shard_of(paper_id, shards) < shards


def test_papers_spread_over_shards() -> None:
    counts = [0] * 4
    for number in range(1000):
        counts[shard_of(f"paper {number}", 4)] += 1
    assert min(counts) > 200
