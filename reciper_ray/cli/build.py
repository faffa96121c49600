"""`reciper build`: index a corpus and publish the snapshot."""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reciper_ray.config import load

if TYPE_CHECKING:
    from reciper_ray.build.pipeline import Summary


def build(
    corpus: Annotated[str, typer.Argument(help="Folder, file or URI of the papers.")],
    out: Annotated[str, typer.Option(help="Folder or URI of the store to publish to.")],
    config: Annotated[Path | None, typer.Option(help="Configuration, YAML.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Index a corpus and publish it as a snapshot."""
    settings = load(config)
    from reciper_ray.build.pipeline import build as run

    summary = run(corpus, out, settings, lambda line: print(line, file=sys.stderr, flush=True))
    if as_json:
        print(json.dumps(asdict(summary), ensure_ascii=False))
    else:
        print(_text(summary))


def _text(summary: "Summary") -> str:
    rejected = sum(summary.quarantined.values())
    lines = [
        ("snapshot", summary.snapshot_id),
        ("store", summary.uri),
        ("files", str(summary.files)),
        ("records", f"{summary.records} = papers + copies + quarantined"),
        ("papers", str(summary.papers)),
        ("work", _work(summary)),
        ("passages", ", ".join(f"{n} {view}" for view, n in summary.passages.items())),
        ("recipes", str(summary.recipes)),
        *_model(summary),
        ("copies", str(summary.copies)),
        ("quarantined", str(rejected)),
        *(("", f"{count} x {reason}") for reason, count in summary.quarantined.items()),
        ("seconds", ", ".join(f"{name} {s:.1f}" for name, s in summary.seconds.items())),
    ]
    return "\n".join(f"{name:<12} {value}" for name, value in lines)


def _work(summary: "Summary") -> str:
    parts = [
        f"{summary.reused} papers reused from the snapshot before" if summary.reused else "",
        f"{summary.resumed} resumed from a build that did not finish" if summary.resumed else "",
        f"{summary.extracted} extracted, {summary.embedded} passages embedded",
        f"{summary.rewritten} shards rewritten",
    ]
    return ", ".join(filter(None, parts))


def _model(summary: "Summary") -> Iterator[tuple[str, str]]:
    """How a language model fared as extractor."""
    if summary.model is None:
        return
    counts = summary.model.fallbacks
    yield "by the model", f"{summary.model.written} papers; in {sum(counts.values())} by sentences"
    yield from (("", f"{count} x {reason}") for reason, count in counts.items())
    dropped = summary.model.dropped
    yield "dropped", f"{sum(dropped.values())} values that the papers do not state"
    yield from (("", f"{count} x {reason}") for reason, count in dropped.items())
