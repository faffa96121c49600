import pytest

from reciper_ray.types import Passage
from reciper_ray.verify import verify
from tests.support import passage

QUESTION = "How was the BZY powder made?"
TEXT = (
    "BaCO3 and ZrO2 were mixed at 300 rpm. The BZY powder was milled in ethanol for 24 h. It was"
    " calcined at 900 °C for 5 h in air. The pH was 7. The pellets were not sintered at 1500 °C."
    " The density was measured. It was 5.9 g/cm3."
)


def paragraph(text: str = TEXT) -> Passage:
    return passage("p:1", text, title="On BZY")


def outcome(sentence: str, *passages: Passage) -> str:
    """What the sentence rests on, or why it does not stand."""
    found = verify(sentence, passages or (paragraph(),), QUESTION)
    return found if isinstance(found, str) else " | ".join(quote.text for quote in found)


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("The powder was calcined at 900 °C.", "It was calcined at 900 °C for 5 h in air."),
        ("The powder was calcined at 1173 K.", "It was calcined at 900 °C for 5 h in air."),
        ("It was calcined for 300 min in air.", "It was calcined at 900 °C for 5 h in air."),
        ("BZY was milled for 24 h.", "The BZY powder was milled in ethanol for 24 h."),
        ("BaCO3 and ZrO2 were mixed.", "BaCO3 and ZrO2 were mixed at 300 rpm."),
        ("The pH was 7.", "The pH was 7."),
    ],
)
def test_what_the_passage_states_rests_on_the_sentence_that_states_it(
    sentence: str, quote: str
) -> None:
    assert outcome(sentence) == quote


def test_values_of_neighbouring_sentences_make_a_longer_quote() -> None:
    assert outcome("The powder was milled for 24 h and calcined at 900 °C.") == (
        "The BZY powder was milled in ethanol for 24 h. It was calcined at 900 °C for 5 h in air."
    )


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        ("The powder was calcined at 800 °C.", "quantity not in what it cites"),
        ("The powder was calcined at 900 K.", "quantity not in what it cites"),
        ("The powder was calcined at 900 °C for 6 h.", "quantity not in what it cites"),
        ("The powder was calcined at 900–1000 °C.", "quantity not in what it cites"),
        ("BaTiO3 was calcined at 900 °C.", "formula not in what it cites"),
        ("It was calcined at 900 °C in argon.", "atmosphere not in what it cites"),
        ("The pH was 9.", "number not in what it cites"),
        ("The pellets were sintered at 1500 °C.", "quantity not in what it cites"),
        ("It was not calcined at 900 °C.", "denies a value"),
        ("Lithium cells show excellent cycling stability.", "other words than what it cites"),
        # Four sentences lie between the two values.
        ("Mixed at 300 rpm, it had 5.9 g/cm3.", "quantity not in what it cites"),
    ],
)
def test_what_it_does_not_state_is_named(sentence: str, why: str) -> None:
    assert outcome(sentence) == why


def test_a_sentence_that_cites_nothing_does_not_stand() -> None:
    assert verify("The powder was calcined at 900 °C.", (), QUESTION) == "cites nothing"


def test_values_may_stand_in_different_passages_each_with_its_quote() -> None:
    milled = passage("a:1", "The BZY powder was milled for 24 h.")
    fired = passage("b:1", "The BZY powder was fired at 900 °C.")
    assert outcome("BZY was milled for 24 h and fired at 900 °C.", milled, fired) == (
        "The BZY powder was milled for 24 h. | The BZY powder was fired at 900 °C."
    )


def test_a_passage_that_holds_none_of_the_values_is_not_rested_on() -> None:
    other = passage("b:1", "The powder was white.")
    found = verify("The powder was calcined at 900 °C.", [other, paragraph()], QUESTION)
    assert not isinstance(found, str)
    assert [quote.passage.passage_id for quote in found] == ["p:1"]


def test_a_value_of_another_passage_than_the_one_cited_does_not_stand() -> None:
    other = passage("b:1", "The BZY powder was fired at 1100 °C.")
    assert outcome("The powder was calcined at 900 °C.", other) == "quantity not in what it cites"


def test_words_and_numbers_of_the_question_need_not_stand_in_the_quote() -> None:
    question = "How was sample 12 of the perovskite electrolyte powder calcined?"
    sentence = "Sample 12 of the perovskite electrolyte was calcined at 900 °C."
    assert not isinstance(verify(sentence, [paragraph()], question), str)
    assert verify(sentence, [paragraph()], QUESTION) == "number not in what it cites"


def test_a_verbatim_sentence_stands_whatever_is_in_it() -> None:
    assert outcome("The pellets were not sintered at 1500 °C.") == (
        "The pellets were not sintered at 1500 °C."
    )


def test_an_empty_passage_supports_nothing() -> None:
    assert outcome("Fired at 900 °C.", paragraph("")) == "quantity not in what it cites"
