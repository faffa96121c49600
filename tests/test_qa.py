import json
from pathlib import Path

import pytest

from reciper_ray import qa
from reciper_ray.errors import InvalidArgument

OURS = {
    "question": "At what temperature was BZY fired?",
    "answer": "900 °C",
    "paper_id": "sofc_01",
    "type": "temperature",
    "evidence": "BZY was fired at 900 °C.",
    "must_contain": ["900"],
    "relevant_ids": ["sofc_01", "PMC5700654"],
}
THEIRS = {
    "question": "How was it made?",
    "answer": "By milling.",
    "topic": "synthesis",
    "paper_id": "p7",
    "paper_title": "On it",
    "source": "arxiv",
    "source_type": "None",
}


def write(folder: Path, *rows: object) -> Path:
    path = folder / "qa.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_a_question_of_ours_keeps_every_field(tmp_path: Path) -> None:
    assert qa.load(write(tmp_path, OURS)) == [
        qa.Question(
            id="q1",
            text="At what temperature was BZY fired?",
            answer="900 °C",
            type="temperature",
            relevant_ids=frozenset({"sofc_01", "PMC5700654"}),
            must_contain=("900",),
            evidence="BZY was fired at 900 °C.",
        )
    ]


def test_a_question_of_the_released_data_is_relevant_to_its_paper(tmp_path: Path) -> None:
    (question,) = qa.load(write(tmp_path, THEIRS))
    assert question.relevant_ids == {"p7"}
    assert (question.type, question.must_contain) == ("synthesis", ())


@pytest.mark.parametrize("nothing", [None, "None", "  "])
def test_fields_that_are_null_or_the_string_none_are_empty(tmp_path: Path, nothing: object) -> None:
    row = dict.fromkeys(THEIRS, nothing) | {"question": "How?"}
    assert qa.load(write(tmp_path, row)) == [qa.Question(id="q1", text="How?")]


def test_missing_fields_are_empty(tmp_path: Path) -> None:
    assert qa.load(write(tmp_path, {"question": "How?"})) == [qa.Question(id="q1", text="How?")]


def test_an_array_loads_as_lines_do(tmp_path: Path) -> None:
    array = tmp_path / "qa.json"
    array.write_text(json.dumps([OURS, THEIRS], indent=1), "utf-8")
    assert qa.load(array) == qa.load(write(tmp_path, OURS, THEIRS))


def test_a_byte_order_mark_and_blank_lines_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "qa.jsonl"
    path.write_text(f"{json.dumps(OURS)}\r\n\r\n", "utf-8-sig")
    assert [question.text for question in qa.load(path)] == [OURS["question"]]


def test_a_line_separator_inside_a_string_does_not_end_the_line(tmp_path: Path) -> None:
    path = tmp_path / "qa.jsonl"
    path.write_text(json.dumps({"question": "a\u2028b"}, ensure_ascii=False), "utf-8")
    assert qa.load(path)[0].text == "a\u2028b"


def test_a_paper_id_may_be_a_number(tmp_path: Path) -> None:
    assert qa.load(write(tmp_path, THEIRS | {"paper_id": 7}))[0].relevant_ids == {"7"}


def test_ids_are_the_rows_own_or_their_line(tmp_path: Path) -> None:
    rows = [THEIRS, THEIRS | {"id": "mine"}, THEIRS]
    assert [q.id for q in qa.load(write(tmp_path, *rows))] == ["q1", "mine", "q3"]


def test_only_unanswerable_questions_are_not_answerable(tmp_path: Path) -> None:
    rows = [OURS, OURS | {"type": "unanswerable", "must_contain": []}]
    assert [q.answerable for q in qa.load(write(tmp_path, *rows))] == [True, False]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"question": "a"}\n{"question": \n', r"qa\.jsonl, line 2, column \d+: not JSON"),
        ('[{"question": "a"},\n {]', r"qa\.jsonl, line 2: not JSON"),
        ('{"question": "a"}\n["b"]\n', r"line 2: \[\"b\"\] is not an object"),
        ('[{"question": "a"}, 3]', r"row 2: 3 is not an object"),
        ('{"answer": "a"}', r"line 1: question is missing or empty"),
        ('{"question": "None"}', r"line 1: question is missing or empty"),
        ('{"question": ["a"]}', r"line 1: question = \[\"a\"\] is not a string"),
        ('{"question": "a", "must_contain": "900"}', r"must_contain = \"900\" is not a list"),
        ('{"question": "a", "must_contain": [9]}', r"must_contain = \[9\] is not a list"),
        ('{"question": "a", "must_contain": [""]}', r"must_contain = \[\"\"\] is not a list"),
        ('{"question": "a", "relevant_ids": {}}', r"relevant_ids = \{\} is not a list"),
        ('{"question": "a", "paper_id": 1.5}', r"paper_id = 1.5 is not a string"),
        ('{"question": "a", "id": "x"}\n' * 2, r"line 2: id 'x' is an earlier row's id"),
        ("", r"qa\.jsonl: no question in it"),
        ("[]", r"qa\.jsonl: no question in it"),
        (" \n\n", r"qa\.jsonl: no question in it"),
    ],
)
def test_a_bad_file_is_refused_by_file_line_and_field(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "qa.jsonl"
    path.write_text(content, "utf-8")
    with pytest.raises(InvalidArgument, match=message):
        qa.load(path)


def test_a_file_that_is_not_there_or_not_text_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"none\.jsonl: No such file"):
        qa.load(tmp_path / "none.jsonl")
    (tmp_path / "bad.jsonl").write_bytes(b'{"question": "\xff"}')
    with pytest.raises(InvalidArgument, match=r"bad\.jsonl: not UTF-8 at byte 14"):
        qa.load(tmp_path / "bad.jsonl")


def test_the_development_questions_load(shared: Path) -> None:
    questions = qa.load(shared / "corpus" / "qa_dev.jsonl")
    assert len(questions) == 308
    assert sum(not question.answerable for question in questions) == 16
    assert all(question.relevant_ids for question in questions)
    assert all(bool(question.must_contain) == question.answerable for question in questions)


def test_copies_are_joined_by_the_paper_kept_instead() -> None:
    question = qa.Question("q1", "At what temperature?", relevant_ids=frozenset({"b2", "c"}))
    assert question.with_kept({"b2": "b", "x": "y"}).relevant_ids == {"b", "b2", "c"}
