"""Recipes as passages."""

import pytest

from reciper_ray.chunk import Limit
from reciper_ray.recipe.view import recipe_passages, recipe_text
from reciper_ray.types import Paper, Paragraph, Recipe, Span, Step, View

TEXT = "First it was milled for 24 h. Then it was dried and fired at 900 °C for 5 h in air."
MILL, FIRE = Span(0, 29), Span(30, len(TEXT))
RECIPE = Recipe(
    material="BaTiO3",
    method="solid-state reaction",
    precursors=("BaCO3", "TiO2"),
    steps=(
        Step("milled", MILL, time="24 h"),
        Step("dried", FIRE, time="overnight"),
        Step("fired", FIRE, "900 °C", "5 h", "air"),
    ),
)
HEAD = "BaTiO3 by solid-state reaction from BaCO3, TiO2."
WIDE = Limit(1000, 1000, lambda text: len(text.split()))


def paper(recipes: tuple[str, ...] = ()) -> Paper:
    return Paper("p1", "Title", TEXT, (Paragraph(0, len(TEXT)),), year=2020, recipes=recipes)


def test_a_recipe_reads_as_a_head_and_numbered_steps() -> None:
    assert recipe_text(RECIPE) == (
        f"{HEAD} 1. milled for 24 h. 2. dried overnight. 3. fired at 900 °C for 5 h in air."
    )


def test_what_is_worked_on_and_other_conditions_are_told_too() -> None:
    step = Step("fired", FIRE, "900 °C", "5 h", "air", ("pellets", "BaCO3"), ("5 °C/min", "10 MPa"))
    assert recipe_text(Recipe(steps=(step,))) == (
        "1. fired pellets, BaCO3 at 900 °C for 5 h in air (5 °C/min, 10 MPa)."
    )


def test_what_is_not_known_leaves_no_trace() -> None:
    assert recipe_text(Recipe(steps=(Step("milled", MILL, time="24 h"),))) == "1. milled for 24 h."
    assert recipe_text(Recipe()) == ""


def test_a_passage_is_supported_by_its_steps_sentences_each_once() -> None:
    (passage,) = recipe_passages(paper(), [RECIPE], WIDE)
    assert passage.text == recipe_text(RECIPE)
    assert passage.spans == (MILL, FIRE)
    assert passage.support == TEXT
    assert (passage.paper_id, passage.view, passage.title) == ("p1", View.RECIPE, "Title")
    assert (passage.ordinal, passage.heading, passage.year) == (0, "", 2020)
    assert passage.passage_id.startswith("p1:r:")


@pytest.mark.parametrize(("max_chars", "max_words"), [(90, 1000), (1000, 17)])
def test_a_long_recipe_is_split_between_steps_under_one_head(
    max_chars: int, max_words: int
) -> None:
    limit = Limit(max_chars, max_words, lambda text: len(text.split()))
    first, second = recipe_passages(paper(), [RECIPE], limit)
    assert first.text == f"{HEAD} 1. milled for 24 h. 2. dried overnight."
    assert second.text == f"{HEAD} 3. fired at 900 °C for 5 h in air."
    assert (first.spans, second.spans) == ((MILL, FIRE), (FIRE,))
    assert second.support == TEXT[FIRE.start : FIRE.end]
    assert first.passage_id != second.passage_id


def test_a_step_over_the_limit_is_cut_and_keeps_its_span() -> None:
    long = Recipe(steps=(Step("milled " * 30 + "fired", MILL, time="24 h"),))
    passages = recipe_passages(paper(), [long], Limit(60, 1000, lambda text: len(text.split())))
    assert len(passages) > 3
    assert all(len(p.text) <= 60 and p.spans == (MILL,) for p in passages)


def test_recipes_of_the_source_support_themselves() -> None:
    passages = recipe_passages(paper(("Mill it.", "Fire it.")), [RECIPE], WIDE)
    assert [p.text for p in passages[1:]] == ["Mill it.", "Fire it."]
    assert all(p.support == p.text and p.spans == () for p in passages[1:])
    assert [p.ordinal for p in passages] == [0, 1, 2]


def test_equal_recipes_have_ids_of_their_own_the_same_in_every_build() -> None:
    first, second = recipe_passages(paper(("Mill it.", "Mill it.")), [], WIDE)
    assert first.passage_id != second.passage_id
    assert recipe_passages(paper(("Mill it.", "Mill it.")), [], WIDE) == [first, second]


def test_a_paper_without_recipes_has_no_recipe_passages() -> None:
    assert recipe_passages(paper(), [], WIDE) == []
