"""Making a snapshot current: its manifest first, then CURRENT, each in one step.

A reader sees the old snapshot or the new one, never anything between. Two builds that publish
within the same instant are not told apart; pruning is not covered.
"""

from reciper_ray.adapters.storage import Store
from reciper_ray.errors import PublishConflict
from reciper_ray.manifest import Manifest
from reciper_ray.snapshot import CURRENT, current_id, manifest_path


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
