"""vLLM for real, on CPU, with the packaged SmolLM2."""

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from jsonschema import Draft202012Validator

from reciper_ray.adapters import extractor, language_model
from reciper_ray.adapters.generator import VllmGenerator
from reciper_ray.config import ExtractConfig, SamplingConfig, VllmConfig
from reciper_ray.errors import ConfigError
from reciper_ray.generation import Generator, Prompt
from reciper_ray.readers import read
from reciper_ray.recipe import options, prompt
from reciper_ray.recipe.draft import SCHEMA
from reciper_ray.recipe.llm import LlmExtractor
from reciper_ray.types import Paper, Rejection

pytestmark = [
    pytest.mark.slow,
    # Importing vLLM warns of its own and of torch's future.
    pytest.mark.filterwarnings("default"),
]

CONFIG = VllmConfig(max_model_len=2048, kv_cache_gib=0.5)
SAMPLING = SamplingConfig(max_tokens=256)


@pytest.fixture(scope="module")
def engine(vllm_cpu: None) -> Iterator[VllmGenerator]:
    generator = VllmGenerator(CONFIG, SAMPLING)
    yield generator
    generator.close()


@pytest.fixture(scope="module")
def papers(sample: Path) -> list[Paper]:
    records = [
        record
        for file in sorted((sample / "papers").iterdir())
        for record in read(file.name, file.read_bytes())
    ]
    return [record for record in records if not isinstance(record, Rejection)]


def test_papers_become_recipes_by_valid_output(engine: VllmGenerator, papers: list[Paper]) -> None:
    generator: Generator = engine
    prompts = []
    for paper in papers[:12]:
        found = ((p, options.schema(paper, p)) for p in prompt.parts(paper, 400, generator.count))
        part, schema = next((part, schema) for part, schema in found if schema)
        prompts.append(prompt.prompt(paper, part, schema))
    completions = generator.generate(prompts)
    assert len(completions) == 12
    valid = 0
    for asked, completion in zip(prompts, completions, strict=True):
        assert completion.error == ""
        assert 0 < completion.tokens <= SAMPLING.max_tokens
        assert completion.prompt_tokens <= generator.room
        try:
            Draft202012Validator(asked.schema).validate(json.loads(completion.text))
            valid += 1
        except ValueError:
            # Nothing but the limit of tokens may have spoilt it.
            assert completion.tokens == SAMPLING.max_tokens
    assert valid >= 8


def test_most_of_what_is_written_stands_in_the_papers(
    engine: VllmGenerator, papers: list[Paper]
) -> None:
    extractor = LlmExtractor(engine, part_tokens=400, max_parts=2, constrain=True)
    extractions = extractor.run(papers[:4])
    kept = sum(sum(extraction.kept.values()) for extraction in extractions)
    dropped = sum(
        count
        for extraction in extractions
        for why, count in extraction.dropped.items()
        if not why.startswith(("step", "recipe"))
    )
    assert kept >= dropped
    assert sum(extraction.fallback == "" for extraction in extractions) >= 3


def test_a_prompt_longer_than_the_context_fails_alone(engine: VllmGenerator) -> None:
    long, short = Prompt("s", "word " * 3000, SCHEMA), Prompt("s", "Say nothing.", SCHEMA)
    first, second = engine.generate([long, short])
    assert first.error == "prompt longer than the context"
    assert first.prompt_tokens > engine.room
    assert second.error == ""
    assert second.tokens > 0


def test_an_engine_killed_in_a_batch_is_started_again_and_nothing_is_lost(
    engine: VllmGenerator,
) -> None:
    prompts = [Prompt("Repeat what the user says.", f"number {n}", SCHEMA) for n in range(4)]
    before = engine.generate(prompts)

    def kill() -> None:
        time.sleep(1.0)
        for process in psutil.Process().children(recursive=True):
            if "EngineCore" in " ".join(process.cmdline()) or "VLLM" in process.name():
                process.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    after = engine.generate(prompts * 8)
    killer.join()
    assert len(after) == 32
    assert all(completion.error == "" for completion in after)
    assert [c.prompt_tokens for c in after[:4]] == [c.prompt_tokens for c in before]


def test_a_model_that_is_whole_but_no_model_is_named(vllm_cpu: None, tmp_path: Path) -> None:
    source = Path(language_model.resolve(CONFIG, lambda line: None))
    for file in source.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "config.json").write_text('{"model_type": "unheard-of"}')
    broken = CONFIG.model_copy(update={"model": str(tmp_path)})
    with pytest.raises(ConfigError, match=r"extract\.vllm\.model = '.*' does not start"):
        VllmGenerator(broken, SAMPLING)


def test_the_name_without_an_engine_is_the_engines(engine: VllmGenerator) -> None:
    config = ExtractConfig(backend="vllm", vllm=CONFIG, sampling=SAMPLING)
    assert extractor.prepare(config, lambda line: None) == LlmExtractor(engine, constrain=True).name
