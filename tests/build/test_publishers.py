"""Processes that publish to one store at the same time."""

import subprocess
import sys
from pathlib import Path

from reciper_ray import history
from reciper_ray.adapters.storage import Store
from reciper_ray.snapshot import Snapshot
from tests.stores import write_store

ROUNDS = 5
ADD = """
import sys
from pathlib import Path
from reciper_ray.errors import PublishConflict
from reciper_ray.snapshot import Snapshot
from tests.stores import write_store

folder, conflicts = Path(sys.argv[1]), 0
for name in sys.argv[2:]:
    while True:
        held = Snapshot.open(folder)
        shards = range(held.manifest.shards)
        ids = [p for n in shards for p in held.papers(n)["paper_id"].to_pylist()]
        try:
            write_store(folder, sorted([*ids, name]), parent=held.id)
        except PublishConflict:
            conflicts += 1
        else:
            break
print(conflicts)
"""


def test_of_increments_that_publish_at_once_none_loses_a_paper(tmp_path: Path) -> None:
    write_store(tmp_path, ["first"])
    names = [[f"{who}{n}" for n in range(ROUNDS)] for who in "xyz"]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", ADD, str(tmp_path), *mine], stdout=subprocess.PIPE, text=True
        )
        for mine in names
    ]
    outs = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert sum(map(int, outs)) > 0
    snapshot = Snapshot.open(tmp_path)
    held = {p for n in range(2) for p in snapshot.papers(n)["paper_id"].to_pylist()}
    assert held == {"first", *(name for mine in names for name in mine)}
    entries = history.history(Store.open(tmp_path))
    assert len(entries) == 1 + 3 * ROUNDS
    for entry in entries:
        Snapshot.open(tmp_path, entry.snapshot_id).verify()
