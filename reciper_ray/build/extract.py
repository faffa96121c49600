"""The stage that writes recipes: as tasks where no model is needed, else as actors with one.

An actor that is killed is started again by Ray, and its batch with it; an engine that dies inside
one is started again there.
"""

from typing import Any

import pyarrow as pa

from reciper_ray.adapters.extractor import load
from reciper_ray.build import stages
from reciper_ray.build.work import Written
from reciper_ray.config import BuildConfig, ExtractConfig
from reciper_ray.errors import ConfigError, ReciperError

_ENDPOINT_CPUS = 0.05


class Extract:
    """Actor of the stage: RECORDS without recipes → with them."""

    def __init__(self, config: ExtractConfig, name: str, written: Written | None = None) -> None:
        """Loads the extractor, which has to be the one of fingerprint `name`; recipes that are
        `written` already are not asked of it."""
        self._written = written
        self._failed: ReciperError | None = None
        try:
            self._extractor = load(config)
            if self._extractor.name != name:
                raise ConfigError(
                    f"extract.backend = {config.backend!r} is {self._extractor.name} on a worker "
                    f"and {name} where the build was started"
                )
        except ReciperError as error:
            # Of what an actor's constructor raises, Ray tells the driver no more than the text.
            self._failed = error

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Raises `ConfigError` if the extractor does not load or is another one, and
        `Unavailable` if it cannot go on."""
        if self._failed:
            raise self._failed
        return stages.extract(batch, self._extractor, self._written)


def workers(extract: ExtractConfig, build: BuildConfig, cpus: float, gpus: float) -> dict[str, Any]:
    """Options of `map_batches` for the actors on a cluster with that many CPUs and GPUs.

    Raises `ConfigError` if the cluster cannot hold one of them beside the other stages.
    """
    import ray

    if extract.backend == "openai":
        pool = ray.data.ActorPoolStrategy(size=extract.openai.actors)
        return {"num_cpus": _ENDPOINT_CPUS, "compute": pool}
    vllm = extract.vllm
    on_gpu = vllm.device == "gpu"
    fit = (cpus - build.num_cpus) / vllm.num_cpus
    if on_gpu:
        fit = min(fit, (gpus - build.num_gpus) / vllm.tensor_parallel_size)
    if fit < max(1, vllm.actors):
        raise ConfigError(
            f"extract.vllm: the cluster's {cpus:g} CPUs and {gpus:g} GPUs hold {max(0, int(fit))} "
            f"engines of num_cpus = {vllm.num_cpus:g}"
            + (f" and tensor_parallel_size = {vllm.tensor_parallel_size}" if on_gpu else "")
            + f" beside the other stages (build.num_cpus = {build.num_cpus:g})"
        )
    return {
        "num_cpus": vllm.num_cpus,
        "num_gpus": float(vllm.tensor_parallel_size) if on_gpu else 0.0,
        "compute": ray.data.ActorPoolStrategy(
            size=vllm.actors or int(fit), max_tasks_in_flight_per_actor=1
        ),
    }
