"""The serving graph as one Ray Serve application, bound by name from a snapshot and a `Config`.

`build` is what the `import_path` of a Serve configuration names: its `args` are the snapshot's
URI and the sections of `reciper_ray.config.Config`.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ray import serve
from ray.serve import Application

from reciper_ray import config as configuration
from reciper_ray.config import Config, PartConfig
from reciper_ray.errors import ConfigError
from reciper_ray.serve.coordinator import Coordinator
from reciper_ray.serve.loading import Handles
from reciper_ray.serve.parts import Answerer, AnswerWriter, Embedder, IndexShard, Reranker
from reciper_ray.serve.router import Router
from reciper_ray.snapshot import Snapshot
from reciper_ray.types import View

# A router scales out when its replicas have this many requests under way on average.
ROUTER_TARGET = 16


def build(args: Mapping[str, Any]) -> Application:
    """The application for `{"snapshot": URI, **sections of Config}`; it serves the snapshot that
    is current now.

    Raises `ConfigError` naming a missing or bad key, and `NotFound` if there is no snapshot.
    """
    sections = dict(args)
    uri = sections.pop("snapshot", None)
    if not uri or not isinstance(uri, str):
        raise ConfigError(f"args.snapshot = {uri!r}: give the URI that `reciper build` wrote to")
    return application(uri, configuration.parse(sections, "args"))


def application(uri: str, config: Config) -> Application:
    """The application that serves the snapshot that is current at `uri` now."""
    if "://" not in uri:
        uri = os.path.abspath(uri)
    snapshot = Snapshot.open(uri)
    parts = config.serve
    source = (uri, snapshot.id)
    owned = groups(snapshot.manifest.shards, config)
    names = {(view, n): f"{view}-shards-{n}" for view in View for n in range(len(owned))}
    coordinator = _coordinator(source, config, list(names.values()))
    handles = Handles(
        embedder=_deploy(
            Embedder, "embedder", parts.embedder, config, *source, config, coordinator
        ),
        groups=[
            (
                view,
                shards,
                _deploy(
                    IndexShard,
                    names[view, number],
                    parts.shards,
                    config,
                    *source,
                    view,
                    shards,
                    config,
                    coordinator,
                ),
            )
            for view in View
            for number, shards in enumerate(owned)
        ],
        reranker=_deploy(Reranker, "reranker", parts.reranker, config),
        answerer=_answerer(config),
        coordinator=coordinator,
    )
    router = serve.deployment(Router).options(
        **_options("router", parts.router, config, target=ROUTER_TARGET)
        # The router refuses what is too much itself, with a sentence; what Serve holds back is
        # only what comes faster than that. Streams of `Health.Watch` take places, too.
        | {"max_ongoing_requests": 2 * parts.router.max_queue, "graceful_shutdown_timeout_s": 5.0}
    )
    return router.bind(*source, config, handles)


def groups(shards: int, config: Config) -> list[tuple[int, ...]]:
    """The logical shards of each IndexShard deployment of a view; none if the router has all.

    Group g of n owns the shards that are g modulo n, so any snapshot of a store fits.
    """
    if not config.serve.shards.num_replicas:
        return []
    count = -(-shards // config.serve.shards.shards_per_replica)
    return [tuple(range(group, shards, count)) for group in range(count)]


def demand(shards: int, config: Config) -> dict[str, float]:
    """CPUs and GPUs that the application's replicas reserve when it starts."""
    parts = config.serve
    index_groups = len(View) * len(groups(shards, config))
    counts: Sequence[tuple[PartConfig, int]] = [
        (parts.router, parts.router.num_replicas),
        (parts.embedder, parts.embedder.num_replicas),
        (parts.shards, index_groups * parts.shards.num_replicas),
        (parts.reranker, parts.reranker.num_replicas),
    ]
    reserved = _bundles(config) * parts.answerer.num_replicas
    for part, replicas in counts:
        reserved += [{"CPU": part.num_cpus, "GPU": part.num_gpus}] * replicas
    return {kind: sum(bundle.get(kind, 0.0) for bundle in reserved) for kind in ("CPU", "GPU")}


def _answerer(config: Config) -> Any:
    if config.answer.backend == "extractive":
        return _deploy(Answerer, "answerer", config.serve.answerer, config)
    part = config.serve.answerer
    if not part.num_replicas:
        return None
    options = _options("answerer", part, config, target=config.answer.vllm.max_num_seqs)
    # The writer refuses what is too much itself, with a sentence.
    options["max_ongoing_requests"] = 2 * config.answer.max_queue
    bundles = _bundles(config)
    if len(bundles) > 1:
        # vLLM's workers are actors of their own, each in a bundle; the replica shares the first.
        options |= {"placement_group_bundles": bundles, "placement_group_strategy": "PACK"}
        options["ray_actor_options"] = {"num_cpus": part.num_cpus, "num_gpus": 0}
    else:
        options["ray_actor_options"] = {
            "num_cpus": part.num_cpus,
            "num_gpus": bundles[0].get("GPU", 0),
        }
    return serve.deployment(AnswerWriter).options(**options).bind(config)


def _bundles(config: Config) -> list[dict[str, float]]:
    """What a replica of the answerer reserves: a bundle for each GPU that its model is spread
    over."""
    part, vllm = config.serve.answerer, config.answer.vllm
    first: dict[str, float] = {"CPU": part.num_cpus}
    if config.answer.backend != "vllm" or vllm.device != "gpu":
        return [first | ({"GPU": part.num_gpus} if part.num_gpus else {})]
    if vllm.tensor_parallel_size == 1:
        # A part of a GPU will do where `gpu_memory` leaves the rest alone.
        return [first | {"GPU": part.num_gpus or 1.0}]
    return [first | {"GPU": 1.0}, *[{"GPU": 1.0}] * (vllm.tensor_parallel_size - 1)]


def _coordinator(source: tuple[str, str], config: Config, groups: Sequence[str]) -> Any:
    """The bound coordinator; None if what is served stays."""
    if not config.serve.swap.poll_s:
        return None
    deployment = serve.deployment(Coordinator).options(
        name="coordinator", num_replicas=1, ray_actor_options={"num_cpus": 0}
    )
    return deployment.bind(*source, config, groups)


def _deploy(kind: type, name: str, part: PartConfig, config: Config, *args: object) -> Any:
    """The bound deployment, which becomes a handle in the router; None if the part is local."""
    if not part.num_replicas:
        return None
    # A call is a batch, so more than one of them waiting keeps a replica busy.
    options = _options(name, part, config, target=1)
    return serve.deployment(kind).options(**options).bind(*args)


def _options(name: str, part: PartConfig, config: Config, target: float) -> dict[str, Any]:
    """Deployment options; `target` calls under way per replica is what scaling aims at."""
    options: dict[str, Any] = {
        "name": name,
        "ray_actor_options": {"num_cpus": part.num_cpus, "num_gpus": part.num_gpus},
        "max_constructor_retry_count": config.serve.start_attempts,
    }
    if part.max_replicas > part.num_replicas:
        options["autoscaling_config"] = {
            "min_replicas": part.num_replicas,
            "max_replicas": part.max_replicas,
            "target_ongoing_requests": target,
        }
    else:
        options["num_replicas"] = part.num_replicas
    return options
