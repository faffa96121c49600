"""The conditions that a sentence states."""

import pytest

from reciper_ray.recipe import conditions
from reciper_ray.recipe.conditions import Field


def stated(sentence: str, *, loose: bool = False) -> list[tuple[str, str]]:
    return [
        (condition.field.value, condition.text)
        for condition in conditions.find(sentence)
        if condition.loose is loose
    ]


def test_conditions_come_in_order_as_written() -> None:
    sentence = "The pellets were sintered in stagnant air at 1,200 °C for 10 h."
    assert stated(sentence) == [
        ("atmosphere", "stagnant air"),
        ("temperature", "1,200 °C"),
        ("time", "10 h"),
    ]
    for condition in conditions.find(sentence):
        assert sentence[condition.start : condition.end] == condition.text


@pytest.mark.parametrize(
    ("sentence", "atmosphere"),
    [
        ("calcined in 5% H2 at 900 °C", "5% H2"),
        ("annealed under flowing Ar/H2 (95:5) atmosphere", "flowing Ar/H2 (95:5)"),
        ("homogenized in Ar atmosphere", "Ar"),
        ("dried in a vacuum oven", "vacuum"),
        ("melted in a vacuum induction furnace", "vacuum"),
        ("vacuum-dried in an air furnace", "air"),
        ("was done under 0.04 mbar O2, at 400 mJ", "0.04 mbar O2"),
        ("in a 50kPa Argon atmosphere", "50kPa Argon"),
        ("grown from a CH4/H2 mixture", "CH4/H2 mixture"),
        ("in an argon-filled glovebox", "argon"),
        ("purged with N2 for 30 min", "N2"),
        ("under reduced pressure", "reduced pressure"),
        ("in a reducing atmosphere of 5% H2 in Ar", "reducing atmosphere of 5% H2 in Ar"),
    ],
)
def test_an_atmosphere_is_the_gas_with_its_manner_and_share(sentence: str, atmosphere: str) -> None:
    assert ("atmosphere", atmosphere) in stated(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "for the oxygen reduction reaction",
        "in O2 reduction activity",
        "it was air-cooled",
        "cooled down to room temperature",
        "a heating rate of 5 °C/min",
        "pulses of 20 ns",
        "in steam electrode side",
    ],
)
def test_reactions_rates_pulses_and_cooling_are_no_conditions(sentence: str) -> None:
    assert stated(sentence) == []


def test_a_gas_or_liquid_merely_mentioned_is_loose() -> None:
    assert stated("quenched in water, air, and oil", loose=True)[0] == (
        "atmosphere",
        "water, air, and oil",
    )
    assert stated("argon was used", loose=True) == [("atmosphere", "argon")]


def test_fields_are_the_fields_of_a_step() -> None:
    assert [field.value for field in Field] == ["temperature", "time", "atmosphere"]
