"""Processes that each add papers to one store, one snapshot a paper, at the same time."""

import subprocess
import sys

from reciper_ray import history
from reciper_ray.adapters.storage import Store
from reciper_ray.snapshot import Snapshot
from tests.stores import write_store

ADD = """
import sys
from reciper_ray.adapters.storage import Store
from reciper_ray.errors import PublishConflict
from reciper_ray.snapshot import Snapshot
from tests.stores import write_store

store, conflicts = Store.open(sys.argv[1]), 0
for name in sys.argv[2:]:
    while True:
        held = Snapshot.open(store)
        shards = range(held.manifest.shards)
        ids = [p for n in shards for p in held.papers(n)["paper_id"].to_pylist()]
        try:
            write_store(store, sorted([*ids, name]), parent=held.id)
        except PublishConflict:
            conflicts += 1
        else:
            break
print(conflicts)
"""


def race(uri: str, processes: int, papers: int) -> int:
    """Publish a first paper, then have so many processes add so many papers each.

    Checks that the store has all papers in one whole current snapshot, and every snapshot whole.
    Returns how often a process had to begin again because another was first.
    """
    store = Store.open(uri)
    write_store(store, ["first"])
    names = [[f"{who}-{n}" for n in range(papers)] for who in range(processes)]
    running = [
        subprocess.Popen([sys.executable, "-c", ADD, uri, *mine], stdout=subprocess.PIPE, text=True)
        for mine in names
    ]
    outs = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0] * processes
    snapshot = Snapshot.open(store)
    held = {p for n in range(2) for p in snapshot.papers(n)["paper_id"].to_pylist()}
    assert held == {"first", *(name for mine in names for name in mine)}
    entries = history.history(store)
    assert len(entries) == 1 + processes * papers
    for entry in entries:
        Snapshot.open(store, entry.snapshot_id).verify()
    return sum(map(int, outs))
