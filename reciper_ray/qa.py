"""Questions with known answers: our `qa_dev.jsonl` and RECIPER's released `qa_dataset.jsonl`.

Either file holds JSON lines or one JSON array. Judging what comes back is `reciper_ray.metrics`.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from reciper_ray.errors import InvalidArgument

UNANSWERABLE = "unanswerable"


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what is known of its answer.

    `relevant_ids` are the copies of the one paper that answers it, empty where the source names
    none. `must_contain` are strings that a right answer and its evidence contain.
    """

    id: str
    text: str
    answer: str = ""
    type: str = ""
    relevant_ids: frozenset[str] = frozenset()
    must_contain: tuple[str, ...] = ()
    evidence: str = ""

    @property
    def answerable(self) -> bool:
        """Whether the paper reports what is asked."""
        return self.type != UNANSWERABLE

    def with_kept(self, kept: Mapping[str, str]) -> "Question":
        """The question with each copy in `relevant_ids` joined by the paper kept instead."""
        return replace(
            self,
            relevant_ids=self.relevant_ids | {kept[i] for i in self.relevant_ids if i in kept},
        )


def load(path: str | Path) -> list[Question]:
    """The questions of the file at `path`, in its order; a question without an id is `q<line>`.

    Missing, null and `"None"` fields are empty. Raises `InvalidArgument` naming the file, the
    line (of an array: the row) and the field when the file cannot be read as questions, when a
    row has no question, a field of a wrong type or the id of an earlier row.
    """
    try:
        source = Path(path).read_text("utf-8-sig")
    except OSError as error:
        raise InvalidArgument(f"questions {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidArgument(f"questions {path}: not UTF-8 at byte {error.start}") from error
    questions: dict[str, Question] = {}
    for number, place, row in _rows(source, str(path)):
        question = _question(row, number, place)
        if question.id in questions:
            raise InvalidArgument(f"{place}: id {question.id!r} is an earlier row's id")
        questions[question.id] = question
    if not questions:
        raise InvalidArgument(f"questions {path}: no question in it")
    return list(questions.values())


def _rows(source: str, name: str) -> Iterator[tuple[int, str, object]]:
    """Each row with its number and its place, as errors name it."""
    if source.lstrip().startswith("["):
        try:
            rows = json.loads(source)
        except json.JSONDecodeError as error:
            raise InvalidArgument(
                f"questions {name}, line {error.lineno}: not JSON: {error.msg}"
            ) from error
        for number, row in enumerate(rows, 1):
            yield number, f"questions {name}, row {number}", row
        return
    for number, line in enumerate(source.split("\n"), 1):
        if line.strip():
            place = f"questions {name}, line {number}"
            try:
                yield number, place, json.loads(line)
            except json.JSONDecodeError as error:
                raise InvalidArgument(
                    f"{place}, column {error.colno}: not JSON: {error.msg}"
                ) from error


def _question(row: object, number: int, place: str) -> Question:
    if not isinstance(row, dict):
        raise InvalidArgument(f"{place}: {_short(row)} is not an object with a question")
    text = _text(row, "question", place)
    if not text:
        raise InvalidArgument(f"{place}: question is missing or empty")
    relevant = {*_texts(row, "relevant_ids", place), _text(row, "paper_id", place)}
    return Question(
        id=_text(row, "id", place) or f"q{number}",
        text=text,
        answer=_text(row, "answer", place),
        type=_text(row, "type", place) or _text(row, "topic", place),
        relevant_ids=frozenset(relevant - {""}),
        must_contain=tuple(_texts(row, "must_contain", place)),
        evidence=_text(row, "evidence", place),
    )


def _text(row: Mapping[str, object], field: str, place: str) -> str:
    match row.get(field):
        case None | "None":
            return ""
        case str(value):
            return value.strip()
        case bool() | float() | list() | dict() as value:
            raise InvalidArgument(f"{place}: {field} = {_short(value)} is not a string")
        case value:
            return str(value)


def _texts(row: Mapping[str, object], field: str, place: str) -> list[str]:
    value = row.get(field)
    if value is None or value == "None":
        return []
    if not isinstance(value, list) or not all(isinstance(v, str) and v for v in value):
        raise InvalidArgument(f"{place}: {field} = {_short(value)} is not a list of strings")
    return value


def _short(value: object) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
