"""Reading: from the bytes of a source to papers.

`read` recognises the format by the content and hands over to its module. A further format is a
module with a `FORMAT` and a line in `FORMATS`.
"""

from collections.abc import Iterator

from reciper_ray.errors import UnreadableInput
from reciper_ray.readers import jats, markdown, plain, rag_database, xml
from reciper_ray.readers.source import head, refuse_binary
from reciper_ray.types import Paper, Rejection

FORMATS = (jats.FORMAT, rag_database.FORMAT, markdown.FORMAT, plain.FORMAT)


def read(source: str, data: bytes) -> Iterator[Paper | Rejection]:
    """The papers in `data`, whose path below the corpus root is `source`.

    A file of records gives a `Rejection` for each record that cannot be read and goes on.
    Raises `UnreadableInput`, before the first paper, when the whole file cannot be read.
    """
    refuse_binary(data)
    start = head(data)
    for format in FORMATS:
        if format.sniff(start):
            try:
                return format.parse(source, data)
            except RecursionError as error:
                raise UnreadableInput(f"{format.name}: nested too deeply") from error
    raise UnreadableInput(f"XML with root <{xml.root_name(start)}> is not a format that is read")
