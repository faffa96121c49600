"""A live swap and a rollback under load: failed requests, mixed replies, times before and during.

    python jobs/swap.py --snapshot STORE [--clients 32] [--seconds 20]

STORE is copied; a second snapshot of it, whose passages all carry a mark, is published while
clients search, and rolled back again, on two routers and two replicas of each shard group. During
the swap one replica is killed, so that Serve starts another one amid it. A reply is mixed if any of
its passages is not of the snapshot that it names, failed if it is an error or lacks a shard.
"""

import argparse
import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import yaml

from reciper_ray.adapters import tables
from reciper_ray.adapters.index import vectors_of
from reciper_ray.adapters.storage import Store
from reciper_ray.build.publish import describe, publish
from reciper_ray.build.shards import write_shard
from reciper_ray.build.work import write_part
from reciper_ray.client import AsyncClient
from reciper_ray.errors import ReciperError
from reciper_ray.history import rollback
from reciper_ray.snapshot import Snapshot, current_id
from reciper_ray.types import Query, SearchResult, View

MARK = "[as of the second snapshot]"
QUESTIONS = [
    "At what temperature and for how long was the powder calcined?",
    "In which atmosphere was the sample sintered?",
    "Which precursors were mixed, and how?",
    "How was the alloy heat treated?",
]
CONFIG: dict[str, Any] = {
    "router": {"num_replicas": 2, "num_cpus": 0.1, "max_queue": 1000},
    "embedder": {"num_replicas": 1, "num_cpus": 0.1},
    "shards": {"num_replicas": 2, "num_cpus": 0.1, "shards_per_replica": 2},
    "swap": {"poll_s": 0.5, "keep_s": 2.0},
}


@dataclass(frozen=True, slots=True)
class Reply:
    """One request: when it was sent, how long it took, and what was wrong with it."""

    sent: float
    seconds: float
    snapshot_id: str = ""
    mixed: bool = False
    failed: str = ""


@dataclass(slots=True)
class Load:
    """Clients that search one after another until they are told to stop."""

    marked: str
    replies: list[Reply] = field(default_factory=list)
    stopped: bool = False

    async def run(self, address: str, clients: int) -> None:
        async with AsyncClient(address, attempts=1) as client:
            await asyncio.gather(*(self._one(client, n) for n in range(clients)))

    async def _one(self, client: AsyncClient, number: int) -> None:
        for turn in range(1_000_000):
            if self.stopped:
                return
            sent = time.monotonic()
            question = QUESTIONS[(number + turn) % len(QUESTIONS)]
            try:
                result = await client.search(Query(question, k=5))
            except ReciperError as error:
                self.replies.append(Reply(sent, time.monotonic() - sent, failed=str(error)))
            else:
                self.replies.append(self._judged(sent, result))

    def _judged(self, sent: float, result: SearchResult) -> Reply:
        should = result.snapshot_id == self.marked
        mixed = any((MARK in hit.passage.text) is not should for hit in result.hits)
        lost = [f"{c.view}: {dict(c.errors)}" for c in result.coverage if c.share < 1]
        failed = "; ".join(lost) if result.hits else "no hits"
        return Reply(sent, time.monotonic() - sent, result.snapshot_id, mixed, failed)

    def since(self, start: float, end: float = float("inf")) -> list[Reply]:
        return [reply for reply in self.replies if start <= reply.sent < end]


def publish_marked(store: Store) -> str:
    """Publish the current snapshot again, with a mark in the text of every passage."""
    old = Snapshot.open(store)
    dimension, shards = old.manifest.encoder.dimension, old.manifest.shards
    parts = [_marked_part(store, old, shard) for shard in range(shards)]
    manifest = describe(
        store,
        [write_shard(store, n, part, dimension) for n, part in enumerate(parts)],
        old.quarantine(),
        encoder=old.manifest.encoder,
        extractor=old.manifest.extractor,
        index=old.manifest.index,
        parent=old.id,
        corpus=old.manifest.corpus,
        copies=old.copies(),
    )
    publish(store, manifest)
    store.delete_folder("work")
    return manifest.snapshot_id


def _marked_part(store: Store, old: Snapshot, shard: int) -> dict[str, list[int]]:
    passages: dict[str, list[Any]] = {}
    vectors: dict[str, list[Any]] = {}
    for view in View:
        rows = vectors_of(old.index(view, shard))
        for number, row in enumerate(old.passages(view, shard).to_pylist()):
            passage = tables.passage_rows([tables.passage_of(row)])[0]
            passage["text"] += f" {MARK}"
            passages.setdefault(row["paper_id"], []).append(passage)
            vectors.setdefault(row["paper_id"], []).append(rows[number])
    papers = [
        row
        | {
            "passages": passages[row["paper_id"]],
            "vectors": np.stack(vectors[row["paper_id"]]).astype("<f4").tobytes(),
            "dimension": old.manifest.encoder.dimension,
        }
        for row in old.papers(shard).to_pylist()
    ]
    if not papers:
        return {}
    return {write_part(store, "work/marked", papers): list(range(len(papers)))}


async def until(load: Load, wanted: str, within_s: float) -> float:
    """The time from which on all replies were of that snapshot, once that has held for a second."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        await asyncio.sleep(0.2)
        other = [r.sent for r in load.replies if r.snapshot_id not in ("", wanted)]
        last = max(other, default=0.0)
        new = [r.sent for r in load.replies if r.snapshot_id == wanted and r.sent > last]
        if new and max(new) - last > 1.0:
            return last
    raise TimeoutError(f"after {within_s:.0f} s snapshot {wanted} does not serve everyone")


async def swap_and_back(
    address: str, store: Store, clients: int, seconds: float, amid: Callable[[], None]
) -> dict[str, Any]:
    """Search for `seconds`, publish, wait until all replies are new, roll back, wait again."""
    first = current_id(store)
    # Made in advance, so that only the swap itself is in what is measured.
    marked = await asyncio.to_thread(publish_marked, store)
    rollback(store, first)
    load = Load(marked)
    running = asyncio.create_task(load.run(address, clients))
    try:
        await until(load, first, 120)
        began = time.monotonic()
        await asyncio.sleep(seconds)
        swapped = time.monotonic()
        rollback(store, marked)
        await asyncio.sleep(0.7)
        amid()
        forward = await until(load, marked, 180)
        returned = time.monotonic()
        rollback(store, first)
        back = await until(load, first, 180)
    finally:
        load.stopped = True
        await running
    before, during = load.since(began, swapped), load.since(swapped)
    return {
        "requests": len(load.replies),
        "failed": sum(bool(reply.failed) for reply in load.replies),
        "reasons": sorted({reply.failed for reply in load.replies if reply.failed})[:3],
        "mixed": sum(reply.mixed for reply in load.replies),
        "swap_s": round(forward - swapped, 2),
        "rollback_s": round(back - returned, 2),
        "p99_before_ms": _p99(before),
        "p99_during_ms": _p99(during),
        "of_each": {
            name: sum(reply.snapshot_id == id_ for reply in load.replies)
            for name, id_ in (("first", first), ("second", marked))
        },
    }


def _p99(replies: Sequence[Reply]) -> float:
    times = [reply.seconds * 1000 for reply in replies if not reply.failed]
    return round(float(np.percentile(times, 99)), 1) if times else float("nan")


def kill_a_replica(server: int, deployment: str) -> None:
    """End one replica of a deployment of the graph that process `server` runs."""
    for process in psutil.Process(server).children(recursive=True):
        if f"ServeReplica:reciper:{deployment}" in " ".join(process.cmdline()):
            process.kill()
            return
    raise LookupError(f"no replica of {deployment} runs")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--snapshot", type=Path, required=True)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--port", type=int, default=9000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        store, config = Path(name) / "store", Path(name) / "config.yaml"
        shutil.copytree(options.snapshot, store)
        serve = {**CONFIG, "grpc_port": options.port, "http_port": options.port + 1}
        config.write_text(yaml.safe_dump({"serve": serve}), "utf-8")
        main_ = "from reciper_ray.cli import main; main()"
        command = [sys.executable, "-c", main_, "serve", "--snapshot", store, "--config", config]
        environment = os.environ | {"HF_HUB_OFFLINE": "1"}
        with subprocess.Popen(
            [*map(str, command)], stdout=subprocess.PIPE, text=True, env=environment
        ) as server:
            try:
                assert server.stdout is not None
                if not server.stdout.readline():
                    return server.wait() or 1
                found = asyncio.run(
                    swap_and_back(
                        f"127.0.0.1:{options.port}",
                        Store.open(store),
                        options.clients,
                        options.seconds,
                        lambda: kill_a_replica(server.pid, "paragraph-shards-0"),
                    )
                )
            finally:
                server.send_signal(signal.SIGINT)
    print(json.dumps(found, indent=1))
    return 0 if not found["failed"] and not found["mixed"] else 1


if __name__ == "__main__":
    sys.exit(main())
