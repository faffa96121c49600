"""The dataset of a build: one row a paper, through all stages, on Ray Data.

Ray decides which worker does what and when; the rows that come out do not depend on it.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from reciper_ray.adapters.storage import CorpusFile, Store
from reciper_ray.build import stages
from reciper_ray.build.cluster import embedding_actors, quiet_data
from reciper_ray.build.extract import Extract, workers
from reciper_ray.build.work import Places, Written, recipes_folder
from reciper_ray.config import Config
from reciper_ray.errors import ReciperError
from reciper_ray.recipe import ExtractiveExtractor

# What each stage claims of `build.num_cpus`. Together one of each fills it, so the stages never
# wait for one another's CPUs; and as no two are equal, Ray does not fuse them, which would keep
# all papers of one file on one worker.
_CPU_SHARE = {"read": 0.04, "prepare": 0.06, "embed": 0.9}
# Rows travel in blocks of this size, so that a file of many papers is spread over all workers.
_BLOCK_BYTES = 1 << 20
# A small corpus is cut so that each actor has a few turns, and they end at about the same time.
_TURNS = 4
# Reading and preparing are light: they get a process of their own for this many CPUs each.
_LIGHT_EVERY = 2
_REPORT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Plan:
    """Where the work on papers reads and writes, by which encoder and extractor, and what is done
    already: papers by digest, and recipes alone."""

    corpus: Store
    store: Store
    folder: str
    encoder: str
    extractor: str
    done: frozenset[str]
    recipes: Places


def work_on_papers(
    files: Sequence[CorpusFile],
    plan: Plan,
    config: Config,
    progress: Callable[[str], None],
) -> pa.Table:
    """Run the dataset; RECEIPTS of everything in the corpus, by file and position."""
    import ray

    have = ray.cluster_resources()
    cpus = have.get("CPU", 0.0)
    actors = embedding_actors(config.build, cpus, have.get("GPU", 0.0))
    size = min(config.build.block_papers, math.ceil(len(files) / (_TURNS * actors)))

    def light(share: str) -> dict[str, Any]:
        return {
            "num_cpus": _CPU_SHARE[share] * config.build.num_cpus,
            "compute": ray.data.TaskPoolStrategy(size=math.ceil(max(1, cpus) / _LIGHT_EVERY)),
            "batch_format": "pyarrow",
        }

    extracting: dict[str, Any]
    if config.extract.backend == "extractive":
        extracting = {"fn": stages.extract, "fn_kwargs": {"extractor": ExtractiveExtractor()}}
        extracting |= light("prepare")
    else:
        written = Written(plan.store, recipes_folder(plan.extractor), plan.recipes)
        arguments = (config.extract, plan.extractor, written)
        extracting = {"fn": Extract, "fn_constructor_args": arguments}
        extracting |= workers(config.extract, config.build, cpus, have.get("GPU", 0.0))
        extracting["batch_format"] = "pyarrow"
    receipts: list[pa.Table] = []
    report = _Report(len(files), progress)
    with quiet_data(_BLOCK_BYTES):
        rows = [{"path": file.path, "problem": file.problem} for file in files]
        dataset = (
            ray.data.from_items(rows, override_num_blocks=math.ceil(len(rows) / size))
            .map_batches(
                stages.read,
                fn_kwargs={"corpus": plan.corpus, "finished": plan.done},
                **light("read"),
            )
            .map_batches(batch_size=size, **extracting)
            .map_batches(
                stages.chunk, batch_size=size, fn_kwargs={"config": config}, **light("prepare")
            )
            .map_batches(
                stages.Embed,
                batch_size=size,
                batch_format="pyarrow",
                fn_constructor_args=(config.encoder, plan.encoder, plan.store, plan.folder),
                compute=ray.data.ActorPoolStrategy(size=actors, max_tasks_in_flight_per_actor=1),
                num_cpus=_CPU_SHARE["embed"] * config.build.num_cpus,
                num_gpus=config.build.num_gpus,
            )
        )
        for batch in dataset.iter_batches(batch_size=None, batch_format="pyarrow"):
            receipts.append(batch)
            report.add(batch)
        report.tell()
    table = pa.concat_tables(receipts)
    missing = sorted({file.path for file in files} - set(table["file"].to_pylist()))
    if missing:
        raise ReciperError(f"{len(missing)} files were lost on the way, first {missing[0]}")
    return table.sort_by([("file", "ascending"), ("position", "ascending")])


class _Report:
    """Tells how far the papers are, every few seconds."""

    def __init__(self, files: int, progress: Callable[[str], None]) -> None:
        self._total, self._progress = files, progress
        self._files: set[str] = set()
        self._papers = self._passages = 0
        self._began = self._told = time.perf_counter()

    def add(self, batch: pa.Table) -> None:
        self._files.update(batch["file"].to_pylist())
        self._papers += pc.sum(pc.is_null(batch["reason"])).as_py() or 0
        self._passages += pc.sum(batch["passages"]).as_py() or 0
        if time.perf_counter() - self._told > _REPORT_SECONDS:
            self.tell()

    def tell(self) -> None:
        self._told = time.perf_counter()
        rate = self._passages / (self._told - self._began)
        self._progress(
            f"{len(self._files)} of {self._total} files, {self._papers} papers, "
            f"{self._passages} passages embedded ({rate:.1f}/s)"
        )
