import math

import pytest

from reciper_ray import quotes
from reciper_ray.types import Hit, Passage, Span, View
from tests.support import passage


def hits(*passages: Passage) -> list[Hit]:
    return [Hit(p, 1.0 / n, n) for n, p in enumerate(passages, start=1)]


TEXT = "BZY was milled in ethanol. The powder was fired at 900 °C for 5 h. Cells gave 445 mW cm−2."


def test_each_sentence_knows_its_words_neighbours_and_values() -> None:
    evidence = quotes.gather("At what temperature was BZY fired?", hits(passage("a:1", TEXT)))
    milled, fired, cells = evidence.sentences
    assert fired.text == "The powder was fired at 900 °C for 5 h."
    assert TEXT[fired.span.start : fired.span.end] == fired.text
    assert {"fire", "900", "5", "powder"} <= fired.terms
    assert "mill" in fired.near
    assert "cell" in fired.near
    assert "fire" not in fired.near
    assert (milled.values, fired.values, cells.values) == (0, 2, 1)
    assert (milled.states, fired.states) == (frozenset(), {"temperature"})


def test_a_value_that_the_question_gives_is_no_news() -> None:
    evidence = quotes.gather("For how long was BZY fired at 1173 K?", hits(passage("a:1", TEXT)))
    fired = evidence.sentences[1]
    assert fired.values == 1
    assert fired.states == {"time"}


def test_a_sentence_that_a_recipe_repeats_is_there_once_with_its_neighbours() -> None:
    fired = "The powder was fired at 900 °C for 5 h."
    recipe = passage("a:r", fired, view=View.RECIPE)
    evidence = quotes.gather("How?", hits(recipe, passage("a:1", TEXT)))
    (found,) = [s for s in evidence.sentences if s.text == fired]
    assert found.passage.passage_id == "a:1"
    assert found.near


def test_rare_words_weigh_more() -> None:
    # Three sentences: `fired` stands in one of them, `powder` in none.
    evidence = quotes.gather("Was the powder fired?", hits(passage("a:1", "Fired. Cut. Cold.")))
    assert evidence.weights == pytest.approx(
        {"powder": math.log(1 + 4 / 0.5), "fire": math.log(1 + 4 / 1.5)}
    )


def test_relevance_is_the_share_of_the_question_that_the_best_paper_holds() -> None:
    held = hits(passage("a:1", "It was fired.", title="BZY"))
    assert quotes.gather("Was BZY fired?", held).relevance == 1.0
    assert quotes.gather("Was BZY milled?", held).relevance == 1 / 2
    assert quotes.gather("Who won?", held).relevance == 0.0
    assert quotes.gather("Was BZY fired?", []).relevance == 0.0
    assert quotes.gather("?", held).relevance == 0.0


def test_the_best_paper_holds_most_of_the_question() -> None:
    """A wrong paper's hit came first, and the right paper's answer was said not to be reported."""
    steel, lsm = passage("steel:1", "Steel was fired."), passage("lsm:1", "LSM was fired for 2 h.")
    assert quotes.gather("How long was LSM fired?", hits(steel, lsm)).best_paper == "lsm"


def test_of_papers_that_hold_equally_much_the_better_hit_is_best() -> None:
    pair = passage("z:1", "BZY was fired."), passage("a:1", "BZY was fired.")
    assert quotes.gather("Was BZY fired?", hits(*pair)).best_paper == "z"
    assert quotes.gather("Was BZY fired?", hits(*pair[::-1])).best_paper == "a"


def support(question: str, text: str, title: str = "") -> dict[str, float]:
    return quotes.support(quotes.gather(question, hits(passage("a:1", text, title=title))))


def test_an_attribute_is_supported_where_its_words_stand_beside_a_value_of_its_kind() -> None:
    question = "What RF power was used?"
    assert support(question, "An RF power of 150 W was used.") == {"RF power": 1.0}
    assert support(question, "RF sputtering was used.") == {"RF power": 0.0}
    assert support(question, "A laser gave 150 W.") == {"RF power": 0.0}


def test_words_in_a_neighbouring_sentence_support_less() -> None:
    text = "RF sputtering was used. It took 150 W."
    assert support("What RF power was used?", text) == {"RF power": pytest.approx(0.7)}


def test_an_attribute_without_words_of_its_own_is_supported_by_the_rest_of_the_question() -> None:
    question = "At what temperature was the membrane dried?"
    found = support(question, "The membrane was dried at 80 °C.")
    assert found == {"temperature": pytest.approx(1.0)}
    assert support(question, "Steel was rolled at 900 °C.") == {"temperature": 0.0}


def test_title_words_say_which_paper_and_support_nothing() -> None:
    question = "At what temperature was the BZY membrane dried?"
    text = "BZY was fired at 900 °C."
    assert support(question, text)["temperature"] > 0
    assert support(question, text, title="BZY") == {"temperature": 0.0}


def test_only_the_best_paper_supports() -> None:
    best = passage("a:1", "The BZY membrane was dried.")
    both = hits(best, passage("b:1", "Wood was dried at 80 °C."))
    evidence = quotes.gather("At what temperature was the BZY membrane dried?", both)
    assert quotes.support(evidence) == {"temperature": 0.0}


def test_what_has_no_kind_needs_no_support() -> None:
    assert support("Which etchant was used?", "Nital was used.") == {}


def test_features_are_shares() -> None:
    evidence = quotes.gather(
        "At what sintering temperature and for how long was BZY fired in air?",
        hits(passage("a:1", TEXT, title="BZY")),
    )
    for sentence in evidence.sentences:
        features = quotes.features(evidence, sentence)
        assert features.keys() == quotes.WEIGHTS.keys()
        assert all(0.0 <= value <= 1.0 for value in features.values())


def test_the_sentence_that_states_what_is_asked_comes_first() -> None:
    evidence = quotes.gather("At what temperature was BZY fired?", hits(passage("a:1", TEXT)))
    assert quotes.choose(evidence, 1)[0].text == "The powder was fired at 900 °C for 5 h."


def test_the_same_sentence_of_two_copies_is_chosen_once() -> None:
    fired = "The BZY powder was fired at 900 °C for 5 h in air."
    copies = hits(passage("a:1", fired), passage("copy:1", fired + " It was white."))
    chosen = quotes.choose(quotes.gather("At what temperature was BZY fired?", copies), 3)
    assert [s.text for s in chosen].count(fired) == 1


def test_no_more_sentences_are_chosen_than_there_are() -> None:
    evidence = quotes.gather("How?", hits(passage("a:1", "One thing. Another one.")))
    assert len(quotes.choose(evidence, 9)) == 2
    assert quotes.choose(quotes.gather("How?", []), 3) == []


def test_further_sentences_add_what_the_first_does_not_say() -> None:
    text = (
        "BZY was fired at 900 °C in a furnace in air. It is well known that the furnace matters"
        " for the colour. Cells were heated to 700 °C. The powder stayed fired for 5 h in all."
    )
    question = "At what temperature and for how long was BZY powder fired?"
    chosen = quotes.choose(quotes.gather(question, hits(passage("a:1", text))), 2)
    assert [sorted(s.states) for s in chosen] == [["temperature"], ["time"]]


def test_relevance_does_not_fall_when_every_sentence_is_to_the_point() -> None:
    """Weighted by rarity among the hits, words that all of them hold counted for nothing, and a
    question whose only hit was the right one got no answer."""
    alike = "The BZY powder was fired at 900 °C. The BZY powder was fired at 910 °C."
    question = "At what temperature was the BZY powder fired overnight?"
    evidence = quotes.gather(question, hits(passage("a:1", alike)))
    assert evidence.relevance == pytest.approx(3 / 5)  # not: temperature, overnight


def test_spans_are_those_of_the_support_text() -> None:
    p = Passage("a:r", "a", View.RECIPE, 0, "", "", "recipe", TEXT, (Span(10, 10 + len(TEXT)),))
    for sentence in quotes.gather("How?", hits(p)).sentences:
        assert p.support[sentence.span.start : sentence.span.end] == sentence.text
