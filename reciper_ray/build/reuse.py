"""What a build takes over: work of the snapshot before it, and of builds that did not finish.

A paper whose content did not change is taken as it is, with its recipes, passages and vectors, if
settings and code are those the snapshot was made with. If only the encoder or the passages' limits
changed, the recipes that a language model wrote are still taken. A damaged shard offers nothing:
its papers are done again.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from reciper_ray.adapters.storage import Store
from reciper_ray.build.work import (
    Places,
    digests_of,
    finished,
    recipes_folder,
    work_folder,
)
from reciper_ray.copies import Copy
from reciper_ray.errors import ReciperError
from reciper_ray.manifest import Role
from reciper_ray.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Reuse:
    """Work that is there: of whole papers in `parent` and in parts, of recipes alone, and the
    digests of papers that were copies, whose work nobody needs as long as they are."""

    parent: Places = field(default_factory=dict)
    parts: Places = field(default_factory=dict)
    recipes: Places = field(default_factory=dict)
    copies: frozenset[str] = frozenset()

    @property
    def places(self) -> Places:
        return {**self.parts, **self.parent}

    @property
    def finished(self) -> frozenset[str]:
        """Digests of the papers that need not be worked on."""
        return self.copies.union(self.parts, self.parent)


def find(
    store: Store,
    parent: Snapshot | None,
    key: str,
    extractor: str,
    *,
    recipes: bool,
    progress: Callable[[str], None],
) -> Reuse:
    """What a build under the work key `key` may take over; looks for recipes alone only if
    `recipes`. Has to be called inside a cluster."""
    parts = finished(store, work_folder(key))
    written = finished(store, recipes_folder(extractor)) if recipes else {}
    if parent is None:
        return Reuse(parts=parts, recipes=written)
    same = parent.manifest.work == key
    if not same and not (recipes and parent.manifest.extractor == extractor):
        return Reuse(parts=parts, recipes=written)
    places = _whole(parent, progress)
    if not same:
        return Reuse(parts=parts, recipes={**written, **places})
    copies = _digests(parent.copies())
    return Reuse(parent=places, parts=parts, recipes=written, copies=copies)


def _digests(copies: Iterable[Copy]) -> frozenset[str]:
    return frozenset(copy.digest for copy in copies if copy.digest)


def _whole(parent: Snapshot, progress: Callable[[str], None]) -> Mapping[str, tuple[str, int]]:
    """The papers of all shards whose files are what the manifest says."""
    import ray

    task = ray.remote(num_cpus=1)(_verified)
    replies = ray.get([task.remote(parent, n) for n in range(parent.manifest.shards)])
    places: dict[str, tuple[str, int]] = {}
    for shard, reply in enumerate(replies):
        if isinstance(reply, str):
            progress(f"shard {shard} of snapshot {parent.id} is done again: {reply}")
            continue
        path = parent.manifest.file(Role.PAPERS, shard=shard).path
        places |= {digest: (path, row) for row, digest in enumerate(reply)}
    return places


def _verified(snapshot: Snapshot, shard: int) -> list[str] | str:
    """The digests of a shard's papers, or what is wrong with it."""
    try:
        snapshot.verify(shard)
        path = snapshot.manifest.file(Role.PAPERS, shard=shard).path
        return digests_of(snapshot.store, path)
    except ReciperError as error:
        return str(error)
