"""Writes the fixture store of this folder anew; the rankings only where there are none yet.

    python -m tests.golden.make

Run it after a change of the snapshot format. `rankings.json` was written once and stays: the
paper's method must go on ranking these passages as it did.
"""

import asyncio
import json
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

from reciper_ray import config as configuration
from reciper_ray import qa
from reciper_ray.adapters.encoder import query_encoder
from reciper_ray.build.pipeline import build
from tests.golden import PAPERS, RANKINGS, STORE, VECTORS, rank

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    settings = {"encoder": {"dtype": "float32"}, "build": {"shards": 2}}
    config = configuration.parse(settings)
    with tempfile.TemporaryDirectory() as folder:
        for name in PAPERS:
            shutil.copy(ROOT / "sample" / "papers" / name, folder)
        shutil.rmtree(STORE, ignore_errors=True)
        build(folder, str(STORE), config, lambda line: print(line, file=sys.stderr))
        for manifest in STORE.glob("snapshots/*/manifest.json"):
            # Where it was made is no part of the snapshot's id, and no business of the repository.
            manifest.write_text(manifest.read_text("utf-8").replace(folder, "sample/papers"))
    stems = {Path(name).stem for name in PAPERS}
    questions = [q.text for q in qa.load(ROOT / "sample" / "qa.jsonl") if q.relevant_ids & stems]
    if not RANKINGS.exists():
        np.save(VECTORS, query_encoder(config.encoder).encode_queries(questions))
        rankings = asyncio.run(rank(questions))
        RANKINGS.write_text(json.dumps(rankings, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
