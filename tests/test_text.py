"""Clean-up, the matching rule and sentence boundaries."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reciper_ray.text import contains, fold, normalise, sentences, squeeze


def split(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentences(text)]


@pytest.mark.parametrize(
    ("damaged", "repaired"),
    [
        ("a\x00b\x07c", "abc"),
        ("1\u00a0h at\u20095\u202fK", "1 h at 5 K"),
        ("con\ufb01rmed \ufb02ow e\ufb03cient", "confirmed flow efficient"),
        ("cal\u00adcined, sin\u00ad\ntered", "calcined, sintered"),
        ("1\r\n2\r3\u2028 4\f5", "1\n2\n3\n 4\n5"),
        ("100 mS cm(cid:0) 1 and 10(cid:0)3", "100 mS cm−1 and 10−3"),
        ("850 ◦C, 850◦C, 850 oC, 850oC", "850 °C, 850°C, 850 °C, 850°C"),
        ("120° C, 25 ℃, 7\uf0b0", "120°C, 25 °C, 7°"),
        ("4◦-off wafers", "4°-off wafers"),
        ("(EW) ¼ 700, IEC¼ 1.43", "(EW) = 700, IEC= 1.43"),
        ("e\u0301lan, 10 \u212b", "élan, 10 Å"),
        ("5 \uf0b1 1 \uf06dm, \uf057", "5 ± 1 μm, Ω"),
        ("3 × 10 14 cm −3 and 10 10 cm −2 eV", "3 × 10¹⁴ cm⁻³ and 10¹⁰ cm⁻² eV"),
        ("1014 cm−3, 1013cm-3, 1015 m−2", "10¹⁴ cm−3, 10¹³cm-3, 10¹⁵ m−2"),
        ("3 × 10−6 K−1, 6 × 10–5 bar, 2 ×10-7", "3 × 10⁻⁶ K−1, 6 × 10⁻⁵ bar, 2 ×10⁻⁷"),
        ("1 ×109 cycles, 1 × 105 Hz, 2 ×1014 cm−3", "1 ×10⁹ cycles, 1 × 10⁵ Hz, 2 ×10¹⁴ cm−3"),
        ("(◦C) [◦C]", "(°C) [°C]"),
        ("\ud800lone", "lone"),
    ],
)
def test_certain_damage_is_repaired(damaged: str, repaired: str) -> None:
    assert normalise(damaged) == repaired


@pytest.mark.parametrize(
    "text",
    [
        "OH(cid:0) ions",
        "1¼ h",
        "AB250 ¼ GCB",
        "10 cm−1",
        "f ∘ g",
        "CoC and 5 OC",
        "10³ s",
        "1190–1250 °C and x = −0.5, a-b",
        "1031cm-1 band, 1012 cm",
        "50 × 105 mm, 3 × 107 × 10 mm, 2 × 105 samples",
        "from 0.1 to 105 Hz",
        "10 14 samples, 8.10 14 cm −3",
        "2010 12 cm −3",
        "a–b",
    ],
)
def test_what_is_not_certain_stays(text: str) -> None:
    assert normalise(text) == text


@given(st.text() | st.text(alphabet="1 ◦°oC¼(cid:0)\u00ad\ud800\r\n=a"))
def test_normalised_text_can_be_written_and_is_stable(text: str) -> None:
    once = normalise(text)
    assert once.encode().decode() == normalise(once)


def test_folding_is_the_matching_rule() -> None:
    assert fold("  Heat—treated\u00a0at\n10⁻³ − Ⅱ ‐ﬁne ") == "heat-treated at 10-3 - ii -fine"


@pytest.mark.parametrize(
    ("needle", "haystack", "found"),
    [
        ("3", "13", False),
        ("3", "3.5", False),
        ("3", "0.3", False),
        ("3", "1.33", False),
        ("3", "step 3.", True),
        ("3", "(3)", True),
        ("3", "13 and 3 h", True),
        ("200", "1,200 °C", True),
        ("2 h", "12 h", False),
        ("2 h", "for 2\nhours", True),
        ("CO2", "co₂ flow", True),
        ("Fe-Ni", "Fe–Ni", True),
        ("10-3", "10⁻³", True),
        ("", "anything", False),
        ("x", "", False),
    ],
)
def test_a_number_is_not_found_inside_a_longer_one(needle: str, haystack: str, found: bool) -> None:
    assert contains(needle, haystack) is found


def test_sentences_end_at_stops_that_end_sentences() -> None:
    assert split(
        "It was dried. Then it was fired at 850 °C. The end? Yes! (See below.) 3 g left."
    ) == [
        "It was dried.",
        "Then it was fired at 850 °C.",
        "The end?",
        "Yes!",
        "(See below.)",
        "3 g left.",
    ]


@pytest.mark.parametrize(
    "one",
    [
        "As shown in Fig. 3 and Figs. 4 and 5, it grew (Supplementary Fig.\nS1).",
        "Zhang et al. [12] and J. B. Smith et al. (2019) agree.",
        "A mixture of, e.g. Co and i.e. approx. 5 wt. % NiO vs. MgO, cf. Ref. 5 and No. 3.",
        "It was 3.5 V at pH 7.0 in 0.5 M HCl, n-type.",
        "4. Conclusions in this study",
        "2.1. Materials were bought from Sigma Co., Ltd. and used.",
        "Published on 3 Sept. 2019 by Dr. M. Curie",
    ],
)
def test_stops_inside_a_sentence_do_not_end_it(one: str) -> None:
    assert split(one) == [one]


def test_a_unit_or_abbreviation_may_end_a_sentence_before_a_word_that_starts_one() -> None:
    assert split("Heated to 300 K. The rest. By Li et al. The mixture. For 10 min. Then more.") == [
        "Heated to 300 K.",
        "The rest.",
        "By Li et al.",
        "The mixture.",
        "For 10 min.",
        "Then more.",
    ]


def test_citation_marks_belong_to_the_sentence_they_stand_behind() -> None:
    assert split("It is known.12,13 We agree.[4, 5] So “it is.” Good.") == [
        "It is known.12,13",
        "We agree.[4, 5]",
        "So “it is.”",
        "Good.",
    ]


def test_a_lost_space_is_seen_before_a_word_that_starts_sentences() -> None:
    assert split("At room temperature.The samples were cut.") == [
        "At room temperature.",
        "The samples were cut.",
    ]


def test_a_blank_line_ends_a_sentence_and_a_line_break_does_not() -> None:
    assert split("A heading\n \nThe first\nline goes on.\nNext.") == [
        "A heading",
        "The first\nline goes on.",
        "Next.",
    ]


@given(st.text(alphabet="aB1.!? \n[]()’α°C"))
def test_sentences_hold_every_character_once_in_order(text: str) -> None:
    spans = sentences(text)
    assert "".join(squeeze(text[s.start : s.end]) for s in spans).replace(" ", "") == "".join(
        text.split()
    )
    assert all(text[s.start : s.end].strip() == text[s.start : s.end] for s in spans)
    assert all(a.end <= b.start for a, b in pairwise(spans))


@pytest.mark.parametrize("unit", [".", "a.", ". ", "\n", "\n ", "[", ".[1", "A.B.", ".1,1", "1 o"])
def test_hostile_repetition_takes_linear_time(unit: str) -> None:
    text = unit * 100_000
    started = time.process_time()
    sentences(text)
    normalise(text)
    contains("1.1", text)
    assert time.process_time() - started < 5
