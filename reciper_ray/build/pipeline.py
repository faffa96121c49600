"""The build, end to end: corpus → rows (Ray Data) → parts → shards → published snapshot.

Here is the order of things; `reuse` has what is there already, `stages` the work on one paper,
`papers` the dataset it runs in, `settle` what is decided when all papers are in, `shards` the
work on one shard.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from reciper_ray.adapters.extractor import prepare
from reciper_ray.adapters.storage import CorpusFile, Store, open_corpus
from reciper_ray.adapters.tokenizer import fingerprint
from reciper_ray.build.cluster import cluster, own_errors
from reciper_ray.build.papers import Plan, work_on_papers
from reciper_ray.build.publish import LOCK_WAIT_S, describe, publish
from reciper_ray.build.records import seconds
from reciper_ray.build.reuse import Reuse, find
from reciper_ray.build.settle import Parts, Settled, settle
from reciper_ray.build.shards import Shard, write_shard
from reciper_ray.build.work import read_part, recipes_folder, work_folder, work_key
from reciper_ray.config import Config
from reciper_ray.errors import ConfigError, InvalidArgument, PublishConflict, ReciperError
from reciper_ray.history import sweep
from reciper_ray.leases import Held, Kind, wait_for
from reciper_ray.manifest import EncoderInfo, Manifest
from reciper_ray.recipe.outcome import Outcome, outcome
from reciper_ray.snapshot import Snapshot, current_id
from reciper_ray.types import Rejection, View

_ATTEMPTS = 10


@dataclass(frozen=True, slots=True)
class Summary:
    """What a build did. `records`, what was found in the files, is the sum of `papers`, `copies`
    and the `quarantined`. Of the papers read, `reused` were taken from the snapshot before,
    `resumed` from a build that did not finish; `extracted` got their recipes and `embedded`
    passages their vectors in this one. `rewritten` shards have other files than before. `seconds`
    by stage: `read`, `extract`, `chunk` and `embed` are summed over workers, which work side by
    side; `papers` is the time those took together, `total` everything. `model` says how a language
    model fared that wrote the recipes, None if none was to."""

    snapshot_id: str
    uri: str
    files: int
    papers: int
    passages: Mapping[View, int]
    recipes: int
    records: int
    copies: int
    quarantined: Mapping[str, int]
    reused: int
    resumed: int
    extracted: int
    embedded: int
    rewritten: int
    seconds: Mapping[str, float]
    model: Outcome | None = None


def build(
    corpus_uri: str, out_uri: str, config: Config, progress: Callable[[str], None]
) -> Summary:
    """Index the corpus and make the result the current snapshot of the store at `out_uri`.

    `progress` gets lines for a person. If another build publishes meanwhile, this one lists the
    corpus anew and goes on from what that one published, so the result is as if they had run one
    after the other. Raises `NotFound` for a missing corpus, `InvalidArgument` if nothing in it can
    be indexed or the store lies inside it, `ConfigError` if the store has another number of
    shards, `PublishConflict` if others published again and again; whatever is raised, the store's
    current snapshot is untouched, and `progress` is told which that is.
    """
    corpus, files = open_corpus(corpus_uri)
    store = Store.open(out_uri)
    _refuse_store_in_corpus(store, Store.open(corpus_uri))
    clock, work = Clock(), Counter[str]()
    try:
        with Held(store, Kind.BUILD) as lease, cluster(), own_errors():
            wait_for(store, lease, Kind.PRUNE, LOCK_WAIT_S)
            for attempt in range(_ATTEMPTS):
                try:
                    return _build(corpus, files, store, config, lease, clock, work, progress)
                except PublishConflict as error:
                    if attempt + 1 == _ATTEMPTS:
                        raise
                    progress(f"{error}: going on from there")
                    corpus, files = open_corpus(corpus_uri)
            raise AssertionError("the last attempt returns or raises")
    except ReciperError:
        progress(_what_is_current(store))
        raise


def _build(
    corpus: Store,
    files: Sequence[CorpusFile],
    store: Store,
    config: Config,
    lease: Held,
    clock: "Clock",
    work: Counter[str],
    progress: Callable[[str], None],
) -> Summary:
    """One attempt; `work` counts over all of them."""
    parent = _parent(store, config.build.shards)
    lease.name([parent.id] if parent else [])
    encoder, extractor = fingerprint(config.encoder), prepare(config.extract, progress)
    key = work_key(config, encoder, extractor)
    by_model = config.extract.backend != "extractive"
    progress(f"{len(files)} files in {corpus.uri}; encoder {encoder}")
    reuse = find(store, parent, key, extractor, recipes=by_model, progress=progress)
    folder = work_folder(key)
    plan = Plan(corpus, store, folder, encoder, extractor, reuse.finished, reuse.recipes)
    receipts, settled = _papers(files, plan, reuse, config, work, progress)
    clock.stop("papers")
    dimension = _dimension(store, settled, parent)
    if not dimension:
        raise InvalidArgument(
            f"corpus {corpus.uri}: none of its {len(files)} files can be indexed: "
            f"{_counted(settled.rejections)}"
        )
    written = _write_shards(store, settled.shards, dimension, parent, progress)
    clock.stop("shards")
    manifest = describe(
        store,
        written,
        settled.rejections,
        encoder=EncoderInfo(config.encoder.model, encoder, dimension),
        extractor=extractor,
        index=config.index.kind,
        parent=parent.id if parent else "",
        corpus=corpus.uri,
        copies=settled.copies,
        work=key,
    )
    _account_for(receipts.num_rows, manifest)
    publish(store, manifest)
    swept = sweep(store, lease, [folder, recipes_folder(extractor)])
    if swept.kept:
        progress(f"what unfinished builds have left stays: {swept.kept}")
    clock.stop("publish")
    before = {file.path for file in parent.manifest.files} if parent else set()
    return Summary(
        snapshot_id=manifest.snapshot_id,
        uri=store.uri,
        files=len(files),
        papers=manifest.papers,
        passages={view: info.passages for view, info in manifest.views.items()},
        recipes=manifest.recipes,
        records=receipts.num_rows,
        copies=manifest.copies,
        quarantined=manifest.quarantined,
        reused=work["reused"],
        resumed=work["resumed"],
        extracted=work["extracted"],
        embedded=work["embedded"],
        rewritten=sum(any(f.path not in before for f in shard.files) for shard in written),
        seconds=seconds(receipts) | clock.seconds(),
        model=outcome(Snapshot(store, manifest).recipes()) if by_model else None,
    )


def _papers(
    files: Sequence[CorpusFile],
    plan: Plan,
    reuse: Reuse,
    config: Config,
    work: Counter[str],
    progress: Callable[[str], None],
) -> tuple[pa.Table, Settled]:
    """All papers worked on, and what follows; a second time where work was left to a copy that is
    gone."""
    receipts = work_on_papers(files, plan, config, progress)
    settled = settle(receipts, reuse.places, config.build.shards)
    tables = [receipts]
    if settled.missing:
        missing = pc.is_in(receipts["digest"], pa.array(settled.missing, pa.string()))
        again = set(receipts.filter(missing)["file"].to_pylist())
        plan = replace(plan, done=plan.done - settled.missing)
        fresh = work_on_papers([f for f in files if f.path in again], plan, config, progress)
        tables.append(fresh)
        others = receipts.filter(pc.invert(pc.is_in(receipts["file"], pa.array(sorted(again)))))
        order = [("file", "ascending"), ("position", "ascending")]
        receipts = pa.concat_tables([others, fresh]).sort_by(order)
        settled = settle(receipts, reuse.places, config.build.shards)
    for table in tables:
        work["extracted"] += pc.sum(table["extracted"]).as_py() or 0
        work["embedded"] += (
            pc.sum(table.filter(pc.is_valid(table["part"]))["passages"]).as_py() or 0
        )
    done = receipts.filter(pc.equal(receipts["finished"], True))["digest"].to_pylist()
    # What an earlier attempt of this build has done was not there before.
    work["reused"] = sum(digest in reuse.parent or digest in reuse.copies for digest in done)
    work.setdefault("resumed", sum(digest in reuse.parts for digest in done))
    return receipts, settled


def _dimension(store: Store, settled: Settled, parent: Snapshot | None) -> int:
    """Of the vectors; 0 if there is no paper."""
    parts = sorted({part for shard in settled.shards for part in shard})
    if not parts:
        return 0
    if parent and parts[0].startswith("data/"):
        return parent.manifest.encoder.dimension
    found: int = read_part(store, parts[0], [0], ["dimension"])["dimension"][0].as_py()
    return found


def _what_is_current(store: Store) -> str:
    try:
        now = current_id(store)
    except ReciperError as error:
        return f"the build failed; which snapshot is current cannot be read: {error}"
    kept = f"snapshot {now} is still current" if now else "nothing was published"
    return f"the build failed; {kept}; what is done is kept for the next one"


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


def _write_shards(
    store: Store,
    shards: Sequence[Parts],
    dimension: int,
    parent: Snapshot | None,
    progress: Callable[[str], None],
) -> list[Shard]:
    import ray

    task = ray.remote(num_cpus=1)(write_shard)
    waiting = [task.remote(store, n, parts, dimension, parent) for n, parts in enumerate(shards)]
    order = list(waiting)
    while waiting:
        _, waiting = ray.wait(waiting, num_returns=1)
        progress(f"{len(order) - len(waiting)} of {len(order)} shards written")
    written: list[Shard] = ray.get(order)
    return written


def _account_for(records: int, manifest: Manifest) -> None:
    """Raises `ReciperError` if anything read is neither indexed, nor a copy, nor rejected."""
    rejected = sum(manifest.quarantined.values())
    if records != manifest.papers + manifest.copies + rejected:
        raise ReciperError(
            f"{records} records were read, but {manifest.papers} are indexed, {manifest.copies} "
            f"copies and {rejected} rejected"
        )


def _refuse_store_in_corpus(store: Store, corpus: Store) -> None:
    same = store.filesystem.equals(corpus.filesystem)
    if same and f"{store.root}/".startswith(f"{corpus.root}/"):
        raise InvalidArgument(
            f"--out {store.uri} lies inside the corpus {corpus.uri}; the next build would read it"
        )


def _parent(store: Store, shards: int) -> Snapshot | None:
    """The snapshot that is current. Raises `ConfigError` if it has another number of shards."""
    snapshot_id = current_id(store)
    if not snapshot_id:
        return None
    parent = Snapshot.open(store, snapshot_id)
    theirs = parent.manifest.shards
    if theirs != shards:
        raise ConfigError(
            f"build.shards = {shards}, but the store {store.uri} has {theirs} shards, which is "
            f"fixed for its life; use another store"
        )
    return parent


def _counted(rejections: Sequence[Rejection]) -> str:
    counts = Counter(rejection.reason for rejection in rejections)
    return ", ".join(f"{reason} ({n})" for reason, n in sorted(counts.items()))
