"""Recipes against hand-made ones."""

import json
from pathlib import Path

import pytest

from reciper_ray import quantity
from reciper_ray.errors import UnreadableInput
from reciper_ray.readers import read
from reciper_ray.recipe import ExtractiveExtractor
from reciper_ray.recipe_metrics import (
    EvidenceFinder,
    GoldRecipe,
    GoldStep,
    RecipeScores,
    load_gold,
    score,
    states,
)
from reciper_ray.types import Paper, Paragraph, Recipe, Span, Step

TEXT = "It was milled for 24 h. It was fired at 600 °C for 5 h in air. It is black."
MILLED, FIRED, BLACK = Span(0, 23), Span(24, 62), Span(63, 75)
GOLD = GoldRecipe(
    "p",
    "X",
    "",
    (),
    (
        GoldStep("mill", "It was milled for 24 h", time="24 h"),
        GoldStep("fire", "It was fired at\n600 °C", "873 K", "300 min", "air"),
        GoldStep("lost", "It stands nowhere", time="1 h"),
    ),
)
PAPERS = {"p": Paper("p", "T", TEXT, (Paragraph(0, len(TEXT)),))}


def scored(*steps: Step) -> RecipeScores:
    return score([GOLD], {"p": (Recipe(steps=steps),)} if steps else {}, PAPERS)


def test_values_count_when_unit_equal_in_a_step_on_the_evidence() -> None:
    scores = scored(
        Step("milled", MILLED, time="24 h"),
        Step("fired", FIRED, "600 °C", "5 h", "stagnant air"),
        Step("is", BLACK, time="24 h"),
    )
    assert (scores.recall["temperature"].value, scores.recall["temperature"].n) == (1.0, 1)
    assert (scores.recall["time"].value, scores.recall["time"].n) == (2 / 3, 3)
    assert (scores.recall["atmosphere"].value, scores.recall["atmosphere"].n) == (1.0, 1)
    assert (scores.recall["all"].value, scores.recall["all"].n) == (4 / 5, 5)
    assert (scores.precision.value, scores.precision.n) == (2 / 3, 3)
    assert (scores.located.value, scores.located.n) == (2 / 3, 3)
    low, high = scores.precision.low, scores.precision.high
    assert low is not None
    assert high is not None
    assert 0 < low < 2 / 3 < high < 1


def test_a_right_value_in_a_step_elsewhere_does_not_count() -> None:
    assert scored(Step("is", BLACK, "600 °C", "24 h", "air")).recall["all"].value == 0.0


def test_papers_without_a_recipe_lose_recall_and_no_precision() -> None:
    scores = scored()
    assert scores.recall["all"].value == 0.0
    assert (scores.precision.value, scores.precision.n) == (None, 0)
    assert (scores.papers, scores.with_recipe, scores.median_chars) == (1, 0, None)


def test_gold_of_papers_that_are_not_there_is_not_judged() -> None:
    scores = score([GOLD], {}, {})
    assert (scores.papers, scores.recall["all"].n) == (0, 0)


def test_the_median_is_of_the_recipes_texts() -> None:
    assert scored(Step("milled", MILLED, time="24 h")).median_chars == len("1. milled for 24 h.")


@pytest.mark.parametrize(
    ("field", "written", "gold", "same"),
    [
        ("temperature", "700 °C; 1200 °C", "1200 °C and 700 °C", True),
        ("temperature", "1200 °C", "1473 K (1200 °C)", True),
        ("temperature", "700 °C", "700 °C and 1200 °C", False),
        ("temperature", "880 °C; 920 °C", "880 to 920 °C", True),
        ("temperature", "low temperature", "low temperature", True),
        ("time", "overnight", "overnight", True),
        ("time", "approximately 3 min", "180 s", True),
        ("time", "3 h", "3 min", False),
        ("atmosphere", "nitrogen", "N2", True),
        ("atmosphere", "flowing argon gas", "Ar", True),
        ("atmosphere", "vacuum", "slight vacuum", True),
        ("atmosphere", "air", "argon", False),
    ],
)
def test_values_are_compared_by_what_they_say(
    field: str, written: str, gold: str, same: bool
) -> None:
    step = Step("x", FIRED, **{field: written})
    assert states([step], field, gold) is same


def test_evidence_is_found_across_white_space_dashes_case_and_latex() -> None:
    finder = EvidenceFinder("Then it was spin–coated and kept\nat 900°C for 10⁻³ s.")
    assert finder.find("SPIN-COATED  and kept at") == Span(12, 35)
    assert finder.find(r"kept at $900^{\circ}\mathrm{C}$ for $10^{-3}$ s") == Span(28, 52)
    assert finder.find("spin- coated") is not None
    assert finder.find("nowhere") is None
    assert finder.find("  ") is None


def test_gold_is_loaded_and_a_bad_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "gold.jsonl"
    good = {"paper_id": "p", "steps": [{"operation": "mill", "evidence": "e", "time": None}]}
    file.write_text(json.dumps(good) + "\n\n", "utf-8")
    assert load_gold(file) == [GoldRecipe("p", "", "", (), (GoldStep("mill", "e"),))]
    file.write_text(json.dumps(good) + '\n{"paper_id": "q"}\n', "utf-8")
    with pytest.raises(UnreadableInput, match="line 2"):
        load_gold(file)


def test_times_of_the_hand_made_recipes_read_as_durations(shared: Path) -> None:
    times = [s.time for r in load_gold(shared / "corpus/recipes_dev.jsonl") for s in r.steps]
    assert [t for t in times if t and not any(q.unit.si == "s" for q in quantity.find(t))] == []


@pytest.mark.slow
def test_the_extractive_extractor_reaches_its_goals_on_the_corpus(shared: Path) -> None:
    gold = load_gold(shared / "corpus/recipes_dev.jsonl")
    papers: dict[str, Paper] = {}
    for recipe in gold:
        (file,) = (shared / "corpus/papers").glob(f"{recipe.paper_id}.*")
        papers[recipe.paper_id] = next(
            p for p in read(file.name, file.read_bytes()) if isinstance(p, Paper)
        )
    rows = ExtractiveExtractor().extract(list(papers.values()))
    scores = score(gold, dict(zip(papers, rows, strict=True)), papers)
    assert scores.located.value == 1.0
    recall, precision = scores.recall["all"].value, scores.precision.value
    assert recall is not None
    assert precision is not None
    assert scores.median_chars is not None
    assert recall >= 0.90
    assert precision >= 0.70
    assert scores.median_chars <= 800
