"""Recipes from sentences."""

from pathlib import Path

import pytest

from reciper_ray.readers import read
from reciper_ray.recipe import ExtractiveExtractor, Extractor
from reciper_ray.types import Paper, Paragraph, Recipe, Rejection, Step

PROCEDURE = (
    "Stoichiometric amounts of BaCO3 and TiO2 were ball milled in ethanol for 24 h. "
    "The powder was dried and then calcined in air at 900 °C for 5 h. "
    "Subsequently, the pellets were pressed and sintered at 1,200 °C for 10 h."
)
RESULTS = (
    "Figure 3 shows that the conductivity measured at 700 °C is higher than that reported by Li "
    "et al. for samples sintered at 1300 °C. "
    "The cell was tested at 650 °C and showed stable performance for 100 h."
)


def paper(text: str, title: str = "BaTiO3 ceramics by a solid-state reaction") -> Paper:
    return Paper("p", title, text, (Paragraph(0, len(text)),))


def extract(text: str) -> tuple[Recipe, ...]:
    return ExtractiveExtractor().extract([paper(text)])[0]


def steps(text: str) -> list[Step]:
    return [step for recipe in extract(text) for step in recipe.steps]


def test_a_procedure_becomes_a_recipe_in_order() -> None:
    (recipe,) = extract(PROCEDURE)
    assert recipe.material == "BaTiO3"
    assert recipe.method == "solid-state reaction"
    assert recipe.precursors == ("BaCO3", "TiO2")
    assert [(s.operation, s.temperature, s.time, s.atmosphere) for s in recipe.steps] == [
        ("ball milled", "", "24 h", "ethanol"),
        ("powder dried, calcined", "900 °C", "5 h", "air"),
        ("pellets pressed, sintered", "1,200 °C", "10 h", ""),
    ]


def test_a_steps_span_is_its_sentence_and_holds_its_values() -> None:
    for step in steps(PROCEDURE + " " + RESULTS):
        source = (PROCEDURE + " " + RESULTS)[step.span.start : step.span.end]
        assert source.endswith(".")
        for value in (step.temperature, step.time, step.atmosphere):
            assert value in source


def test_results_measurements_and_other_peoples_work_are_left_out() -> None:
    assert steps(RESULTS) == []
    assert len(steps(PROCEDURE + " " + RESULTS)) == 3


def test_a_paper_without_a_procedure_has_no_recipe() -> None:
    rows = ExtractiveExtractor().extract([paper("We review theory."), paper(PROCEDURE)])
    assert rows[0] == ()
    assert len(rows[1]) == 1


def test_two_operations_of_a_sentence_keep_their_own_conditions() -> None:
    text = "The powder was calcined at 900 °C for 5 h in air and annealed in N2 at 600 °C for 2 h."
    assert [(s.operation, s.temperature, s.time, s.atmosphere) for s in steps(text)] == [
        ("powder calcined", "900 °C", "5 h", "air"),
        ("annealed", "600 °C", "2 h", "N2"),
    ]


def test_a_condition_right_before_its_operation_belongs_to_it() -> None:
    text = "The mixture was homogenised, which took a 24 h ball milling, and dried at 80 °C."
    assert [(s.operation, s.temperature, s.time) for s in steps(text)] == [
        ("mixture homogenised, ball milling", "", "24 h"),
        ("dried", "80 °C", ""),
    ]


def test_several_values_of_one_operation_stand_side_by_side() -> None:
    text = "The obtained ash was calcined at 700 °C, 1200 °C and 1550 °C for 6 h in air."
    (step,) = steps(text)
    assert (step.temperature, step.time) == ("700 °C; 1200 °C; 1550 °C", "6 h")


def test_the_same_paper_gives_the_same_recipe_alone_and_in_a_batch() -> None:
    extractor = ExtractiveExtractor()
    papers = [paper(PROCEDURE), paper(RESULTS), paper(RESULTS + " " + PROCEDURE)]
    assert extractor.extract(papers) == [extractor.extract([p])[0] for p in papers]


def test_a_table_read_as_one_sentence_is_no_step() -> None:
    text = "sintered at 900 °C for 5 h in air " * 100
    assert steps(text) == []


def test_the_extractor_is_one_and_names_itself() -> None:
    extractor: Extractor = ExtractiveExtractor()
    (recipe,) = extractor.extract([paper(PROCEDURE)])[0]
    assert recipe.extractor == extractor.name == "extractive-1"


@pytest.mark.parametrize("name", ["PMC7040616.xml", "PMC5216129.txt"])
def test_a_real_papers_recipe_is_grounded(shared: Path, name: str) -> None:
    file = shared / "corpus/papers" / name
    (real,) = read(file.name, file.read_bytes())
    assert not isinstance(real, Rejection)
    ((recipe,),) = ExtractiveExtractor().extract([real])
    assert len(recipe.steps) >= 5
    for step in recipe.steps:
        source = real.text[step.span.start : step.span.end]
        for value in (step.temperature, step.time, step.atmosphere):
            assert all(part in source for part in value.split("; "))
