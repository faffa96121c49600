"""vLLM's asynchronous engine for real, on CPU, with the packaged SmolLM2."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from reciper_ray.adapters.answerer import loaded, prepare
from reciper_ray.adapters.stream import VllmStream
from reciper_ray.config import AnswerConfig, SamplingConfig, VllmConfig
from reciper_ray.errors import ConfigError, Overloaded, Unavailable
from reciper_ray.generation import Prompt

pytestmark = [
    pytest.mark.slow,
    # Importing vLLM warns of its own and of torch's future.
    pytest.mark.filterwarnings("default"),
]

CONFIG = AnswerConfig(
    backend="vllm",
    max_queue=3,
    sampling=SamplingConfig(max_tokens=100),
    vllm=VllmConfig(max_model_len=1024, kv_cache_gib=0.5, restarts=1),
)
LONG = Prompt("You are a poet.", "Write a long poem about ovens.")


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.Runner]:
    # An engine belongs to one event loop.
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def engine(vllm_cpu: None, loop: asyncio.Runner) -> Iterator[VllmStream]:
    started = VllmStream(CONFIG)
    yield started
    started.close()


async def written(engine: VllmStream, prompt: Prompt) -> list[str]:
    return [piece async for piece in engine.stream(prompt)]


async def emptied(engine: VllmStream) -> int:
    """What the engine has left to do once it had time to notice."""
    for _ in range(100):
        if not engine.unfinished:
            break
        await asyncio.sleep(0.05)
    return engine.unfinished


def test_an_answer_comes_in_many_pieces(engine: VllmStream, loop: asyncio.Runner) -> None:
    pieces = loop.run(written(engine, LONG))
    assert len(pieces) > 20
    assert engine.count("".join(pieces)) <= CONFIG.sampling.max_tokens + 1


def test_an_answer_matches_the_pattern_it_was_given(
    engine: VllmStream, loop: asyncio.Runner
) -> None:
    pattern = r"(The oven is hot\. \[1\]|The oven is cold\. \[2\])"
    prompt = Prompt("Choose.", "Is an oven hot?", pattern=pattern)
    assert re.fullmatch(pattern, "".join(loop.run(written(engine, prompt))))


def test_many_are_answered_at_a_time_and_too_many_are_refused(
    engine: VllmStream, loop: asyncio.Runner
) -> None:
    async def run() -> list[list[str] | BaseException]:
        calls = (written(engine, LONG) for _ in range(5))
        return await asyncio.gather(*calls, return_exceptions=True)

    outcomes = loop.run(run())
    refused = [o for o in outcomes if isinstance(o, BaseException)]
    assert len(refused) == 5 - CONFIG.max_queue
    assert all(isinstance(error, Overloaded) for error in refused)
    assert "3 answers are being written (answer.max_queue)" in str(refused[0])
    assert all(o for o in outcomes if isinstance(o, list))


@pytest.mark.parametrize("how", ["closed", "cancelled"])
def test_who_leaves_takes_the_prompt_out_of_the_engine(
    how: str, engine: VllmStream, loop: asyncio.Runner
) -> None:
    async def run() -> tuple[int, int]:
        stream = engine.stream(LONG)
        await anext(stream)
        before = engine.unfinished
        if how == "closed":
            await stream.aclose()
        else:
            task = asyncio.ensure_future(anext(stream))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
        return before, await emptied(engine)

    assert loop.run(run()) == (1, 0)
    assert loop.run(written(engine, LONG))


def test_a_prompt_longer_than_the_context_is_refused(
    engine: VllmStream, loop: asyncio.Runner
) -> None:
    with pytest.raises(Unavailable, match="prompt longer than the context"):
        loop.run(written(engine, Prompt("s", "word " * 2000)))
    assert engine.unfinished == 0


def test_a_killed_engine_fails_what_it_had_and_is_started_again_once(
    engine: VllmStream, loop: asyncio.Runner
) -> None:
    def kill() -> None:
        for process in psutil.Process().children(recursive=True):
            if "EngineCore" in " ".join(process.cmdline()) or "VLLM" in process.name():
                process.kill()

    async def run() -> tuple[list[str], list[str]]:
        streams = [engine.stream(LONG) for _ in range(2)]
        for stream in streams:
            await anext(stream)
        kill()
        failures: list[str] = []
        for stream in streams:
            try:
                async for _ in stream:
                    pass
            except Unavailable as error:
                failures.append(str(error))
        # Whether its death has been noticed yet is a matter of milliseconds.
        with pytest.raises(Unavailable, match=r"engine: (being restarted|died)"):
            await written(engine, LONG)
        for _ in range(600):
            await asyncio.sleep(0.2)
            try:
                return failures, await written(engine, LONG)
            except Unavailable:
                continue
        return failures, []

    failures, pieces = loop.run(run())
    assert failures == ["engine: died"] * 2
    assert len(pieces) > 20
    assert not engine.gone


def test_a_folder_that_is_no_model_is_named_before_anything_starts(tmp_path: Path) -> None:
    for model, why in ((tmp_path / "none", "no such folder"), (tmp_path, "has no config.json")):
        config = CONFIG.model_copy(update={"vllm": VllmConfig(model=str(model))})
        with pytest.raises(ConfigError, match=rf"answer\.vllm\.model = '{model}': .*{why}"):
            prepare(config, lambda line: None)


def test_without_a_model_there_is_nobody_to_load() -> None:
    with loaded(AnswerConfig()) as writer:
        assert writer is None
