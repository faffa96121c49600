"""Making a snapshot current: files of the whole corpus, then the manifest, then CURRENT.

A reader sees the old snapshot or the new one, never anything between. Two builds that publish
within the same instant are not told apart; pruning is not covered.
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
from reciper_ray.errors import PublishConflict
from reciper_ray.manifest import EncoderInfo, Manifest, Role, ViewInfo
from reciper_ray.snapshot import CURRENT, current_id, manifest_path
from reciper_ray.terms import TOKENIZER_VERSION
from reciper_ray.types import Rejection, View

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
    )


def publish(store: Store, manifest: Manifest) -> None:
    """Make `manifest`, whose files are all written, the store's current snapshot.

    A snapshot with the same content that is current already stays as it is. Raises
    `PublishConflict` if `manifest.parent` is no longer current.
    """
    now, new = current_id(store), manifest.snapshot_id
    if now == new:
        return
    if now != manifest.parent:
        began = f"from snapshot {manifest.parent}" if manifest.parent else "from an empty store"
        raise PublishConflict(
            f"{store.uri}: this build began {began}, and snapshot {now or 'none'} is current now; "
            f"run it again"
        )
    path = manifest_path(new)
    if not store.exists(path):
        store.write(path, manifest.to_json())
    store.write(CURRENT, f"{new}\n".encode())
