import asyncio
import json
from collections.abc import Sequence
from itertools import pairwise
from math import log2
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from ir_measures import R, nDCG

from reciper_ray.answer import Answering
from reciper_ray.claims import of
from reciper_ray.errors import CoverageTooLow, ReciperError
from reciper_ray.evaluate import Evaluation, evaluate, write_hits, write_run
from reciper_ray.qa import Question
from reciper_ray.text import contains
from reciper_ray.types import Answer, Hit, Method, Query, SearchResult
from tests.support import passage

FIRED = "The BZY powder was fired at 900 °C for 5 h in air."
CORPUS = (
    passage("a:1", "BZY was milled.", title="On BZY"),
    passage("a:2", FIRED, title="On BZY"),
    passage("copy:1", FIRED, title="On BZY"),
    passage("b:1", "LSM was fired at 1100 °C for 2 h.", title="On LSM"),
    passage("c c:1", "Steel was rolled at 700 °C.", title="On steel"),
)
QUESTIONS = (
    Question(
        "q1",
        "At what temperature was the BZY powder fired?",
        type="temperature",
        relevant_ids=frozenset({"a", "copy"}),
        must_contain=("900",),
    ),
    Question(
        "q2",
        "For how long was LSM fired?",
        type="time",
        relevant_ids=frozenset({"b"}),
        must_contain=("2 h",),
    ),
    Question(
        "q3",
        "What RF power was used for steel?",
        type="unanswerable",
        relevant_ids=frozenset({"c c"}),
    ),
)
# What is found for each question, as numbers of passages in CORPUS, best first.
FOUND = {
    QUESTIONS[0].text: (0, 1, 2, 3, 4),
    QUESTIONS[1].text: (4, 1, 3, 0, 2),
    QUESTIONS[2].text: (4, 3, 2, 1, 0),
}


async def search(query: Query) -> SearchResult:
    order = [CORPUS[n] for n in FOUND[query.text]]
    allowed = [p for p in order if p.paper_id in (query.filters.paper_ids or {p.paper_id})]
    hits = tuple(Hit(p, 1.0 / n, n) for n, p in enumerate(allowed[: query.k], start=1))
    return SearchResult(hits, "s", {}, ())


async def ask(query: Query) -> tuple[Answer, SearchResult]:
    return await Answering(search).answer(query)


def run(questions: Sequence[Question] = QUESTIONS, answers: bool = True) -> Evaluation:
    return asyncio.run(evaluate(questions, search, Method.HYBRID, answer=ask if answers else None))


def test_measures_are_the_arithmetic_of_what_was_found() -> None:
    found = run(answers=False)
    # q1: a first. q2: steel, BZY, then LSM: third.
    assert found.ranking == pytest.approx(
        {
            "R@1": 1 / 2,
            "R@5": 1.0,
            "R@10": 1.0,
            "nDCG@10": (1 + 1 / log2(4)) / 2,
            "MRR@10": (1 + 1 / 3) / 2,
            "evidence@1": 0.0,
            "evidence@5": 1.0,
        }
    )
    assert found.answers == {}
    assert found.queries == 2


def test_unanswerable_questions_count_only_among_answers() -> None:
    without = run(QUESTIONS[:2])
    assert run().ranking == without.ranking
    assert run().answers["abstention_recall"].n == 1
    assert without.answers["abstention_recall"].n == 0


def test_answers_are_judged() -> None:
    answers = run().answers
    assert {name: (rate.value, rate.n) for name, rate in answers.items()} == {
        "answer_accuracy": (1.0, 2),
        "wrong_answers": (0.0, 2),
        "abstention_recall": (1.0, 1),
        "abstention_precision": (1.0, 1),
        "unsupported_claims": (0.0, sum(len(of(o.answer)) for o in run().outcomes[:2] if o.answer)),
    }


def test_the_printed_object_is_as_promised() -> None:
    plain = run(answers=False).to_json()
    assert list(plain) == ["method", "queries", "metrics"]
    assert (plain["method"], plain["queries"]) == ("hybrid", 2)
    metrics: Any = plain["metrics"]
    assert list(metrics) == [
        "R@1", "R@5", "R@10", "nDCG@10", "MRR@10", "evidence@1", "evidence@5"
    ]  # fmt: skip
    judged: Any = run().to_json()["metrics"]
    assert judged["answer_accuracy"].keys() == {"value", "n", "low", "high"}
    json.dumps(judged, allow_nan=False)


def test_outcomes_keep_the_order_of_the_questions() -> None:
    async def slow_first(query: Query) -> SearchResult:
        await asyncio.sleep(0.02 if query.text == QUESTIONS[0].text else 0)
        return await search(query)

    found = asyncio.run(evaluate(QUESTIONS, slow_first, Method.BM25))
    assert [o.question for o in found.outcomes] == list(QUESTIONS)


class Deep:
    """`papers` papers, each with `each` passages next to each other in the ranking."""

    def __init__(self, papers: int, each: int) -> None:
        self.hits = [
            Hit(passage(f"{paper}:{n}", "text"), 1.0, 1)
            for paper in range(papers)
            for n in range(each)
        ]
        self.asked: list[int] = []

    async def search(self, query: Query) -> SearchResult:
        self.asked.append(query.k)
        return SearchResult(tuple(self.hits[: query.k]), "s", {}, ())


@pytest.mark.parametrize(
    ("papers", "each", "asked", "kept"),
    [
        (12, 1, [50], 12),
        (12, 5, [50], 50),
        (12, 6, [50, 500], 9 * 6 + 1),
        (12, 60, [50, 500, 1000], 9 * 60 + 1),
        (3, 5, [50], 15),
        (2, 60, [50, 500], 120),
        (5, 1000, [50, 500, 1000], 1000),
    ],
)
def test_it_asks_deep_enough_for_ten_papers_and_keeps_no_more(
    papers: int, each: int, asked: list[int], kept: int
) -> None:
    deep = Deep(papers, each)
    found = asyncio.run(evaluate(QUESTIONS[:1], deep.search, Method.HYBRID))
    assert deep.asked == asked
    assert len(found.outcomes[0].hits) == kept


def test_at_most_so_many_questions_are_under_way_at_once() -> None:
    under_way, most = 0, 0

    async def counting(query: Query) -> SearchResult:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.001)
        under_way -= 1
        return SearchResult((), "s", {}, ())

    many = [Question(f"q{n}", f"{n}?") for n in range(20)]
    asyncio.run(evaluate(many, counting, Method.HYBRID, concurrency=3))
    assert most == 3


def test_progress_counts_to_the_end() -> None:
    seen: list[tuple[int, int]] = []
    asyncio.run(evaluate(QUESTIONS, search, Method.HYBRID, progress=lambda *at: seen.append(at)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_part_of_the_shards_is_not_enough() -> None:
    async def partial(query: Query) -> SearchResult:
        assert query.min_coverage == 1.0
        raise CoverageTooLow("3 of 4 paragraph shards answered")

    with pytest.raises(CoverageTooLow, match="3 of 4"):
        asyncio.run(evaluate(QUESTIONS, partial, Method.HYBRID))


def test_the_first_error_ends_the_evaluation() -> None:
    asked = 0

    async def failing(query: Query) -> SearchResult:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0)
        raise ReciperError("broken")

    with pytest.raises(ReciperError, match="broken"):
        asyncio.run(evaluate(QUESTIONS, failing, Method.HYBRID, concurrency=1))
    assert asked == 1


def read_hits(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_the_hits_file_holds_what_judges_read(tmp_path: Path) -> None:
    write_hits(tmp_path / "hits", run())
    rows = read_hits(tmp_path / "hits")
    assert [row["question"] for row in rows] == [q.text for q in QUESTIONS]
    assert all(row.keys() == {"question", "hits", "answer"} for row in rows)
    assert rows[0]["hits"][1] == {
        "paper_id": "a",
        "passage_id": "a:2",
        "view": "paragraph",
        "text": FIRED,
        "score": 1 / 2,
    }
    assert rows[0]["answer"].keys() >= {"text", "abstained", "citations"}
    assert FIRED in [citation["quote"] for citation in rows[0]["answer"]["citations"]]
    write_hits(tmp_path / "plain", run(answers=False))
    assert [row["answer"] for row in read_hits(tmp_path / "plain")] == [None] * 3


def test_a_text_with_line_separators_stays_one_line_of_the_hits_file(tmp_path: Path) -> None:
    odd = passage("a:1", "one\u2028two\x85three\ud800")

    async def search(query: Query) -> SearchResult:
        return SearchResult((Hit(odd, 1.0, 1),), "s", {}, ())

    write_hits(tmp_path / "hits", asyncio.run(evaluate(QUESTIONS[:1], search, Method.HYBRID)))
    (row,) = read_hits(tmp_path / "hits")
    assert row["hits"][0]["text"] == odd.support


def test_every_measure_can_be_computed_again_from_the_hits_file(tmp_path: Path) -> None:
    """By other means than the product's: no metrics library, no shared code but the matching
    rule."""
    evaluation = run()
    write_hits(tmp_path / "hits", evaluation)
    gold = {q.text: q for q in QUESTIONS}
    ranks: list[int | None] = []
    evidence: dict[int, list[bool]] = {1: [], 5: []}
    outcomes: list[tuple[bool, bool, bool]] = []
    for row in read_hits(tmp_path / "hits"):
        question = gold[row["question"]]
        said = row["answer"]["text"]
        has_all = all(contains(must, said) for must in question.must_contain)
        outcomes.append((question.type != "unanswerable", row["answer"]["abstained"], has_all))
        if question.type == "unanswerable":
            continue
        ranked: list[str] = []
        for hit in row["hits"]:
            name = "*" if hit["paper_id"] in question.relevant_ids else hit["paper_id"]
            if name not in ranked:
                ranked.append(name)
        ranks.append(ranked.index("*") + 1 if "*" in ranked[:10] else None)
        for k, flags in evidence.items():
            flags.append(
                any(
                    hit["paper_id"] in question.relevant_ids
                    and all(contains(must, hit["text"][:1000]) for must in question.must_contain)
                    for hit in row["hits"][:k]
                )
            )
    n = len(ranks)
    again = {f"R@{k}": sum(r is not None and r <= k for r in ranks) / n for k in (1, 5, 10)}
    again["nDCG@10"] = sum(1 / log2(r + 1) for r in ranks if r) / n
    again["MRR@10"] = sum(1 / r for r in ranks if r) / n
    again |= {f"evidence@{k}": sum(flags) / n for k, flags in evidence.items()}
    assert evaluation.ranking == pytest.approx(again)
    answerable = [(abstained, right) for known, abstained, right in outcomes if known]
    silent = [abstained for known, abstained, _ in outcomes if not known]
    abstentions = [not known for known, abstained, _ in outcomes if abstained]
    assert {name: rate.value for name, rate in evaluation.answers.items()} == pytest.approx(
        {
            "answer_accuracy": sum(right and not a for a, right in answerable) / n,
            "wrong_answers": sum(not right and not a for a, right in answerable) / n,
            "abstention_recall": sum(silent) / len(silent),
            "abstention_precision": sum(abstentions) / len(abstentions),
            "unsupported_claims": 0.0,
        }
    )


def test_trec_eval_reads_the_run_and_gives_the_same_measures(tmp_path: Path) -> None:
    evaluation = run(answers=False)
    write_run(tmp_path / "run", evaluation)
    lines = (tmp_path / "run").read_text("utf-8").splitlines()
    assert lines[:2] == ["q1 Q0 a 1 4 hybrid", "q1 Q0 copy 2 3 hybrid"]
    scored = list(ir_measures.read_trec_run(str(tmp_path / "run")))
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    values = ir_measures.calc_aggregate([R @ 1, nDCG @ 10], qrels, scored)
    assert values[R @ 1] == evaluation.ranking["R@1"]
    # q2's third paper is LSM in the run as well: steel, BZY, LSM.
    assert values[nDCG @ 10] == pytest.approx(evaluation.ranking["nDCG@10"])


def test_a_run_has_six_columns_whatever_a_paper_is_called(tmp_path: Path) -> None:
    write_run(tmp_path / "run", run(answers=False))
    lines = (tmp_path / "run").read_text("utf-8").splitlines()
    assert {len(line.split()) for line in lines} == {6}
    assert any(" c%20c " in line for line in lines)


def test_a_run_names_a_paper_once_with_falling_scores(tmp_path: Path) -> None:
    write_run(tmp_path / "run", run(answers=False))
    rows = [line.split() for line in (tmp_path / "run").read_text("utf-8").splitlines()]
    for topic in ("q1", "q2", "q3"):
        papers = [row[2] for row in rows if row[0] == topic]
        scores = [float(row[4]) for row in rows if row[0] == topic]
        assert len(set(papers)) == len(papers)
        assert all(a > b for a, b in pairwise(scores))


def test_claims_are_checked_against_the_passages_that_the_answer_read() -> None:
    assert run().outcomes[0].passages["a:2"] == FIRED
