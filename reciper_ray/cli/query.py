"""`reciper search` and `reciper ask`: of a running server, or of a snapshot in this process."""

import asyncio
import json
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer
from rich.console import Console
from rich.text import Text

from reciper_ray import config
from reciper_ray.client import DEFAULT_ADDRESS, Client
from reciper_ray.provenance import as_written, page_range
from reciper_ray.text import squeeze
from reciper_ray.types import Answer, Citation, Hit, Method, Piece, Query, SearchResult

SNIPPET_CHARS = 240

Question = Annotated[str, typer.Argument(help="What you want to know.")]
MethodOption = Annotated[Method, typer.Option(help="How to find and rank.")]
K = Annotated[int, typer.Option("-k", help="Number of hits.")]
Address = Annotated[
    str,
    typer.Option(
        help=f"Server; without this and --snapshot {DEFAULT_ADDRESS}.", metavar="HOST:PORT"
    ),
]
SnapshotOption = Annotated[
    str, typer.Option(help="Search the snapshot at this URI in this process.", metavar="URI")
]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="Configuration for --snapshot.", metavar="FILE")
]
TimeoutMs = Annotated[int, typer.Option(help="Milliseconds after which to give up.")]
ApiKey = Annotated[
    str, typer.Option(help="Key of a server that asks for one.", envvar="RECIPER_API_KEY")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def search(
    question: Question,
    method: MethodOption = Method.HYBRID,
    k: K = 10,
    address: Address = "",
    snapshot: SnapshotOption = "",
    config_file: ConfigOption = None,
    timeout_ms: TimeoutMs = 30_000,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """Find the passages that answer a question."""
    query = Query(question, method, k, timeout_ms=timeout_ms)
    with _source(address, snapshot, config_file, api_key) as source:
        result = source.search(query)
    if as_json:
        _print_json(_result(query, result))
    else:
        _print_hits(result)


def ask(
    question: Question,
    method: MethodOption = Method.HYBRID,
    k: K = 10,
    address: Address = "",
    snapshot: SnapshotOption = "",
    config_file: ConfigOption = None,
    timeout_ms: TimeoutMs = 30_000,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """Answer a question, with citations."""
    query = Query(question, method, k, timeout_ms=timeout_ms)
    with _source(address, snapshot, config_file, api_key) as source:
        for piece in source.stream(query):
            if isinstance(piece, str):
                if not as_json:
                    print(piece, end="", flush=True)
                continue
            answer, result = piece
            if as_json:
                _print_json({**_result(query, result), "answer": _answer(answer)})
            else:
                _print_citations(answer)


class Source(Protocol):
    """Where answers come from."""

    def search(self, query: Query) -> SearchResult: ...

    def stream(self, query: Query) -> Iterator[Piece]: ...


class _InProcess:
    """A snapshot opened here, as a `Source`."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def search(self, query: Query) -> SearchResult:
        result: SearchResult = asyncio.run(self._engine.search(query))
        return result

    def stream(self, query: Query) -> Iterator[Piece]:
        pieces = self._engine.stream(query)

        async def following() -> Piece | None:
            piece: Piece | None = await anext(pieces, None)
            return piece

        with asyncio.Runner() as runner:
            try:
                while (piece := runner.run(following())) is not None:
                    yield piece
            finally:
                runner.run(pieces.aclose())


@contextmanager
def _source(
    address: str, snapshot: str, config_file: Path | None, api_key: str
) -> Iterator[Source]:
    if address and snapshot:
        raise typer.BadParameter("--address and --snapshot exclude each other")
    if config_file and not snapshot:
        raise typer.BadParameter("--config goes with --snapshot; a server has its own")
    if not snapshot:
        with Client(address or DEFAULT_ADDRESS, api_key=api_key) as client:
            yield client
        return
    settings = config.load(config_file)
    from reciper_ray.adapters.answerer import prepare
    from reciper_ray.local import open_snapshot

    prepare(settings.answer, lambda line: print(line, file=sys.stderr, flush=True))
    with open_snapshot(snapshot, settings) as engine:
        yield _InProcess(engine)


def _result(query: Query, result: SearchResult) -> dict[str, object]:
    return {
        "question": query.text,
        "method": query.method,
        "snapshot_id": result.snapshot_id,
        "hits": [
            {
                "rank": hit.rank,
                "paper_id": hit.passage.paper_id,
                "passage_id": hit.passage.passage_id,
                "view": hit.passage.view,
                "title": hit.passage.title,
                "heading": hit.passage.heading,
                "year": hit.passage.year,
                "text": hit.passage.support,
                "original": as_written(hit.passage.support, hit.passage.originals),
                "page": hit.passage.page,
                "last_page": hit.passage.last_page,
                "score": hit.score,
                "parts": dict(sorted(hit.parts.items())),
                "terms": dict(sorted(hit.terms.items(), key=lambda item: (-item[1], item[0]))),
            }
            for hit in result.hits
        ],
        "stage_ms": dict(sorted(result.stage_ms.items())),
        "coverage": [asdict(c) | {"share": c.share} for c in result.coverage],
    }


def _answer(answer: Answer) -> dict[str, object]:
    citations = [asdict(c) | {"original": c.original or c.quote} for c in answer.citations]
    return asdict(answer) | {"citations": citations}


def _print_json(data: object) -> None:
    print(json.dumps(data, ensure_ascii=False))


def _print_hits(result: SearchResult) -> None:
    console = Console(highlight=False)
    if not result.hits:
        console.print("nothing found")
    for hit in result.hits:
        console.print(_heading(hit), soft_wrap=True)
        shown = as_written(hit.passage.support, hit.passage.originals)
        console.print(Text(f"    {_snippet(shown)}", style="dim"), soft_wrap=True)
    _print_gaps(result)


def _heading(hit: Hit) -> Text:
    passage = hit.passage
    parts = ", ".join(f"{name} {value:.3f}" for name, value in sorted(hit.parts.items()))
    pages = page_range(passage.page, passage.last_page)
    return Text.assemble(
        f"{hit.rank:>2}. ",
        (f"{hit.score:.4f}", "bold"),
        f" ({parts})  ",
        (passage.paper_id, "bold cyan"),
        f"  {passage.view}",
        f", {passage.heading}" if passage.heading else "",
        f", {pages}" if pages else "",
    )


def _print_gaps(result: SearchResult) -> None:
    """Say which shards did not answer: the hits are then those of the others."""
    errors = Console(stderr=True, highlight=False)
    for coverage in result.coverage:
        for shard, reason in coverage.errors.items():
            errors.print(
                Text(f"warning: {coverage.view} shard {shard} is missing: {reason}"), soft_wrap=True
            )


def _snippet(text: str) -> str:
    return textwrap.shorten(text, SNIPPET_CHARS, placeholder=" …")


def _print_citations(answer: Answer) -> None:
    console = Console(highlight=False)
    console.print()
    for line in _how(answer):
        console.print(Text(f"({line})", style="dim"), soft_wrap=True)
    for citation in _by_number(answer.citations):
        pages = page_range(citation.page, citation.last_page)
        quote = squeeze(citation.original or citation.quote)
        console.print()
        console.print(
            Text.assemble(
                f"[{citation.number}] ",
                (citation.paper_id, "bold cyan"),
                f", {pages}" if pages else "",
                f"  {citation.title}",
            ),
            soft_wrap=True,
        )
        console.print(Text(f"    “{quote}”", style="dim"), soft_wrap=True)


def _how(answer: Answer) -> Iterator[str]:
    """What a reader should know of how the answer came about."""
    if answer.abstention:
        yield f"no answer: {answer.abstention.value.replace('_', ' ')}"
    if answer.fallback:
        yield f"quotes in the language model's place: {answer.fallback}"
    for why, count in Counter(answer.unsupported).items():
        yield f"{count} x a sentence of the language model left out: {why}"


def _by_number(citations: Sequence[Citation]) -> list[Citation]:
    return sorted(citations, key=lambda citation: citation.number)
