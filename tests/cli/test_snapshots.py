"""`reciper snapshots` as a person and as a program use it."""

import json
from pathlib import Path

import pytest

from reciper_ray.adapters.storage import Store
from reciper_ray.cli import app, main
from reciper_ray.leases import Held, Kind
from reciper_ray.snapshot import current_id
from tests.stores import write_store


@pytest.fixture
def ids(tmp_path: Path) -> list[str]:
    return [write_store(tmp_path, papers).snapshot_id for papers in ("a", "ab", "abc")]


def run(*arguments: str | Path) -> None:
    app(["snapshots", *map(str, arguments)], standalone_mode=False)


def test_the_list_marks_the_current_one_and_says_who_holds_which(
    ids: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Held(Store.open(tmp_path), Kind.SERVE, [ids[1]]):
        run("list", tmp_path)
        shown = capsys.readouterr().out
        run("list", tmp_path, "--json")
    entries = json.loads(capsys.readouterr().out)["snapshots"]
    assert f"* {ids[2]}  " in shown
    assert f"  {ids[1]}  " in shown
    assert "held: serve by process " in shown
    assert {entry["snapshot_id"] for entry in entries} == set(ids)
    assert [entry["papers"] for entry in entries if entry["current"]] == [3]


def test_going_back_and_pruning_say_what_they_did(
    ids: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("rollback", tmp_path)
    assert capsys.readouterr().out == f"snapshot {ids[1]} is current\n"
    run("rollback", tmp_path, ids[0], "--json")
    assert json.loads(capsys.readouterr().out) == {"snapshot_id": ids[0]}
    run("prune", tmp_path, "--keep", "0")
    shown = capsys.readouterr().out
    assert {f"deleted {ids[1]}", f"deleted {ids[2]}"} <= set(shown.splitlines())
    run("prune", tmp_path, "--json")
    assert json.loads(capsys.readouterr().out)["snapshots"] == []
    assert current_id(Store.open(tmp_path)) == ids[0]


def test_an_error_is_one_line_and_exit_code_1(
    ids: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.argv", ["reciper", "snapshots", "prune", str(tmp_path)])
    with Held(Store.open(tmp_path), Kind.BUILD), pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert capsys.readouterr().err.startswith(f"error: {tmp_path} is in use: build by process ")
