"""`reciper search` and `reciper ask`: against a scripted server, and in process on a snapshot."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from reciper_ray import cli
from reciper_ray.cli.query import _how
from reciper_ray.client import DEFAULT_ADDRESS
from reciper_ray.types import Abstention, Answer, Method, View
from tests.scripted import ANSWER, Scripted, listening

QUESTION = "at what temperature?"


@pytest.fixture
def server() -> Scripted:
    return Scripted()


@pytest.fixture
def address(server: Scripted) -> Iterator[str]:
    with listening(server) as address:
        yield address


def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: object
) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the command line."""
    monkeypatch.setattr(sys, "argv", ["reciper", *map(str, arguments)])
    code: Any = 0
    try:
        cli.main()
    except SystemExit as done:
        code = done.code or 0
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def reciper(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.delenv("RECIPER_API_KEY", raising=False)
    return lambda *arguments: run(capsys, monkeypatch, *arguments)


def test_a_search_prints_rank_score_paper_heading_and_snippet(reciper: Any, address: str) -> None:
    code, out, err = reciper("search", QUESTION, "--address", address)
    assert code == 0
    assert out.splitlines() == [
        " 1. 0.5000 (dense 0.300, lexical 0.200)  p  paragraph, Methods, pp. 3–4",
        "    held at 600 oC",
    ]
    assert err == "warning: paragraph shard 1 is missing: out of memory\n"


def test_a_search_as_json_has_hits_with_parts_and_what_it_took(reciper: Any, address: str) -> None:
    _, out, _ = reciper("search", QUESTION, "--address", address, "--json")
    assert json.loads(out) == {
        "question": QUESTION,
        "method": "hybrid",
        "snapshot_id": "s1",
        "hits": [
            {
                "rank": 1,
                "paper_id": "p",
                "passage_id": "p:1",
                "view": "paragraph",
                "title": "T",
                "heading": "Methods",
                "year": None,
                "text": "held at 600 °C",
                "original": "held at 600 oC",
                "page": 3,
                "last_page": 4,
                "score": 0.5,
                "parts": {"dense": 0.3, "lexical": 0.2},
                "terms": {"@873K": 0.15, "held": 0.05},
            }
        ],
        "stage_ms": {"total": 1.5},
        "coverage": [
            {
                "view": "paragraph",
                "shards": 2,
                "answered": [0],
                "errors": {"1": "out of memory"},
                "share": 0.5,
            }
        ],
    }


def test_options_reach_the_server(
    reciper: Any, server: Scripted, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECIPER_API_KEY", "k3y")
    options = ("--method", "bm25", "-k", 3, "--timeout-ms", 1234)
    reciper("search", QUESTION, *options, "--address", address)
    (request,) = server.requests
    assert (request.question, request.method, request.k) == (QUESTION, "bm25", 3)
    assert request.timeout_ms == 1234
    assert server.metadata["authorization"] == "Bearer k3y"


def test_an_answer_prints_its_text_and_numbered_citations(reciper: Any, address: str) -> None:
    code, out, _ = reciper("ask", QUESTION, "--address", address)
    assert code == 0
    assert out.splitlines() == [
        "Held at 600 °C [1].",
        "(1 x a sentence of the language model left out: quantity not in what it cites)",
        "",
        "[1] p, pp. 3–4  T",
        "    “held at 600 oC”",
    ]


def test_an_answer_as_json_has_citations_and_the_hits_it_was_made_from(
    reciper: Any, address: str
) -> None:
    _, out, _ = reciper("ask", QUESTION, "--address", address, "--json")
    printed = json.loads(out)
    assert printed["answer"] == {
        "text": ANSWER.text,
        "abstained": False,
        "citations": [
            {
                "number": 1,
                "paper_id": "p",
                "passage_id": "p:1",
                "title": "T",
                "quote": "held at 600 °C",
                "span": {"start": 3, "end": 17},
                "original": "held at 600 oC",
                "page": 3,
                "last_page": 4,
            }
        ],
        "abstention": None,
        "answerer": "vllm:m",
        "fallback": "",
        "unsupported": ["quantity not in what it cites"],
    }
    assert [hit["passage_id"] for hit in printed["hits"]] == ["p:1"]


def test_a_reader_is_told_how_an_answer_came_about() -> None:
    abstained = Answer("", True, (), Abstention.NOT_REPORTED, "extractive")
    assert list(_how(abstained)) == ["no answer: not reported"]
    fallen = Answer("", False, (), fallback="timeout", unsupported=("cites nothing",) * 2)
    assert list(_how(fallen)) == [
        "quotes in the language model's place: timeout",
        "2 x a sentence of the language model left out: cites nothing",
    ]


@pytest.mark.parametrize("command", ["search", "ask"])
def test_an_error_is_one_line_and_exit_code_one(
    command: str, reciper: Any, server: Scripted, address: str
) -> None:
    server.failures = [grpc.StatusCode.INVALID_ARGUMENT]
    code, out, err = reciper(command, QUESTION, "--address", address)
    assert (code, out) == (1, "")
    assert err == "error: because of INVALID_ARGUMENT\n"


def test_a_server_that_is_not_there_is_named(reciper: Any) -> None:
    code, out, err = reciper("search", QUESTION, "--address", "127.0.0.1:9", "--timeout-ms", 100)
    assert (code, out) == (1, "")
    assert err.startswith("error: 127.0.0.1:9: ")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--address", DEFAULT_ADDRESS, "--snapshot", "s"), "exclude each other"),
        (("--config", "c.yaml"), "--config goes with --snapshot"),
        (("--method", "magic"), "magic"),
        (("-k", "many"), "-k"),
    ],
)
def test_wrong_usage_is_exit_code_two(
    options: tuple[str, ...], sentence: str, reciper: Any
) -> None:
    code, out, err = reciper("search", QUESTION, *options)
    assert (code, out) == (2, "")
    assert sentence in err


def test_a_place_without_a_snapshot_is_named(reciper: Any, tmp_path: Path) -> None:
    code, _, err = reciper("search", QUESTION, "--snapshot", tmp_path)
    assert code == 1
    assert err.splitlines()[-1].startswith(f"error: {tmp_path} holds no snapshot")


@pytest.mark.slow
@pytest.mark.parametrize("method", Method)
def test_a_snapshot_alone_is_searched_in_process(
    method: Method, reciper: Any, snapshot: Path
) -> None:
    code, out, _ = reciper(
        "search", QUESTION, "--snapshot", snapshot, "--method", method, "-k", 3, "--json"
    )
    assert code == 0
    found = json.loads(out)
    assert [hit["rank"] for hit in found["hits"]] == [1, 2, 3]
    assert all(coverage["share"] == 1.0 for coverage in found["coverage"])
    if method is Method.RECIPE:
        assert {hit["view"] for hit in found["hits"]} == {View.RECIPE}


@pytest.mark.slow
def test_a_snapshot_alone_is_asked_in_process(reciper: Any, snapshot: Path) -> None:
    code, out, _ = reciper(
        "ask", "At what temperature was the powder sintered?", "--snapshot", snapshot
    )
    assert code == 0
    text, _, citations = out.partition("\n\n")
    assert text
    assert citations.startswith("[1] ")
