"""Whether a build's peak memory grows with its corpus.

    python jobs/memory.py [--corpus sample/papers] [--papers 6] [--times 1 10]

Builds the texts of the smallest files of CORPUS, and then so many altered copies of each: other
ids, DOIs and every third word, so that none is a copy of another. Prints for each build the peak of
the memory of its process and all it started (what they share counted once), and of its largest
ones.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import psutil

from reciper_ray import readers
from reciper_ray.types import Paper

ROOT = Path(__file__).resolve().parents[1]
MAIN = "from reciper_ray.cli import main; main()"
_WORD = re.compile(r"[A-Za-z]{3,}")
_DOI = re.compile(r"10\.\d{4,9}/")
EVERY_S = 0.5


def altered(text: str, number: int) -> str:
    """The text with every third word and all DOIs changed, otherwise for each number."""
    seen = 0

    def change(match: re.Match[str]) -> str:
        nonlocal seen
        seen += 1
        return f"{match[0]}{'abcdefghij'[number % 10]}{number}" if seen % 3 == 0 else match[0]

    return _DOI.sub(f"10.{90000 + number}/", _WORD.sub(change, text))


def write_corpus(source: Path, folder: Path, papers: int, times: int) -> int:
    """Write `times` altered copies of the papers in the smallest files; how many there are."""
    folder.mkdir()
    for path in sorted(source.iterdir(), key=lambda p: (p.stat().st_size, p))[:papers]:
        records = readers.read(path.name, path.read_bytes())
        for paper in [record for record in records if isinstance(record, Paper)]:
            for number in range(times):
                text = altered(paper.text, number)
                (folder / f"{paper.paper_id}-{number}.txt").write_text(text, "utf-8")
    return len(list(folder.iterdir()))


def measure(corpus: Path, store: Path) -> dict[str, Any]:
    """Build, and watch what it takes, in MiB."""
    command = [sys.executable, "-c", MAIN, "build", str(corpus), "--out", str(store), "--json"]
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    environment.pop("RAY_ADDRESS", None)
    peak, largest = 0.0, defaultdict[str, float](float)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        while process.poll() is None:
            sizes = _sizes(process.pid)
            peak = max(peak, sum(size for _, size in sizes))
            for name, size in sizes:
                largest[name] = max(largest[name], size)
            time.sleep(EVERY_S)
        assert process.stdout is not None
        out = process.stdout.read()
    if process.returncode:
        raise RuntimeError(f"the build of {corpus} failed with {process.returncode}")
    summary = json.loads(out)
    return {
        "papers": summary["papers"],
        "passages": sum(summary["passages"].values()),
        "peak_mib": round(peak),
        "largest_mib": {
            name: round(size)
            for name, size in sorted(largest.items(), key=lambda item: -item[1])[:6]
        },
    }


def _sizes(pid: int) -> list[tuple[str, float]]:
    found = []
    try:
        processes = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return []
    for process in processes:
        try:
            with open(f"/proc/{process.pid}/smaps_rollup") as file:
                pss = next(int(line.split()[1]) for line in file if line.startswith("Pss:"))
            name = (
                " ".join(process.cmdline()).split("(")[0][:40] if process.pid != pid else "driver"
            )
        except (OSError, StopIteration, psutil.Error):
            continue
        found.append((name, pss / 1024))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, default=ROOT / "sample" / "papers")
    parser.add_argument("--papers", type=int, default=6)
    parser.add_argument("--times", type=int, nargs="+", default=[1, 10])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for times in options.times:
            corpus = Path(name) / f"corpus-{times}"
            write_corpus(options.corpus, corpus, options.papers, times)
            print(json.dumps(measure(corpus, Path(name) / f"store-{times}")), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
