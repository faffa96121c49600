from pathlib import Path
from typing import Any

import pytest

from reciper_ray.config import Config, parse
from reciper_ray.errors import ConfigError, NotFound
from reciper_ray.serve.app import build, demand, groups
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
