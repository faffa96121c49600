"""`reciper build` and `reciper inspect`: arguments, exit codes, what goes to which stream."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from reciper_ray.cli import main
from reciper_ray.manifest import Role
from reciper_ray.snapshot import Snapshot
from tests import stores


class Ran:
    """A finished command."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


Reciper = Callable[..., Ran]


@pytest.fixture
def reciper(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Reciper:
    """The command line in this process."""

    def run(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["reciper", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run


@pytest.fixture
def store(tmp_path: Path) -> Path:
    stores.write_store(tmp_path / "store", ["a", "g"])
    return tmp_path / "store"


def test_inspect_shows_what_the_snapshot_holds(reciper: Reciper, store: Path) -> None:
    ran = reciper("inspect", store)
    snapshot = Snapshot.open(store)
    assert ran.code == 0
    assert ran.err == ""
    lines = ran.out.splitlines()
    assert lines[0] == f"snapshot     {snapshot.id}"
    assert "papers       2" in lines
    assert "passages     4 paragraph, 2 recipe" in lines
    for file in snapshot.manifest.files:
        assert any(line.endswith(f"rows  {file.path}") for line in lines)


def test_inspect_prints_the_manifest_as_json(reciper: Reciper, store: Path) -> None:
    shown = json.loads(reciper("inspect", store, "--json").out)
    assert shown["snapshot_id"] == Snapshot.open(store).id
    assert {file["role"] for file in shown["files"]} == set(Role)


def test_inspect_shows_a_paper_with_its_steps_and_their_sentences(
    reciper: Reciper, store: Path
) -> None:
    lines = reciper("inspect", store, "--paper", "g").out.splitlines()
    assert "title        On g" in lines
    assert "  1. fired, 850 °C" in lines
    assert '     "It was fired at 850 °C."' in lines
    assert "recipe 0  g:r:0" in lines
    shown = json.loads(reciper("inspect", store, "--paper", "g", "--json").out)
    assert shown["paper"]["title"] == "On g"
    assert [p["passage_id"] for p in shown["passages"]] == ["g:p:0", "g:p:1", "g:r:0"]
    assert shown["recipes"][0]["steps"][0]["temperature"] == "850 °C"


def test_inspect_shows_the_quarantine(reciper: Reciper, store: Path) -> None:
    lines = reciper("inspect", store, "--quarantine").out.splitlines()
    assert lines == [
        "empty.txt: read: empty file",
        "x.txt: read: empty file",
        "2 not indexed",
    ]
    shown = json.loads(reciper("inspect", store, "--quarantine", "--json").out)
    assert [row["path"] for row in shown["quarantine"]] == ["empty.txt", "x.txt"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("inspect", "{store}", "--paper", "nope"), "holds no paper 'nope'"),
        (("inspect", "{empty}"), "holds no snapshot"),
        (("build", "{empty}/nope", "--out", "{empty}/out"), "nope does not exist"),
        (("build", "{empty}", "--out", "{empty}/out"), "holds no files"),
        (("build", "{store}", "--out", "{empty}", "--config", "{empty}/no.yaml"), "no.yaml"),
        (("build", "{store}", "--out", "{store}/data"), "lies inside the corpus"),
    ],
)
def test_what_fails_is_one_line_and_exit_code_1(
    reciper: Reciper, store: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "empty").mkdir()
    places = {"store": store, "empty": tmp_path / "empty"}
    ran = reciper(*(argument.format(**places) for argument in arguments))
    assert ran.code == 1
    assert ran.out == ""
    assert ran.err.startswith("error: ")
    assert message in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("build",),
        ("build", "papers"),
        ("build", "papers", "--out", "s", "--speed", "9"),
        ("inspect", "s", "--quarantine", "--paper", "a"),
    ],
)
def test_wrong_usage_is_exit_code_2(reciper: Reciper, arguments: tuple[str, ...]) -> None:
    ran = reciper(*arguments)
    assert ran.code == 2
    assert ran.out == ""
