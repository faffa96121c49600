"""What makes a passage good evidence, part by part."""

import numpy as np
import pytest

from reciper_ray import evidence
from reciper_ray.config import HybridConfig
from reciper_ray.evidence import (
    Evidence,
    Section,
    TraitColumns,
    Traits,
    kinds_asked,
    section,
    traits,
)
from reciper_ray.types import Kind, Span, View
from tests import support

W = HybridConfig()


@pytest.mark.parametrize(
    ("heading", "kind", "expected"),
    [
        ("2. Experimental Section", Kind.TEXT, Section.PROCEDURE),
        ("Materials and Methods > Synthesis", Kind.TEXT, Section.PROCEDURE),
        ("Results > 3.1 Sample preparation", Kind.TEXT, Section.PROCEDURE),
        ("1. Introduction", Kind.TEXT, Section.BACKGROUND),
        ("Conclusions > Methods", Kind.TEXT, Section.BACKGROUND),
        ("Methods", Kind.ABSTRACT, Section.BACKGROUND),
        ("Results", Kind.TEXT, Section.OTHER),
        ("", Kind.TEXT, Section.OTHER),
    ],
)
def test_a_section_is_known_by_its_headings(heading: str, kind: Kind, expected: Section) -> None:
    assert section(heading, kind) is expected


def test_traits_count_quantities_and_steps_and_name_the_kinds_of_value() -> None:
    text = "It was calcined at 900 °C for 5 h in argon. Then it was ground."
    found = traits(support.passage("p:1", text), [Span(0, 10), Span(20, 30), Span(500, 600)])
    assert (found.quantities, found.steps) == (2, 2)
    assert {"temperature", "time", "atmosphere"} <= found.states
    assert "pH" not in found.states


def test_kinds_asked_are_those_the_question_names() -> None:
    asked = kinds_asked("At what temperature and for how long was LiCoO2 calcined?")
    assert asked == {"temperature", "time"}
    assert kinds_asked("How was LiCoO2 made?") == frozenset()


def columns(*found: Traits) -> TraitColumns:
    kinds = sorted(set().union(*(t.states for t in found)))
    return TraitColumns(
        np.array([t.section for t in found], np.int8),
        np.array([t.quantities for t in found], np.uint32),
        np.array([t.steps for t in found], np.uint32),
        {kind: np.array([kind in t.states for t in found]) for kind in kinds},
    )


def test_the_parts_of_a_score_are_weighed_and_capped() -> None:
    rich = Traits(Section.PROCEDURE, 80, 9, frozenset({"time"}))
    poor = Traits(Section.BACKGROUND, 4, 0, frozenset())
    found = evidence.parts(
        np.array([1.0, 0.5]),
        np.array([0.5, -0.1]),
        columns(rich, poor),
        {"time", "temperature"},
        W,
    )
    expected = {
        "lexical": [1.0, 0.5],
        "dense": [W.dense * 0.5, W.dense * -0.1],
        "section": [W.section, -W.section],
        "quantities": [W.quantities, W.quantities * 4 / 8],
        "steps": [W.steps, 0.0],
        "asked": [-W.asked, -2 * W.asked],
    }
    assert found.keys() == expected.keys()
    for name, part in found.items():
        assert part.tolist() == pytest.approx(expected[name]), name


def test_traits_are_taken_by_row() -> None:
    rich = Traits(Section.PROCEDURE, 80, 9, frozenset({"time"}))
    poor = Traits(Section.BACKGROUND, 4, 0, frozenset({"pH"}))
    taken = columns(poor, poor, rich).take(np.array([2, 0]))
    assert taken.section.tolist() == [Section.PROCEDURE, Section.BACKGROUND]
    assert taken.quantities.tolist() == [80, 4]
    assert taken.steps.tolist() == [9, 0]
    assert {kind: gives.tolist() for kind, gives in taken.states.items()} == {
        "time": [True, False],
        "pH": [False, True],
    }


def test_nothing_asked_for_costs_nothing() -> None:
    nothing = columns(Traits(Section.OTHER, 0, 0, frozenset()))
    found = evidence.parts(np.zeros(1), np.zeros(1), nothing, (), W)
    assert {name: part.tolist() for name, part in found.items()} == {
        name: [0.0] for name in ("lexical", "dense", "section", "quantities", "steps", "asked")
    }


def found(passage_id: str, text: str, view: View = View.PARAGRAPH) -> Evidence:
    return Evidence(support.passage(passage_id, text, view=view), 1.0, {})


def test_what_says_a_better_one_again_is_screened_out() -> None:
    ranked = [
        found("a:1", "fired at 900 in air"),
        found("b:1", "Fired at 900, in air!"),
        found("c:1", "fired at 900 in argon"),
        found("d:r", "fired at 900 in air", View.RECIPE),
    ]
    # c shares 4 of 6 words with a.
    kept = [e.passage.passage_id for e in evidence.screened(ranked, 4 / 6)]
    assert kept == ["a:1", "c:1", "d:r"]
    assert [e.passage.passage_id for e in evidence.screened(ranked, 0.6)] == ["a:1", "d:r"]
    assert list(evidence.screened(ranked, 1.0)) == ranked
