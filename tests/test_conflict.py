import pytest

from reciper_ray.conflict import conflict
from reciper_ray.quotes import gather
from reciper_ray.types import Hit
from tests.support import passage

QUESTION = "At what temperature was the BZY powder fired?"


def found(*texts: str, question: str = QUESTION) -> tuple[str, str] | None:
    """The two sides among the sentences of one paper's passages."""
    hits = [Hit(passage(f"p:{n}", text), 1.0, n) for n, text in enumerate(texts, start=1)]
    sides = conflict(question, gather(question, hits))
    return (sides.one.text, sides.other.text) if sides else None


def test_two_values_of_one_thing_contradict_each_other() -> None:
    one, other = "The BZY powder was fired at 900 °C.", "BZY powder, fired at 1100 °C, was dense."
    assert found(one, other) == (one, other)


def test_papers_may_contradict_each_other() -> None:
    one = passage("a:1", "The BZY powder was fired at 900 °C.", title="On BZY")
    other = passage("b:1", "The powder was fired at 1100 °C.", title="More on BZY")
    sides = conflict(QUESTION, gather(QUESTION, [Hit(one, 1.0, 1), Hit(other, 0.9, 2)]))
    assert sides is not None
    assert {sides.one.passage.paper_id, sides.other.passage.paper_id} == {"a", "b"}
    assert sides.attribute.text == "temperature"


@pytest.mark.parametrize(
    "other",
    [
        "BZY powder was fired at 1173 K.",  # 900 °C is 1173.15 K
        "The BZY powder was fired at 900 °C for 5 h.",
        "The BZY powder was fired at 800–1000 °C.",
        "The BZY powder was fired at 900 and 1100 °C.",
        "The BZY powder was milled, then heated at 1100 °C.",
        "A second BZY powder was fired at 1100 °C.",
        "The BZY powder was fired at 1100 °C for comparison.",
        "The BZY powder was not fired at 1100 °C.",
        "Lee et al. reported that BZY powder was fired at 1100 °C.",
        "The BZY powder with NiO was fired at 1100 °C.",
        "The BZY powder was fired for 5 h.",
        "The BZY powder S2 was fired at 1100 °C.",
        "The BZY powder B was fired at 1100 °C.",
    ],
)
def test_what_says_the_same_or_is_about_something_else_is_no_contradiction(other: str) -> None:
    assert found("The BZY powder was fired at 900 °C.", other) is None


def test_a_value_that_the_question_gives_is_no_side() -> None:
    question = "How long was the BZY powder that was fired at 900 °C held there?"
    one = "The BZY powder fired at 900 °C was held for 5 h."
    assert found(one, one.replace("900 °C was", "1100 °C was"), question=question) is None
    assert found(one, one.replace("5 h", "9 h"), question=question) is not None


def test_a_sign_alone_is_no_contradiction() -> None:
    question = "What current density did the BZY cell reach?"
    one = "The BZY cell reached a current density of 2.02 A/cm2."
    assert found(one, one.replace("2.02", "−2.02"), question=question) is None


def test_nothing_contradicts_nothing() -> None:
    assert found() is None
    assert found("The BZY powder was fired at 900 °C.", question="How was it made?") is None
