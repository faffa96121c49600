"""Records of S2ORC: the parsed JSON of s2orc-doc2json and CORD-19, and the bulk API's.

The former are lists of paragraphs with their section; the latter is one text with annotations
that say where title, abstract, headings and paragraphs stand. Citations' lists are left out.
"""

import json
from collections.abc import Iterator
from typing import Any

from reciper_ray.errors import UnreadableInput
from reciper_ray.readers.fields import as_dict, as_list, first_line, line, names, written, year
from reciper_ray.readers.metadata import find_doi, find_licence
from reciper_ray.readers.source import Block, compose
from reciper_ray.text import normalise, squeeze
from reciper_ray.types import Kind, Paper

_HEADING_CHARS = 160


def matches(record: dict[str, Any]) -> bool:
    """Whether the record has one of S2ORC's shapes."""
    return (
        isinstance(record.get("body_text"), list)
        or any(isinstance(record.get(name), dict) for name in ("pdf_parse", "latex_parse"))
        or _annotated(record) is not None
    )


def _annotated(record: dict[str, Any]) -> dict[str, Any] | None:
    """The part of the record with a text and its annotations."""
    for name in ("content", "body"):
        part = record.get(name)
        if isinstance(part, dict) and "text" in part and "annotations" in part:
            return part
    return None


def paper(path: str, default_id: str, record: dict[str, Any]) -> Paper:
    """The paper of one record."""
    metadata = as_dict(record.get("metadata"))
    every = {**metadata, **record}
    ids = {**as_dict(every.get("identifiers")), **as_dict(every.get("externalids"))}
    ids |= as_dict(every.get("external_ids"))
    annotated = _annotated(record)
    title = first_line(every, "title")
    if annotated is not None:
        title = title or " ".join(_pieces(annotated, "title"))
        blocks = list(_of_text(annotated))
    else:
        blocks = list(_of_parse(record))
    open_access = as_dict(as_dict(record.get("content")).get("source"))
    oa_info = as_dict(open_access.get("oainfo")) | as_dict(record.get("openaccessinfo"))
    return compose(
        first_line(every, "paper_id", "corpusid", "corpus_id", "id") or default_id,
        path,
        "s2orc",
        title,
        blocks,
        written(record),
        authors=names(every.get("authors")),
        year=year(every.get("year")),
        doi=find_doi(first_line(every, "doi") or first_line(ids, "doi", "DOI")),
        arxiv_id=first_line(every, "arxiv_id") or first_line(ids, "arxiv", "arxiv_id", "ArXiv"),
        journal=first_line(every, "journal", "venue"),
        licence=find_licence(first_line(oa_info, "license")),
    )


def _of_parse(record: dict[str, Any]) -> Iterator[Block]:
    parse = next(
        (
            record[name]
            for name in ("pdf_parse", "latex_parse")
            if as_list(as_dict(record.get(name)).get("body_text"))
        ),
        record,
    )
    abstract = parse.get("abstract") or record.get("abstract")
    for part in abstract if isinstance(abstract, list) else [{"text": abstract}]:
        yield Block(line(as_dict(part).get("text")), "Abstract", Kind.ABSTRACT)
    for part in map(as_dict, as_list(parse.get("body_text"))):
        yield Block(line(part.get("text")), line(part.get("section")))
    for name, entry in sorted(as_dict(parse.get("ref_entries")).items()):
        entry = as_dict(entry)
        label = f"{'Table' if 'TAB' in name else 'Figure'} {line(entry.get('num'))}".strip()
        text = first_line(entry, "text", "caption")
        if text:
            yield Block(text if text.startswith(label) else f"{label}. {text}", "", Kind.CAPTION)
        rows = line(entry.get("content") or entry.get("html"))
        if rows and "TAB" in name:
            yield Block(rows, text[:_HEADING_CHARS], Kind.TABLE)


def _spans(part: dict[str, Any], name: str) -> list[tuple[int, int]]:
    """Where annotations of one kind stand; they come as lists or as JSON written in a string."""
    found = as_dict(part.get("annotations")).get(name)
    if isinstance(found, str):
        try:
            found = json.loads(found)
        except ValueError as error:
            raise UnreadableInput(f"annotations.{name} is not JSON: {error}") from error
    try:
        spans = [(int(span["start"]), int(span["end"])) for span in found or []]
    except (TypeError, KeyError, ValueError) as error:
        raise UnreadableInput(f"annotations.{name} holds no spans") from error
    return sorted(spans)


def _pieces(part: dict[str, Any], name: str) -> list[str]:
    text = part["text"] if isinstance(part["text"], str) else ""
    return [squeeze(normalise(text[start:end])) for start, end in _spans(part, name)]


def _of_text(part: dict[str, Any]) -> Iterator[Block]:
    text = part["text"] if isinstance(part["text"], str) else ""
    abstract = _spans(part, "abstract")
    headings = _spans(part, "sectionheader") or _spans(part, "section_header")
    references = min((start for start, _ in _spans(part, "bibentry")), default=len(text))
    paragraphs = _spans(part, "paragraph")
    for start, end in abstract:
        yield Block(squeeze(normalise(text[start:end])), "Abstract", Kind.ABSTRACT)
    for start, end in paragraphs or ([] if abstract else [(0, references)]):
        if start >= references or any(a <= start and end <= b for a, b in abstract):
            continue
        above = [text[a:b] for a, b in headings if b <= start]
        yield Block(
            squeeze(normalise(text[start:end])), squeeze(normalise(above[-1] if above else ""))
        )
