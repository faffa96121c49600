"""`reciper evaluate`: how good retrieval, answers or recipes of a snapshot are."""

import asyncio
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reciper_ray import config
from reciper_ray.errors import InvalidArgument, NotFound, UnreadableInput
from reciper_ray.types import Method, Paper, Recipe

if TYPE_CHECKING:
    from reciper_ray.evaluate import Evaluation
    from reciper_ray.metrics import Rate
    from reciper_ray.recipe_metrics import RecipeScores

Row = tuple[str, "float | Rate | None"]


def evaluate(
    snapshot: Annotated[str, typer.Option(help="Folder or URI of the store.", metavar="URI")],
    qa: Annotated[
        Path | None,
        typer.Option(help="Questions, JSON lines.", exists=True, dir_okay=False, metavar="FILE"),
    ] = None,
    recipes: Annotated[
        Path | None,
        typer.Option(
            help="Hand-made recipes, JSON lines: judge the snapshot's recipes instead.",
            exists=True,
            dir_okay=False,
            metavar="FILE",
        ),
    ] = None,
    method: Annotated[Method, typer.Option(help="How to find and rank.")] = Method.HYBRID,
    answers: Annotated[bool, typer.Option("--answers", help="Judge answers as well.")] = False,
    run: Annotated[
        Path | None, typer.Option(help="Write a TREC run of papers.", metavar="OUT")
    ] = None,
    hits: Annotated[
        Path | None,
        typer.Option(help="Write every question's hits and answer, JSON lines.", metavar="OUT"),
    ] = None,
    config_file: Annotated[
        Path | None, typer.Option("--config", help="Configuration, YAML.", metavar="FILE")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure a snapshot against questions or hand-made recipes."""
    if (qa is None) == (recipes is None):
        raise typer.BadParameter("give either --qa or --recipes")
    if recipes and (answers or run or hits):
        raise typer.BadParameter("--answers, --run and --hits go with --qa, not with --recipes")
    for option, path in (("--run", run), ("--hits", hits)):
        if path and (path.is_dir() or not path.parent.is_dir()):
            raise typer.BadParameter(f"{option} {path} is not a file that could be written")
    settings = config.load(config_file)
    if recipes:
        scores = _score_recipes(snapshot, recipes)
        _print(asdict(scores), _recipe_rows(scores), f"{scores.papers} papers", as_json)
    elif qa:
        evaluation = _ask(snapshot, qa, settings, method, answers)
        _write(evaluation, run, hits)
        rows: list[Row] = [*evaluation.ranking.items(), *evaluation.answers.items()]
        _print(evaluation.to_json(), rows, f"{method}, {evaluation.queries} queries", as_json)


def _ask(
    snapshot: str, qa: Path, settings: config.Config, method: Method, answers: bool
) -> "Evaluation":
    from reciper_ray import evaluate as evaluating
    from reciper_ray.local import open_snapshot
    from reciper_ray.qa import load

    questions = load(qa)
    unjudged = sum(q.answerable and not q.relevant_ids for q in questions)
    if unjudged:
        _say(f"{unjudged} of {len(questions)} questions name no paper and are not ranked")
    with open_snapshot(snapshot, settings) as engine:
        kept = engine.snapshot.kept_ids()
        questions = [question.with_kept(kept) for question in questions]
        return asyncio.run(
            evaluating.evaluate(
                questions,
                engine.search,
                method,
                answer=engine.answer if answers else None,
                progress=_progress,
            )
        )


def _write(evaluation: "Evaluation", run: Path | None, hits: Path | None) -> None:
    from reciper_ray.evaluate import write_hits, write_run

    try:
        if run:
            write_run(run, evaluation)
        if hits:
            write_hits(hits, evaluation)
    except OSError as error:
        raise InvalidArgument(f"cannot write {error.filename}: {error.strerror}") from error


def _score_recipes(uri: str, gold_file: Path) -> "RecipeScores":
    from reciper_ray.recipe_metrics import load_gold, score
    from reciper_ray.snapshot import Snapshot

    try:
        gold = load_gold(gold_file)
    except UnreadableInput as error:
        raise InvalidArgument(f"recipes {gold_file}: {error}") from error
    snapshot = Snapshot.open(uri)
    papers: dict[str, Paper] = {}
    recipes: dict[str, tuple[Recipe, ...]] = {}
    absent = []
    for paper_id in dict.fromkeys(recipe.paper_id for recipe in gold):
        try:
            found = snapshot.paper(paper_id)
        except NotFound:
            absent.append(paper_id)
            continue
        papers[paper_id], recipes[paper_id] = found.paper, found.recipes
    if absent:
        _say(f"not in the snapshot and not judged: {', '.join(absent)}")
    return score(gold, recipes, papers)


def _recipe_rows(scores: "RecipeScores") -> list[Row]:
    return [
        *((f"recall of {field}", rate) for field, rate in scores.recall.items()),
        ("precision of steps", scores.precision),
        ("evidence located", scores.located),
        ("median characters", scores.median_chars),
    ]


def _print(result: object, rows: Iterable[Row], title: str, as_json: bool) -> None:
    if as_json:
        print(json.dumps(result, allow_nan=False))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("measure", title=title, title_justify="left")
    for heading in ("value", "n", "95 % interval"):
        table.add_column(heading, justify="right")
    for name, value in rows:
        table.add_row(name, *_cells(value))
    Console().print(table)


def _cells(value: "float | Rate | None") -> tuple[str, str, str]:
    if value is None:
        return "-", "", ""
    if isinstance(value, int | float):
        return f"{value:.4g}", "", ""
    if value.value is None:
        return "-", "0", ""
    return f"{value.value:.4f}", str(value.n), f"{value.low:.3f} to {value.high:.3f}"


def _progress(done: int, total: int) -> None:
    if done == total or done % 25 == 0:
        _say(f"{done} of {total} questions")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
