from pathlib import Path
from typing import Any

import pytest

from reciper_ray.config import Config, load, parse
from reciper_ray.errors import ConfigError, NotFound
from reciper_ray.serve.app import _answerer, application, build, demand, groups
from reciper_ray.serve.parts import AnswerWriter
from tests.conftest import ROOT
from tests.stores import write_store


def sharded(per_replica: int, **parts: Any) -> Config:
    shards = {"num_replicas": 1, "shards_per_replica": per_replica}
    return parse({"serve": {"shards": shards, **parts}})


@pytest.mark.parametrize(
    ("shards", "per_replica", "expected"),
    [
        (7, 3, [(0, 3, 6), (1, 4), (2, 5)]),
        (4, 4, [(0, 1, 2, 3)]),
        (4, 1, [(0,), (1,), (2,), (3,)]),
        (1, 8, [(0,)]),
    ],
)
def test_shards_are_dealt_to_as_few_deployments_as_hold_them(
    shards: int, per_replica: int, expected: list[tuple[int, ...]]
) -> None:
    assert groups(shards, sharded(per_replica)) == expected


def test_without_replicas_the_router_has_every_shard() -> None:
    assert groups(7, Config()) == []


def test_the_demand_is_what_all_replicas_reserve() -> None:
    config = sharded(
        2,
        router={"num_replicas": 2, "num_cpus": 0.5},
        embedder={"num_replicas": 3, "max_replicas": 9, "num_cpus": 1, "num_gpus": 0.5},
    )
    # Two routers, three embedders, and for each of two views two groups of four shards.
    assert demand(4, config) == {"CPU": 2 * 0.5 + 3 * 1 + 2 * 2 * 1, "GPU": 3 * 0.5}


def test_the_arguments_must_name_a_snapshot() -> None:
    with pytest.raises(ConfigError, match=r"args\.snapshot = None"):
        build({"serve": {}})


def test_an_unknown_argument_is_named(tmp_path: Path) -> None:
    write_store(tmp_path, ["a"])
    with pytest.raises(ConfigError, match=r"args: serv = \{\}: Extra inputs"):
        build({"snapshot": str(tmp_path), "serv": {}})


def test_a_place_without_a_snapshot_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=str(tmp_path)):
        build({"snapshot": str(tmp_path)})


@pytest.mark.parametrize(
    ("name", "bundles", "gpus"),
    [
        ("one-gpu-answers", None, 0.1 + 2 * 0.1 + 0.7),
        ("cluster-answers", [{"CPU": 2.0, "GPU": 1.0}, {"GPU": 1.0}], 2.0),
    ],
)
def test_a_model_that_answers_has_its_gpus_in_a_placement_group(
    name: str, bundles: list[dict[str, float]] | None, gpus: float, tmp_path: Path
) -> None:
    config = load(ROOT / f"serve_configs/{name}.yaml")
    assert demand(4, config)["GPU"] == pytest.approx(gpus)
    write_store(tmp_path, ["a"])
    application(str(tmp_path), config)
    made = _answerer(config)._bound_deployment
    assert made.func_or_class is AnswerWriter
    assert made.max_ongoing_requests == 2 * config.answer.max_queue
    assert made._replica_config.placement_group_bundles == bundles
    reserved = made.ray_actor_options
    assert reserved["num_gpus"] == (0 if bundles else 0.7)


def test_an_endpoint_is_asked_by_the_router_unless_a_replica_is_to() -> None:
    endpoint = {"url": "http://127.0.0.1:9/v1", "model": "m"}
    answer = {"backend": "openai", "openai": endpoint}
    assert _answerer(parse({"answer": answer})) is None
    one = parse({"answer": answer, "serve": {"answerer": {"num_replicas": 1, "num_cpus": 0.5}}})
    made = _answerer(one)._bound_deployment
    assert made.ray_actor_options["num_cpus"] == 0.5
    assert made._replica_config.placement_group_bundles is None
