"""The stages of the build's dataset, each from a batch of rows to a batch of rows.

One row is one paper (or one rejection) from `read` to `Embed`, never less, so that a paper's
passages and vectors depend on that paper and the configuration only: not on its neighbours, on
the number of workers, or on what was already done. Every stage passes rejections on.
"""

import ctypes
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa

from reciper_ray import copies
from reciper_ray.adapters import tables
from reciper_ray.adapters.storage import Store, read_corpus_file
from reciper_ray.adapters.tokenizer import token_counter
from reciper_ray.build.records import RECEIPTS, RECORDS, Row
from reciper_ray.build.work import Written, write_part
from reciper_ray.chunk import Limit
from reciper_ray.chunk import chunk as paragraph_passages
from reciper_ray.config import Config, EncoderConfig
from reciper_ray.errors import (
    ConfigError,
    InvalidArgument,
    ReciperError,
    Unavailable,
    UnreadableInput,
)
from reciper_ray.readers.isolated import IsolatedReader
from reciper_ray.readers.source import MAX_FILE, head_hash
from reciper_ray.recipe import Extractor
from reciper_ray.recipe.view import recipe_passages
from reciper_ray.types import Paper, Rejection

if TYPE_CHECKING:
    from reciper_ray.adapters.encoder import Encoder

_ROWS = 8
# The encoder's own, before and after a text.
_SPECIAL_TOKENS = 2


def read(batch: pa.Table, corpus: Store, finished: frozenset[str]) -> Iterator[pa.Table]:
    """Corpus files (`path`, `problem`) → RECORDS.

    Every file yields at least one row. A paper whose digest is in `finished` leaves its text
    behind.
    """
    for file in batch.to_pylist():
        rows: list[pa.Table] = []
        for row in _records(corpus, file["path"], file["problem"], finished):
            rows.append(row)
            if len(rows) == _ROWS:
                yield pa.concat_tables(rows)
                rows = []
        if rows:
            yield pa.concat_tables(rows)


def _records(
    corpus: Store, path: str, problem: str, finished: frozenset[str]
) -> Iterator[pa.Table]:
    """One-row tables of RECORDS, at least one."""
    position, data, started = 0, b"", time.perf_counter()
    try:
        if problem:
            raise UnreadableInput(problem)
        if corpus.info(path).size > MAX_FILE:
            raise UnreadableInput(f"larger than {MAX_FILE >> 20} MiB")
        data = read_corpus_file(corpus, path)
        for record in _reader().read(path, data):
            origin = {
                "file": path,
                "position": position,
                "read_seconds": time.perf_counter() - started,
            }
            if isinstance(record, Rejection):
                yield _one(_rejected(record) | origin)
            else:
                yield _read_paper(record, finished, origin)
            position, started = position + 1, time.perf_counter()
        if not position:
            raise UnreadableInput("no records")
    except Exception as error:
        rejection = Rejection(path, "read", _reason(error), head_hash(data))
        yield _one(_rejected(rejection) | {"file": path, "position": position})


# One child a worker process, for all files that come to it.
_reader = cache(IsolatedReader)


def _read_paper(paper: Paper, finished: frozenset[str], origin: Row) -> pa.Table:
    row = tables.paper_row(paper, "")
    row["digest"] = hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()
    row["traits"] = asdict(copies.traits(paper))
    if row["digest"] in finished:
        kept = {name: row[name] for name in ("paper_id", "source", "digest", "traits")}
        return _one(kept | origin | {"finished": True})
    return _one(row | origin)


def _rejected(rejection: Rejection) -> Row:
    return {
        "source": rejection.path,
        "stage": rejection.stage,
        "reason": rejection.reason,
        "head_hash": rejection.head_hash,
    }


def _one(row: Row) -> pa.Table:
    return pa.Table.from_pylist([row], schema=RECORDS)


def _reason(error: Exception) -> str:
    """One line; an exception nobody raised on purpose says what it is."""
    text = str(error).splitlines()[0] if str(error) else ""
    if isinstance(error, UnreadableInput | InvalidArgument):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def extract(batch: pa.Table, extractor: Extractor, written: Written | None = None) -> pa.Table:
    """RECORDS without recipes → with the structured recipes of each paper.

    Recipes that are `written` already are taken from there, and others are put there at once.
    """

    def recipes(rows: Sequence[Row]) -> None:
        known = written.load([row["digest"] for row in rows]) if written else {}
        open_ = [row for row in rows if row["digest"] not in known]
        papers = [tables.paper_of(row) for row in open_]
        for row, found in zip(open_, extractor.extract(papers) if papers else (), strict=True):
            row |= {"recipes": [tables.recipe_row(recipe) for recipe in found], "extracted": True}
        if written and open_:
            written.add(open_)
        for row in rows:
            row["recipes"] = known.get(row["digest"], row["recipes"])

    return _stage(batch, "extract", recipes)


def chunk(batch: pa.Table, config: Config) -> pa.Table:
    """RECORDS with recipes → with the passages of both views."""
    limit = passage_limit(config)

    def passages(rows: Sequence[Row]) -> None:
        for row in rows:
            paper, recipes = tables.paper_of(row), tables.recipes_of(row)
            both = paragraph_passages(paper, limit) + recipe_passages(paper, recipes, limit)
            if not both:
                raise UnreadableInput("the paper has no text")
            row["passages"] = tables.passage_rows(both)

    return _stage(batch, "chunk", passages)


def passage_limit(config: Config) -> Limit:
    """What one passage may hold, so that the encoder sees all of it."""
    count = _counter(config.encoder)
    taken = _SPECIAL_TOKENS + count(config.encoder.passage_prefix)
    return Limit(config.chunk.max_chars, max(1, config.encoder.max_tokens - taken), count)


_counter = cache(token_counter)


def _stage(batch: pa.Table, name: str, work: Callable[[Sequence[Row]], None]) -> pa.Table:
    """Apply `work`, which fills rows in place, to the papers still to do.

    When it fails for all together it is tried one by one, and who fails alone is rejected. What
    is `Unavailable` is no paper's fault and stops the build, which can be resumed.
    """
    rows: list[Row] = batch.to_pylist()
    open_ = [row for row in rows if row["reason"] is None and not row["finished"]]
    if not open_:
        return batch
    started = time.perf_counter()
    try:
        work(open_)
    except Unavailable:
        raise
    except Exception:
        for row in open_:
            try:
                work([row])
            except Unavailable:
                raise
            except Exception as error:
                row |= {"stage": name, "reason": _reason(error), "head_hash": ""}
    share = (time.perf_counter() - started) / len(open_)
    for row in open_:
        row[f"{name}_seconds"] = share
    return pa.Table.from_pylist(rows, schema=batch.schema)


class Embed:
    """Actor of the last stage: RECORDS with passages → stored parts, RECEIPTS."""

    def __init__(self, config: EncoderConfig, fingerprint: str, store: Store, folder: str) -> None:
        """Loads the encoder."""
        self._store, self._folder = store, folder
        self._failed: ReciperError | None = None
        try:
            self._encoder = _load(config, fingerprint)
        except ReciperError as error:
            # Of what an actor's constructor raises, Ray tells the driver no more than the text.
            self._failed = error

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Raises `ConfigError` if the encoder does not load or is not the one of `fingerprint`."""
        if self._failed:
            raise self._failed
        rows: list[Row] = batch.to_pylist()
        done: list[Row] = []
        for row in rows:
            passages = row["passages"]
            row["passages"] = len(passages or ())
            if row["reason"] is None and not row["finished"]:
                row |= {"row": len(done)} | self._embed(row | {"passages": passages})
                done.append(row | {"passages": passages})
        if done:
            part = write_part(self._store, self._folder, done)
            for row in rows:
                row["part"] = part if "row" in row else None
        return pa.Table.from_pylist(rows, schema=RECEIPTS)

    def _embed(self, row: Row) -> Row:
        started = time.perf_counter()
        vectors = self._encoder.encode_passages([passage["text"] for passage in row["passages"]])
        _return_memory()
        return {
            "vectors": vectors.astype("<f4").tobytes(),
            "dimension": vectors.shape[1],
            "embed_seconds": time.perf_counter() - started,
        }


def _return_memory() -> None:
    """Give freed memory back to the system: glibc keeps what batches of ever new shapes leave
    behind, which after some papers is more than model and batch need together."""
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)


def _load(config: EncoderConfig, fingerprint: str) -> "Encoder":
    from reciper_ray.adapters.encoder import Encoder

    encoder = Encoder(config)
    if encoder.fingerprint != fingerprint:
        raise ConfigError(
            f"encoder.model = {config.model!r} is {encoder.fingerprint} on a worker "
            f"and {fingerprint} where the build was started"
        )
    return encoder
