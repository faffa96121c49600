"""Reading a published snapshot; every file is checked against the manifest when it is loaded.

Loads no vector index and no model: an index file is returned as the bytes it is made of.
Publishing is in `reciper_ray.build.publish`.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from reciper_ray.adapters import tables
from reciper_ray.adapters.storage import Store
from reciper_ray.copies import Copy
from reciper_ray.errors import CorruptSnapshot, NotFound
from reciper_ray.lexical import Statistics
from reciper_ray.manifest import File, Manifest, Role, shard_of
from reciper_ray.terms import TOKENIZER_VERSION
from reciper_ray.types import Paper, Passage, Recipe, Rejection, View

CURRENT = "CURRENT"
_ID = re.compile(r"[0-9a-f]{16}")
_PIECE = 1 << 20


def manifest_path(snapshot_id: str) -> str:
    return f"snapshots/{snapshot_id}/manifest.json"


def current_id(store: Store) -> str:
    """The id of the store's current snapshot, "" if nothing was ever published.

    Raises `CorruptSnapshot` if CURRENT holds no snapshot id.
    """
    try:
        text = store.read(CURRENT).decode("ascii", "replace").strip()
    except NotFound:
        return ""
    if not _ID.fullmatch(text):
        raise CorruptSnapshot(f"{store.address(CURRENT)} holds {text[:40]!r}, not a snapshot id")
    return text


@dataclass(frozen=True, slots=True)
class IndexedPaper:
    """A paper with the recipes extracted from it and its passages of both views, in order."""

    paper: Paper
    recipes: tuple[Recipe, ...]
    passages: tuple[Passage, ...]


class Snapshot:
    """One immutable snapshot of a store."""

    def __init__(self, store: Store, manifest: Manifest) -> None:
        self.store = store
        self.manifest = manifest
        self.id = manifest.snapshot_id
        self._verified: set[str] = set()

    @classmethod
    def open(
        cls, uri: str | os.PathLike[str] | Store, snapshot_id: str | None = None
    ) -> "Snapshot":
        """The snapshot `snapshot_id`, or the current one, of the store at `uri`.

        Raises `NotFound` naming the URI if there is none, and `CorruptSnapshot` if its manifest
        is damaged or of a newer format.
        """
        store = uri if isinstance(uri, Store) else Store.open(uri)
        chosen = current_id(store) if snapshot_id is None else snapshot_id
        if not chosen:
            raise NotFound(f"{store.uri} holds no snapshot (there is no {CURRENT} file)")
        path = manifest_path(chosen)
        try:
            data = store.read(path)
        except NotFound as error:
            raise NotFound(f"{store.uri} holds no snapshot {chosen}") from error
        return cls(store, Manifest.from_json(data, store.address(path)))

    def require_encoder(self, fingerprint: str) -> None:
        """Raise `CorruptSnapshot` unless the vectors were made by that encoder."""
        mine = self.manifest.encoder.fingerprint
        if mine != fingerprint:
            raise CorruptSnapshot(
                f"snapshot {self.id} was indexed by encoder {mine}; "
                f"encoder {fingerprint} cannot search it"
            )

    def index(self, view: View, shard: int) -> bytes:
        """The vector index of a shard, serialised."""
        return self._load(self.manifest.file(Role.INDEX, view, shard))

    def passages(self, view: View, shard: int) -> pa.Table:
        """The shard's passages, columns as `tables.PASSAGES`; row i belongs to vector i."""
        return self._table(self.manifest.file(Role.PASSAGES, view, shard))

    def statistics(self, view: View) -> Statistics:
        """Lexical statistics of the view over all shards.

        Raises `CorruptSnapshot` if its terms were made by another version of the tokens.
        """
        if self.manifest.tokenizer != TOKENIZER_VERSION:
            raise CorruptSnapshot(
                f"snapshot {self.id} has lexical tokens of version {self.manifest.tokenizer}; "
                f"this version of reciper-ray makes version {TOKENIZER_VERSION}"
            )
        table = self._table(self.manifest.file(Role.LEXICON, view))
        info = self.manifest.views[view]
        terms, passages, papers = (
            table[name].to_pylist() for name in ("term", "passages", "papers")
        )
        return Statistics(
            passages=info.passages,
            papers=info.papers,
            mean_length=info.mean_length,
            frequencies=dict(zip(terms, passages, strict=True)),
            paper_frequencies=dict(zip(terms, papers, strict=True)),
        )

    def quarantine(self) -> list[Rejection]:
        """What was not indexed, by path."""
        return tables.rejections_of(self._table(self.manifest.file(Role.QUARANTINE)))

    def copies(self) -> list[Copy]:
        """Papers that are not indexed because another one is the same, by path."""
        if not any(file.role is Role.COPIES for file in self.manifest.files):
            return []
        return tables.copies_of(self._table(self.manifest.file(Role.COPIES)))

    def kept_ids(self) -> dict[str, str]:
        """Id of each copy that is no indexed paper's → id of the paper indexed instead."""
        return {c.paper_id: c.kept_id for c in self.copies() if c.paper_id != c.kept_id}

    def recipes(self) -> Iterator[tuple[Recipe, ...]]:
        """The recipes of each paper, by shard and id; reads nothing else of the papers."""
        for file in self.manifest.files:
            if file.role is Role.PAPERS:
                table = pq.read_table(pa.BufferReader(self._load(file)), columns=["recipes"])
                yield from map(tables.recipes_of, table.to_pylist())

    def paper(self, paper_id: str) -> IndexedPaper:
        """A paper by its id, or the one it is a copy of; reads the files of its shard only.

        Raises `NotFound` naming the id and the snapshot.
        """
        try:
            return self._indexed(paper_id)
        except NotFound:
            kept = self.kept_ids().get(paper_id)
            if kept is None:
                raise
            return self._indexed(kept)

    def _indexed(self, paper_id: str) -> IndexedPaper:
        shard = shard_of(paper_id, self.manifest.shards)
        rows = self._rows_of(paper_id, self.manifest.file(Role.PAPERS, shard=shard))
        if not rows:
            raise NotFound(f"snapshot {self.id} holds no paper {paper_id!r}")
        passages = [
            tables.passage_of(row)
            for view in View
            for row in self._rows_of(paper_id, self.manifest.file(Role.PASSAGES, view, shard))
        ]
        return IndexedPaper(tables.paper_of(rows[0]), tables.recipes_of(rows[0]), tuple(passages))

    def verify(self, shard: int | None = None) -> None:
        """Check every file, or those of one shard. Raises `CorruptSnapshot` naming the first that
        is wrong."""
        for file in self.manifest.files:
            if shard in (None, file.shard):
                self._verify(file)

    def papers(self, shard: int) -> pa.Table:
        """The shard's papers, columns as `tables.PAPERS`."""
        return self._table(self.manifest.file(Role.PAPERS, shard=shard))

    def _load(self, file: File) -> bytes:
        try:
            data = self.store.read(file.path)
        except NotFound as error:
            raise self._missing(file) from error
        self._check(file, len(data), hashlib.sha256(data).hexdigest())
        return data

    def _table(self, file: File) -> pa.Table:
        return pq.read_table(pa.BufferReader(self._load(file)))

    def _rows_of(self, paper_id: str, file: File) -> list[dict[str, object]]:
        self._verify(file)
        table = self.store.load(
            file.path,
            lambda source: pq.read_table(source, filters=[("paper_id", "==", paper_id)]),
        )
        rows: list[dict[str, object]] = table.to_pylist()
        return rows

    def _verify(self, file: File) -> None:
        """Check a file without holding it in memory, once."""
        if file.path in self._verified:
            return
        try:
            size, digest = self.store.load(file.path, _size_and_digest)
        except NotFound as error:
            raise self._missing(file) from error
        self._check(file, size, digest)
        self._verified.add(file.path)

    def _check(self, file: File, size: int, sha256: str) -> None:
        if size != file.size:
            raise CorruptSnapshot(
                f"{self.store.address(file.path)} has {size} bytes; "
                f"the manifest of snapshot {self.id} says {file.size}"
            )
        if sha256 != file.sha256:
            raise CorruptSnapshot(
                f"{self.store.address(file.path)} has sha256 {sha256}; "
                f"the manifest of snapshot {self.id} says {file.sha256}"
            )

    def _missing(self, file: File) -> CorruptSnapshot:
        return CorruptSnapshot(
            f"{self.store.address(file.path)} is missing; "
            f"the manifest of snapshot {self.id} lists it"
        )


def _size_and_digest(source: pa.NativeFile) -> tuple[int, str]:
    digest, size = hashlib.sha256(), 0
    while piece := source.read(_PIECE):
        digest.update(piece)
        size += len(piece)
    return size, digest.hexdigest()
