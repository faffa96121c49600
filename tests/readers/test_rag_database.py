"""The authors' released corpus file."""

import json
from typing import Any

import pytest

from reciper_ray.readers import read
from reciper_ray.types import Kind, Paper, Rejection

RECORD: dict[str, Any] = {
    "paper_id": "P7",
    "title": "LiCoO\u2082 made so",
    "abstract": "We made\n it.",
    "sections": [
        {
            "heading": "Experimental",
            "paragraphs_with_entities": [
                {"text": "Calcined at 850 oC.", "entities": [{"text": "850"}]},
                {"text": "None"},
                {"text": "For 12 h."},
            ],
        },
        {"heading": None, "paragraphs_with_entities": [{"text": "And so on."}]},
    ],
    "recipes": ["Mix and fire."],
    "metadata": {"source": "arxiv", "doi": "10.1000/xyz", "arxiv_id": "2401.1"},
}


def papers_of(*records: Any) -> list[Paper | Rejection]:
    return list(read("folder/rag_database.json", json.dumps(list(records)).encode()))


def paper_of(record: Any) -> Paper:
    (paper,) = papers_of(record)
    assert isinstance(paper, Paper)
    return paper


def test_a_full_record() -> None:
    paper = paper_of(RECORD)
    assert (paper.paper_id, paper.title) == ("P7", "LiCoO₂ made so")
    assert (paper.source, paper.format) == ("folder/rag_database.json#1", "rag_database")
    assert (paper.abstract, paper.doi) == ("We made it.", "10.1000/xyz")
    assert paper.recipes == ("Mix and fire.",)
    assert [(p.heading, paper.text[p.start : p.end], p.kind) for p in paper.paragraphs] == [
        ("Abstract", "We made it.", Kind.ABSTRACT),
        ("Experimental", "Calcined at 850 °C.", Kind.TEXT),
        ("Experimental", "For 12 h.", Kind.TEXT),
        ("", "And so on.", Kind.TEXT),
    ]


@pytest.mark.parametrize(
    ("recipe", "text"),
    [
        ("Mix and fire.", "Mix and fire."),
        ({"text": "Mix."}, "Mix."),
        ({"recipe": "Fire."}, "Fire."),
        ({"text": "None", "recipe": "Fire."}, "Fire."),
        ({"recipe": {"material_name": "LiCoO2"}}, "Material: LiCoO2."),
        (
            {
                "material_name": "LiCoO2",
                "synthesis_method": "solid state",
                "steps": [{"description": "Mix."}, {"description": None}, {"description": "Fire"}],
                "key_points": ["Dry air.", "None"],
            },
            "Material: LiCoO2. Method: solid state. Step 1: Mix. Step 3: Fire. Key point: Dry air.",
        ),
        ({"material_name": "None", "steps": "None", "key_points": "Slow."}, "Key point: Slow."),
    ],
)
def test_recipes_of_every_shape_become_texts(recipe: Any, text: str) -> None:
    assert paper_of({**RECORD, "recipes": [recipe, None, "None", {}]}).recipes == (text,)


@pytest.mark.parametrize("nothing", [None, "None", "", [], {}, 5, True])
@pytest.mark.parametrize("field", sorted(RECORD))
def test_any_field_may_be_missing_null_or_the_string_none(field: str, nothing: Any) -> None:
    without = {key: value for key, value in RECORD.items() if key != field}
    for record in (without, {**without, field: nothing}):
        paper = paper_of(record)
        if field == "paper_id":
            assert paper.paper_id in ("rag_database#1", "5")
        if field == "title":
            assert paper.title in ("P7", "5")
        if field == "metadata":
            assert paper.doi == ""


def test_a_record_with_recipes_alone_is_a_paper() -> None:
    paper = paper_of({"paper_id": "P1", "recipes": ["Mix."]})
    assert (paper.text, paper.paragraphs, paper.recipes) == ("", (), ("Mix.",))


def test_records_are_numbered_from_one_and_bad_ones_rejected() -> None:
    first, second, third = papers_of(RECORD, "text", {**RECORD, "paper_id": "P8"})
    assert isinstance(second, Rejection)
    assert second.path == "folder/rag_database.json#2"
    assert second.reason == "the record is a string, not an object"
    assert isinstance(first, Paper)
    assert isinstance(third, Paper)
    assert third.source == "folder/rag_database.json#3"


def test_half_a_surrogate_pair_is_left_out() -> None:
    paper, rejection = papers_of({"paper_id": "P1", "abstract": "a\ud800b"}, {"title": "\ud800"})
    assert isinstance(paper, Paper)
    assert paper.text == "ab"
    assert isinstance(rejection, Rejection)
