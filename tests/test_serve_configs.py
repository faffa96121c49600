"""Every file of serve_configs/ by Ray Serve's own schema and by ours."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from ray.serve.schema import ServeDeploySchema

from reciper_ray import config
from reciper_ray.errors import ConfigError
from reciper_ray.serve.start import SERVICERS
from tests.conftest import ROOT

CONFIGS = sorted((ROOT / "serve_configs").glob("*.yaml"))


def load(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    return loaded


def test_there_is_one_for_a_laptop_a_gpu_and_a_cluster() -> None:
    assert [path.stem for path in CONFIGS] == ["cluster", "laptop", "one-gpu"]


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
