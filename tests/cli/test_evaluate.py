"""`reciper evaluate` on a small published store; the encoder alone is replaced by a small one."""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from reciper_ray import cli, local
from tests.stores import DIMENSION, write_store

Reciper = Callable[..., tuple[int, str, str]]

QUESTIONS = (
    {
        "question": "At what temperature was powder alpha fired?",
        "paper_id": "alpha",
        "type": "temperature",
        "must_contain": ["850"],
    },
    {"question": "What RF power was used for powder beta?", "type": "unanswerable"},
)
GOLD = {
    "paper_id": "alpha",
    "material": "powder",
    "steps": [
        {"operation": "fire", "temperature": "850 °C", "evidence": "It was fired at 850 °C."}
    ],
}


class SmallEncoder:
    """Unit vectors of the store's dimension, the same for every question."""

    fingerprint = "test:0"

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.full((len(texts), DIMENSION), DIMENSION**-0.5, np.float32)


@pytest.fixture
def reciper(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Reciper:
    """Runs the command line: exit code, stdout and stderr."""
    monkeypatch.setattr(local, "query_encoder", lambda config: SmallEncoder())

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["reciper", *map(str, arguments)])
        code: Any = 0
        try:
            cli.main()
        except SystemExit as done:
            code = done.code or 0
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def store(tmp_path: Path) -> Path:
    write_store(tmp_path / "store", ["alpha", "beta", "gamma"])
    return tmp_path / "store"


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_json_is_one_object_of_fractions_and_progress_goes_to_stderr(
    reciper: Reciper, store: Path, tmp_path: Path
) -> None:
    qa = lines(tmp_path / "qa", *QUESTIONS)
    code, out, err = reciper(
        "evaluate", "--snapshot", store, "--qa", qa, "--method", "bm25", "--json"
    )
    assert code == 0
    found = json.loads(out)
    metrics = found.pop("metrics")
    assert found == {"method": "bm25", "queries": 1}
    # Two passages of the paper hold its name; the one with the temperature comes second.
    assert metrics.pop("evidence@1") == 0.0
    assert metrics == dict.fromkeys(("R@1", "R@5", "R@10", "nDCG@10", "MRR@10", "evidence@5"), 1.0)
    assert "2 of 2 questions" in err


def test_answers_run_and_hits_are_judged_and_written(
    reciper: Reciper, store: Path, tmp_path: Path
) -> None:
    qa = lines(tmp_path / "qa", *QUESTIONS)
    code, out, _ = reciper(
        "evaluate", "--snapshot", store, "--qa", qa, "--method", "bm25", "--answers",
        "--run", tmp_path / "run", "--hits", tmp_path / "hits", "--json",
    )  # fmt: skip
    assert code == 0
    metrics = json.loads(out)["metrics"]
    assert metrics["answer_accuracy"]["value"] == 1.0
    assert metrics["abstention_recall"] == metrics["abstention_precision"]
    assert metrics["abstention_recall"]["value"] == 1.0
    assert metrics["unsupported_claims"]["value"] == 0.0
    assert (tmp_path / "run").read_text().startswith("q1 Q0 alpha 1 3 bm25\n")
    rows = [json.loads(line) for line in (tmp_path / "hits").read_text().splitlines()]
    assert [row["question"] for row in rows] == [q["question"] for q in QUESTIONS]
    assert [row["answer"]["abstained"] for row in rows] == [False, True]


def test_the_table_names_every_measure(reciper: Reciper, store: Path, tmp_path: Path) -> None:
    qa = lines(tmp_path / "qa", *QUESTIONS)
    code, out, _ = reciper(
        "evaluate", "--snapshot", store, "--qa", qa, "--method", "bm25", "--answers"
    )
    assert code == 0
    for name in ("R@1", "nDCG@10", "evidence@5", "answer_accuracy", "abstention_recall"):
        assert name in out


def test_questions_that_name_no_paper_are_said(
    reciper: Reciper, store: Path, tmp_path: Path
) -> None:
    qa = lines(tmp_path / "qa", {"question": "How was powder alpha made?"})
    code, out, err = reciper(
        "evaluate", "--snapshot", store, "--qa", qa, "--method", "bm25", "--json"
    )
    assert code == 0
    assert json.loads(out)["metrics"]["R@1"] is None
    assert "1 of 1 questions name no paper" in err


def test_recipes_are_judged_without_an_encoder(
    reciper: Reciper, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(config: object) -> SmallEncoder:
        raise AssertionError("no encoder is needed")

    monkeypatch.setattr(local, "query_encoder", refused)
    gold = lines(tmp_path / "gold", GOLD, GOLD | {"paper_id": "absent"})
    code, out, err = reciper("evaluate", "--snapshot", store, "--recipes", gold, "--json")
    assert code == 0
    scores = json.loads(out)
    assert scores["recall"]["temperature"]["value"] == 1.0
    assert scores["recall"]["temperature"].keys() == {"value", "n", "low", "high"}
    assert scores["precision"]["value"] == 1.0
    assert "not in the snapshot and not judged: absent" in err
    code, out, _ = reciper("evaluate", "--snapshot", store, "--recipes", gold)
    assert code == 0
    assert "recall of temperature" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "give either --qa or --recipes"),
        (("--qa", "qa", "--recipes", "gold"), "give either --qa or --recipes"),
        (("--recipes", "gold", "--answers"), "go with --qa"),
        (("--recipes", "gold", "--hits", "out"), "go with --qa"),
        (("--qa", "nothing"), "does not exist"),
        (("--qa", "qa", "--run", "no/such/folder"), "could be written"),
        (("--qa", "qa", "--hits", "."), "could be written"),
        (("--qa", "qa", "--method", "magic"), "magic"),
    ],
)
def test_wrong_usage_is_exit_code_2(
    reciper: Reciper,
    store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    lines(tmp_path / "qa", *QUESTIONS)
    lines(tmp_path / "gold", GOLD)
    code, out, err = reciper("evaluate", "--snapshot", store, *options)
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "line 1, column 2: not JSON"), ("", "no question in it"), ("{}", "question is missing")],
)
def test_a_bad_file_of_questions_is_exit_code_1_and_one_sentence(
    reciper: Reciper, store: Path, tmp_path: Path, content: str, message: str
) -> None:
    (tmp_path / "qa").write_text(content)
    code, out, err = reciper("evaluate", "--snapshot", store, "--qa", tmp_path / "qa")
    assert (code, out) == (1, "")
    assert err.startswith(f"error: questions {tmp_path / 'qa'}")
    assert message in err


def test_a_bad_file_of_recipes_is_named_with_its_line(
    reciper: Reciper, store: Path, tmp_path: Path
) -> None:
    (tmp_path / "gold").write_text("{}\n")
    code, _, err = reciper("evaluate", "--snapshot", store, "--recipes", tmp_path / "gold")
    assert code == 1
    assert f"recipes {tmp_path / 'gold'}: line 1" in err


def test_a_store_without_a_snapshot_is_exit_code_1(reciper: Reciper, tmp_path: Path) -> None:
    qa = lines(tmp_path / "qa", *QUESTIONS)
    code, out, err = reciper("evaluate", "--snapshot", tmp_path / "empty", "--qa", qa)
    assert (code, out) == (1, "")
    assert "holds no snapshot" in err
