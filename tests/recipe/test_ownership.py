"""Which operation a value belongs to."""

import pytest

from reciper_ray.recipe.ownership import Ownership
from reciper_ray.recipe.source import Source
from reciper_ray.types import Paper, Paragraph


def owned(text: str) -> dict[str, set[str]]:
    """Values of `text` with the operations that own them."""
    source = Source(Paper("p", "t", text, (Paragraph(0, len(text)),)))
    ownership = Ownership(source)
    return {
        o.value.text: {ownership.operation(place).text for place in o.owners}
        for o in ownership.owned(range(len(source.sentences)))
    }


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "It was dried at 80 °C and calcined at 900 °C.",
            {"80 °C": {"dried"}, "900 °C": {"calcined"}},
        ),
        (
            "After 24 h of ball milling, it was sintered for 5 h.",
            {"24 h": {"ball milling"}, "5 h": {"sintered"}},
        ),
        ("Calcination was carried out at 900 °C.", {"900 °C": {"carried out", "Calcination"}}),
        (
            "It was sintered at 1200 °C and heated to 900 °C.",
            {"1200 °C": {"sintered"}, "900 °C": {"heated"}},
        ),
        (
            "It was heated to 700 °C for stress-relief annealing.",
            {"700 °C": {"heated", "annealing"}},
        ),
        ("It was sintered. The temperature was 1200 °C.", {"1200 °C": {"sintered"}}),
        ("It was dried and calcined at 80 and 900 °C, respectively.", {"80 and 900 °C": set()}),
        ("It was not sintered at 1200 °C.", {}),
    ],
)
def test_a_value_belongs_to_the_operation_that_it_stands_by(
    text: str, wanted: dict[str, set[str]]
) -> None:
    assert owned(text) == wanted


def test_values_of_two_runs_are_kept_apart_and_what_is_said_once_holds_for_both() -> None:
    text = "It was calcined at 900 °C for 5 h and then at 1000 °C for 10 h in air."
    source = Source(Paper("p", "t", text, (Paragraph(0, len(text)),)))
    ownership = Ownership(source)
    (place,) = ownership.owned(range(1))[0].owners
    runs = ownership.runs(range(1), place)
    assert [{o.value.text for o in run} for run in runs] == [
        {"900 °C", "5 h", "air"},
        {"1000 °C", "10 h", "air"},
    ]
