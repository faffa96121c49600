"""What is made, by which method, from what."""

import pytest

from reciper_ray.recipe import methods, substances


def test_the_titles_formula_is_the_material() -> None:
    title = "Electrical properties of BaZr0.8Y0.2O3−δ ceramics"
    text = "NiO and CeO2 were used. NiO is a p-type oxide. NiO again."
    assert substances.material(title, text, text, text) == "BaZr0.8Y0.2O3−δ"


@pytest.mark.parametrize(
    ("title", "material"),
    [
        ("Surface hardening of AISI 4130 steel by laser", "AISI 4130"),
        ("Fatigue of low carbon bainitic steels", "low carbon bainitic steels"),
        ("Direct laser writing of a polyimide film", "polyimide"),
        ("A review", ""),
    ],
)
def test_a_designation_or_the_titles_phrase_stands_in_for_a_formula(
    title: str, material: str
) -> None:
    assert substances.material(title, "", "", "") == material


def test_precursors_are_the_chemicals_of_starting_materials_in_order() -> None:
    sentences = [
        "Stoichiometric amounts of SrCO3 (≥99.9%, Aldrich), Co3O4, Nb2O5 and Ta2O5 were mixed.",
        "Zirconium nitrate (Zr(NO3)4) and citric acid were dissolved in H2O under N2.",
        "The conductivity of BaTiO3 was measured.",
    ]
    assert substances.precursors(sentences, "SrCo0.8Nb0.1Ta0.1O3") == (
        "SrCO3",
        "Co3O4",
        "Nb2O5",
        "Ta2O5",
        "Zirconium nitrate",
        "citric acid",
    )


def test_the_product_is_no_precursor_of_itself() -> None:
    sentence = "BaTiO3 powder was prepared from the precursors BaCO3 and TiO2."
    assert substances.precursors([sentence], "BaTiO3") == ("BaCO3", "TiO2")


def test_elements_in_a_list_of_raw_materials_are_precursors() -> None:
    sentence = "Raw materials Al, Nb, Ti, and Mo of 99.9 wt.% purity were arc melted."
    assert substances.precursors([sentence], "") == ("Al", "Nb", "Ti", "Mo")


def test_the_methods_named_most_come_first_and_rare_ones_not_at_all() -> None:
    texts = [("Sol-gel derived films by spin coating", 4), ("spin coating and a sol–gel", 1)]
    assert methods.find([*texts, ("CVD", 1)]) == "Sol-gel, spin coating"
    assert methods.find([("nothing here", 1)]) == ""


def test_a_longer_method_is_not_read_as_the_shorter_in_it() -> None:
    assert methods.find([("by AACVD and magnetron sputtering", 1)]) == "AACVD, magnetron sputtering"
