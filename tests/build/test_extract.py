"""The stage that writes recipes with a model, on a real Ray."""

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from reciper_ray.adapters import extractor, tables
from reciper_ray.build.cluster import own_errors, quiet_data
from reciper_ray.build.extract import Extract, workers
from reciper_ray.build.pipeline import build
from reciper_ray.build.records import RECORDS
from reciper_ray.cli.build import _text
from reciper_ray.config import (
    BuildConfig,
    ChunkConfig,
    Config,
    EndpointConfig,
    ExtractConfig,
    SamplingConfig,
    VllmConfig,
)
from reciper_ray.errors import ConfigError
from reciper_ray.recipe.outcome import Outcome
from reciper_ray.snapshot import Snapshot
from reciper_ray.types import Paper, Paragraph
from tests.adapters.chat_server import Reply, serving

BUILD = BuildConfig()


def row(number: int) -> dict[str, Any]:
    text = f"The powder of {number} was calcined in air at {900 + number} °C for 5 h."
    paper = Paper(f"p{number}", f"Paper {number}", text, (Paragraph(0, len(text)),))
    return tables.paper_row(paper, f"digest {number}") | {"finished": False}


class Telling(Extract):
    """An `Extract` that says in which process it runs."""

    def __init__(self, config: ExtractConfig, name: str, folder: str) -> None:
        super().__init__(config, name)
        (Path(folder) / str(os.getpid())).touch()


def written(body: dict[str, Any]) -> str:
    """The step that the paper in the prompt states."""
    user = body["messages"][1]["content"]
    number = int(user.split("powder of ")[1].split()[0])
    return f'{{"steps": [{{"operation": "calcined", "temperature": "{900 + number} °C"}}]}}'


@pytest.mark.slow
def test_an_actor_killed_in_a_batch_is_restarted_and_no_row_is_lost_or_swapped(
    ray_cluster: None,
    tmp_path: Path,
) -> None:
    killed = threading.Event()

    def reply(body: dict[str, Any], seen: int) -> Reply:
        if "powder of 5 " in body["messages"][1]["content"] and not killed.is_set():
            killed.set()
            for file in tmp_path.iterdir():
                os.kill(int(file.name), signal.SIGKILL)
        return Reply(written(body))

    with serving(reply) as server, own_errors(), quiet_data(1 << 20):
        import ray

        endpoint = EndpointConfig(url=server.url, model="m", concurrency=2)
        config = ExtractConfig(backend="openai", openai=endpoint)
        name = extractor.prepare(config, lambda line: None)
        table = pa.Table.from_pylist([row(n) for n in range(12)], schema=RECORDS)
        options = workers(config, BUILD, 2, 0)
        dataset = ray.data.from_arrow(table).map_batches(
            Telling,
            batch_size=3,
            batch_format="pyarrow",
            fn_constructor_args=(config, name, str(tmp_path)),
            **options,
        )
        rows = sorted(dataset.take_all(), key=lambda r: int(r["paper_id"][1:]))
    assert killed.is_set()
    assert len(list(tmp_path.iterdir())) == 2
    assert [r["paper_id"] for r in rows] == [f"p{n}" for n in range(12)]
    for number, done in enumerate(rows):
        (recipe,) = tables.recipes_of(done)
        assert [step.temperature for step in recipe.steps] == [f"{900 + number} °C"]
        assert recipe.extractor == name


def test_an_extractor_that_is_another_one_on_a_worker_is_refused() -> None:
    stage = Extract(ExtractConfig(), "another")
    with pytest.raises(ConfigError, match=r"is extractive-.* on a worker and another where"):
        stage(pa.Table.from_pylist([row(1)], schema=RECORDS))


def test_the_extractor_of_the_configuration_writes_the_recipes() -> None:
    config = ExtractConfig()
    stage = Extract(config, extractor.prepare(config, lambda line: None))
    table = stage(pa.Table.from_pylist([row(1)], schema=RECORDS))
    ((recipe,),) = (tables.recipes_of(done) for done in table.to_pylist())
    assert recipe.steps[0].temperature == "901 °C"


@pytest.mark.parametrize(
    ("vllm", "cpus", "gpus", "size"),
    [
        ({"num_cpus": 1}, 2, 0, 1),
        ({"num_cpus": 2}, 9, 0, 4),
        ({"device": "gpu", "num_cpus": 2}, 32, 4, 4),
        ({"device": "gpu", "tensor_parallel_size": 2}, 32, 5, 2),
        ({"device": "gpu", "tensor_parallel_size": 2, "actors": 1}, 32, 8, 1),
    ],
)
def test_there_is_an_engine_for_what_the_cluster_has(
    vllm: dict[str, Any], cpus: float, gpus: float, size: int
) -> None:
    config = ExtractConfig(backend="vllm", vllm=VllmConfig(**vllm))
    options = workers(config, BUILD, cpus, gpus)
    assert options["compute"].min_size == options["compute"].max_size == size
    assert options["num_gpus"] == (config.vllm.tensor_parallel_size if "device" in vllm else 0)


@pytest.mark.parametrize(
    ("vllm", "cpus", "gpus"),
    [({}, 1, 0), ({"actors": 3}, 3, 0), ({"device": "gpu", "tensor_parallel_size": 8}, 64, 4)],
)
def test_engines_that_the_cluster_cannot_hold_are_refused(
    vllm: dict[str, Any], cpus: float, gpus: float
) -> None:
    config = ExtractConfig(backend="vllm", vllm=VllmConfig(**vllm))
    with pytest.raises(ConfigError, match=r"extract\.vllm: the cluster's .* hold"):
        workers(config, BUILD, cpus, gpus)


@pytest.mark.slow
def test_a_build_has_its_recipes_from_the_model_and_says_who_wrote_them(
    ray_cluster: None, tmp_path: Path, sample: Path
) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for name in ("PMC7052380.xml", "PMC7058583.xml"):
        (corpus / name).write_bytes((sample / "papers" / name).read_bytes())
    evaporated = {"operation": "evaporated", "temperature": "80°C", "time": "12 h"}

    def reply(body: dict[str, Any], seen: int) -> Reply:
        if "LiFePO4" in body["messages"][1]["content"]:
            return Reply(json.dumps({"recipes": [{"steps": {"1": [evaporated]}}]}))
        return Reply(status=500)

    with serving(reply) as server:
        endpoint = EndpointConfig(url=server.url, model="m", attempts=2, backoff_s=0.01)
        extract = ExtractConfig(backend="openai", openai=endpoint)
        summary = build(
            str(corpus),
            str(tmp_path / "store"),
            Config(extract=extract, build=BuildConfig(shards=1, actors=1)),
            lambda line: None,
        )
        asked = len(server.requests)
        shorter = build(
            str(corpus),
            str(tmp_path / "store"),
            Config(
                extract=extract,
                build=BuildConfig(shards=1, actors=1),
                chunk=ChunkConfig(max_chars=300),
            ),
            lambda line: None,
        )
        assert len(server.requests) == asked
    assert (summary.papers, dict(summary.quarantined)) == (2, {})
    assert summary.model == Outcome(
        written=1, fallbacks={"endpoint: status 500": 1}, dropped=summary.model.dropped
    )
    assert any(why.startswith("part: endpoint") for why in summary.model.dropped)
    assert "1 x endpoint: status 500" in _text(summary)
    # Recipes are those that the model wrote for the snapshot before; passages are others.
    assert (shorter.extracted, shorter.reused, shorter.recipes) == (0, 0, summary.recipes)
    assert shorter.embedded > summary.embedded
    assert Snapshot.open(shorter.uri).paper("PMC7052380").recipes[0].extractor.startswith("llm-")
    snapshot = Snapshot.open(str(tmp_path / "store"), summary.snapshot_id)
    name = snapshot.manifest.extractor
    assert name.startswith("llm-")
    (found,) = snapshot.paper("PMC7052380").recipes
    assert (found.extractor, found.fallback) == (name, "")
    assert [(s.operation, s.temperature, s.time) for s in found.steps] == [
        ("evaporated", "80°C", "12 h")
    ]
    (fallen,) = snapshot.paper("PMC7058583").recipes
    assert fallen.fallback == "endpoint: status 500"
    assert fallen.extractor.startswith("extractive")


@pytest.mark.slow
def test_vllm_writes_the_recipes_of_the_sample_papers_through_ray_data(
    vllm_cpu: None, ray_cluster: None, tmp_path: Path, sample: Path
) -> None:
    extract = ExtractConfig(
        backend="vllm",
        part_tokens=400,
        max_parts=1,
        sampling=SamplingConfig(max_tokens=256),
        vllm=VllmConfig(max_model_len=1536, kv_cache_gib=0.5),
    )
    summary = build(
        str(sample / "papers"),
        str(tmp_path / "store"),
        Config(extract=extract, build=BuildConfig(shards=1, block_papers=12)),
        lambda line: None,
    )
    assert summary.papers >= 12
    assert summary.model is not None
    # A part without any step is not the model's to write, nor is one it got no end in.
    assert summary.model.written >= summary.papers / 2
    assert summary.model.written + sum(summary.model.fallbacks.values()) == summary.papers
    assert not any("JSON of something else" in why for why in summary.model.dropped)
    snapshot = Snapshot.open(str(tmp_path / "store"))
    for name in sorted(path.stem for path in (sample / "papers").iterdir()):
        found = snapshot.paper(name)
        for recipe in found.recipes:
            assert recipe.fallback or (recipe.extractor.startswith("llm-") and recipe.read)
            for step in recipe.steps:
                span = found.paper.text[step.span.start : step.span.end]
                assert all(value in span for value in step.temperature.split("; "))
