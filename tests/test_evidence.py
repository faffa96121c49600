"""What makes a passage good evidence, part by part."""

import numpy as np
import pytest

from reciper_ray import evidence
from reciper_ray.config import HybridConfig
from reciper_ray.evidence import Evidence, Section, Traits, kinds_asked, section, traits
from reciper_ray.types import Kind, Span
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


def test_the_parts_of_a_score_are_weighed_and_capped() -> None:
    rich = Traits(Section.PROCEDURE, 80, 9, frozenset({"time"}))
    poor = Traits(Section.BACKGROUND, 4, 0, frozenset())
    first, second = evidence.parts(
        np.array([2.0, 1.0]), np.array([0.5, -0.1]), [rich, poor], {"time", "temperature"}, W
    )
    assert first == pytest.approx(
        {
            "lexical": 2.0 / 2.0,
            "meaning": W.meaning * 0.5,
            "section": W.section,
            "quantities": W.quantities,
            "steps": W.steps,
            "asked": -W.asked,
        }
    )
    assert second == pytest.approx(
        {
            "lexical": 1.0 / 2.0,
            "meaning": W.meaning * -0.1,
            "section": -W.section,
            "quantities": W.quantities * 4 / 8,
            "steps": 0.0,
            "asked": -2 * W.asked,
        }
    )


def test_a_paper_without_any_of_the_words_scores_no_lexical_part() -> None:
    nothing = Traits(Section.OTHER, 0, 0, frozenset())
    (only,) = evidence.parts(np.zeros(1), np.zeros(1), [nothing], (), W)
    assert only["lexical"] == 0.0


def test_a_score_is_the_sum_of_its_parts() -> None:
    assert Evidence(support.passage("p:1", "x"), {"paper": 4.5, "dense": 0.25}).score == 4.75
