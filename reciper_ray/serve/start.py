"""Runs the serving graph from the command line: start, wait until it answers, stop all of it.

With RAY_ADDRESS set the graph runs on that cluster; otherwise on a Ray of its own, which ends
with it.
"""

import logging
import math
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout, suppress
from types import FrameType
from typing import Any, NoReturn

import psutil

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
FOLLOW_EVERY_S = 2.0
LOGGING = {"enable_access_log": False}

_CAUSE = re.compile(r"reciper_ray\.errors\.(\w+): (.+)")


def serve(uri: str, config: Config, ready: Callable[[str], None]) -> None:
    """Serve the snapshot that is current at `uri` until SIGINT or SIGTERM; call `ready` with a
    sentence when it answers.

    Raises `ReciperError` with the cause if it cannot start. However it ends, whatever it started
    has ended before it returns.
    """
    snapshot = Snapshot.open(uri)
    own = not os.environ.get("RAY_ADDRESS")
    if own:
        from reciper_ray.adapters.answerer import prepare

        # On a cluster the model may be elsewhere; there the answerer's replica says what is wrong.
        prepare(config.answer, lambda line: print(line, file=sys.stderr, flush=True))
    signal.signal(signal.SIGTERM, _interrupt)
    # Ray and Serve print; stdout is for results.
    with redirect_stdout(sys.stderr), _environment(config.serve) if own else nullcontext():
        from ray import serve

        if own:
            _require_ports(config.serve)
        shared = False
        try:
            _start_ray(snapshot, config, own)
            shared = bool(serve.status().proxies)
            _start_serve(config.serve)
            _deploy(uri, config)
            address = f"127.0.0.1:{config.serve.grpc_port}"
            _await_answer(address)
            papers = snapshot.manifest.papers
            ready(f"gRPC on {address}, snapshot {snapshot.id} with {papers} papers")
            _follow(config.serve)
        except KeyboardInterrupt:
            pass
        finally:
            _stop(shared)


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
        try:
            yield
        finally:
            _end_haproxy(folder)


def _end_haproxy(folder: str) -> None:
    """End the HAProxy that was started in `folder`, if one is left: Serve loses the one that it
    is just replacing when it is shut down."""
    left = [
        process
        for process in psutil.process_iter(["name", "cmdline"])
        if process.info["name"] == "haproxy"
        and any(argument.startswith(folder) for argument in process.info["cmdline"] or ())
    ]
    for process in left:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(left, timeout=5)


def _start_ray(snapshot: Snapshot, config: Config, own: bool) -> None:
    import ray

    from reciper_ray.serve.app import demand

    quiet: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    wanted = demand(snapshot.manifest.shards, config)
    if own:
        # A part may reserve more CPUs than a small machine has: it then shares them.
        cpus = max(os.cpu_count() or 1, math.ceil(wanted["CPU"]))
        ray.init("local", num_cpus=cpus, include_dashboard=False, **quiet)
    else:
        try:
            ray.init(**quiet)
        except ConnectionError as error:
            raise Unavailable(
                f"RAY_ADDRESS = {os.environ['RAY_ADDRESS']!r}: {error}; a cluster that asks for"
                " a token also needs RAY_AUTH_MODE=token here"
            ) from error
    # Ray has its own.
    signal.signal(signal.SIGTERM, _interrupt)
    logging.getLogger("ray.serve").setLevel(logging.WARNING)
    if own and (gpus := ray.cluster_resources().get("GPU", 0)) < wanted["GPU"]:
        raise ConfigError(f"the configuration asks for {wanted['GPU']:g} GPUs; Ray sees {gpus:g}")


def _start_serve(config: ServeConfig) -> None:
    import ray
    from ray import serve

    try:
        serve.start(
            http_options={"host": config.http_host, "port": config.http_port},
            grpc_options={"port": config.grpc_port, "grpc_servicer_functions": list(SERVICERS)},
            logging_config=LOGGING,
        )
    except (RuntimeError, ray.exceptions.RayError) as error:
        reason = str(error).strip().splitlines()[-1]
        raise Unavailable(f"Ray Serve did not start: {reason}") from error


def _deploy(uri: str, config: Config) -> None:
    from ray import serve

    from reciper_ray.serve.app import application

    graph = application(uri, config)
    try:
        serve.run(graph, name=NAME, route_prefix="/", logging_config=LOGGING)
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
                client.health(timeout_ms=1000)
            except ReciperError as error:
                if time.monotonic() > end:
                    raise Unavailable(f"serving started but does not answer: {error}") from error
                time.sleep(0.2)
            else:
                return


def _follow(config: ServeConfig) -> NoReturn:
    """Tell on stderr which snapshots are served or refused, until a signal comes."""
    from ray import serve
    from ray.exceptions import RayError
    from ray.serve.exceptions import RayServeException

    told = 0
    while True:
        if not config.swap.poll_s:
            signal.pause()
            continue
        time.sleep(FOLLOW_EVERY_S)
        with suppress(RayError, RayServeException, TimeoutError):
            coordinator = serve.get_deployment_handle("coordinator", NAME)
            for event in coordinator.events.remote(told).result(timeout_s=READY_WITHIN_S):
                print(event, file=sys.stderr, flush=True)
                told += 1


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _stop(shared: bool) -> None:
    """End everything that was started here, as far as it got; of a Serve that was there before
    only the application."""
    import ray
    from ray import serve

    # Stopping must not be cut short: HAProxy would outlive it.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    # Ray prints that the controller, which ends itself, was killed.
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        if ray.is_initialized() and shared:
            serve.delete(NAME)
        elif ray.is_initialized():
            serve.shutdown()
        ray.shutdown()
