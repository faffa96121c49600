"""Which sentences look like steps of the paper's own procedure."""

from reciper_ray.recipe import cues
from reciper_ray.types import Kind

STEP = "The mixture was then dried and calcined in a furnace at 900 °C for 5 h."
RESULT = "As shown in Fig. 3, the conductivity measured at 900 °C is higher than that reported."


def test_a_step_is_worded_better_than_a_result() -> None:
    assert cues.wording(STEP) > 0 > cues.wording(RESULT)


def test_a_time_with_a_temperature_states_more_than_either() -> None:
    both = cues.stating(1, has_temperature=True, has_time=True)
    assert both > cues.stating(1, has_temperature=False, has_time=True)
    assert both > cues.stating(1, has_temperature=True, has_time=False)


def test_a_section_counts_only_where_the_paper_has_one_for_the_procedure() -> None:
    assert cues.is_procedure("2. Experimental > 2.1 Preparation")
    assert not cues.is_procedure("2. Experimental > 2.2 Characterization")
    assert cues.place("3. Results", Kind.TEXT, has_procedure=True) < 0
    assert cues.place("3. Results", Kind.TEXT, has_procedure=False) == 0
    assert cues.place("2. Methods", Kind.TEXT, has_procedure=True) > 0
    assert cues.place("2. Methods", Kind.CAPTION, has_procedure=True) < cues.place(
        "2. Methods", Kind.TEXT, has_procedure=True
    )


def test_company_helps_up_to_a_point() -> None:
    assert cues.company(0) < cues.company(2) < cues.company(4) == cues.company(6)
