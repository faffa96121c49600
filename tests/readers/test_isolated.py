"""Reading in a process of its own."""

import json
import os
import signal
from collections.abc import Iterator

import pytest

from reciper_ray import readers
from reciper_ray.errors import UnreadableInput
from reciper_ray.readers.isolated import IsolatedReader, Limits
from reciper_ray.types import Paper
from tests.readers.pdfs import column, pdf

TEXT = b"A title of some length\nThe powder was calcined at 850 \xc2\xb0C."


@pytest.fixture
def reader() -> Iterator[IsolatedReader]:
    reader = IsolatedReader()
    yield reader
    reader.close()


def test_it_reads_as_the_readers_do(reader: IsolatedReader) -> None:
    records = json.dumps([{"title": "T", "text": "It."}, 5]).encode()
    for source, data in (("a.txt", TEXT), ("all.json", records)):
        assert list(reader.read(source, data)) == list(readers.read(source, data))
    with pytest.raises(UnreadableInput, match="the file is empty"):
        list(reader.read("a.txt", b""))


def test_a_crash_costs_what_was_not_read_yet_and_the_next_file_is_read(
    reader: IsolatedReader,
) -> None:
    line = json.dumps({"title": "T", "text": "It was fired. " * 10_000}).encode() + b"\n"
    found = reader.read("all.jsonl", line * 200)
    assert isinstance(next(found), Paper)
    assert reader._child
    os.kill(reader._child.pid, signal.SIGSEGV)
    with pytest.raises(UnreadableInput, match=r"reading crashed \(SIGSEGV\)"):
        list(found)
    assert len(list(reader.read("a.txt", TEXT))) == 1


def test_what_takes_too_long_is_refused(reader: IsolatedReader) -> None:
    list(reader.read("a.txt", TEXT))
    slow = IsolatedReader(Limits(seconds=0.2))
    pages = pdf([column(50, 700, ["some words of a page"] * 40)] * 300)
    with pytest.raises(UnreadableInput, match=r"reading took longer than 0\.2 s"):
        list(slow.read("a.pdf", pages))
    assert len(list(slow.read("a.txt", TEXT))) == 1
    slow.close()


def test_what_needs_too_much_memory_is_refused() -> None:
    small = IsolatedReader(Limits(memory=700 << 20))
    big = b"[" + b'{"text": "x"},' * 3_000_000 + b"5]"
    with pytest.raises(UnreadableInput, match="reading needs more than 700 MiB of memory"):
        list(small.read("a.json", big))
    assert len(list(small.read("a.txt", TEXT))) == 1
    small.close()


def test_a_reading_that_is_given_up_leaves_no_process(reader: IsolatedReader) -> None:
    line = json.dumps({"title": "T", "text": "It was fired. " * 10_000}).encode() + b"\n"
    found = reader.read("all.jsonl", line * 50)
    next(found)
    child = reader._child
    assert child
    found.close()
    assert child.returncode == -signal.SIGKILL
    assert len(list(reader.read("a.txt", TEXT))) == 1
