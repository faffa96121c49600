"""The Ray cluster a build runs on: the one it is told of, or one of its own on this machine."""

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from reciper_ray.config import BuildConfig
from reciper_ray.errors import ConfigError, ReciperError

# The rows in flight between two stages need no more; without a bound Ray takes a third of the
# machine's memory.
_OBJECT_STORE_BYTES = 512 << 20


@contextmanager
def cluster() -> Iterator[None]:
    """Connected to Ray inside the block.

    Uses the connection there is, else the cluster at `RAY_ADDRESS` (which `ray job submit`
    sets), else starts Ray on this machine's CPUs, reachable from this machine only, and stops
    it at the end.
    """
    # Ray logs an error at the start of every dataset with actors, though nothing is wrong.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    if "RAY_ADDRESS" not in os.environ:
        # Ray reads it when first imported; "0" binds all its processes to the loopback address.
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    if ray.is_initialized():
        yield
        return
    if "RAY_ADDRESS" in os.environ:
        ray.init(logging_level="ERROR", log_to_driver=False)
    else:
        ray.init(
            address="local",
            num_cpus=os.cpu_count(),
            include_dashboard=False,
            object_store_memory=_OBJECT_STORE_BYTES,
            logging_level="ERROR",
            log_to_driver=False,
        )
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def quiet_data(block_bytes: int) -> Iterator[None]:
    """Ray Data without bars or logs, its errors as exceptions, rows in blocks of `block_bytes`."""
    from ray.data import DataContext

    for handler in logging.getLogger("ray.data").handlers:
        if isinstance(handler, logging.StreamHandler):
            handler.setLevel(logging.CRITICAL)
    with warnings.catch_warnings():
        # Its own deprecations, and advice on parallelism that a small corpus cannot use.
        warnings.filterwarnings("ignore", module=r"ray\.")
        context = DataContext.get_current().copy()
        context.enable_progress_bars = False
        context.raise_original_map_exception = True
        context.issue_detectors_config.detectors = []
        context.target_max_block_size = block_bytes
        with DataContext.current(context):
            yield


def embedding_actors(config: BuildConfig, cpus: float, gpus: float) -> int:
    """How many embedding actors to run on that many CPUs and GPUs.

    Raises `ConfigError` if the cluster has GPUs but none can hold one, or has none at all while
    the configuration asks for them.
    """
    if config.num_gpus > gpus:
        raise ConfigError(f"build.num_gpus = {config.num_gpus}: the cluster has {gpus:g} GPUs")
    if config.actors:
        return config.actors
    fit = [cpus / config.num_cpus] if config.num_cpus else []
    if config.num_gpus:
        fit.append(gpus / config.num_gpus)
    return max(1, int(min(fit, default=1)))


@contextmanager
def own_errors() -> Iterator[None]:
    """Raise as it is what was raised on purpose in a worker, without Ray's wrapping.

    Anything else that fails in a worker becomes a `ReciperError` of one line, with Ray's
    exception as its cause.
    """
    from ray.exceptions import RayError

    try:
        yield
    except (RayError, ReciperError) as error:
        chain = _chain(error)
        mine = [e for e in chain if isinstance(e, ReciperError) and not isinstance(e, RayError)]
        if mine:
            # Ray Data adds lines of advice to the message.
            raise type(mine[-1])(str(mine[-1]).splitlines()[0]) from error
        text = f"{type(chain[-1]).__name__}: {chain[-1]}".splitlines()[0]
        raise ReciperError(f"a worker failed: {text}") from error


def _chain(error: BaseException) -> list[BaseException]:
    """`error` and what it wraps, outermost first."""
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = getattr(error, "cause", None) or error.__cause__  # type: ignore[assignment]
    return found
