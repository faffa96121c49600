"""The manifests against KubeRay's own schemas, made strict: an unknown key is an error."""

import copy
import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from ray._private.runtime_env.packaging import create_package
from ray.serve.schema import ServeDeploySchema

from reciper_ray import config
from tests.conftest import ROOT

MANIFESTS = {"rayservice.yaml": "rayservices", "rayjob-build.yaml": "rayjobs"}


def manifest(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "k8s" / name).read_text("utf-8"))
    return loaded


def strict(schema: Any) -> Any:
    """The schema with every object closed that names its properties and is not left open."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: strict(value) for key, value in schema.items()}
    if "properties" in closed and not closed.get("x-kubernetes-preserve-unknown-fields"):
        closed.setdefault("additionalProperties", False)
    return closed


@pytest.fixture(scope="module")
def validators(shared: Path) -> dict[str, jsonschema.Draft202012Validator]:
    found = {}
    for name, plural in MANIFESTS.items():
        text = (shared / f"schemas/kuberay/ray.io_{plural}.yaml").read_text("utf-8")
        crd = yaml.load(text, yaml.CSafeLoader)
        version = manifest(name)["apiVersion"].partition("/")[2]
        schema = next(v["schema"] for v in crd["spec"]["versions"] if v["name"] == version)
        found[name] = jsonschema.Draft202012Validator(strict(schema["openAPIV3Schema"]))
    return found


def problems(validator: jsonschema.Draft202012Validator, document: dict[str, Any]) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_is_valid_by_the_operators_schema(
    name: str, validators: dict[str, jsonschema.Draft202012Validator]
) -> None:
    assert problems(validators[name], manifest(name)) == []


@pytest.mark.parametrize("name", MANIFESTS)
def test_an_unknown_key_would_be_found(
    name: str, validators: dict[str, jsonschema.Draft202012Validator]
) -> None:
    document = copy.deepcopy(manifest(name))
    cluster = document["spec"].get("rayClusterConfig") or document["spec"]["rayClusterSpec"]
    cluster["headGroupSpec"]["template"]["spec"]["containers"][0]["port"] = 1
    found = problems(validators[name], document)
    assert len(found) == 1
    assert "'port' was unexpected" in found[0]


def served() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(manifest("rayservice.yaml")["spec"]["serveConfigV2"])
    return loaded


def test_the_service_serves_what_the_cluster_configuration_says() -> None:
    cluster = yaml.safe_load((ROOT / "serve_configs/cluster.yaml").read_text("utf-8"))
    cluster["applications"][0]["args"]["snapshot"] = "/data/store"
    assert served() == cluster


def test_the_services_configuration_is_valid_by_serves_schema() -> None:
    deployed = ServeDeploySchema.model_validate(served())
    assert deployed.applications[0].import_path == "reciper_ray.serve.app:build"


def test_clients_reach_grpc_and_the_operator_its_health_check() -> None:
    spec = manifest("rayservice.yaml")["spec"]
    head = spec["rayClusterConfig"]["headGroupSpec"]["template"]["spec"]["containers"][0]
    ports = {port["name"]: port["containerPort"] for port in head["ports"]}
    assert ports["serve-grpc"] == served()["grpc_options"]["port"]
    assert ports["serve"] == served()["http_options"]["port"]
    assert served()["http_options"]["host"] == "0.0.0.0"


def test_upgrades_do_not_need_a_grpc_route() -> None:
    assert manifest("rayservice.yaml")["spec"]["upgradeStrategy"]["type"] == "NewCluster"


@pytest.mark.parametrize("group", ["head", "worker"])
def test_every_serving_pod_has_the_clients_key_and_the_ingress_of_the_configuration(
    group: str,
) -> None:
    cluster = manifest("rayservice.yaml")["spec"]["rayClusterConfig"]
    spec = cluster["headGroupSpec"] if group == "head" else cluster["workerGroupSpecs"][0]
    env = {e["name"]: e for e in spec["template"]["spec"]["containers"][0]["env"]}
    serve = config.parse(
        {k: v for k, v in served()["applications"][0]["args"].items() if k != "snapshot"}
    ).serve
    assert serve.haproxy
    assert env["RAY_SERVE_ENABLE_HA_PROXY"]["value"] == "1"
    assert "secretKeyRef" in env[serve.api_key_env]["valueFrom"]


@pytest.mark.parametrize("name", MANIFESTS)
def test_ray_demands_the_token_of_a_secret_and_workers_scale(name: str) -> None:
    spec = manifest(name)["spec"]
    cluster = spec.get("rayClusterConfig") or spec["rayClusterSpec"]
    assert cluster["authOptions"] == {"mode": "token", "secretName": "reciper-ray-token"}
    assert cluster["enableInTreeAutoscaling"]
    (workers,) = cluster["workerGroupSpecs"]
    assert 1 <= workers["minReplicas"] < workers["maxReplicas"]


def test_the_job_runs_the_build_script_of_this_repository() -> None:
    entrypoint = manifest("rayjob-build.yaml")["spec"]["entrypoint"]
    assert "/jobs/build_corpus.py /data/papers --out /data/store" in entrypoint
    assert (ROOT / "jobs/build_corpus.py").is_file()


def test_a_pod_may_read_the_store_that_the_job_writes() -> None:
    claim = manifest("volume.yaml")["metadata"]["name"]
    for name in MANIFESTS:
        spec = manifest(name)["spec"]
        cluster = spec.get("rayClusterConfig") or spec["rayClusterSpec"]
        for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
            (volume,) = group["template"]["spec"]["volumes"]
            assert volume["persistentVolumeClaim"]["claimName"] == claim


def test_a_submitted_job_carries_the_package_and_neither_tests_nor_history(tmp_path: Path) -> None:
    package = tmp_path / "package.zip"
    create_package(str(ROOT), package, include_gitignore=True, logger=None)
    with zipfile.ZipFile(package) as archive:
        carried = {name.partition("/")[0] for name in archive.namelist()}
    assert {"reciper_ray", "jobs", "pyproject.toml"} <= carried
    assert not carried & {".git", ".venv", ".demo", "tests"}
