"""A published store of a few papers, written by the build's own last stages without Ray."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reciper_ray import history
from reciper_ray.adapters import tables
from reciper_ray.adapters.storage import Store
from reciper_ray.build.publish import describe, publish
from reciper_ray.build.shards import write_shard
from reciper_ray.build.work import write_part
from reciper_ray.copies import Copy
from reciper_ray.leases import Held, Kind
from reciper_ray.manifest import EncoderInfo, Manifest, shard_of
from reciper_ray.snapshot import Snapshot, current_id
from reciper_ray.types import (
    Paper,
    Paragraph,
    Passage,
    Recipe,
    Rejection,
    Span,
    Step,
    View,
)

DIMENSION = 4
REJECTIONS = (
    Rejection("empty.txt", "read", "empty file"),
    Rejection("x.txt", "read", "empty file"),
)


def paper(paper_id: str) -> Paper:
    text = f"Powder {paper_id} was mixed. It was fired at 850 °C."
    return Paper(paper_id, f"On {paper_id}", text, (Paragraph(0, len(text)),), f"{paper_id}.txt")


def passages(paper: Paper) -> list[Passage]:
    """Two sentences, and a recipe of the second."""
    cut = paper.text.index(" It")
    first, second = Span(0, cut), Span(cut + 1, len(paper.text))
    made = []
    for n, span in enumerate((first, second)):
        text = paper.text[span.start : span.end]
        made.append(
            Passage(f"{paper.paper_id}:p:{n}", paper.paper_id, View.PARAGRAPH, n, paper.title, "",
                    text, text, (span,))
        )  # fmt: skip
    support = made[1].text
    recipe = Passage(f"{paper.paper_id}:r:0", paper.paper_id, View.RECIPE, 0, paper.title, "",
                     "1. fired at 850 °C.", support, (second,))  # fmt: skip
    return [*made, recipe]


def recipes(paper: Paper) -> tuple[Recipe, ...]:
    span = passages(paper)[1].spans[0]
    return (Recipe(material="powder", steps=(Step("fired", span, "850 °C"),), extractor="test"),)


def vectors(paper: Paper) -> NDArray[np.float32]:
    """Unit rows, shape (3, 4), that differ from paper to paper."""
    seed = sum(map(ord, paper.paper_id))
    rows = np.random.default_rng(seed).normal(size=(3, DIMENSION)).astype(np.float32)
    unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def part_row(paper: Paper) -> dict[str, Any]:
    return tables.paper_row(paper, f"digest of {paper.paper_id}") | {
        "recipes": [tables.recipe_row(recipe) for recipe in recipes(paper)],
        "passages": tables.passage_rows(passages(paper)),
        "vectors": vectors(paper).tobytes(),
        "dimension": DIMENSION,
    }


def write_store(
    where: Path | Store,
    ids: Sequence[str],
    shards: int = 2,
    copies: Sequence[Copy] = (),
    parent: str | None = None,
) -> Manifest:
    """Publish the papers of `ids` to a folder or store, one part a paper, over `parent` (None: what
    is current)."""
    store = where if isinstance(where, Store) else Store.open(where)
    parts: list[dict[str, list[int]]] = [{} for _ in range(shards)]
    for paper_id in ids:
        part = write_part(store, "work/test", [part_row(paper(paper_id))])
        parts[shard_of(paper_id, shards)][part] = [0]
    manifest = describe(
        store,
        [write_shard(store, n, p, DIMENSION) for n, p in enumerate(parts)],
        REJECTIONS,
        encoder=EncoderInfo("test", "test:0", DIMENSION),
        extractor="test",
        index="flat",
        parent=current_id(store) if parent is None else parent,
        corpus="papers",
        copies=copies,
    )
    publish(store, manifest)
    return manifest


def cleaned_by_the_next_build(store: Store) -> None:
    """Publish, and expect nothing in the store but what the snapshots in it consist of."""
    new = write_store(store, ["a", "b", "c"]).snapshot_id
    with Held(store, Kind.BUILD) as build:
        assert not history.sweep(store, build, ["work"]).kept
    assert current_id(store) == new
    snapshots = [Snapshot.open(store, entry.snapshot_id) for entry in history.history(store)]
    listed = {file.path for snapshot in snapshots for file in snapshot.manifest.files}
    manifests = {f"snapshots/{snapshot.id}/manifest.json" for snapshot in snapshots}
    assert {path for path, _ in store.files()} == {"CURRENT"} | listed | manifests
    for snapshot in snapshots:
        snapshot.verify()
