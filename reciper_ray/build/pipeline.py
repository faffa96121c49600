"""The build, end to end: corpus → rows (Ray Data) → parts → shards → published snapshot.

Here is the order of things and what the driver decides: which copy of a paper counts, which
shard it goes to, what the manifest says. The work on one paper is in `stages`, on one shard in
`shards`.
"""

import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from reciper_ray import __version__
from reciper_ray.adapters import tables
from reciper_ray.adapters.storage import CorpusFile, Store, open_corpus
from reciper_ray.build import stages
from reciper_ray.build.cluster import cluster, embedding_actors, own_errors, quiet_data
from reciper_ray.build.publish import publish
from reciper_ray.build.shards import Shard, lexicon, write_file, write_shard
from reciper_ray.build.work import finished, read_part, work_folder
from reciper_ray.config import Config
from reciper_ray.errors import ConfigError, InvalidArgument, ReciperError
from reciper_ray.lexical import TOKENIZER_VERSION
from reciper_ray.manifest import EncoderInfo, Manifest, Role, ViewInfo, shard_of
from reciper_ray.recipe import ExtractiveExtractor
from reciper_ray.snapshot import Snapshot, current_id
from reciper_ray.types import Rejection, View

# What each stage claims of `build.num_cpus`. Together one of each fills it, so the stages never
# wait for one another's CPUs; and as no two are equal, Ray does not fuse them, which would keep
# all papers of one file on one worker.
_CPU_SHARE = {"read": 0.04, "prepare": 0.06, "embed": 0.9}
# Rows travel in blocks of this size, so that a file of many papers is spread over all workers.
_BLOCK_BYTES = 1 << 20
_TURNS = 4
_QUARANTINED_A_GROUP = 1024
_REPORT_SECONDS = 5.0

Parts = Mapping[str, Sequence[int]]


@dataclass(frozen=True, slots=True)
class Summary:
    """What a build did. `seconds` by stage: `read`, `extract`, `chunk` and `embed` are summed
    over workers, which work side by side; `papers` is the time those took together, `total`
    everything. `resumed` papers were taken from a build that did not finish."""

    snapshot_id: str
    uri: str
    files: int
    papers: int
    passages: Mapping[View, int]
    recipes: int
    quarantined: Mapping[str, int]
    resumed: int
    seconds: Mapping[str, float]


def build(
    corpus_uri: str, out_uri: str, config: Config, progress: Callable[[str], None]
) -> Summary:
    """Index the corpus and make the result the current snapshot of the store at `out_uri`.

    `progress` gets lines for a person. Raises `NotFound` for a missing corpus,
    `InvalidArgument` if nothing in it can be indexed or the store lies inside it, `ConfigError`
    if the store has another number of shards, `PublishConflict` if another build published
    meanwhile; whatever is raised, the store's current snapshot is untouched.
    """
    from reciper_ray.adapters.encoder import fingerprint

    clock = Clock()
    corpus, files = open_corpus(corpus_uri)
    store = Store.open(out_uri)
    _refuse_store_in_corpus(store, Store.open(corpus_uri))
    parent = current_id(store)
    _refuse_other_shards(store, parent, config.build.shards)
    encoder, extractor = fingerprint(config.encoder), ExtractiveExtractor()
    folder = work_folder(config, encoder, extractor.name)
    done = finished(store, folder)
    progress(f"{len(files)} files in {corpus.uri}; encoder {encoder}")
    with cluster(), own_errors():
        plan = Plan(corpus, store, folder, encoder, frozenset(done))
        receipts = _work_on_papers(files, plan, extractor, config, progress)
        clock.stop("papers")
        shards, rejections = _settle(receipts, done, config.build.shards)
        first = next((part for parts in shards for part in sorted(parts)), None)
        if first is None:
            raise InvalidArgument(
                f"corpus {corpus.uri}: none of its {len(files)} files can be indexed: "
                f"{_counted(rejections)}"
            )
        dimension = read_part(store, first, [0], ["dimension"])["dimension"][0].as_py()
        written = _write_shards(store, shards, dimension, progress)
        clock.stop("shards")
    manifest = _manifest(
        store,
        written,
        rejections,
        encoder=EncoderInfo(config.encoder.model, encoder, dimension),
        extractor=extractor.name,
        index=config.index.kind,
        parent=parent,
        corpus=corpus.uri,
    )
    publish(store, manifest)
    store.delete_folder(folder)
    clock.stop("publish")
    return Summary(
        snapshot_id=manifest.snapshot_id,
        uri=store.uri,
        files=len(files),
        papers=manifest.papers,
        passages={view: info.passages for view, info in manifest.views.items()},
        recipes=manifest.recipes,
        quarantined=manifest.quarantined,
        resumed=pc.sum(receipts["finished"]).as_py() or 0,
        seconds=stages.seconds(receipts) | clock.seconds(),
    )


class Clock:
    """Seconds between stops, by the name of the stop, and in total."""

    def __init__(self) -> None:
        self._stops = [("", time.perf_counter())]

    def stop(self, name: str) -> None:
        self._stops.append((name, time.perf_counter()))

    def seconds(self) -> dict[str, float]:
        pairs = zip(self._stops, self._stops[1:], strict=False)
        return {name: end - start for (_, start), (name, end) in pairs} | {
            "total": self._stops[-1][1] - self._stops[0][1]
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """Where the work on papers reads and writes, by which encoder, and what is done already."""

    corpus: Store
    store: Store
    folder: str
    encoder: str
    done: frozenset[str]


def _work_on_papers(
    files: Sequence[CorpusFile],
    plan: Plan,
    extractor: stages.Extractor,
    config: Config,
    progress: Callable[[str], None],
) -> pa.Table:
    """Run the dataset; RECEIPTS of everything in the corpus, by file and position."""
    import ray

    have = ray.cluster_resources()
    cpus = have.get("CPU", 0.0)
    actors = embedding_actors(config.build, cpus, have.get("GPU", 0.0))
    # Small enough that the actors end at about the same time.
    size = min(config.build.block_papers, math.ceil(len(files) / (_TURNS * actors)))

    def light(share: str) -> dict[str, Any]:
        return {
            "num_cpus": _CPU_SHARE[share] * config.build.num_cpus,
            "compute": ray.data.TaskPoolStrategy(size=max(1, int(cpus))),
            "batch_format": "pyarrow",
        }

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
            .map_batches(
                stages.extract,
                batch_size=size,
                fn_kwargs={"extractor": extractor},
                **light("prepare"),
            )
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
    table = pa.concat_tables(receipts)
    missing = sorted({file.path for file in files} - set(table["file"].to_pylist()))
    if missing:
        raise ReciperError(f"{len(missing)} files were lost on the way, first {missing[0]}")
    return table.sort_by([("file", "ascending"), ("position", "ascending")])


class _Report:
    """Tells how far the papers are, at most every few seconds."""

    def __init__(self, files: int, progress: Callable[[str], None]) -> None:
        self._total, self._progress = files, progress
        self._files: set[str] = set()
        self._papers = self._passages = 0
        self._began = self._told = time.perf_counter()

    def add(self, batch: pa.Table) -> None:
        self._files.update(batch["file"].to_pylist())
        self._papers += pc.sum(pc.is_null(batch["reason"])).as_py() or 0
        self._passages += pc.sum(batch["passages"]).as_py() or 0
        now = time.perf_counter()
        if now - self._told > _REPORT_SECONDS or len(self._files) == self._total:
            self._told = now
            self._progress(
                f"{len(self._files)} of {self._total} files, {self._papers} papers, "
                f"{self._passages} passages embedded "
                f"({self._passages / (now - self._began):.1f}/s)"
            )


def _settle(
    receipts: pa.Table, done: Mapping[str, tuple[str, int]], shards: int
) -> tuple[list[Parts], list[Rejection]]:
    """Where each shard's papers are, and everything else with its reason.

    Of several papers with one id the first by path counts.
    """
    kept: dict[str, str] = {}
    rejections: list[Rejection] = []
    parts: list[dict[str, list[int]]] = [defaultdict(list) for _ in range(shards)]
    for row in receipts.to_pylist():
        paper_id, source = row["paper_id"], row["source"]
        if row["reason"] is not None:
            rejections.append(Rejection(source, row["stage"], row["reason"], row["head_hash"]))
        elif paper_id in kept:
            reason = f"paper id {paper_id!r} is already that of {kept[paper_id]}"
            rejections.append(Rejection(source, "shard", reason))
        else:
            kept[paper_id] = source
            part, number = (row["part"], row["row"])
            if row["finished"]:
                part, number = done[row["digest"]]
            parts[shard_of(paper_id, shards)][part].append(number)
    return [{part: sorted(rows) for part, rows in p.items()} for p in parts], rejections


def _write_shards(
    store: Store, shards: Sequence[Parts], dimension: int, progress: Callable[[str], None]
) -> list[Shard]:
    import ray

    task = ray.remote(num_cpus=1)(write_shard)
    waiting = [task.remote(store, n, parts, dimension) for n, parts in enumerate(shards)]
    order = list(waiting)
    while waiting:
        _, waiting = ray.wait(waiting, num_returns=1)
        progress(f"{len(order) - len(waiting)} of {len(order)} shards written")
    written: list[Shard] = ray.get(order)
    return written


def _manifest(
    store: Store,
    shards: Sequence[Shard],
    rejections: Sequence[Rejection],
    *,
    encoder: EncoderInfo,
    extractor: str,
    index: str,
    parent: str,
    corpus: str,
) -> Manifest:
    """Write the files that are of the whole corpus, and describe everything."""
    files = [file for shard in shards for file in shard.files]
    for view in View:
        table = lexicon([shard.lexicons[view] for shard in shards])
        files.append(write_file(store, table, Role.LEXICON, view=view, rows_a_group=len(table)))
    quarantine = pa.Table.from_pylist(
        [tables.rejection_row(rejection) for rejection in rejections], schema=tables.QUARANTINE
    )
    files.append(
        write_file(store, quarantine, Role.QUARANTINE, rows_a_group=_QUARANTINED_A_GROUP)
    )

    def rows(role: Role, view: View | None = None) -> int:
        return sum(file.rows for file in files if (file.role, file.view) == (role, view))

    return Manifest(
        encoder=encoder,
        tokenizer=TOKENIZER_VERSION,
        extractor=extractor,
        index=index,
        shards=len(shards),
        papers=rows(Role.PAPERS),
        recipes=sum(shard.recipes for shard in shards),
        views={
            view: ViewInfo(rows(Role.PASSAGES, view), sum(shard.tokens[view] for shard in shards))
            for view in View
        },
        quarantined=dict(sorted(Counter(r.reason for r in rejections).items())),
        files=tuple(files),
        parent=parent,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        corpus=corpus,
        builder=__version__,
    )


def _refuse_store_in_corpus(store: Store, corpus: Store) -> None:
    same = store.filesystem.equals(corpus.filesystem)
    if same and f"{store.root}/".startswith(f"{corpus.root}/"):
        raise InvalidArgument(
            f"--out {store.uri} lies inside the corpus {corpus.uri}; the next build would read it"
        )


def _refuse_other_shards(store: Store, snapshot_id: str, shards: int) -> None:
    if not snapshot_id:
        return
    theirs = Snapshot.open(store, snapshot_id).manifest.shards
    if theirs != shards:
        raise ConfigError(
            f"build.shards = {shards}, but the store {store.uri} has {theirs} shards, which is "
            f"fixed for its life; use another store"
        )


def _counted(rejections: Sequence[Rejection]) -> str:
    counts = Counter(rejection.reason for rejection in rejections)
    return ", ".join(f"{reason} ({n})" for reason, n in sorted(counts.items()))
