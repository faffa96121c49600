"""Reading: from the bytes of a source to papers.

`read` recognises the format by the content and hands over to its module. A further format is a
module with a `FORMAT` and a line in `FORMATS`.
"""

from collections.abc import Iterator

from reciper_ray.errors import UnreadableInput
from reciper_ray.readers import (
    archive,
    elsevier,
    html,
    jats,
    markdown,
    pdf,
    plain,
    records,
    tei,
    uspto,
    xml,
)
from reciper_ray.readers.source import head, refuse_binary
from reciper_ray.types import Paper, Rejection

FORMATS = (
    pdf.FORMAT,
    records.PARQUET,
    jats.FORMAT,
    tei.FORMAT,
    elsevier.FORMAT,
    uspto.FORMAT,
    html.FORMAT,
    records.JSON,
    markdown.FORMAT,
    plain.FORMAT,
)
_MARKUP = (markdown.FORMAT, plain.FORMAT)
_TAIL = 4096


def read(source: str, data: bytes) -> Iterator[Paper | Rejection]:
    """The papers in `data`, whose path below the corpus root is `source`.

    A file of records, or an archive, gives a `Rejection` for each record or member that cannot
    be read and goes on. Raises `UnreadableInput`, before the first paper, when the whole file
    cannot be read.
    """
    return _read(source, data, 0)


def _read(source: str, data: bytes, depth: int) -> Iterator[Paper | Rejection]:
    refuse_binary(data)
    if archive.is_archive(data):
        return archive.papers(source, data, depth, _read)
    start = head(data)
    unknown = _unknown_xml(start, data)
    for format in FORMATS:
        if format in _MARKUP and unknown:
            break
        if format.sniff(start):
            try:
                return format.parse(source, data)
            except RecursionError as error:
                raise UnreadableInput(f"{format.name}: nested too deeply") from error
    raise UnreadableInput(
        f"XML with root <{unknown}> is not a format that is read"
        if unknown
        else "not a format that is read"
    )


def _unknown_xml(start: str, data: bytes) -> str:
    """The root's name if what starts like XML also ends like it, "" if it may be text."""
    root = xml.root_name(start)
    closed = f"</{root}".encode() in data[-_TAIL:] or xml.is_document(start)
    return root if closed else ""
