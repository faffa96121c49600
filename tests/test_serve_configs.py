"""Every file of serve_configs/ by Ray Serve's own schema and by ours."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from ray.serve.schema import ServeDeploySchema

from reciper_ray import config
from reciper_ray.build.extract import workers
from reciper_ray.errors import ConfigError
from reciper_ray.serve.start import SERVICERS
from tests.conftest import ROOT

CONFIGS = sorted((ROOT / "serve_configs").glob("*.yaml"))


def load(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    return loaded


def test_there_is_one_for_a_laptop_a_gpu_and_a_cluster() -> None:
    answers = {"cluster-answers", "one-gpu-answers"}
    assert {path.stem for path in CONFIGS} == {"cluster", "laptop", "one-gpu"} | answers


@pytest.mark.parametrize("path", CONFIGS, ids=lambda p: p.stem)
def test_it_is_valid_by_serves_schema(path: Path) -> None:
    deployed = ServeDeploySchema.model_validate(load(path))
    (application,) = deployed.applications
    assert application.import_path == "reciper_ray.serve.app:build"
    assert deployed.grpc_options.grpc_servicer_functions == list(SERVICERS)
    assert deployed.grpc_options.enable_reflection


@pytest.mark.parametrize("path", CONFIGS, ids=lambda p: p.stem)
def test_its_arguments_are_ours_and_agree_with_serves_options(path: Path) -> None:
    whole, ours = load(path), config.load(path).serve
    assert ours.grpc_port == whole["grpc_options"]["port"]
    assert ours.http_port == whole["http_options"]["port"]
    assert ours.http_host == whole["http_options"]["host"]


def test_the_laptops_is_the_default() -> None:
    assert config.load(ROOT / "serve_configs/laptop.yaml") == config.Config()


def test_a_key_that_is_not_ours_is_named(tmp_path: Path) -> None:
    whole = load(ROOT / "serve_configs/cluster.yaml")
    whole["applications"][0]["args"]["serve"]["shards"]["replicas"] = 3
    path = tmp_path / "bad.yaml"
    path.write_text(yaml.safe_dump(whole), "utf-8")
    with pytest.raises(ConfigError, match=r"bad\.yaml: serve\.shards\.replicas = 3: Extra inputs"):
        config.load(path)


@pytest.mark.parametrize("applications", ["[]", "[1]", "[{args: 3}]"])
def test_a_serve_configuration_without_arguments_of_ours_is_refused(
    applications: str, tmp_path: Path
) -> None:
    path = tmp_path / "none.yaml"
    path.write_text(f"applications: {applications}", "utf-8")
    with pytest.raises(ConfigError, match=r"none\.yaml: applications = .* no args map"):
        config.load(path)


@pytest.mark.parametrize(("least", "most"), [(3, 2), (0, 2)])
def test_autoscaling_below_its_start_is_refused(least: int, most: int) -> None:
    part = {"num_replicas": least, "max_replicas": most}
    with pytest.raises(ConfigError, match=f"max_replicas = {most} with num_replicas = {least}"):
        config.parse({"serve": {"embedder": part}})


@pytest.mark.parametrize("name", ["build-gpu", "build-one-gpu", "demo-llm"])
def test_the_configurations_of_builds_are_ours_and_fit_their_machine(name: str) -> None:
    settings = config.load(ROOT / f"jobs/{name}.yaml")
    gpus = {"build-gpu": 5.0, "build-one-gpu": 1.0, "demo-llm": 0.0}[name]
    cpus = 16.0 if gpus else 2.0
    options = workers(settings.extract, settings.build, cpus, gpus)
    assert options["compute"].min_size == {"build-gpu": 2}.get(name, 1)
    assert options["num_gpus"] == settings.extract.vllm.tensor_parallel_size * bool(gpus)


def test_without_a_name_the_papers_model_is_meant_on_a_gpu_and_a_small_one_on_cpu() -> None:
    assert config.VllmConfig().name == "smollm2"
    named = config.load(ROOT / "jobs/build-gpu.yaml").extract.vllm.name
    assert config.VllmConfig(device="gpu").name == named


@pytest.mark.parametrize(
    ("vllm", "sentence"),
    [
        (
            {"device": "gpu", "quantization": "fp8", "dtype": "float32"},
            "dtype = 'float32' does not go with quantization = 'fp8', which computes in bfloat16",
        ),
        (
            {"device": "gpu", "quantization": "mxfp4", "dtype": "float16"},
            "dtype = 'float16' does not go with quantization = 'mxfp4', which computes in bfloat16",
        ),
        ({"quantization": "fp8"}, "quantization = 'fp8' needs device = 'gpu'"),
        ({"tensor_parallel_size": 2}, "tensor_parallel_size = 2 needs device = 'gpu'"),
        ({"actors": 2}, "vllm.actors = 2 is a build's"),
    ],
)
def test_options_of_an_engine_that_do_not_go_together_are_named(
    vllm: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        config.parse({"answer": {"backend": "vllm", "vllm": vllm}})


def test_a_model_without_room_for_what_it_reads_is_refused() -> None:
    answer = {"backend": "vllm", "sampling": {"max_tokens": 9000}}
    with pytest.raises(ConfigError, match="max_tokens = 9000 leaves nothing of a context of 8192"):
        config.parse({"answer": answer})
