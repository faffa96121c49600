"""`reciper inspect`: what a published snapshot holds."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from reciper_ray.copies import Copy
from reciper_ray.manifest import Manifest
from reciper_ray.provenance import as_written, page_range
from reciper_ray.snapshot import IndexedPaper, Snapshot
from reciper_ray.types import Paper, Recipe, Rejection


def inspect(
    uri: Annotated[str, typer.Argument(help="Folder or URI of the store.")],
    quarantine: Annotated[
        bool, typer.Option("--quarantine", help="Show what was not indexed, and why.")
    ] = False,
    paper: Annotated[str, typer.Option(help="Show this paper.", metavar="ID")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show a snapshot, one of its papers, or its quarantine."""
    if quarantine and paper:
        raise typer.BadParameter("--quarantine and --paper exclude each other")
    snapshot = Snapshot.open(uri)
    if paper:
        found = snapshot.paper(paper)
        copies = [copy for copy in snapshot.copies() if copy.kept_id == found.paper.paper_id]
        passages = [
            asdict(passage) | {"original": as_written(passage.support, passage.originals)}
            for passage in found.passages
        ]
        result: object = asdict(found) | {
            "passages": passages,
            "copies": [asdict(copy) for copy in copies],
        }
        lines = _paper(found, copies)
    elif quarantine:
        rejections = snapshot.quarantine()
        result = {"snapshot_id": snapshot.id, "quarantine": [asdict(r) for r in rejections]}
        lines = _quarantine(rejections)
    else:
        result = json.loads(snapshot.manifest.to_json())
        lines = _manifest(snapshot.manifest)
    print(json.dumps(result, ensure_ascii=False) if as_json else "\n".join(lines))


def _manifest(manifest: Manifest) -> Iterator[str]:
    yield from _fields(
        snapshot=manifest.snapshot_id,
        created=f"{manifest.created} by version {manifest.builder} from {manifest.corpus}",
        parent=manifest.parent or "none",
        encoder=f"{manifest.encoder.fingerprint}, {manifest.encoder.dimension} dimensions",
        extractor=manifest.extractor,
        papers=str(manifest.papers),
        passages=", ".join(f"{info.passages} {view}" for view, info in manifest.views.items()),
        recipes=str(manifest.recipes),
        copies=str(manifest.copies),
        quarantined=str(sum(manifest.quarantined.values())),
        shards=str(manifest.shards),
        bytes=f"{sum(file.size for file in manifest.files):,}",
    )
    for file in manifest.files:
        yield f"  {file.size:>13,}  {file.rows:>9,} rows  {file.path}"


def _quarantine(rejections: list[Rejection]) -> Iterator[str]:
    for rejection in rejections:
        yield f"{rejection.path}: {rejection.stage}: {rejection.reason}"
    yield f"{len(rejections)} not indexed"


def _paper(found: IndexedPaper, copies: Sequence[Copy]) -> Iterator[str]:
    paper = found.paper
    yield from _fields(
        paper=paper.paper_id,
        title=paper.title,
        authors=", ".join(paper.authors),
        journal=paper.journal,
        year=str(paper.year or ""),
        doi=paper.doi,
        arxiv=paper.arxiv_id,
        licence=paper.licence,
        source=f"{paper.source} ({paper.format}, {len(paper.text):,} characters)",
    )
    for copy in copies:
        yield from _fields(copy=f"{copy.paper_id}, {copy.source}: {copy.reason}")
    for recipe in found.recipes:
        yield from _recipe(paper, recipe)
    for passage in found.passages:
        pages = page_range(passage.page, passage.last_page)
        where = "".join(f" ({part})" for part in (passage.heading, pages) if part)
        yield f"\n{passage.view} {passage.ordinal}  {passage.passage_id}{where}\n{passage.text}"
        if passage.originals:
            yield f"in the file: {as_written(passage.support, passage.originals)}"


def _recipe(paper: Paper, recipe: Recipe) -> Iterator[str]:
    yield f"\nrecipe of {recipe.material or 'an unnamed material'} ({recipe.extractor})"
    yield from _fields(
        method=recipe.method,
        precursors=", ".join(recipe.precursors),
        fallback=recipe.fallback,
        read=f"{sum(span.end - span.start for span in recipe.read):,} characters of"
        f" {len(paper.text):,}"
        if recipe.read
        else "",
        dropped="; ".join(
            f"{why} ({count})" for why, count in sorted(Counter(recipe.dropped).items())
        ),
    )
    for number, step in enumerate(recipe.steps, start=1):
        conditions = filter(None, (step.temperature, step.time, step.atmosphere))
        yield f"{number:>3}. {', '.join((step.operation, *conditions))}"
        yield f'     "{paper.text[step.span.start : step.span.end]}"'


def _fields(**fields: str) -> Iterator[str]:
    """A line for each that has a value."""
    for name, value in fields.items():
        if value:
            yield f"{name:<12} {value}"
