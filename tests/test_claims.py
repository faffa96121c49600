import pytest

from reciper_ray import claims
from reciper_ray.types import Answer, Citation


def cite(number: int, quote: str) -> Citation:
    return Citation(number, "p", f"p:{number}", "", quote)


def said(text: str, *quotes: str) -> list[tuple[str, list[int]]]:
    """The claims of `text`, which cites `quotes` as 1, 2, …, with the numbers they cite."""
    answer = Answer(text, False, tuple(cite(n, quote) for n, quote in enumerate(quotes, start=1)))
    return [(c.text, [citation.number for citation in c.citations]) for c in claims.of(answer)]


def test_a_sentence_cites_the_marks_behind_it() -> None:
    assert said("It was milled. [1] It was fired. [2]", "a", "b") == [
        ("It was milled.", [1]),
        ("It was fired.", [2]),
    ]


def test_a_mark_before_the_full_stop_counts_as_well() -> None:
    assert [numbers for _, numbers in said("It was milled [1]. It was fired [2].", "a", "b")] == [
        [1],
        [2],
    ]


def test_sentences_before_a_mark_share_it() -> None:
    assert said("It was milled. It was fired. [1]", "a") == [
        ("It was milled.", [1]),
        ("It was fired.", [1]),
    ]


@pytest.mark.parametrize("marks", ["[1][2]", "[1] [2]", "[1, 2]", "[1], [2]", "[1; 2]"])
def test_a_sentence_may_cite_several(marks: str) -> None:
    assert said(f"It was milled. {marks}", "a", "b") == [("It was milled.", [1, 2])]


def test_a_sentence_without_a_mark_cites_nothing() -> None:
    assert said("It was milled. [1] It was fired.", "a") == [
        ("It was milled.", [1]),
        ("It was fired.", []),
    ]


def test_a_reference_of_the_papers_own_inside_a_quote_cites_nothing() -> None:
    quote = "It was milled as reported [2]."
    assert said(f"“{quote}” [1] “Then fired.” [2]", quote, "Then fired.") == [
        (quote, [1]),
        ("Then fired.", [2]),
    ]


def test_a_number_that_no_citation_has_cites_nothing() -> None:
    assert said("See [17]. It was milled. [1]", "a") == [
        ("See [17].", [1]),
        ("It was milled.", [1]),
    ]


def test_no_text_makes_no_claim() -> None:
    assert said("") == []
    assert said("[1] [1].", "a") == []


@pytest.mark.parametrize(
    ("claim", "quote", "supported"),
    [
        ("Fired at 900 °C.", "It was fired at 900 °C in air.", True),
        ("Fired at 1173 K.", "It was fired at 900 °C in air.", True),
        ("Fired for 90 min.", "It was fired for 1.5 h.", True),
        ("Fired at 800 °C.", "It was fired at 900 °C in air.", False),
        ("Fired at 900 K.", "It was fired at 900 °C in air.", False),
        ("Fired at 900 °C for 5 h.", "It was fired at 900 °C.", False),
        ("Fired at 700 and 900 °C.", "At 700 °C first, then at 900 °C.", True),
        ("From BaCO3.", "BaCO3 and ZrO2 were mixed.", True),
        ("From BaCO3 and TiO2.", "BaCO3 and ZrO2 were mixed.", False),
        ("It was made carefully.", "Anything.", True),
    ],
)
def test_a_claim_is_supported_when_its_values_and_formulas_stand_in_what_it_cites(
    claim: str, quote: str, supported: bool
) -> None:
    assert claims.supported(claims.Claim(claim, (cite(1, quote),)), {}) is supported


def test_a_value_without_a_citation_is_unsupported() -> None:
    assert not claims.supported(claims.Claim("Fired at 900 °C.", ()), {})
    assert claims.supported(claims.Claim("It was fired.", ()), {})


def test_values_may_stand_in_different_citations() -> None:
    claim = claims.Claim("900 °C for 5 h.", (cite(1, "at 900 °C"), cite(2, "for 5 h")))
    assert claims.supported(claim, {})


def test_a_verbatim_quote_is_supported_whatever_is_in_it() -> None:
    quote = "Heated to (cid:0)40 ◦C at 1014 cm−3."
    assert claims.supported(claims.Claim(quote, (cite(1, quote),)), {})
