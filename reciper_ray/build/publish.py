"""Making a snapshot current: files of the whole corpus, then the manifest, then CURRENT.

A reader sees the old snapshot or the new one, never anything between. Who moves CURRENT holds a
lease meanwhile, so that of two builds the second sees what the first has done.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

import pyarrow as pa

from reciper_ray import __version__
from reciper_ray.adapters import tables
from reciper_ray.adapters.storage import Store
from reciper_ray.build.shards import Shard, lexicon, write_file
from reciper_ray.copies import Copy
from reciper_ray.errors import CorruptSnapshot, NotFound, PublishConflict
from reciper_ray.leases import Kind, exclusive
from reciper_ray.manifest import EncoderInfo, Manifest, Role, ViewInfo
from reciper_ray.snapshot import CURRENT, Snapshot, current_id, manifest_path
from reciper_ray.terms import TOKENIZER_VERSION
from reciper_ray.types import Rejection, View

LOCK_WAIT_S = 60.0
_ROWS_A_GROUP = 65536


def describe(
    store: Store,
    shards: Sequence[Shard],
    rejections: Sequence[Rejection],
    *,
    encoder: EncoderInfo,
    extractor: str,
    index: str,
    parent: str,
    corpus: str,
    copies: Sequence[Copy] = (),
    work: str = "",
) -> Manifest:
    """Write lexicons, quarantine and copies; the manifest of these and of all shards."""
    files = [file for shard in shards for file in shard.files]
    for view in View:
        table = lexicon([shard.lexicons[view] for shard in shards])
        files.append(write_file(store, table, Role.LEXICON, rows_a_group=_ROWS_A_GROUP, view=view))
    table = pa.Table.from_pylist(list(map(tables.rejection_row, rejections)), tables.QUARANTINE)
    files.append(write_file(store, table, Role.QUARANTINE, rows_a_group=_ROWS_A_GROUP))
    table = pa.Table.from_pylist(list(map(tables.copy_row, copies)), tables.COPIES)
    files.append(write_file(store, table, Role.COPIES, rows_a_group=_ROWS_A_GROUP))

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
            view: sum((shard.sizes[view] for shard in shards), start=ViewInfo()) for view in View
        },
        quarantined=dict(sorted(Counter(r.reason for r in rejections).items())),
        files=tuple(files),
        parent=parent,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        corpus=corpus,
        builder=__version__,
        work=work,
    )


def publish(store: Store, manifest: Manifest) -> None:
    """Make `manifest`, whose files are all written, the store's current snapshot.

    A snapshot with the same content that is current already stays so. Raises `PublishConflict` if
    `manifest.parent` is no longer current.
    """
    new, path = manifest.snapshot_id, manifest_path(manifest.snapshot_id)
    with exclusive(store, Kind.PUBLISH, {Kind.PUBLISH, Kind.PRUNE}, LOCK_WAIT_S) as lease:
        now = current_id(store)
        if now not in (manifest.parent, new):
            began = f"from snapshot {manifest.parent}" if manifest.parent else "from an empty store"
            raise PublishConflict(
                f"{store.uri}: this build began {began}, and snapshot {now or 'none'} is current "
                f"now; run it again"
            )
        if _work_of(store, new) != manifest.work:
            store.write(path, manifest.to_json())
        if now != new:
            lease.require()
            store.write(CURRENT, f"{new}\n".encode())


def _work_of(store: Store, snapshot_id: str) -> str | None:
    """The `work` of a published snapshot, None if there is no such snapshot."""
    try:
        return Snapshot.open(store, snapshot_id).manifest.work
    except (NotFound, CorruptSnapshot):
        return None
