"""Answers by SmolLM2 in vLLM, streamed over gRPC from a deployment of its own."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from reciper_ray.client import AsyncClient, Client
from reciper_ray.types import Abstention, Answer, Query
from tests.serve.server import Server

pytestmark = pytest.mark.slow

QUESTION = "At what temperature and for how long was the Nb-doped lithium garnet powder calcined?"
PATIENT = {"timeout_ms": 100_000}
ANSWER = {
    "backend": "vllm",
    "passages": 2,
    # A model of this size goes on for as long as it may when it is free to.
    "constrain": False,
    "sentences": 100,
    "max_queue": 1,
    "sampling": {"max_tokens": 1024},
    "vllm": {"max_model_len": 2048, "kv_cache_gib": 0.5},
}


@pytest.fixture(scope="module")
def server(
    vllm_cpu: None, snapshot: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    config = {
        "answer": ANSWER,
        "serve": {"answerer": {"num_replicas": 1, "num_cpus": 1}},
    }
    with Server(snapshot, tmp_path_factory.mktemp("server"), config) as running:
        assert running.stdout.startswith("ready: "), running.stderr
        yield running


def test_an_answer_streams_and_is_verified(server: Server) -> None:
    with Client(server.address) as client:
        *tokens, last = client.stream(Query(QUESTION, **PATIENT))
    assert len(tokens) > 1
    assert not isinstance(last, str)
    answer, result = last
    assert "".join(token for token in tokens if isinstance(token, str)) == answer.text
    assert answer.answerer.startswith("vllm:smollm2") or answer.fallback
    assert answer.citations
    assert result.stage_ms["answer"] > 0


def test_what_the_papers_do_not_report_is_typed_over_the_wire(server: Server) -> None:
    question = "What RF power was used to calcine the Nb-doped lithium garnet powder?"
    with Client(server.address) as client:
        answer, _ = client.answer(Query(question, **PATIENT))
    assert answer.abstention is Abstention.NOT_REPORTED
    assert answer.answerer == "extractive"


def test_a_full_queue_is_refused_and_a_client_that_leaves_makes_room(server: Server) -> None:
    async def run() -> tuple[list[str], int, Answer]:
        async with AsyncClient(server.address, attempts=1) as client:
            # Whichever comes first writes on for seconds, the others find it writing.
            asking = [
                asyncio.create_task(client.answer(Query(QUESTION, **PATIENT))) for _ in range(3)
            ]
            done, writing = await asyncio.wait(asking, return_when=asyncio.FIRST_EXCEPTION)
            refused = [str(task.exception()) for task in done]
            for task in writing:
                task.cancel()
            await asyncio.wait(asking)
        # Until the first one has left the engine, which would come with its last token, there is
        # no room.
        async with AsyncClient(server.address, attempts=6) as client:
            answer, _ = await client.answer(Query(QUESTION, timeout_ms=4000))
        return refused, len(writing), answer

    refused, writing, answer = asyncio.run(run())
    assert refused
    assert all("answer.max_queue" in each for each in refused)
    assert writing
    assert answer.citations


def test_a_question_without_time_for_the_model_is_answered_by_quotes(server: Server) -> None:
    with Client(server.address) as client:
        answer, _ = client.answer(Query(QUESTION, timeout_ms=2500))
    assert answer.citations
    assert answer.fallback == "timeout"
