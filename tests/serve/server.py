"""`reciper serve` in a process of its own, and snapshots dealt anew to any number of shards."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import faiss
import numpy as np
import psutil
import yaml

from reciper_ray.adapters import tables
from reciper_ray.adapters.storage import Store
from reciper_ray.build.publish import describe, publish
from reciper_ray.build.shards import write_shard
from reciper_ray.build.work import write_part
from reciper_ray.errors import Unavailable
from reciper_ray.manifest import Manifest, shard_of
from reciper_ray.serve.ports import require_free
from reciper_ray.snapshot import Snapshot, current_id
from reciper_ray.types import View

KEY = "k3y"
MAIN = "from reciper_ray.cli import main; main()"


class Server:
    """Runs while its context lasts; then it and all it started must have ended."""

    def __init__(
        self, snapshot: Path | str, folder: Path, config: Mapping[str, Any] | None = None
    ) -> None:
        grpc, http, metrics, stats, fallback_http, fallback_grpc = free_ports(6)
        self.address = f"127.0.0.1:{grpc}"
        sections = dict(config or {})
        serve = {"grpc_port": grpc, "http_port": http, **sections.pop("serve", {})}
        path = folder / "config.yaml"
        path.write_text(yaml.safe_dump({"serve": serve, **sections}), "utf-8")
        self._options = ("--snapshot", snapshot, "--config", path)
        self._stderr = folder / "stderr.txt"
        self._environment = os.environ | {
            "RECIPER_TEST_KEY": KEY,
            "RAY_SERVE_HAPROXY_METRICS_PORT": str(metrics),
            "RAY_SERVE_HAPROXY_STATS_PORT": str(stats),
            "RAY_SERVE_FALLBACK_PROXY_HTTP_PORT": str(fallback_http),
            "RAY_SERVE_FALLBACK_PROXY_GRPC_PORT": str(fallback_grpc),
        }
        self._environment.pop("RAY_ADDRESS", None)
        self.stdout = ""

    def __enter__(self) -> "Server":
        with self._stderr.open("w") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-c", MAIN, "serve", *self._options],
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                env=self._environment,
                start_new_session=True,
            )
        assert self.process.stdout is not None
        self.stdout = self.process.stdout.readline()
        return self

    @property
    def stderr(self) -> str:
        return self._stderr.read_text("utf-8")

    def stop(self, number: int = signal.SIGINT) -> list[psutil.Process]:
        """Send the signal as a terminal does, to all; what is still there when it has ended."""
        started = psutil.Process(self.process.pid).children(recursive=True)
        os.killpg(self.process.pid, number)
        self.process.wait(timeout=60)
        return [process for process in started if _lives(process)]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            left = self.stop()
            assert not left, left
        assert self.process.stdout is not None
        self.process.stdout.close()


def _lives(process: psutil.Process) -> bool:
    # In a container whose first process reaps nobody, the dead of the dead stay as zombies.
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def free_ports(number: int) -> list[int]:
    """Ports that nobody has now, and that no one is given who does not ask for them by number."""
    free: list[int] = []
    port = 20_000 + os.getpid() * 10 % 9_000
    while len(free) < number:
        with contextlib.suppress(Unavailable):
            require_free(port, "a test")
            free.append(port)
        port += 1
    return free


def reshard(source: Path, folder: Path, shards: int) -> Manifest:
    """Publish to `folder` what the snapshot at `source` holds, in another number of shards."""
    old, store = Snapshot.open(source), Store.open(folder)
    dimension = old.manifest.encoder.dimension
    parts: list[dict[str, list[int]]] = [{} for _ in range(shards)]
    for paper_id, vectors in _vectors(old).items():
        indexed = old.paper(paper_id)
        row = tables.paper_row(indexed.paper, f"digest of {paper_id}") | {
            "recipes": [tables.recipe_row(recipe) for recipe in indexed.recipes],
            "passages": tables.passage_rows(indexed.passages),
            "vectors": np.concatenate(vectors).astype("<f4").tobytes(),
            "dimension": dimension,
        }
        parts[shard_of(paper_id, shards)][write_part(store, "work/reshard", [row])] = [0]
    manifest = describe(
        store,
        [write_shard(store, number, part, dimension) for number, part in enumerate(parts)],
        (),
        encoder=old.manifest.encoder,
        extractor=old.manifest.extractor,
        index=old.manifest.index,
        parent=current_id(store),
        corpus=old.manifest.corpus,
    )
    publish(store, manifest)
    return manifest


def _vectors(snapshot: Snapshot) -> dict[str, list[Any]]:
    """The vectors of each paper's passages, in the order of `IndexedPaper.passages`."""
    found: dict[str, list[Any]] = {}
    for view in View:
        for shard in range(snapshot.manifest.shards):
            data = np.frombuffer(snapshot.index(view, shard), np.uint8)
            index = faiss.deserialize_index(data)
            for row, paper_id in enumerate(snapshot.passages(view, shard)["paper_id"].to_pylist()):
                found.setdefault(paper_id, []).append(index.reconstruct(row)[None])
    return found
