"""Files of records: JSON (one object, an array, an object of arrays), JSON Lines, Parquet.

A record is a paper of a known shape (the RECIPER authors' own, S2ORC's three) or any row with a
text under one of the usual names, a title and metadata beside it. A record that is none is
rejected alone, with what it holds; rows of questions and answers are recognised as such.
"""

import hashlib
import io
import json
import re
from collections.abc import Iterator
from typing import Any

from reciper_ray.errors import UnreadableInput
from reciper_ray.readers import rag_database, s2orc
from reciper_ray.readers.fields import (
    as_dict,
    as_list,
    first_line,
    kind,
    line,
    names,
    written,
    year,
)
from reciper_ray.readers.latex import strip_math
from reciper_ray.readers.metadata import find_arxiv_id, find_doi, find_licence
from reciper_ray.readers.source import HEAD, Block, Format, compose, decode, stem
from reciper_ray.text import normalise, squeeze
from reciper_ray.types import Kind, Paper, Rejection

_TEXTS: tuple[str, ...] = (
    *("text", "full_text", "fulltext", "fullText", "body", "content", "article", "document"),
    *("paper_text", "body_text", "paragraphs", "sections", "article_text", "raw_text"),
)
_TITLES = ("title", "paper_title", "Title")
_IDS = ("paper_id", "id", "_id", "pmcid", "paperId", "corpusid", "doc_id", "docid", "uid")
_ABSTRACTS = ("abstract", "Abstract", "summary")
_QUESTIONS = ("question", "answer")
_WRAPPERS = ("papers", "data", "records", "documents", "articles", "items", "results", "rows")
_PAPER_KEYS = {*_TEXTS, *_TITLES, *_ABSTRACTS, "recipes", "pdf_parse", "corpusid"}
_BLANK = re.compile(r"\n[^\S\n]*\n\s*")


def _parse_json(source: str, data: bytes) -> Iterator[Paper | Rejection]:
    text = decode(data)
    try:
        loaded = json.loads(text)
    except json.JSONDecodeError as error:
        first = _first_line(text)
        if first is None:
            raise UnreadableInput(
                f"broken JSON at line {error.lineno}, column {error.colno}: {error.msg}"
            ) from error
        if not _is_paper(first):
            raise UnreadableInput(f"JSON lines without papers: {_no_paper(first)}") from error
        return _lines(source, text)
    if isinstance(loaded, dict) and _is_paper(loaded):
        return iter([_paper(source, stem(source), loaded)])
    return (
        _paper_or_rejection(f"{source}#{number}", key, record)
        for number, (key, record) in enumerate(_records(loaded), 1)
    )


def _records(loaded: Any) -> list[tuple[str, Any]]:
    """(key, record) of all records, the key "" where there is none."""
    if isinstance(loaded, dict):
        lists = [loaded[name] for name in _WRAPPERS if isinstance(loaded.get(name), list)]
        if not lists:
            inner = list(loaded.items())
            if inner and all(isinstance(value, dict) and _is_paper(value) for _, value in inner):
                return inner
            raise UnreadableInput(f"unknown JSON shape: {_no_paper(loaded)}")
        loaded = lists[0]
    if not isinstance(loaded, list):
        raise UnreadableInput(f"unknown JSON shape: {kind(loaded)} where papers are expected")
    if not loaded:
        raise UnreadableInput("no papers: the array is empty")
    if not any(isinstance(record, dict) and _is_paper(record) for record in loaded):
        known = next((record for record in loaded if isinstance(record, dict)), None)
        what = _no_paper(known) if known is not None else "the entries are no objects"
        raise UnreadableInput(f"unknown JSON shape: {what}")
    return [("", record) for record in loaded]


def _first_line(text: str) -> dict[str, Any] | None:
    """The object in the first or second line that is one by itself, None for no JSON Lines."""
    lines = text.strip().split("\n", 2)
    for entry in lines[:2] if len(lines) > 1 else []:
        try:
            found = json.loads(entry)
        except ValueError:
            continue
        if isinstance(found, dict):
            return found
    return None


def _lines(source: str, text: str) -> Iterator[Paper | Rejection]:
    """The records of JSON Lines; a broken line is rejected alone."""
    for number, entry in enumerate(text.split("\n"), 1):
        if not entry.strip():
            continue
        path = f"{source}#{number}"
        try:
            record = json.loads(entry)
        except (ValueError, RecursionError) as error:
            digest = hashlib.sha256(entry.encode("utf-8", "replace")[:HEAD]).hexdigest()
            yield Rejection(path, "read", f"broken JSON: {error}", digest)
            continue
        yield _paper_or_rejection(path, "", record)


def _parse_parquet(source: str, data: bytes) -> Iterator[Paper | Rejection]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(io.BytesIO(data))
        columns = file.schema_arrow.names
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise UnreadableInput(f"broken Parquet file: {reason}") from error
    if not set(columns) & _PAPER_KEYS:
        raise UnreadableInput(f"a table without papers: its columns are {_named(columns)}")

    def rows() -> Iterator[Paper | Rejection]:
        number = 0
        try:
            for batch in file.iter_batches(batch_size=64):
                for record in batch.to_pylist():
                    number += 1
                    yield _paper_or_rejection(f"{source}#{number}", "", record)
        except (pa.ArrowException, OSError, ValueError) as error:
            reason = str(error).splitlines()[0]
            yield Rejection(source, "read", f"broken Parquet file behind row {number}: {reason}")

    return rows()


_JSON = re.compile(r"\s*(?:\[\s*[\[{\]\"\d-]|\{\s*[\"}])")
JSON = Format("records", lambda head: _JSON.match(head) is not None, _parse_json)
PARQUET = Format("records", lambda head: head.startswith("PAR1"), _parse_parquet)


def _is_paper(record: dict[str, Any]) -> bool:
    return bool(_PAPER_KEYS & record.keys()) and not set(_QUESTIONS) <= record.keys()


def _no_paper(record: dict[str, Any]) -> str:
    if set(_QUESTIONS) <= record.keys():
        return "questions and answers, not papers"
    return f"no entry has a title or a text; its keys are {_named(list(record))}"


def _named(keys: list[str]) -> str:
    return ", ".join(sorted(map(str, keys))[:12]) or "none"


def _paper_or_rejection(path: str, key: str, record: Any) -> Paper | Rejection:
    default = key or f"{stem(path.rpartition('#')[0])}#{path.rpartition('#')[2]}"
    try:
        return _paper(path, default, record)
    except (UnreadableInput, RecursionError) as error:
        entry = json.dumps(record, ensure_ascii=True, sort_keys=True, default=str).encode()
        reason = str(error) if isinstance(error, UnreadableInput) else "nested too deeply"
        return Rejection(path, "read", reason, hashlib.sha256(entry[:HEAD]).hexdigest())


def _paper(path: str, default_id: str, record: Any) -> Paper:
    if not isinstance(record, dict):
        raise UnreadableInput(f"the record is {kind(record)}, not an object")
    if not _is_paper(record):
        raise UnreadableInput(f"the record is no paper: {_no_paper(record)}")
    if s2orc.matches(record):
        return s2orc.paper(path, default_id, record)
    if rag_database.matches(record):
        return rag_database.paper(path, default_id, record)
    metadata = as_dict(record.get("metadata"))
    every = {**metadata, **record}
    doi = find_doi(first_line(every, "doi", "DOI"))
    arxiv = first_line(every, "arxiv_id", "arxivId", "arxiv")
    return compose(
        first_line(record, *_IDS) or default_id,
        path,
        "records",
        first_line(every, *_TITLES),
        [
            *(Block(text, "Abstract", Kind.ABSTRACT) for text in _abstract(record)),
            *(block for name in _TEXTS for block in _blocks(record.get(name), "")),
        ],
        written(record),
        authors=names(every.get("authors", every.get("author"))),
        year=year(every.get("year") or every.get("date") or every.get("publication_date")),
        doi=doi,
        arxiv_id=find_arxiv_id(f"arxiv:{arxiv}") if arxiv else "",
        journal=first_line(every, "journal", "venue", "journal_name", "source_title"),
        licence=find_licence(first_line(every, "license", "licence"))
        or first_line(every, "license", "licence"),
        recipes=tuple(filter(None, map(rag_database.recipe_text, as_list(record.get("recipes"))))),
    )


def _abstract(record: dict[str, Any]) -> Iterator[str]:
    for name in _ABSTRACTS:
        for block in _blocks(record.get(name), ""):
            yield block.text


def _blocks(value: Any, heading: str) -> Iterator[Block]:
    """The paragraphs in a text, a list of texts, or a tree of sections."""
    if isinstance(value, str):
        for paragraph in _BLANK.split(strip_math(normalise(value))):
            if (text := squeeze(paragraph)) and text != "None":
                yield Block(text, heading)
    elif isinstance(value, list):
        for part in value:
            yield from _blocks(part, heading)
    elif isinstance(value, dict):
        own = first_line(value, "heading", "section", "section_title", "title", "name", "header")
        inner = " > ".join(filter(None, (heading, own)))
        for name in (*_TEXTS, "paragraphs_with_entities", "subsections", "children"):
            yield from _blocks(value.get(name), inner)
    elif value is not None and line(value):
        yield Block(line(value), heading)
