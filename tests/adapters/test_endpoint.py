"""An OpenAI-compatible endpoint that answers, fails, lies and dawdles, over real HTTP."""

import json
import time
from typing import Any

import pytest

from reciper_ray.adapters import extractor
from reciper_ray.adapters.endpoint import EndpointGenerator
from reciper_ray.config import EndpointConfig, ExtractConfig, SamplingConfig
from reciper_ray.errors import ConfigError
from reciper_ray.generation import Completion, Generator, Prompt
from reciper_ray.recipe.draft import SCHEMA
from reciper_ray.recipe.llm import LlmExtractor
from reciper_ray.types import Paper, Paragraph
from tests.adapters.chat_server import ChatServer, Reply, serving

SAMPLING = SamplingConfig(max_tokens=100, retry_temperature=0.7)


def generator(server: ChatServer, **options: Any) -> EndpointGenerator:
    fast: dict[str, Any] = {"backoff_s": 0.01, "timeout_s": 5.0, "attempts": 3}
    return EndpointGenerator(
        EndpointConfig(url=server.url, model="m", **(fast | options)), SAMPLING
    )


def ask(server: ChatServer, *users: str, **options: Any) -> list[Completion]:
    prompts = [Prompt("system", user, SCHEMA) for user in users]
    return generator(server, **options).generate(prompts)


def test_each_prompt_gets_its_own_completion_whoever_answers_first() -> None:
    def reply(body: dict[str, Any], seen: int) -> Reply:
        user = body["messages"][1]["content"]
        return Reply(f"to {user}", delay_s=0.2 if user == "0" else 0.0)

    with serving(reply) as server:
        model: Generator = generator(server, concurrency=4)
        users = [str(n) for n in range(12)]
        completions = model.generate([Prompt("s", user, SCHEMA) for user in users])
        assert [c.text for c in completions] == [f"to {user}" for user in users]
        assert completions[0] == Completion("to 0", 7, 3)
        assert 2 <= server.most_at_once <= 4


def test_the_request_says_model_schema_and_sampling_and_a_retry_asks_for_another_answer() -> None:
    with serving(lambda body, seen: Reply("{}")) as server:
        model = generator(server)
        for attempt in (0, 1):
            model.generate([Prompt("be", "do", SCHEMA)], attempt)
        first, second = server.requests
        assert (first["model"], first["max_tokens"], first["temperature"]) == ("m", 100, 0.0)
        assert first["response_format"]["json_schema"]["schema"] == SCHEMA
        assert [m["role"] for m in first["messages"]] == ["system", "user"]
        assert (second["temperature"], second["seed"]) == (0.7, 1)
        generator(server, structured="none").generate([Prompt("be", "do", SCHEMA)])
        assert "response_format" not in server.requests[2]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_an_error_that_may_pass_is_tried_again(status: int) -> None:
    with serving(lambda body, seen: Reply("late", status=200 if seen == 2 else status)) as server:
        assert [c.text for c in ask(server, "a")] == ["late"]
        assert len(server.requests) == 3


@pytest.mark.parametrize("status", [400, 404, 413, 422])
def test_an_error_that_stays_is_not_tried_again(status: int) -> None:
    with serving(lambda body, seen: Reply(status=status)) as server:
        assert ask(server, "a") == [Completion(error=f"endpoint: status {status}")]
        assert len(server.requests) == 1


def test_attempts_are_bounded_and_a_failure_costs_its_own_prompt_only() -> None:
    def reply(body: dict[str, Any], seen: int) -> Reply:
        return Reply("fine", status=500 if body["messages"][1]["content"] == "bad" else 200)

    with serving(reply) as server:
        first, second = ask(server, "bad", "good")
        assert (first.error, second.text) == ("endpoint: status 500", "fine")
        assert len(server.requests) == 4


def test_the_pause_that_the_server_asks_for_is_kept() -> None:
    def reply(body: dict[str, Any], seen: int) -> Reply:
        return Reply("ok", 200 if seen else 429, {"Retry-After": "0.5"})

    with serving(reply) as server:
        started = time.monotonic()
        assert ask(server, "a")[0].text == "ok"
        assert time.monotonic() - started >= 0.5


def test_a_slow_endpoint_is_given_up_after_the_timeout() -> None:
    with serving(lambda body, seen: Reply("late", delay_s=1.0)) as server:
        (completion,) = ask(server, "a", timeout_s=0.2, attempts=2)
        assert completion.error == "endpoint: timeout"


@pytest.mark.parametrize(
    "garbage", [b"<html>", b"{}", b'{"choices": []}', b'{"choices": [{"message": {}}]}', b"\xff"]
)
def test_a_reply_that_is_no_completion_is_tried_again_and_then_an_error(garbage: bytes) -> None:
    with serving(lambda body, seen: Reply(garbage)) as server:
        (completion,) = ask(server, "a")
        assert completion.error == "endpoint: no completion in the reply"
        assert len(server.requests) == 3


def test_a_prompt_longer_than_the_context_is_not_sent() -> None:
    with serving(lambda body, seen: Reply("ok")) as server:
        (completion,) = ask(server, "word " * 400, context=200)
        assert completion.error == "prompt longer than the context"
        assert server.requests == []


def test_an_endpoint_that_is_not_there_is_named_before_any_work() -> None:
    with serving(lambda body, seen: Reply()) as server:
        url = server.url
    config = ExtractConfig(backend="openai", openai=EndpointConfig(url=url, model="m"))
    with pytest.raises(ConfigError, match=r"extract\.openai\.url = 'http.*does not answer"):
        extractor.prepare(config, lambda line: None)


def test_a_key_travels_and_a_wrong_or_missing_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda body, seen: Reply("ok"), key="right") as server:
        with pytest.raises(ConfigError, match="refuses the key"):
            generator(server)
        with pytest.raises(ConfigError, match="NO_SUCH_KEY"):
            generator(server, api_key_env="NO_SUCH_KEY")
        monkeypatch.setenv("TEST_ENDPOINT_KEY", "right")
        assert ask(server, "a", api_key_env="TEST_ENDPOINT_KEY")[0].text == "ok"
        assert server.keys == ["Bearer right"]


def test_recipes_come_from_an_endpoint_and_a_paper_that_fails_falls_back() -> None:
    text = "The powder was calcined in air at 900 °C for 5 h."
    good = Paper("good", "BaTiO3", text, (Paragraph(0, len(text)),))
    bad = Paper("bad", "SrTiO3", text, (Paragraph(0, len(text)),))
    step = {"operation": "calcined", "temperature": "900 °C", "time": "8 h"}
    written = (
        f"<think>so</think>```json\n{json.dumps({'steps': [step], 'material': 'BaTiO3'})}\n```"
    )

    def reply(body: dict[str, Any], seen: int) -> Reply:
        return Reply(status=503) if "SrTiO3" in body["messages"][1]["content"] else Reply(written)

    with serving(reply) as server:
        options = EndpointConfig(url=server.url, model="m", backoff_s=0.01, attempts=2)
        config = ExtractConfig(backend="openai", openai=options)
        name = extractor.prepare(config, lambda line: None)
        loaded = extractor.load(config)
        assert isinstance(loaded, LlmExtractor)
        assert loaded.name == name
        first, second = loaded.run([good, bad])
    assert [(s.temperature, s.time) for s in first.recipes[0].steps] == [("900 °C", "")]
    assert first.recipes[0].extractor == name
    assert second.fallback == "endpoint: status 503"
    assert second.recipes[0].extractor.startswith("extractive")
