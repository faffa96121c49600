"""`reciper snapshots`: the snapshots of a store, going back to one, deleting old ones."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from reciper_ray import history
from reciper_ray.adapters.storage import Store

snapshots = typer.Typer(
    help="List a store's snapshots, go back to one, delete old ones.", no_args_is_help=True
)

Uri = Annotated[str, typer.Argument(help="Folder or URI of the store.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@snapshots.command("list")
def list_(uri: Uri, as_json: AsJson = False) -> None:
    """Show every snapshot, the newest first; * marks the current one."""
    entries = history.history(Store.open(uri))
    if as_json:
        print(json.dumps({"snapshots": [asdict(entry) for entry in entries]}, ensure_ascii=False))
        return
    for entry in entries:
        what = entry.problem or f"{entry.papers} papers, {entry.bytes:,} bytes"
        lines = [f"{'*' if entry.current else ' '} {entry.snapshot_id}  {entry.created}  {what}"]
        lines += [f"    held: {holder}" for holder in entry.held_by]
        print("\n".join(lines))


@snapshots.command()
def rollback(
    uri: Uri,
    snapshot_id: Annotated[
        str, typer.Argument(help="Snapshot to make current; the current one's parent if left out.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Make an older snapshot current again. Servers of the store follow."""
    chosen = history.rollback(Store.open(uri), snapshot_id)
    print(json.dumps({"snapshot_id": chosen}) if as_json else f"snapshot {chosen} is current")


@snapshots.command()
def prune(
    uri: Uri,
    keep: Annotated[int, typer.Option(min=0, help="Newest snapshots to keep beside those.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Delete snapshots that are neither current nor in use, and files that belong to none."""
    deleted = history.prune(Store.open(uri), keep)
    if as_json:
        print(json.dumps(asdict(deleted), ensure_ascii=False))
        return
    for snapshot_id in deleted.snapshots:
        print(f"deleted {snapshot_id}")
    print(f"{deleted.files} files, {deleted.bytes:,} bytes")
    if deleted.kept:
        print(f"kept: {deleted.kept}")
