"""How good rankings and answers are, as pure functions over what was returned.

Ranking measures come from ir-measures (trec_eval) over papers: hits collapse to papers by each
paper's best hit, and the copies of a question's paper are one. Asking the questions is
`reciper_ray.evaluate`; recipes are judged by `reciper_ray.recipe_metrics`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import ir_measures
from ir_measures import RR, Success, nDCG
from scipy.stats import binomtest

from reciper_ray import claims
from reciper_ray.qa import Question
from reciper_ray.text import contains
from reciper_ray.types import Answer, Hit

# The paper-level ranking is judged down to this rank.
DEPTH = 10
# Evidence is looked for in so many first characters of a support text.
EVIDENCE_CHARS = 1000

_MEASURES = {
    "R@1": Success @ 1,
    "R@5": Success @ 5,
    "R@10": Success @ 10,
    "nDCG@10": nDCG @ 10,
    "MRR@10": RR @ 10,
}


@dataclass(frozen=True, slots=True)
class Rate:
    """A share `value` of `n` cases with its 95 % Wilson interval; all None when n is 0."""

    value: float | None
    n: int
    low: float | None
    high: float | None


def rate(cases: Iterable[bool]) -> Rate:
    """The share of true `cases`."""
    flags = list(cases)
    if not flags:
        return Rate(None, 0, None, None)
    interval = binomtest(sum(flags), len(flags)).proportion_ci(0.95, method="wilson")
    return Rate(sum(flags) / len(flags), len(flags), float(interval.low), float(interval.high))


def papers(hits: Iterable[Hit]) -> list[str]:
    """The distinct papers of ranked `hits`, each at its best hit."""
    return list(dict.fromkeys(hit.passage.paper_id for hit in hits))


def ranking(results: Sequence[tuple[Question, Sequence[Hit]]]) -> dict[str, float | None]:
    """R@1, R@5, R@10, nDCG@10 and MRR@10 over questions that name a relevant paper.

    A question has one relevant paper, so R@k is the share of questions with it among the first
    k. All None when there is no such question.
    """
    judged = [(q, hits) for q, hits in results if q.relevant_ids]
    if not judged:
        return dict.fromkeys(_MEASURES)
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for question, hits in judged:
        one = min(question.relevant_ids)
        ranked = dict.fromkeys(one if p in question.relevant_ids else p for p in papers(hits))
        qrels[question.id] = {one: 1}
        # trec_eval orders by score and breaks ties by name: only the rank may decide.
        run[question.id] = {p: float(-rank) for rank, p in enumerate(ranked)}
    values = ir_measures.calc_aggregate(list(_MEASURES.values()), qrels, run)
    return {name: float(values[measure]) for name, measure in _MEASURES.items()}


def evidence(results: Sequence[tuple[Question, Sequence[Hit]]], k: int) -> float | None:
    """The share of questions for which one of the first `k` hits, of a relevant paper, contains
    every `must_contain` string in the first 1,000 characters of its support text.

    Counts questions that name a relevant paper and such strings; None without any.
    """
    found = [
        any(
            hit.passage.paper_id in question.relevant_ids
            and contains_all(question.must_contain, hit.passage.support[:EVIDENCE_CHARS])
            for hit in hits[:k]
        )
        for question, hits in results
        if question.relevant_ids and question.must_contain
    ]
    return sum(found) / len(found) if found else None


def answers(
    results: Sequence[tuple[Question, Answer]], passages: Mapping[str, str]
) -> dict[str, Rate]:
    """What the answers are worth.

    - answer_accuracy: answerable questions whose answer contains every `must_contain` string;
    - wrong_answers: answerable questions that got an answer which does not;
    - abstention_recall: unanswerable questions that got an abstention;
    - abstention_precision: abstentions on unanswerable questions;
    - unsupported_claims: sentences of answers with a quantity or formula that does not stand
      in what they cite, given the support texts `passages` by passage id.

    The first two count questions that have `must_contain` strings.
    """
    checked = [(q, a) for q, a in results if q.answerable and q.must_contain]
    right = [not a.abstained and contains_all(q.must_contain, _said(a)) for q, a in checked]
    return {
        "answer_accuracy": rate(right),
        "wrong_answers": rate(
            not ok and not a.abstained for ok, (_, a) in zip(right, checked, strict=True)
        ),
        "abstention_recall": rate(a.abstained for q, a in results if not q.answerable),
        "abstention_precision": rate(not q.answerable for q, a in results if a.abstained),
        "unsupported_claims": rate(
            not claims.supported(claim, passages)
            for _, answer in results
            if not answer.abstained
            for claim in claims.of(answer)
        ),
    }


def contains_all(needles: Iterable[str], text: str) -> bool:
    """Whether every one of `needles` stands in `text`."""
    return all(contains(needle, text) for needle in needles)


def _said(answer: Answer) -> str:
    """The answer without its citation marks, whose numbers nobody asked for."""
    numbers = "|".join(str(c.number) for c in answer.citations)
    return re.sub(rf"\[(?:{numbers})\]", "", answer.text) if numbers else answer.text
