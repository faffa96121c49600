"""Quantities: what is read, in which SI values, where, and what is equal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reciper_ray import quantity
from reciper_ray.quantity import Quantity

C = 273.15
HOUR = 3600.0
PASCAL = "kg·m-1·s-2"


def one(text: str) -> Quantity:
    found = quantity.find(text)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("text", "values", "si"),
    [
        ("600 °C", [600 + C], "K"),
        ("600 ◦C", [600 + C], "K"),
        ("850 oC", [850 + C], "K"),
        ("80ºC", [80 + C], "K"),
        ("25 ° C", [25 + C], "K"),
        ("500 degC", [500 + C], "K"),
        ("600 degrees Celsius", [600 + C], "K"),
        ("95 °F", [95 * 5 / 9 + C - 32 * 5 / 9], "K"),
        ("150 C", [150 + C], "K"),
        ("1,200 °C", [1200 + C], "K"),
        ("873 K", [873], "K"),
        ("-20 °C", [C - 20], "K"),
        ("24 h", [24 * HOUR], "s"),
        ("30min", [30 * 60], "s"),
        ("a 2-h milling", [2 * HOUR], "s"),
        ("0,5 h", [0.5 * HOUR], "s"),
        ("2 days", [2 * 86400], "s"),
        ("two hours", [2 * HOUR], "s"),
        ("half an hour", [0.5 * HOUR], "s"),
        ("200 MPa", [200e6], PASCAL),
        ("5 × 10−3 mbar", [5e-3 * 100], PASCAL),
        ("10−5 Torr", [1e-5 * 101325 / 760], PASCAL),
        ("10⁻⁵ Pa", [1e-5], PASCAL),
        ("400 rpm", [400 / 60], "s-1"),
        ("2000 r min−1", [2000 / 60], "s-1"),
        ("5 °C/min", [5 / 60], "s-1·K"),
        ("5 °C·min−1", [5 / 60], "s-1·K"),
        ("5 wt.%", [5], "wt%"),
        ("10 mol%", [10], "mol%"),
        ("1 M KOH", [1000], "m-3·mol"),
        ("0.2 mA cm−2", [0.2e-3 / 1e-4], "m-2·A"),
        ("80 mL min-1", [80e-6 / 60], "m3·s-1"),
        ("100 mAh g−1", [0.1 * HOUR / 1e-3], "kg-1·s·A"),
        ("20 sccm", [20e-6 / 60], "m3·s-1"),
    ],
)
def test_a_quantity_is_read_in_si(text: str, values: list[float], si: str) -> None:
    found = one(text)
    assert found.values == pytest.approx(values)
    assert found.unit.si == si


@pytest.mark.parametrize(
    ("text", "celsius", "is_range"),
    [
        ("600–800 °C", [600, 800], True),
        ("from 600 to 800 °C", [600, 800], True),
        ("600 °C–800 °C", [600, 800], True),
        ("600 °C to 800 °C", [600, 800], True),
        ("600 °C -800 °C", [600, 800], True),
        ("600, 700 and 800 °C", [600, 700, 800], False),
        ("100 / 200 / 300 °C", [100, 200, 300], False),
        ("60 ± 5 °C", [60], False),
        ("353±3 K", [353 - C], False),
    ],
)
def test_ranges_lists_and_errors_share_their_unit(
    text: str, celsius: list[float], is_range: bool
) -> None:
    found = one(text)
    assert found.values == pytest.approx([value + C for value in celsius])
    assert found.is_range is is_range


def test_quantities_with_units_of_their_own_stay_apart() -> None:
    text = "at 5 °C min−1 to 600 °C for 5 h and 2 MPa, then 1 h-2 h"
    assert [text[q.span.start : q.span.end] for q in quantity.find(text)] == [
        "5 °C min−1",
        "600 °C",
        "5 h",
        "2 MPa",
        "1 h-2 h",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Fig. 2 h shows",
        "the O 1s line",
        "a rate of 0.5 C",
        "24 C. F. Chen",
        "GDC10 and 42CrMo4",
        "5 and 6",
        "pH 7",
        "in 2019",
    ],
)
def test_labels_orbitals_rates_and_names_are_no_quantities(text: str) -> None:
    assert quantity.find(text) == []


def test_a_year_before_a_quantity_does_not_join_it() -> None:
    assert one("in 2019, 5 h").values == (5 * HOUR,)


def test_words_are_quantities_without_values() -> None:
    night, room = quantity.find("stirred over night at room temperature")
    assert (night.values, night.word, night.unit.si) == ((), "overnight", "s")
    assert (room.values, room.word, room.unit.si) == ((), "room temperature", "K")


def test_latex_is_read_and_its_span_lies_in_the_source() -> None:
    text = r"at $600^{\circ}\mathrm{C}$ for $1\mathrm{h}$ at $0.13\mathrm{s}^{-1}$"
    found = quantity.find(text)
    assert [q.values[0] for q in found] == pytest.approx([600 + C, HOUR, 0.13])
    assert [text[q.span.start : q.span.end] for q in found] == [
        r"600^{\circ}\mathrm{C}",
        r"1\mathrm{h}",
        r"0.13\mathrm{s}^{-1}",
    ]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("600 °C", "873 K"),
        ("600 °C", "600oC"),
        ("1,200 °C", "1200◦C"),
        ("90 min", "1.5 h"),
        ("0.33 h", "20 min"),
        ("8 to 10 h", "8~10 h"),
        ("overnight", "over night"),
        ("5 °C/min", "5 °C min−1"),
        ("1 bar", "100 kPa"),
    ],
)
def test_the_same_in_other_words_is_equal(a: str, b: str) -> None:
    assert quantity.equal(one(a), one(b))
    assert quantity.equal(one(b), one(a))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("600 °C", "601 °C"),
        ("600 °C", "600 K"),
        ("600 °C", "600–800 °C"),
        ("1 h", "80 min"),
        ("5 °C", "5 °C/min"),
        ("5 wt%", "5 mol%"),
        ("overnight", "12 h"),
        ("room temperature", "25 °C"),
        ("10 min", "10 h"),
    ],
)
def test_other_values_units_and_words_are_not_equal(a: str, b: str) -> None:
    assert not quantity.equal(one(a), one(b))


def test_a_list_contains_its_values_and_a_range_only_its_ends() -> None:
    assert quantity.contains(one("600, 700 and 800 °C"), one("973 K"))
    assert quantity.contains(one("600–800 °C"), one("800 °C"))
    assert not quantity.contains(one("600–800 °C"), one("700 °C"))
    assert [part.values for part in one("1, 2 and 3 h").parts()] == [
        (HOUR,),
        (2 * HOUR,),
        (3 * HOUR,),
    ]


@given(st.integers(1, 2000), st.sampled_from(["°C", "K", "h", "min", "MPa", "mol%", "mA cm−2"]))
def test_a_quantity_is_found_wherever_it_stands(number: int, unit: str) -> None:
    written = f"{number} {unit}"
    text = f"It was kept at {written}, then measured."
    found = one(text)
    assert text[found.span.start : found.span.end] == written
    assert quantity.equal(found, one(written))


@given(st.text(alphabet="0123456789 .,-–−×^°CKhmin()/·%xe±~$\\{}", max_size=200))
def test_any_text_is_read_without_failing_and_spans_stand_in_order(text: str) -> None:
    spans = [q.span for q in quantity.find(text)]
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert spans == sorted(spans, key=lambda span: span.start)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("piece", ["1 ", "10-", "1,", "600 °C to ", "1 m/", "10 °", "·2", "$\\"])
def test_long_runs_take_linear_time(piece: str) -> None:
    quantity.find(piece * (40_000 // len(piece)))
