"""The build, end to end: corpus → rows (Ray Data) → parts → shards → published snapshot.

Here is the order of things; `stages` has the work on one paper, `papers` the dataset it runs in,
`settle` what is decided when all papers are in, `shards` the work on one shard.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow.compute as pc

from reciper_ray.adapters.extractor import prepare
from reciper_ray.adapters.storage import Store, open_corpus
from reciper_ray.adapters.tokenizer import fingerprint
from reciper_ray.build import stages
from reciper_ray.build.cluster import cluster, own_errors
from reciper_ray.build.papers import Plan, work_on_papers
from reciper_ray.build.publish import describe, publish
from reciper_ray.build.settle import Parts, settle
from reciper_ray.build.shards import Shard, write_shard
from reciper_ray.build.work import finished, read_part, work_folder
from reciper_ray.config import Config
from reciper_ray.errors import ConfigError, InvalidArgument, ReciperError
from reciper_ray.manifest import EncoderInfo, Manifest
from reciper_ray.recipe.outcome import Outcome, outcome
from reciper_ray.snapshot import Snapshot, current_id
from reciper_ray.types import Rejection, View


@dataclass(frozen=True, slots=True)
class Summary:
    """What a build did. `records`, what was found in the files, is the sum of `papers`, `copies`
    and the `quarantined`. `seconds` by stage: `read`, `extract`, `chunk` and `embed` are summed
    over workers, which work side by side; `papers` is the time those took together, `total`
    everything. `resumed` papers were taken from a build that did not finish. `model` says how a
    language model fared that wrote the recipes, None if none was to."""

    snapshot_id: str
    uri: str
    files: int
    papers: int
    passages: Mapping[View, int]
    recipes: int
    records: int
    copies: int
    quarantined: Mapping[str, int]
    resumed: int
    seconds: Mapping[str, float]
    model: Outcome | None = None


def build(
    corpus_uri: str, out_uri: str, config: Config, progress: Callable[[str], None]
) -> Summary:
    """Index the corpus and make the result the current snapshot of the store at `out_uri`.

    `progress` gets lines for a person. Raises `NotFound` for a missing corpus,
    `InvalidArgument` if nothing in it can be indexed or the store lies inside it, `ConfigError`
    if the store has another number of shards, `PublishConflict` if another build published
    meanwhile; whatever is raised, the store's current snapshot is untouched.
    """
    clock = Clock()
    corpus, files = open_corpus(corpus_uri)
    store = Store.open(out_uri)
    _refuse_store_in_corpus(store, Store.open(corpus_uri))
    parent = current_id(store)
    _refuse_other_shards(store, parent, config.build.shards)
    encoder, extractor = fingerprint(config.encoder), prepare(config.extract, progress)
    folder = work_folder(config, encoder, extractor)
    done = finished(store, folder)
    progress(f"{len(files)} files in {corpus.uri}; encoder {encoder}")
    with cluster(), own_errors():
        plan = Plan(corpus, store, folder, encoder, extractor, frozenset(done))
        receipts = work_on_papers(files, plan, config, progress)
        clock.stop("papers")
        shards, copies, rejections = settle(receipts, done, config.build.shards)
        first = next((part for parts in shards for part in sorted(parts)), None)
        if first is None:
            raise InvalidArgument(
                f"corpus {corpus.uri}: none of its {len(files)} files can be indexed: "
                f"{_counted(rejections)}"
            )
        dimension = read_part(store, first, [0], ["dimension"])["dimension"][0].as_py()
        written = _write_shards(store, shards, dimension, progress)
        clock.stop("shards")
    manifest = describe(
        store,
        written,
        rejections,
        encoder=EncoderInfo(config.encoder.model, encoder, dimension),
        extractor=extractor,
        index=config.index.kind,
        parent=parent,
        corpus=corpus.uri,
        copies=copies,
    )
    _account_for(receipts.num_rows, manifest)
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
        records=receipts.num_rows,
        copies=manifest.copies,
        quarantined=manifest.quarantined,
        resumed=pc.sum(receipts["finished"]).as_py() or 0,
        seconds=stages.seconds(receipts) | clock.seconds(),
        model=outcome(Snapshot(store, manifest).recipes())
        if config.extract.backend != "extractive"
        else None,
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
