import pytest

from reciper_ray import asked, quantity


def named(question: str) -> list[tuple[str, str]]:
    """Text and kind ("" for none) of each attribute."""
    return [(a.text, a.kind.name if a.kind else "") for a in asked.attributes(question)]


@pytest.mark.parametrize(
    ("question", "attributes"),
    [
        (
            "At what temperature and for how long was the powder calcined?",
            [("temperature", "temperature"), ("how long", "time")],
        ),
        (
            "Which etchant and RF power were used on 4 mm wafers?",
            [("etchant", ""), ("RF power", "power")],
        ),
        ("What heating rate was used in DSC?", [("heating rate", "heating rate")]),
        ("What was the Pd concentration of the solution?", [("Pd concentration", "concentration")]),
        ("To what pH was the solution adjusted?", [("pH", "pH")]),
        ("What peak power density was reached?", [("peak power density", "power density")]),
        ("What power conversion efficiency resulted?", [("power conversion efficiency", "share")]),
        ("In what temperature range is it stable?", [("temperature range", "temperature")]),
        ("What range of overpotentials did it show?", [("overpotentials", "voltage")]),
        (
            "What needle-to-collector distance was used?",
            [("needle-to-collector distance", "length")],
        ),
        ("What Li:Fe:P molar ratio was used?", [("Li:Fe:P molar ratio", "ratio")]),
    ],
)
def test_what_is_asked_is_the_noun_phrase_after_the_question_word(
    question: str, attributes: list[tuple[str, str]]
) -> None:
    assert named(question) == attributes


@pytest.mark.parametrize(
    ("question", "attributes"),
    [
        ("Load and dwell time for Vickers tests", [("Load", "pressure"), ("dwell time", "time")]),
        ("pulse frequency of the laser", [("pulse frequency", "frequency")]),
        ("List rotational rates used in stirring.", [("rotational rates", "speed")]),
    ],
)
def test_a_question_without_a_question_word_asks_for_what_it_begins_with(
    question: str, attributes: list[tuple[str, str]]
) -> None:
    assert named(question) == attributes


def test_a_list_in_brackets_says_what_is_asked_and_a_formula_does_not() -> None:
    assert named("How was the steel annealed (temperature, hold)?") == [
        ("temperature", "temperature"),
        ("hold", "time"),
    ]
    assert named("How was barium titanate (BaTiO3) made?") == []


@pytest.mark.parametrize(
    "question",
    [
        "How was the powder made at low temperature?",
        "After milling, how is it calcined?",
        "In the micro-SOFC, how are the power leads attached?",
    ],
)
def test_asking_how_asks_for_nothing_that_could_be_looked_for(question: str) -> None:
    assert named(question) == []


def test_what_stands_in_the_context_is_not_asked() -> None:
    assert named("For flow activation energy at high pressure, which rheometer was used?") == [
        ("rheometer", "")
    ]


def test_the_terms_of_an_attribute_are_those_that_do_not_only_name_its_kind() -> None:
    (imidization, dwell) = asked.attributes(
        "What thermal imidization temperature and dwell time were used?"
    )
    assert imidization.terms == frozenset(("thermal", "imid"))
    assert dwell.terms == frozenset()


def test_an_attribute_asked_twice_is_one() -> None:
    assert named("At what temperature was it dried and at what temperature was it fired?") == [
        ("temperature", "temperature")
    ]


@pytest.mark.parametrize(
    ("kind", "text", "stated"),
    [
        ("temperature", "fired at 900 °C", True),
        ("temperature", "fired for 5 h", False),
        ("temperature", "dried at room temperature", True),
        ("time", "stirred overnight", True),
        ("heating rate", "heated at 5 °C/min", True),
        ("heating rate", "heated to 5 °C", False),
        ("pressure", "pressed at 200 MPa", True),
        ("power", "sputtered at 150 W", True),
        ("power density", "reached 445 mW cm−2", True),
        ("power", "reached 445 mW cm−2", False),
        ("pH", "the pH of the solution was adjusted to 8.0", True),
        ("pH", "the pH was adjusted. Then 8 g", False),
        ("ratio", "mixed 2:1", True),
        ("atmosphere", "fired in flowing Ar", True),
        ("atmosphere", "fired in a furnace", False),
    ],
)
def test_a_kind_is_stated_by_its_units_or_words(kind: str, text: str, stated: bool) -> None:
    (found,) = [k for k in asked.KINDS if k.name == kind]
    assert found.states(text, quantity.find(text)) is stated


def test_every_kind_is_stated_by_units_or_by_words_and_has_a_name_of_its_own() -> None:
    assert all(bool(kind.units) != bool(kind.stated) for kind in asked.KINDS)
    assert len({kind.name for kind in asked.KINDS}) == len(asked.KINDS)


@pytest.mark.parametrize("question", ["", "?", " and , ; ", "what", "(", "how long" * 500])
def test_odd_questions_ask_for_little_and_do_no_harm(question: str) -> None:
    assert len(named(question)) <= 1
