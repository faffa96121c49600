"""Drafts: what models really write, read as recipes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from reciper_ray.recipe.draft import SCHEMA, Draft, DraftStep, UnreadableDraft, parse

STEP = {
    "operation": "calcined",
    "materials": ["powder"],
    "temperature": "900 °C",
    "time": "5 h",
    "atmosphere": "air",
    "conditions": ["5 °C/min"],
}
RECIPE = {
    "material": "BaTiO3",
    "method": "solid-state reaction",
    "precursors": ["BaCO3", "TiO2"],
    "steps": [STEP],
    "key_points": ["dense"],
}
ANSWER = json.dumps({"recipes": [RECIPE]}, ensure_ascii=False)
DRAFT = Draft(
    "BaTiO3",
    "solid-state reaction",
    ("BaCO3", "TiO2"),
    (DraftStep("calcined", ("powder",), "900 °C", "5 h", "air", ("5 °C/min",)),),
    ("dense",),
)


def test_an_answer_of_the_schema_is_read_as_it_is() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    Draft202012Validator(SCHEMA).validate(json.loads(ANSWER))
    assert parse(ANSWER) == [DRAFT]


@pytest.mark.parametrize(
    "text",
    [
        f'<think>They calcined it {{so}} at 900 °C. {{"recipes": []}}?</think>\n{ANSWER}',
        f"Okay, the paper says 900 °C.\n</think>\n\n{ANSWER}",
        f"Here is the recipe:\n```json\n{ANSWER}\n```\nLet me know if you need more!",
        json.dumps([RECIPE]),
        json.dumps(RECIPE),
        json.dumps({"recipe": RECIPE, "confidence": 0.9}),
        json.dumps({"result": {"recipes": [RECIPE | {"doi": None, "notes2": {"a": [1]}}]}}),
        ANSWER + "\n\n" + "Done. {not json}",
        ANSWER.replace("solid-state reaction", "solid-state\nreaction"),
    ],
)
def test_reasoning_fences_wrappers_and_extra_keys_change_nothing(text: str) -> None:
    assert parse(text) == [DRAFT]


def test_several_objects_are_several_recipes() -> None:
    other = RECIPE | {"material": "SrTiO3"}
    texts = [json.dumps({"recipes": [RECIPE, other]}), f"{json.dumps(RECIPE)}\n{json.dumps(other)}"]
    for text in texts:
        assert [draft.material for draft in parse(text)] == ["BaTiO3", "SrTiO3"]


def test_an_output_that_is_cut_off_is_read_as_far_as_it_goes() -> None:
    two = json.dumps({"recipes": [RECIPE | {"steps": [STEP, STEP | {"operation": "sintered"}]}]})
    cut = two[: two.index("sintered") + 4]
    (draft,) = parse(cut)
    assert [step.operation for step in draft.steps] == ["calcined"]
    assert draft.precursors == ("BaCO3", "TiO2")


def test_an_output_that_is_cut_in_the_first_step_keeps_the_fields_that_are_whole() -> None:
    cut = ANSWER[: ANSWER.index('"time"') + 9]
    (draft,) = parse(cut)
    assert draft.steps == (DraftStep("calcined", ("powder",), "900 °C"),)


def test_other_types_and_key_names_are_understood() -> None:
    written = {
        "target": "BaTiO3",
        "synthesis_method": "solid-state reaction",
        "precursors": [{"name": "BaCO3", "purity": "99%"}, {"formula": "TiO2"}],
        "steps": [
            {"action": "Calcination", "temp": {"value": 900, "unit": "°C"}, "duration": 5},
            {"step": 2, "description": "The pellets were sintered at 1200 °C for 10 h in air."},
            "Annealed at 700 °C for 2 h",
            {
                "operation": "milled",
                "time": ["24 h", "2 h"],
                "atmosphere": None,
                "materials": "a, b",
            },
            {"operation": "cooled", "temperature": "not specified", "time": "N/A"},
        ],
    }
    (draft,) = parse(json.dumps(written))
    assert (draft.material, draft.method) == ("BaTiO3", "solid-state reaction")
    assert draft.precursors == ("BaCO3", "TiO2")
    assert draft.steps == (
        DraftStep("Calcination", (), "900 °C", "5"),
        DraftStep("sintered", (), "1200 °C", "10 h", "air"),
        DraftStep("Annealed", (), "700 °C", "2 h"),
        DraftStep("milled", ("a", "b"), "", "24 h; 2 h"),
        DraftStep("cooled"),
    )


def test_steps_listed_by_sentence_are_steps_in_order() -> None:
    written = {"steps": {"1": [STEP, {"operation": "milled"}], "3": [{"operation": "sintered"}]}}
    (draft,) = parse(json.dumps(written))
    assert [step.operation for step in draft.steps] == ["calcined", "milled", "sintered"]


def test_a_text_of_precursors_is_split_outside_of_brackets() -> None:
    (draft,) = parse(
        json.dumps({"material": "x", "precursors": "BaCO3 (99%, Merck), TiO2 and urea"})
    )
    assert draft.precursors == ("BaCO3 (99%, Merck)", "TiO2", "urea")


@pytest.mark.parametrize("text", ['{"recipes": []}', "[{}]", "{}", '```json\n{"recipes": []}\n```'])
def test_no_recipe_is_an_answer(text: str) -> None:
    assert parse(text) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no JSON"),
        ("I cannot find a procedure.", "no JSON"),
        ("<think>Let me see. {", "no JSON"),
        ('{"recipes": [', "unfinished JSON"),
        ('{"weather": "fine"}', "JSON of something else"),
    ],
)
def test_what_is_no_recipe_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(UnreadableDraft, match=reason):
        parse(text)


@given(st.text(alphabet='{}[]",:\\ab1 \n', max_size=60))
def test_no_text_breaks_the_parser(text: str) -> None:
    for written in (text, '{"recipes": [' + text, ANSWER[:40] + text):
        try:
            parse(written)
        except UnreadableDraft:
            continue


@given(st.integers(0, len(ANSWER)))
def test_no_cut_brings_what_was_not_written(at: int) -> None:
    try:
        drafts = parse(ANSWER[:at])
    except UnreadableDraft:
        return
    for draft in drafts:
        assert draft.material in ("", "BaTiO3")
        assert set(draft.precursors) <= set(DRAFT.precursors)
