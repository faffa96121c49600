from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reciper_ray import metrics
from reciper_ray.metrics import Rate
from reciper_ray.qa import Question
from reciper_ray.types import Answer, Citation, Hit
from tests.support import passage


def hits(*papers: str, text: str = "text") -> list[Hit]:
    """Hits of these papers in this order."""
    return [
        Hit(passage(f"{paper}:{n}", text), 1.0 / n, n) for n, paper in enumerate(papers, start=1)
    ]


def question(name: str, *relevant: str, must: tuple[str, ...] = (), type: str = "") -> Question:
    return Question(name, name, type=type, relevant_ids=frozenset(relevant), must_contain=must)


def answer(text: str, *, abstained: bool = False, quote: str = "") -> Answer:
    cited = (Citation(1, "a", "a:1", "", quote),) if quote else ()
    return Answer(text, abstained, cited)


def test_hits_collapse_to_papers_by_each_papers_best_hit() -> None:
    assert metrics.papers(hits("b", "a", "b", "c", "a")) == ["b", "a", "c"]


def test_ranking_measures_of_one_question_are_plain_arithmetic() -> None:
    # Papers: x, y, a. The relevant one is third.
    assert metrics.ranking([(question("q", "a"), hits("x", "x", "y", "a"))]) == pytest.approx(
        {"R@1": 0.0, "R@5": 1.0, "R@10": 1.0, "nDCG@10": 1 / log2(3 + 1), "MRR@10": 1 / 3}
    )


def test_ranking_measures_are_means_over_questions() -> None:
    results = [
        (question("first", "a"), hits("a", "b")),
        (question("second", "a"), hits("b", "a")),
        (question("sixth", "a"), hits("1", "2", "3", "4", "5", "a")),
        (question("absent", "a"), hits("b")),
    ]
    assert metrics.ranking(results) == pytest.approx(
        {
            "R@1": 1 / 4,
            "R@5": 2 / 4,
            "R@10": 3 / 4,
            "nDCG@10": (1 + 1 / log2(3) + 1 / log2(7)) / 4,
            "MRR@10": (1 + 1 / 2 + 1 / 6) / 4,
        }
    )


def test_a_question_without_any_hit_counts_as_missed() -> None:
    results = [(question("found", "a"), hits("a")), (question("nothing", "a"), [])]
    assert metrics.ranking(results)["R@10"] == 1 / 2


def test_the_eleventh_paper_counts_for_nothing() -> None:
    results = [(question("q", "a"), hits(*"0123456789", "a"))]
    assert set(metrics.ranking(results).values()) == {0.0}


def test_copies_of_the_relevant_paper_are_one_paper() -> None:
    """Two relevant documents would make the best possible nDCG of one copy found 1 / 1.63."""
    assert metrics.ranking([(question("q", "a", "copy"), hits("copy", "a", "b"))]) == pytest.approx(
        dict.fromkeys(("R@1", "R@5", "R@10", "nDCG@10", "MRR@10"), 1.0)
    )
    behind = metrics.ranking([(question("q", "a", "copy"), hits("b", "copy", "a"))])
    assert behind["MRR@10"] == 1 / 2


def test_equal_scores_of_the_hits_do_not_change_their_order() -> None:
    """trec_eval would put the later name first."""
    tied = [Hit(passage(f"{p}:1", "text"), 0.5, n) for n, p in enumerate(("a", "z"), start=1)]
    assert metrics.ranking([(question("q", "a"), tied)])["R@1"] == 1.0


def test_questions_that_name_no_paper_are_not_ranked() -> None:
    results = [(question("q", "a"), hits("a")), (question("open"), hits("b"))]
    assert metrics.ranking(results)["R@1"] == 1.0
    assert set(metrics.ranking(results[1:]).values()) == {None}
    assert metrics.ranking([])["nDCG@10"] is None


@given(st.permutations("abcdefghijkl"), st.sampled_from("abcdefghijkl"))
def test_ranking_measures_follow_from_the_rank_of_the_relevant_paper(
    order: list[str], relevant: str
) -> None:
    rank = order.index(relevant) + 1
    measures = metrics.ranking([(question("q", relevant), hits(*order))])
    assert measures["R@5"] == (rank <= 5)
    assert measures["MRR@10"] == pytest.approx(1 / rank if rank <= 10 else 0)
    assert measures["nDCG@10"] == pytest.approx(1 / log2(rank + 1) if rank <= 10 else 0)


def test_evidence_needs_every_string_in_one_hit_of_a_relevant_paper() -> None:
    asked = question("q", "a", must=("900 °C", "5 h"))
    whole = hits("a", text="fired at 900 °C for 5 h")
    apart = [*hits("a", text="fired at 900 °C"), *hits("a", text="for 5 h")]
    other = hits("b", text="fired at 900 °C for 5 h")
    assert metrics.evidence([(asked, whole)], 1) == 1.0
    assert metrics.evidence([(asked, apart)], 5) == 0.0
    assert metrics.evidence([(asked, other)], 5) == 0.0
    assert metrics.evidence([(asked, whole), (asked, apart), (asked, other)], 1) == 1 / 3


def test_evidence_counts_hits_not_papers() -> None:
    asked = question("q", "a", must=("900",))
    result = [(asked, [*hits("a", "a"), *hits("a", text="at 900 °C")])]
    assert metrics.evidence(result, 2) == 0.0
    assert metrics.evidence(result, 3) == 1.0


def test_evidence_beyond_the_first_thousand_characters_does_not_count() -> None:
    asked = question("q", "a", must=("900",))
    assert metrics.evidence([(asked, hits("a", text="x" * 996 + " 900"))], 1) == 1.0
    assert metrics.evidence([(asked, hits("a", text="x" * 997 + " 900"))], 1) == 0.0


def test_evidence_follows_the_matching_rule() -> None:
    asked = question("q", "a", must=("3",))
    for text, found in (("13 h", 0.0), ("3.5 h", 0.0), ("3 h", 1.0), ("2–3 h", 1.0)):
        assert metrics.evidence([(asked, hits("a", text=text))], 1) == found


def test_evidence_counts_only_questions_that_say_what_it_must_contain() -> None:
    results = [
        (question("q", "a", must=("900",)), hits("a", text="900")),
        (question("open", "a"), hits("a", text="900")),
    ]
    assert metrics.evidence(results, 1) == 1.0
    assert metrics.evidence(results[1:], 1) is None


def test_a_rate_carries_its_wilson_interval() -> None:
    # Wilson (1927), z = 1.96: (p + z²/2n ± z·sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)
    z, n, p = 1.959964, 10, 0.8
    centre, spread = p + z * z / (2 * n), z * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    low, high = (centre - spread) / (1 + z * z / n), (centre + spread) / (1 + z * z / n)
    rate = metrics.rate([True] * 8 + [False] * 2)
    assert (rate.value, rate.n) == (0.8, 10)
    assert (rate.low, rate.high) == pytest.approx((low, high), abs=1e-6)
    assert (round(low, 3), round(high, 3)) == (0.49, 0.943)


def test_a_rate_of_nothing_has_no_value() -> None:
    assert metrics.rate([]) == Rate(None, 0, None, None)


@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_a_rate_lies_in_its_interval(cases: list[bool]) -> None:
    rate = metrics.rate(cases)
    assert rate.value is not None
    assert rate.low is not None
    assert rate.high is not None
    assert -1e-12 <= rate.low <= rate.value + 1e-12
    assert rate.value - 1e-12 <= rate.high <= 1 + 1e-12


def test_answers_are_right_wrong_or_abstained() -> None:
    asked = question("q", "a", must=("900",))
    silent = question("u", "a", type="unanswerable")
    results = [
        (asked, answer("At 900 °C.")),
        (asked, answer("At 900 °C.")),
        (asked, answer("At 800 °C.")),
        (asked, answer("Not reported near 900 °C.", abstained=True)),
        (silent, answer("At 500 °C.")),
        (silent, answer("Not reported.", abstained=True)),
    ]
    rates = metrics.answers(results, {})
    assert (rates["answer_accuracy"].value, rates["answer_accuracy"].n) == (2 / 4, 4)
    assert (rates["wrong_answers"].value, rates["wrong_answers"].n) == (1 / 4, 4)
    assert (rates["abstention_recall"].value, rates["abstention_recall"].n) == (1 / 2, 2)
    assert (rates["abstention_precision"].value, rates["abstention_precision"].n) == (1 / 2, 2)


def test_an_answer_needs_every_string() -> None:
    asked = question("q", "a", must=("900", "5 h"))
    rates = metrics.answers([(asked, answer("900 °C for 15 h")), (asked, answer("900, 5 h"))], {})
    assert rates["answer_accuracy"].value == 1 / 2


def test_a_citation_mark_answers_nothing() -> None:
    asked = question("q", "a", must=("1",))
    rates = metrics.answers([(asked, answer("It was fired. [1]", quote="It was fired."))], {})
    assert rates["answer_accuracy"].value == 0.0


def test_without_abstentions_their_precision_is_unknown() -> None:
    rates = metrics.answers([(question("q", "a", must=("900",)), answer("900"))], {})
    assert rates["abstention_precision"] == rates["abstention_recall"] == Rate(None, 0, None, None)


def test_unsupported_claims_are_counted_by_sentence_and_not_in_abstentions() -> None:
    asked = question("q", "a", must=("900",))
    good = answer("Fired at 900 °C. [1]", quote="It was fired at 900 °C.")
    bad = answer("Fired at 800 °C. Then milled. [1]", quote="It was fired at 900 °C.")
    silent = answer("Not at 700 °C. [1]", abstained=True, quote="It was fired at 900 °C.")
    rates = metrics.answers([(asked, good), (asked, bad), (asked, silent)], {})
    assert (rates["unsupported_claims"].value, rates["unsupported_claims"].n) == (1 / 3, 3)


def test_a_claim_may_stand_on_the_cited_passage_beyond_its_quote() -> None:
    asked = question("q", "a", must=("900",))
    said = answer("Fired at 900 °C. [1]", quote="It was fired.")
    assert metrics.answers([(asked, said)], {})["unsupported_claims"].value == 1.0
    read = {"a:1": "It was fired. The temperature was 900 °C."}
    assert metrics.answers([(asked, said)], read)["unsupported_claims"].value == 0.0
