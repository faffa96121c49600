"""What a store goes through: builds that are killed, and builds that publish at the same time.

    python jobs/chaos.py kills [--corpus sample/papers] [--rounds 10] [--seed 1]
    python jobs/chaos.py publishers [--rounds 20] [--store URI]

`kills`: one build runs undisturbed; then in each round one is killed with SIGKILL at a random
point of its work (a number of files it has written, and a moment more), and run again. Prints what
was finished at the kill, what the second run took over and did, and whether its snapshot is that
of the first. `publishers`: in each round two builds of one growing corpus run at once; a paper is
added before each lists the corpus, so that the first does not see the second's. Afterwards both
papers must be in one whole current snapshot, in a local folder or an empty one at URI.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
import yaml

from reciper_ray.adapters.storage import Store
from reciper_ray.build.work import finished
from reciper_ray.errors import ReciperError
from reciper_ray.history import history
from reciper_ray.snapshot import Snapshot

ROOT = Path(__file__).resolve().parents[1]
MAIN = "from reciper_ray.cli import main; main()"
GONE_WITHIN_S = 4.0
MOMENT_S = 0.5


def start(corpus: Path, store: Path | str, config: Path, err: Path) -> subprocess.Popen[str]:
    """`reciper build --json` in a process of its own."""
    command = [sys.executable, "-c", MAIN, "build", corpus, "--out", store, "--config", config]
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    environment.pop("RAY_ADDRESS", None)
    with err.open("a") as stderr:
        return subprocess.Popen(
            [*map(str, command), "--json"],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env=environment,
        )


def done(process: subprocess.Popen[str], err: Path) -> dict[str, Any]:
    """The summary of a build that must succeed."""
    out, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"a build failed with {process.returncode}: {err.read_text()[-2000:]}")
    summary: dict[str, Any] = json.loads(out)
    return summary


def listed(process: subprocess.Popen[str], err: Path) -> None:
    """Wait until the build has listed its corpus, or has ended."""
    while process.poll() is None and " files in " not in err.read_text():
        time.sleep(0.05)


def files_in(store: Path) -> int:
    """How far a build is, in files that are finished."""
    return sum(1 for path in store.rglob("*") if path.suffix in (".parquet", ".faiss", ".json"))


def kill(process: subprocess.Popen[str], store: Path, files: int, moment_s: float) -> bool:
    """End the build as soon as it has written so many files; whether it was still running."""
    most = 0
    while process.poll() is None and most < files:
        most = max(most, files_in(store) if store.exists() else 0)
        time.sleep(0.02)
    time.sleep(moment_s)
    running = process.poll() is None
    started = psutil.Process(process.pid).children(recursive=True) if running else []
    process.send_signal(signal.SIGKILL)
    process.communicate()
    # Ray's workers end when the process that started it is gone; some of its agents do not.
    _, left = psutil.wait_procs(started, timeout=GONE_WITHIN_S)
    for orphan in left:
        orphan.kill()
    return running


def killed_round(
    corpus: Path, folder: Path, config: Mapping[str, Any], files: int, moment_s: float
) -> dict[str, Any]:
    """Kill a build, run it again; what was done when, and the snapshot that came of it."""
    folder.mkdir()
    store, settings, err = folder / "store", folder / "config.yaml", folder / "stderr.txt"
    settings.write_text(yaml.safe_dump(dict(config)), "utf-8")
    running = kill(start(corpus, store, settings, err), store, files, moment_s)
    before = _current(store)
    work = store / "work"
    at = Store.open(store)
    parts = [p.name for p in work.iterdir()] if work.exists() else []
    committed = len({d for name in parts for d in finished(at, f"work/{name}")})
    summary = done(start(corpus, store, settings, err), err)
    Snapshot.open(store).verify()
    return {
        "killed_at_files": files,
        "killed": running,
        "published_before": bool(before),
        "papers_committed": committed,
        "papers_taken_over": summary["reused"] + summary["resumed"],
        "papers_done_again": summary["extracted"],
        "passages_embedded": summary["embedded"],
        "snapshot_id": summary["snapshot_id"],
        "left": sorted(path for path, _ in at.files() if path.startswith(("work/", "leases/"))),
    }


def _current(store: Path) -> str:
    try:
        return Snapshot.open(store).id
    except ReciperError:
        return ""


def kills(corpus: Path, rounds: int, seed: int) -> bool:
    """The command; whether all went well."""
    config = {"build": {"shards": 2, "block_papers": 2, "actors": 2}}
    well = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings, err = folder / "config.yaml", folder / "stderr.txt"
        settings.write_text(yaml.safe_dump(config), "utf-8")
        first = done(start(corpus, folder / "store", settings, err), err)
        # Its parts are gone by now: as many again as its blocks.
        total = files_in(folder / "store") + first["records"] // 2 + 1
        print(f"undisturbed: snapshot {first['snapshot_id']}, {first['extracted']} papers")
        dice = random.Random(seed)
        for number in range(rounds):
            files, moment = dice.randint(1, total), dice.random() * MOMENT_S
            found = killed_round(corpus, folder / str(number), config, files, moment)
            again = found["papers_done_again"] + found["papers_taken_over"]
            good = (
                found["snapshot_id"] == first["snapshot_id"]
                and found["papers_taken_over"] >= found["papers_committed"]
                and again == first["extracted"]
                and not found["left"]
            )
            well &= good
            print(f"round {number}: {'good' if good else 'BAD'} {json.dumps(found)}", flush=True)
            shutil.rmtree(folder / str(number))
    print("committed work done again: none; lost at a kill: at most the block each actor held")
    return well


def paper(name: str) -> str:
    """The text of a small paper like no other."""
    dice = random.Random(name)
    words = [
        f"{dice.choice('bcdfglmnprst')}{dice.choice('aeiou')}{dice.randint(10, 99)}"
        for _ in range(80)
    ]
    return (
        f"On {name}\n\nThe {name} powder was calcined at {dice.randint(300, 1500)} °C for "
        f"{dice.randint(1, 48)} h in air. {' '.join(words)}.\n"
    )


def publishers(rounds: int, uri: str = "") -> bool:
    """The command; whether all went well."""
    well = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus, settings = folder / "corpus", folder / "config.yaml"
        store = uri or str(folder / "store")
        corpus.mkdir()
        settings.write_text(yaml.safe_dump({"build": {"shards": 2, "actors": 1}}), "utf-8")
        for number in range(rounds):
            builds, names = [], [f"round{number}-{who}" for who in ("one", "two")]
            for each in names:
                (corpus / f"{each}.txt").write_text(paper(each), "utf-8")
                err = folder / f"{each}.err"
                builds.append((start(corpus, store, settings, err), err))
                listed(builds[-1][0], err)
            summaries = [done(process, err) for process, err in builds]
            waited = sum("going on from there" in err.read_text() for _, err in builds)
            snapshot = Snapshot.open(store)
            snapshot.verify()
            expected = {path.stem for path in corpus.iterdir()}
            held = {
                paper_id
                for shard in range(snapshot.manifest.shards)
                for paper_id in snapshot.papers(shard)["paper_id"].to_pylist()
            }
            for entry in history(Store.open(store)):
                Snapshot.open(store, entry.snapshot_id).verify()
            good = held == expected and snapshot.id in {s["snapshot_id"] for s in summaries}
            well &= good
            print(
                f"round {number}: {'good' if good else 'BAD'}, {len(held)} of {len(expected)} "
                f"papers, {waited} went on from what the other published",
                flush=True,
            )
    return well


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("kills")
    command.add_argument("--corpus", type=Path, default=ROOT / "sample" / "papers")
    command.add_argument("--rounds", type=int, default=10)
    command.add_argument("--seed", type=int, default=1)
    command = commands.add_parser("publishers")
    command.add_argument("--rounds", type=int, default=20)
    command.add_argument("--store", default="", metavar="URI")
    options = parser.parse_args()
    if options.command == "kills":
        return 0 if kills(options.corpus, options.rounds, options.seed) else 1
    return 0 if publishers(options.rounds, options.store) else 1


if __name__ == "__main__":
    sys.exit(main())
