"""Words, formulas and quantities as terms, however they are written."""

import pytest

from reciper_ray import terms
from reciper_ray.terms import corrected, stem, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("LiNi0.5Mn1.5O4", ["lini0.5mn1.5o4"]),
        ("1,200 °C", ["1200", "c"]),
        ("600h", ["600", "h"]),
        ("0.95NKN", ["0.95", "nkn"]),
        ("The samples were calcined", ["sampl", "calcin"]),
        ("1, 200, 3", ["1", "200", "3"]),
    ],
)
def test_tokens_keep_formulas_numbers_and_units(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


def marks(text: str) -> set[str]:
    return set(terms.terms(text)) - set(tokens(text))


def test_a_formula_has_its_composition_and_its_pairs_as_marks() -> None:
    assert marks("LiNi0.5Mn1.5O4") == {"Li", "Ni0.5", "Mn1.5", "O4", "=LiMn1.5Ni0.5O4"}


@pytest.mark.parametrize("written", ["TiO2", "TiO₂", "titanium dioxide", "Titania"])
def test_a_chemical_has_one_composition_however_it_is_named(written: str) -> None:
    assert "=O2Ti" in marks(f"films of {written} on glass")


def test_the_order_of_a_composition_does_not_matter() -> None:
    assert marks("SrCo0.8Nb0.2O3") == marks("SrNb0.2Co0.8O3")


@pytest.mark.parametrize("written", ["600 °C", "600 degC", "873 K", "600 ℃"])
def test_a_temperature_is_one_quantity_in_any_unit(written: str) -> None:
    assert "@873K" in marks(f"fired at {written} in air")


def test_a_duration_is_one_quantity_in_any_unit() -> None:
    assert marks("for 2 h") == marks("for 120 min") != marks("for 2 min")


def test_a_range_has_both_its_ends() -> None:
    assert {"@873K", "@1073K"} <= marks("at 600–800 °C")


@pytest.mark.parametrize(
    ("british", "american"),
    [
        ("aluminium", "aluminum"),
        ("sulphide", "sulfide"),
        ("crystallised", "crystallized"),
        ("fibre", "fiber"),
        ("nanofibres", "nanofibers"),
        ("vapour", "vapor"),
        ("analysed", "analyzed"),
        ("labelled", "labeled"),
    ],
)
def test_british_and_american_spellings_have_one_stem(british: str, american: str) -> None:
    assert stem(british) == stem(american)


def test_typography_does_not_change_terms() -> None:
    assert terms.terms("TiO₂ at 600 ℃ – 2 h") == terms.terms("TiO2 at 600 °C - 2 h")


def test_marks_weigh_less_and_do_not_lengthen_a_passage() -> None:
    counts = {"tio2": 2, "Ti": 2, "=O2Ti": 2, "@873K": 1, "film": 1}
    assert terms.length(counts) == 3
    assert [terms.weight(t) for t in counts] == [
        1.0,
        terms.PAIR_WEIGHT,
        terms.COMPOSITION_WEIGHT,
        terms.QUANTITY_WEIGHT,
        1.0,
    ]


@pytest.mark.parametrize("slip", ["calcinatoin", "calcnation", "calcinattion", "calcinetion"])
def test_a_slip_in_a_word_is_mended(slip: str) -> None:
    known = {stem("calcination"): 3}
    assert stem(corrected(slip, lambda term: known.get(term, 0))) == stem("calcination")


@pytest.mark.parametrize("word", ["ZnO", "zno", "film", "sintering", "xyzzyplugh"])
def test_short_known_and_strange_words_stay_as_they_are(word: str) -> None:
    known = {stem("sintering"): 2, "fill": 9}
    assert corrected(word, lambda term: known.get(term, 0)) == word
