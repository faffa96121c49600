"""Streams of an OpenAI-compatible endpoint that answers, fails, lies and dawdles."""

import asyncio
import time
from typing import Any

import pytest

from reciper_ray.adapters.answerer import loaded, prepare
from reciper_ray.adapters.endpoint_stream import EndpointStream
from reciper_ray.config import AnswerConfig, EndpointConfig, SamplingConfig
from reciper_ray.errors import ConfigError, Overloaded, Unavailable
from reciper_ray.generation import Prompt
from tests.adapters.chat_server import ChatServer, Reply, serving

PROMPT = Prompt("system", "user", pattern="(a|b)")
PIECES = ["The powder ", "was fired at 900 °C [1]."]


def config(server: ChatServer, max_queue: int = 64, **options: Any) -> AnswerConfig:
    fast: dict[str, Any] = {"backoff_s": 0.01, "timeout_s": 5.0, "attempts": 3}
    endpoint = EndpointConfig(url=server.url, model="m", **(fast | options))
    sampling = SamplingConfig(max_tokens=100)
    return AnswerConfig(backend="openai", openai=endpoint, sampling=sampling, max_queue=max_queue)


def stream(server: ChatServer, **options: Any) -> EndpointStream:
    return EndpointStream(config(server, **options))


async def collect(asked: EndpointStream, pieces: list[str] | None = None) -> list[str]:
    pieces = [] if pieces is None else pieces
    async for piece in asked.stream(PROMPT):
        pieces.append(piece)
    return pieces


def test_pieces_come_as_they_are_written() -> None:
    async def run(asked: EndpointStream) -> tuple[list[str], float]:
        started, first = time.monotonic(), 0.0
        pieces = []
        async for piece in asked.stream(PROMPT):
            first = first or time.monotonic() - started
            pieces.append(piece)
        return pieces, first / (time.monotonic() - started)

    with serving(lambda body, seen: Reply(PIECES, pause_s=0.2)) as server:
        pieces, share = asyncio.run(run(stream(server)))
        assert pieces == PIECES
        assert share < 0.5
        (request,) = server.requests
        assert (request["model"], request["stream"], request["max_tokens"]) == ("m", True, 100)
        assert [message["content"] for message in request["messages"]] == ["system", "user"]


@pytest.mark.parametrize(
    "failure",
    [
        Reply(status=429, headers={"Retry-After": "0.01"}),
        Reply(status=500),
        Reply(b"garbage"),
        Reply(b'data: {"choices": 3}\n\n'),
        Reply([], ends=True),
    ],
    ids=["429", "500", "garbage", "not a choice", "nothing"],
)
def test_what_may_pass_is_asked_again(failure: Reply) -> None:
    with serving(lambda body, seen: Reply(PIECES) if seen == 2 else failure) as server:
        assert asyncio.run(collect(stream(server))) == PIECES
        assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("reply", "reason", "asked"),
    [
        (Reply(status=500), "endpoint: status 500", 3),
        (Reply(status=429), "endpoint: status 429", 3),
        (Reply(status=400), "endpoint: status 400", 1),
        (Reply(b"garbage"), "endpoint: no completion in the reply", 3),
        (Reply(PIECES, delay_s=1.0), "endpoint: timeout", 2),
    ],
)
def test_what_does_not_pass_is_named(reply: Reply, reason: str, asked: int) -> None:
    options = {"timeout_s": 0.2, "attempts": 2} if reply.delay_s else {}
    with serving(lambda body, seen: reply) as server:
        with pytest.raises(Unavailable, match=reason):
            asyncio.run(collect(stream(server, **options)))
        assert len(server.requests) == asked


@pytest.mark.parametrize("slow", [False, True])
def test_a_stream_that_breaks_off_is_not_begun_anew(slow: bool) -> None:
    reply = Reply(PIECES, pause_s=2.0) if slow else Reply(PIECES, ends=False)
    with serving(lambda body, seen: reply) as server:
        pieces: list[str] = []
        with pytest.raises(Unavailable, match="timeout" if slow else "no completion"):
            asyncio.run(collect(stream(server, timeout_s=0.5), pieces))
        assert pieces == PIECES[:1] if slow else pieces == PIECES
        assert len(server.requests) == 1


def test_who_leaves_closes_the_connection() -> None:
    async def run(asked: EndpointStream) -> None:
        pieces = asked.stream(PROMPT)
        await anext(pieces)
        await pieces.aclose()
        await asyncio.sleep(0.5)

    with serving(lambda body, seen: Reply(["word "] * 100, pause_s=0.02)) as server:
        asyncio.run(run(stream(server)))
        assert server.left == 1


def test_too_many_at_a_time_are_refused() -> None:
    async def run(asked: EndpointStream) -> list[Any]:
        calls = (collect(asked) for _ in range(3))
        return await asyncio.gather(*calls, return_exceptions=True)

    with serving(lambda body, seen: Reply(PIECES, pause_s=0.1)) as server:
        outcomes = asyncio.run(run(stream(server, max_queue=2)))
    assert [type(o) for o in outcomes] == [list, list, Overloaded]


def test_an_endpoint_that_is_not_there_is_named_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving(lambda body, seen: Reply(PIECES), key="k3y") as server:
        with pytest.raises(ConfigError, match=r"refuses the key \(answer\.openai\.api_key_env\)"):
            prepare(config(server), lambda line: None)
        monkeypatch.delenv("A_KEY", raising=False)
        with pytest.raises(ConfigError, match=r"answer\.openai\.api_key_env = 'A_KEY'"):
            prepare(config(server, api_key_env="A_KEY"), lambda line: None)
        monkeypatch.setenv("A_KEY", "k3y")
        keyed = config(server, api_key_env="A_KEY")
        prepare(keyed, lambda line: None)
        with loaded(keyed) as writer:
            assert writer is not None
            assert writer.generator.name.startswith("openai:m:")
    with pytest.raises(ConfigError, match=r"answer\.openai\.url = '.*' does not answer"):
        prepare(keyed, lambda line: None)
