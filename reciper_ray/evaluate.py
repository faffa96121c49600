"""Asks a set of questions and judges what comes back.

Works on any search that takes a `Query`, in process or over the network. The measures are
`reciper_ray.metrics`; this module decides how deep to ask, and writes what was returned in a
form from which every measure can be computed again.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from urllib.parse import quote

from reciper_ray import metrics
from reciper_ray.metrics import Rate
from reciper_ray.qa import Question
from reciper_ray.types import Answer, Hit, Method, Query, SearchResult

Search = Callable[[Query], Awaitable[SearchResult]]
Ask = Callable[[Query], Awaitable[tuple[Answer, SearchResult]]]
Progress = Callable[[int, int], None]

# Ten papers hold about 500 passages; where papers weigh much, the best come one after another.
DEPTHS = (50, 500, 1000)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one question got: `hits` by rank, an answer where one was asked for, and the support
    texts by passage id of what that answer was made from."""

    question: Question
    hits: tuple[Hit, ...]
    answer: Answer | None
    passages: dict[str, str]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Outcomes in the order of the questions, and their measures by name.

    `queries` is the number of questions behind the ranking measures: the answerable ones that
    name a relevant paper.
    """

    method: Method
    queries: int
    ranking: dict[str, float | None]
    answers: dict[str, Rate]
    outcomes: tuple[Outcome, ...]

    def to_json(self) -> dict[str, object]:
        """The object that `reciper evaluate --json` prints."""
        return {
            "method": str(self.method),
            "queries": self.queries,
            "metrics": {**self.ranking, **{n: asdict(rate) for n, rate in self.answers.items()}},
        }


async def evaluate(
    questions: Sequence[Question],
    search: Search,
    method: Method,
    answer: Ask | None = None,
    concurrency: int = 16,
    progress: Progress = lambda done, total: None,
) -> Evaluation:
    """Ask every question, at most `concurrency` at a time, and judge the results.

    Each search goes deep enough for ten papers, and must reach every shard: measures of part of
    a corpus would be measures of something else. The first error ends the evaluation.
    """
    waiting = iter(enumerate(questions))
    outcomes: dict[int, Outcome] = {}

    async def work() -> None:
        for number, question in waiting:
            outcomes[number] = await _outcome(question, search, method, answer)
            progress(len(outcomes), len(questions))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(questions))):
                group.create_task(work())
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return judge(method, [outcomes[number] for number in sorted(outcomes)])


async def _outcome(
    question: Question, search: Search, method: Method, answer: Ask | None
) -> Outcome:
    query = Query(question.text, method, min_coverage=1.0)
    hits = await _deep(search, query)
    said: Answer | None = None
    read: tuple[Hit, ...] = ()
    if answer:
        said, result = await answer(query)
        read = result.hits
    passages = {hit.passage.passage_id: hit.passage.support for hit in (*hits, *read)}
    return Outcome(question, hits, said, passages)


def judge(method: Method, outcomes: Sequence[Outcome]) -> Evaluation:
    """The measures of `outcomes`; those of answers where any question has one."""
    found = [(o.question, o.hits) for o in outcomes if o.question.answerable]
    said = [(o.question, o.answer) for o in outcomes if o.answer is not None]
    passages = {i: text for o in outcomes for i, text in o.passages.items()}
    return Evaluation(
        method=method,
        queries=sum(bool(question.relevant_ids) for question, _ in found),
        ranking={
            **metrics.ranking(found),
            "evidence@1": metrics.evidence(found, 1),
            "evidence@5": metrics.evidence(found, 5),
        },
        answers=metrics.answers(said, passages) if said else {},
        outcomes=tuple(outcomes),
    )


async def _deep(search: Search, query: Query) -> tuple[Hit, ...]:
    """The first 50 hits, and on to the first one of the `metrics.DEPTH`th paper if that is among
    the first 1,000."""
    for k in DEPTHS:
        hits = (await search(replace(query, k=k))).hits
        firsts = {hit.passage.paper_id: n for n, hit in reversed(list(enumerate(hits)))}
        enough = sorted(firsts.values())[metrics.DEPTH - 1 : metrics.DEPTH]
        if enough or len(hits) < k:
            return hits[: max(DEPTHS[0], enough[0] + 1)] if enough else hits
    return hits


def write_run(path: str | Path, evaluation: Evaluation) -> None:
    """A TREC run of paper ids: `question Q0 paper rank score method`, a topic per question id.

    The score falls by one a rank, because trec_eval orders by score and breaks ties by name.
    """
    with Path(path).open("w", encoding="utf-8") as file:
        for outcome in evaluation.outcomes:
            ranked = metrics.papers(outcome.hits)
            for rank, paper_id in enumerate(ranked, 1):
                row = (
                    _column(outcome.question.id),
                    "Q0",
                    _column(paper_id),
                    rank,
                    len(ranked) - rank + 1,
                    evaluation.method,
                )
                print(*row, file=file)


def _column(name: str) -> str:
    """`name` as one column of a table whose columns white space parts."""
    return re.sub(r"[\s%]", lambda match: quote(match[0], safe=""), name)


def write_hits(path: str | Path, evaluation: Evaluation) -> None:
    """A JSON line a question with its whole ranked list and its answer, as judges read it."""
    with Path(path).open("w", encoding="utf-8") as file:
        for outcome in evaluation.outcomes:
            row = {
                "question": outcome.question.text,
                "hits": [
                    {
                        "paper_id": hit.passage.paper_id,
                        "passage_id": hit.passage.passage_id,
                        "view": str(hit.passage.view),
                        "text": hit.passage.support,
                        "score": hit.score,
                    }
                    for hit in outcome.hits
                ],
                "answer": asdict(outcome.answer) if outcome.answer else None,
            }
            file.write(json.dumps(row, allow_nan=False) + "\n")
