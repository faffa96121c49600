from typing import Any

import pytest
from ray.exceptions import RayTaskError

from reciper_ray.build.cluster import embedding_actors, own_errors
from reciper_ray.config import BuildConfig
from reciper_ray.errors import ConfigError, ReciperError, Unavailable


@pytest.mark.parametrize(
    ("config", "cpus", "gpus", "actors"),
    [
        ({}, 2.0, 0.0, 2),
        ({"num_cpus": 4}, 18.0, 0.0, 4),
        ({"num_gpus": 0.5}, 16.0, 2.0, 4),
        ({"num_gpus": 1, "num_cpus": 8}, 16.0, 4.0, 2),
        ({"num_cpus": 0}, 16.0, 0.0, 1),
        ({"num_cpus": 8}, 2.0, 0.0, 1),
        ({"actors": 7}, 2.0, 0.0, 7),
    ],
)
def test_there_is_an_actor_for_what_the_cluster_has(
    config: dict[str, Any], cpus: float, gpus: float, actors: int
) -> None:
    assert embedding_actors(BuildConfig(**config), cpus, gpus) == actors


def test_gpus_that_the_cluster_has_not_are_refused_by_name() -> None:
    with pytest.raises(ConfigError, match=r"build\.num_gpus = 1\.0: the cluster has 0 GPUs"):
        embedding_actors(BuildConfig(num_gpus=1), 16, 0)


def failed(cause: Exception) -> RayTaskError:
    """What Ray raises when `cause` was raised in a worker."""
    return RayTaskError(
        "f", "Traceback (most recent call last):\n  ...", cause
    ).as_instanceof_cause()


def test_an_error_on_purpose_leaves_a_worker_as_it_was_raised() -> None:
    with pytest.raises(Unavailable) as caught, own_errors():
        raise failed(Unavailable("cannot read s3://b/x: slow down"))
    assert str(caught.value) == "cannot read s3://b/x: slow down"
    assert type(caught.value) is Unavailable


def test_any_other_error_in_a_worker_is_one_line() -> None:
    with pytest.raises(ReciperError, match=r"^a worker failed: ValueError: bad$"), own_errors():
        raise failed(ValueError("bad\nthing"))


def test_an_error_of_the_driver_passes() -> None:
    with pytest.raises(KeyError), own_errors():
        raise KeyError("x")
