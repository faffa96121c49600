"""Runs the serving graph from the command line: start, wait until it answers, stop all of it.

With RAY_ADDRESS set the graph runs on that cluster; otherwise on a Ray of its own, which ends
with it.
"""

import logging
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from types import FrameType
from typing import NoReturn

from reciper_ray import errors
from reciper_ray.client import Client
from reciper_ray.config import Config, ServeConfig
from reciper_ray.errors import ConfigError, ReciperError, Unavailable
from reciper_ray.serve.ports import require_free
from reciper_ray.snapshot import Snapshot

NAME = "reciper"
SERVICERS = (
    "reciper_ray._generated.reciper_pb2_grpc.add_ReciperServicer_to_server",
    "grpc_health.v1.health_pb2_grpc.add_HealthServicer_to_server",
)
# What HAProxy and the proxies behind it listen on, beside the public ports.
HAPROXY_PORTS = {
    "RAY_SERVE_HAPROXY_METRICS_PORT": 9101,
    "RAY_SERVE_HAPROXY_STATS_PORT": 8404,
    "RAY_SERVE_FALLBACK_PROXY_HTTP_PORT": 8500,
    "RAY_SERVE_FALLBACK_PROXY_GRPC_PORT": 9500,
}
READY_WITHIN_S = 60.0

_CAUSE = re.compile(r"reciper_ray\.errors\.(\w+): (.+)")


def serve(uri: str, config: Config, ready: Callable[[str], None]) -> None:
    """Serve the snapshot that is current at `uri` until SIGINT or SIGTERM; call `ready` with a
    sentence when it answers.

    Raises `ReciperError` with the cause if it cannot start. However it ends, whatever it started
    has ended before it returns.
    """
    snapshot = Snapshot.open(uri)
    own = not os.environ.get("RAY_ADDRESS")
    with ExitStack() as undo:
        # Ray and Serve print; stdout is for results.
        undo.enter_context(redirect_stdout(sys.stderr))
        undo.enter_context(suppress(KeyboardInterrupt))
        if own:
            _require_ports(config.serve)
            undo.enter_context(_environment(config.serve))
        undo.callback(_stop, own)
        undo.enter_context(_interruptible())
        _start(snapshot, config, own)
        signal.signal(signal.SIGTERM, _interrupt)
        _deploy(uri, config)
        address = f"127.0.0.1:{config.serve.grpc_port}"
        _await_answer(address)
        ready(f"gRPC on {address}, snapshot {snapshot.id} with {snapshot.manifest.papers} papers")
        while True:
            signal.pause()


def _require_ports(config: ServeConfig) -> None:
    require_free(config.grpc_port, "gRPC (serve.grpc_port)")
    require_free(config.http_port, "HTTP (serve.http_port)")
    if config.haproxy:
        for variable, port in HAPROXY_PORTS.items():
            require_free(int(os.environ.get(variable, port)), f"HAProxy ({variable})")


@contextmanager
def _environment(config: ServeConfig) -> Iterator[None]:
    """What Ray and Serve read when they are imported or started."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if not config.haproxy:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="reciper-haproxy-") as folder:
        os.environ |= {
            "RAY_SERVE_ENABLE_HA_PROXY": "1",
            # One machine has nobody upstream who must learn that a replica goes.
            "RAY_SERVE_DIRECT_INGRESS_MIN_DRAINING_PERIOD_S": "0",
            "RAY_SERVE_HAPROXY_CONFIG_FILE_LOC": f"{folder}/haproxy.cfg",
            "RAY_SERVE_HAPROXY_SOCKET_PATH": f"{folder}/admin.sock",
            "RAY_SERVE_HAPROXY_SERVER_STATE_BASE": folder,
            "RAY_SERVE_HAPROXY_SERVER_STATE_FILE": f"{folder}/server-state",
        }
        yield


def _start(snapshot: Snapshot, config: Config, own: bool) -> None:
    import ray
    from ray import serve

    from reciper_ray.serve.app import demand

    options: dict[str, object] = {}
    if own:
        wanted = demand(snapshot.manifest.shards, config)
        options = {
            "address": "local",
            "include_dashboard": False,
            # A part may reserve more CPUs than a small machine has: it then shares them.
            "num_cpus": max(os.cpu_count() or 1, -int(-wanted["CPU"] // 1)),
        }
    ray.init(**options, logging_level=logging.ERROR, log_to_driver=False)
    logging.getLogger("ray.serve").setLevel(logging.WARNING)
    if own and (gpus := ray.cluster_resources().get("GPU", 0)) < wanted["GPU"]:
        raise ConfigError(f"the configuration asks for {wanted['GPU']:g} GPUs; Ray sees {gpus:g}")
    try:
        serve.start(
            http_options={"host": config.serve.http_host, "port": config.serve.http_port},
            grpc_options={
                "port": config.serve.grpc_port,
                "grpc_servicer_functions": list(SERVICERS),
            },
            logging_config={"enable_access_log": False},
        )
    except (RuntimeError, ray.exceptions.RayError) as error:
        reason = str(error).strip().splitlines()[-1]
        raise Unavailable(f"Ray Serve did not start: {reason}") from error


def _deploy(uri: str, config: Config) -> None:
    from ray import serve

    from reciper_ray.serve.app import application

    try:
        serve.run(
            application(uri, config),
            name=NAME,
            route_prefix="/",
            logging_config={"enable_access_log": False},
        )
    except RuntimeError as error:
        status = serve.status().applications[NAME]
        messages = {name: d.message for name, d in status.deployments.items() if d.message}
        raise _cause(messages) or Unavailable(f"serving did not start: {error}") from error


def _cause(messages: dict[str, str]) -> ReciperError | None:
    """The error that stopped a replica, out of the tracebacks that Serve keeps."""
    for name, message in sorted(messages.items()):
        if found := _CAUSE.findall(message):
            kind, sentence = found[-1]
            return getattr(errors, kind, ReciperError)(f"{name} did not start: {sentence}")
    for name, message in sorted(messages.items()):
        return Unavailable(f"{name} did not start: {message.strip().splitlines()[-1]}")
    return None


def _await_answer(address: str) -> None:
    """Return when a call at `address` comes through; a proxy may take a moment to know where."""
    end = time.monotonic() + READY_WITHIN_S
    with Client(address) as client:
        while True:
            try:
                client.healthy(timeout_ms=1000)
            except ReciperError as error:
                if time.monotonic() > end:
                    raise Unavailable(f"serving started but does not answer: {error}") from error
                time.sleep(0.2)
            else:
                return


@contextmanager
def _interruptible() -> Iterator[None]:
    """SIGTERM ends this as SIGINT does. Afterwards both are ignored: stopping must not be cut
    short."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _stop(own: bool) -> None:
    """End everything that was started here, as far as it got."""
    if "ray" not in sys.modules:
        return
    import ray
    from ray import serve

    # Ray prints that the controller, which ends itself, was killed.
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        if ray.is_initialized() and own:
            serve.shutdown()
        elif ray.is_initialized():
            serve.delete(NAME)
        ray.shutdown()
