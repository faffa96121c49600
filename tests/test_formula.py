"""Formulas: what counts as one in text, and what it is composed of."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reciper_ray import formula
from reciper_ray.formula import Formula


def parsed(text: str) -> Formula:
    found = formula.parse(text)
    assert found is not None, text
    return found


def found(text: str) -> list[str]:
    return [text[span.start : span.end] for span, _ in formula.find(text)]


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("LiNi0.5Mn1.5O4", {"Li": 1, "Mn": 1.5, "Ni": 0.5, "O": 4}),
        ("Ba(Ti0.8Zr0.2)O3", {"Ba": 1, "O": 3, "Ti": 0.8, "Zr": 0.2}),
        ("TiO₂", {"O": 2, "Ti": 1}),
        ("Mo7(NH4)6O24∙4H2O", {"H": 24 + 8, "Mo": 7, "N": 6, "O": 24 + 4}),
        ("(PrBa)0.95(Fe0.9Mo0.1)2O5+δ", {"Ba": 0.95, "Fe": 1.8, "Mo": 0.2, "O": "5+δ", "Pr": 0.95}),
        ("Fe1−xMxO3−δ", {"Fe": "1-x", "M": "x", "O": "3-δ"}),
        ("Li1+xAlxTi2−x(PO4)3", {"Al": "x", "Li": "1+x", "O": 12, "P": 3, "Ti": "2-x"}),
        ("(C2H4)n", {"C": "2n", "H": "4n"}),
        ("La0.6Sr0.4CoO3-d", {"Co": 1, "La": 0.6, "O": "3-δ", "Sr": 0.4}),
        (r"\mathrm{Al}_{2}\mathrm{O}_{3}", {"Al": 2, "O": 3}),
        ("0.9(K0.5Na0.5)NbO3-0.1BaZrO3",
         {"Ba": 0.1, "K": 0.45, "Na": 0.45, "Nb": 0.9, "O": 3, "Zr": 0.1}),
        ("(1-x)BaTiO3-xSrTiO3", {"Ba": "1-x", "O": 3, "Sr": "x", "Ti": 1}),
        ("In", {"In": 1}),
    ],
)  # fmt: skip
def test_a_formula_is_parsed_to_its_composition(text: str, amounts: dict[str, Any]) -> None:
    assert dict(parsed(text).amounts) == pytest.approx(amounts)


@pytest.mark.parametrize(
    "spellings",
    [
        ("TiO2", "TiO₂", "TiO$_2$", r"$\mathrm{TiO}_{2}\mathrm{}$", "O2Ti"),
        ("Ba(Ti0.8Zr0.2)O3", "BaTi0.8Zr0.2O3", "Ba(Zr0.2Ti0.8)O3"),
        ("Fe(NO3)3·9H2O", "Fe(NO3)3.9H2O", "Fe(NO3)3 • 9H2O"),
        ("La0.6Sr0.4CoO3−δ", "La0.6Sr0.4CoO3-δ", "La0.6Sr0.4CoO3–δ"),
        ("0.95NKN-0.05BZ", "0.05BZ–0.95NKN"),
    ],
)
def test_spellings_of_one_composition_have_one_canonical_form(spellings: tuple[str, ...]) -> None:
    texts = [spelling if "$" not in spelling else spelling + r"\," for spelling in spellings]
    assert len({formula.find(f"of {text} powder")[0][1].canonical for text in texts}) == 1


def test_mixtures_that_differ_by_a_percent_differ() -> None:
    assert parsed("0.95NKN-0.05BZ").canonical != parsed("0.96NKN-0.04BZ").canonical
    assert parsed("0.95NKN-0.05BZ").amounts == ()


def test_weights_that_do_not_sum_to_one_are_no_mixture() -> None:
    assert formula.parse("0.95NKN-0.5BZ") is None


@pytest.mark.parametrize(
    ("text", "charge"),
    [("Fe3+", 3), ("Li+", 1), ("O2−", -2), ("SO42−", -2), ("NO3−", -1), ("Cl-", -1)],
)
def test_ions_have_a_charge(text: str, charge: int) -> None:
    assert parsed(text).charge == charge
    assert found(f"the {text} ion") == [text]


@pytest.mark.parametrize(
    "text",
    [
        "In this work As I said He and No one, at Co. of SEM, XRD, SOFC, UV and OCV",
        "Figs. S1 and B2, samples P25, V2, IC50, P3HT, GDC10 and VI, III, Fe(II) or FeIII",
        "SOFCs and VOCs by POSCO, a NaN, 30 KHz, CuKα radiation",
        "steels 42CrMo4, 100Cr6 and AISI 4130",
        "Ti- and Fe-doped, Ni/YSZ, Pt/C",
        "The mixture (CAS) of ABS, PVC and PVB",
    ],
)
def test_words_labels_acronyms_and_grades_are_no_formulas(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("SrCO3 (≥99.9%), Co3O4, and Nb2O5.", ["SrCO3", "Co3O4", "Nb2O5"]),
        ("(NiO-YSZ) and (Al2O3)", ["NiO", "Al2O3"]),
        ("BaTiO3(BT) in LiFePO4/C", ["BaTiO3", "LiFePO4"]),
        ("CoCrFeNi and Al0.3CoCrFeNi alloys", ["CoCrFeNi", "Al0.3CoCrFeNi"]),
        ("TiO2.The 4H-SiC, O2-rich", ["TiO2", "SiC", "O2"]),
        ("KOH, H2SO4, NH3, CO and B4C", ["KOH", "H2SO4", "NH3", "CO", "B4C"]),
        ("PbZrO3-based SrCo0.8Nb0.1Ta0.1O3−δ cathode", ["PbZrO3", "SrCo0.8Nb0.1Ta0.1O3−δ"]),
        ("ABO3 perovskites Bi(Zn,Ti)O3", ["ABO3", "Bi(Zn,Ti)O3"]),
        ("citric acid (C6H8O7·H2O)", ["C6H8O7·H2O"]),
        (r"of $\mathrm{Al}_{2}\mathrm{O}_{3}$ here", [r"\mathrm{Al}_{2}\mathrm{O}_{3}"]),
    ],
)
def test_formulas_are_found_whole_and_without_the_sentences_brackets(
    text: str, formulas: list[str]
) -> None:
    assert found(text) == formulas


@pytest.mark.parametrize(
    "text", ["", "hello", "Hx2y", "(NiO", "NiO)", "9H2O", "x", "Ba Ti O3", "0.5"]
)
def test_what_is_no_formula_as_a_whole_parses_to_none(text: str) -> None:
    assert formula.parse(text) is None


METALS = st.lists(
    st.sampled_from(["Ba", "Sr", "La", "Ti", "Zr", "Fe", "Co"]), min_size=2, max_size=5, unique=True
)
SHARES = st.integers(1, 99)


@given(METALS, st.lists(SHARES, min_size=5, max_size=5), st.randoms())
def test_the_order_of_elements_does_not_matter(
    metals: list[str], shares: list[int], random: Any
) -> None:
    parts = [f"{metal}0.{share:02d}" for metal, share in zip(metals, shares, strict=False)]
    mixed = random.sample(parts, len(parts))
    assert parsed("".join(parts) + "O3") == parsed("".join(mixed) + "O3")
    assert dict(parsed("".join(parts) + "O3").amounts)[metals[0]] == pytest.approx(shares[0] / 100)


@given(METALS, st.integers(2, 9))
def test_a_group_multiplies_what_it_holds(metals: list[str], times: int) -> None:
    group = "".join(metals)
    assert parsed(f"({group}){times}O3") == parsed("".join(f"{m}{times}" for m in metals) + "O3")


@given(st.text(alphabet="LaSrCoO0123456789.()[]−-+xδ· ,{}$\\", max_size=120))
def test_any_text_is_read_without_failing_and_spans_do_not_overlap(text: str) -> None:
    end = 0
    for span, _ in formula.find(text):
        assert end <= span.start < span.end <= len(text)
        end = span.end


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece", ["(", "O3-x", "(Si", "(Zn,", "0.5Na-", "SiO2", "A", "Sm", "·2H2O"]
)
def test_long_runs_take_linear_time(piece: str) -> None:
    formula.find(piece * (40_000 // len(piece)))
