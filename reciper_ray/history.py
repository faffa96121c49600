"""The snapshots of a store over time: which there are, going back to one, deleting old ones.

Deleting waits for nobody: it is refused while a build is under way, and spares what is current or
named by a lease. A reader without a lease, such as a search in one process, is not noticed.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from reciper_ray.adapters.storage import Store
from reciper_ray.errors import CorruptSnapshot, NotFound, ReciperError
from reciper_ray.leases import FOLDER as LEASES
from reciper_ray.leases import Held, Kind, alive, exclusive
from reciper_ray.manifest import Manifest
from reciper_ray.snapshot import CURRENT, Snapshot, current_id, manifest_path

LOCK_WAIT_S = 60.0
_MANIFEST = re.compile(r"snapshots/([0-9a-f]{16})/manifest\.json")
# What a write that was cut off leaves on a local disk.
_TEMPORARY = re.compile(r"(?:(?:data|work|leases|snapshots)/(?:.*/)?)?\.[^/]+\.[0-9a-f]{8}\.tmp")


@dataclass(frozen=True, slots=True)
class Entry:
    """One snapshot; `held_by` are those who need it, `problem` why it cannot be read."""

    snapshot_id: str
    current: bool
    created: str = ""
    parent: str = ""
    papers: int = 0
    bytes: int = 0
    held_by: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Deleted:
    """What was deleted; `kept` says why something was not that might have been."""

    snapshots: tuple[str, ...] = ()
    files: int = 0
    bytes: int = 0
    kept: str = ""


def history(store: Store) -> list[Entry]:
    """Every snapshot of the store, the newest first."""
    current, leases = current_id(store), alive(store)
    manifests, problems = _manifests(store)
    entries = [
        Entry(
            snapshot_id,
            snapshot_id == current,
            manifest.created,
            manifest.parent,
            manifest.papers,
            sum(file.size for file in manifest.files),
            tuple(str(lease) for lease in leases if snapshot_id in lease.snapshots),
        )
        for snapshot_id, manifest in manifests.items()
    ]
    broken = [Entry(id_, id_ == current, problem=why) for id_, why in sorted(problems.items())]
    return sorted(entries, key=lambda e: (e.created, e.snapshot_id), reverse=True) + broken


def rollback(store: Store, snapshot_id: str = "") -> str:
    """Make an older snapshot current again, the parent of the current one if none is named.

    Returns its id. Raises `NotFound` if there is no such snapshot and `CorruptSnapshot` if a file
    of it is missing or has another size; then the current one stays.
    """
    with exclusive(store, Kind.PUBLISH, {Kind.PUBLISH, Kind.PRUNE}, LOCK_WAIT_S) as lease:
        chosen = snapshot_id or Snapshot.open(store).manifest.parent
        if not chosen:
            raise NotFound(f"{store.uri}: the current snapshot has no parent to go back to")
        manifest = Snapshot.open(store, chosen).manifest
        sizes = dict(store.files("data"))
        for file in manifest.files:
            if sizes.get(file.path) != file.size:
                raise CorruptSnapshot(
                    f"{store.address(file.path)} has {sizes.get(file.path, 'no')} bytes; the "
                    f"manifest of snapshot {chosen} says {file.size}"
                )
        lease.require()
        store.write(CURRENT, f"{chosen}\n".encode())
    return chosen


def prune(store: Store, keep: int = 1) -> Deleted:
    """Delete the snapshots that are neither current, nor needed by anyone, nor among the `keep`
    newest others, and every file that belongs to none and to no build.

    Raises `Unavailable` naming who is at work if a build is under way.
    """
    with exclusive(store, Kind.PRUNE, {Kind.BUILD, Kind.PUBLISH, Kind.PRUNE}, 0.0) as lease:
        needed = {current_id(store)}.union(*(x.snapshots for x in alive(store, lease)))
        others = [e.snapshot_id for e in history(store) if not e.problem]
        others = [snapshot_id for snapshot_id in others if snapshot_id not in needed]
        gone = others[keep:]
        for snapshot_id in gone:
            # Without a manifest there is no snapshot, whatever happens next.
            store.delete(manifest_path(snapshot_id))
            store.delete_folder(f"snapshots/{snapshot_id}")
        swept = _sweep(store, lease, ["work"])
        return Deleted(tuple(gone), swept.files + len(gone), swept.bytes, swept.kept)


def sweep(store: Store, build: Held, work: Iterable[str]) -> Deleted:
    """Delete what builds that failed have left, and the folders `work` of the one that is done.

    Nothing is deleted while another build is under way.
    """
    try:
        with exclusive(
            store, Kind.PRUNE, {Kind.BUILD, Kind.PUBLISH, Kind.PRUNE}, 0.0, besides=build
        ) as lease:
            return _sweep(store, lease, work, build.path)
    except ReciperError as error:
        return Deleted(kept=str(error))


def _sweep(store: Store, mine: Held, work: Iterable[str], ours: str = "") -> Deleted:
    manifests, problems = _manifests(store)
    listed = {file.path for manifest in manifests.values() for file in manifest.files}
    held = {lease.path for lease in alive(store, mine)} | {mine.path, ours}
    folders = tuple(f"{folder}/" for folder in work)

    def useless(path: str) -> bool:
        if path.startswith("data/"):
            return path not in listed and not problems
        if path.startswith(f"{LEASES}/"):
            return path not in held
        return path.startswith(folders) or bool(_TEMPORARY.fullmatch(path))

    gone = [(path, size) for path, size in _files(store) if useless(path)]
    for path, _ in gone:
        store.delete(path)
    for folder in folders:
        store.delete_folder(folder.rstrip("/"))
    unread = ", ".join(f"{id_}: {why}" for id_, why in sorted(problems.items()))
    kept = f"data files, because a manifest cannot be read ({unread})" if problems else ""
    return Deleted((), len(gone), sum(size for _, size in gone), kept)


def _files(store: Store) -> list[tuple[str, int]]:
    """What belongs to a store; a folder may hold other things, too."""
    ours = ("data/", "work/", f"{LEASES}/", "snapshots/", f".{CURRENT}.")
    return [(path, size) for path, size in store.files() if path.startswith(ours)]


def _manifests(store: Store) -> tuple[dict[str, Manifest], dict[str, str]]:
    """The manifests by id, and why others cannot be read."""
    found, problems = {}, {}
    for path, _ in store.files("snapshots"):
        if match := _MANIFEST.fullmatch(path):
            try:
                found[match[1]] = Snapshot.open(store, match[1]).manifest
            except CorruptSnapshot as error:
                problems[match[1]] = str(error)
    return found, problems
