"""Input that is damaged, or made to harm."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from reciper_ray.errors import UnreadableInput
from reciper_ray.readers import read
from reciper_ray.types import Paper, Rejection
from tests.readers.pdfs import column, pdf

TEXT = "A title of some length\nThe powder was calcined at 850 °C."


def one(data: bytes | str, source: str = "a.txt") -> Paper:
    (paper,) = read(source, data.encode() if isinstance(data, str) else data)
    assert isinstance(paper, Paper)
    return paper


def test_entity_bombs_do_not_go_off() -> None:
    levels = "".join(
        f"<!ENTITY l{n} '{f'&l{n - 1};' * 10 if n else 'ha' * 10}'>" for n in range(10)
    )
    bomb = f"<!DOCTYPE article [{levels}]><article><body><p>Fired &l9; up.</p></body></article>"
    started = time.process_time()
    with pytest.raises(UnreadableInput, match="broken XML at line 1"):
        one(bomb)
    assert time.process_time() - started < 1


@pytest.mark.parametrize("root", ["article", "TEI", "us-patent-grant"])
def test_external_entities_are_not_fetched(tmp_path: Path, root: str) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("top secret")
    attack = (
        f"<!DOCTYPE {root} [<!ENTITY x SYSTEM 'file://{secret}'><!ENTITY % y SYSTEM"
        f" 'file://{secret}'> %y;]><{root}><text><body><p>Dried &x; in air.</p></body></text>"
        f"<body><p>Dried &x; in air.</p></body><description><p>Dried &x; in air.</p></description>"
        f"</{root}>"
    )
    with suppress(UnreadableInput):
        assert one(attack).text == "Dried in air."


@pytest.mark.parametrize(
    "deep", [b"<p>", b"[", b'{"a":', b"<div>", b"> ", b"- ", b"**", b"$\\frac{"]
)
@pytest.mark.parametrize(
    "start", [b"<article><body>", b"<html><body>", b"# T\n", b"", b"<TEI><text><body>"]
)
def test_deep_nesting_is_read_or_refused(start: bytes, deep: bytes) -> None:
    started = time.process_time()
    with suppress(UnreadableInput):
        list(read("a.txt", start + deep * 10_000 + b"x"))
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (TEXT.replace(" was", "\0 was\x07").encode(), "The powder was calcined at 850 °C."),
        (b"\xef\xbb\xbf" + TEXT.encode(), "The powder was calcined at 850 °C."),
        (TEXT.encode("utf-16"), "The powder was calcined at 850 °C."),
        (TEXT.encode("utf-16-le"), "The powder was calcined at 850 °C."),
        (TEXT.encode("latin-1"), "The powder was calcined at 850 °C."),
        (TEXT.replace("\n", "\r\n").encode(), "The powder was calcined at 850 °C."),
        (json.dumps({"title": "T", "text": "at \ud800850 °C\x00."}).encode(), "at 850 °C."),
    ],
)
def test_odd_encodings_and_characters(data: bytes, text: str) -> None:
    assert one(data).text == text


def test_a_line_of_200000_characters_is_read_whole() -> None:
    line = " ".join(f"Sample {n} was fired at {n} °C." for n in range(7_000))
    assert len(line) > 200_000
    started = time.process_time()
    assert one(f"A title of some length\n{line}").text == line
    assert time.process_time() - started < 10


UNITS = ["$ ", "\\[", "_{", "^{", "](", "![", "<b>", "|-", "1. ", "References ", "doi:", "10.1/",
         "(2012) ", "A.", "Abstract ", "- ", "-\n", "   ", "\n\n", "\t", "(cid:0)", "◦", "¼",
         "Figure 1. ", "2012, 1, 1 ", "Li, W. ", "1) ", "* ", "> ", "`", "~a~",
         "&nbsp;", "a-\n"]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("frame", ["{}", "# T\n\n{}", "<html><body><p>{}</p></body></html>"])
def test_pathological_repetition_takes_bounded_time(frame: str, unit: str) -> None:
    data = frame.format(unit * (30_000 // len(unit))).encode()
    started = time.process_time()
    with suppress(UnreadableInput):
        list(read("a.txt", data))
    assert time.process_time() - started < 10


def files(shared: Path) -> list[Path]:
    papers = sorted((shared / "corpus" / "papers").iterdir())
    formats = [file for file in sorted((shared / "formats").iterdir()) if file.suffix != ".tsv"]
    return papers[::10] + formats


def _cut(data: bytearray, random: Random) -> None:
    del data[random.randrange(len(data)) :]


def _flip(data: bytearray, random: Random) -> None:
    for _ in range(random.randint(1, 60)):
        data[random.randrange(len(data))] = random.randrange(256)


def _splice(data: bytearray, random: Random) -> None:
    at, size = random.randrange(len(data)), random.randint(1, 4000)
    data[at : at + random.randint(0, 4000)] = data[:size] * random.randint(0, 3)


def _insert(data: bytearray, random: Random) -> None:
    piece = random.choice(UNITS).encode() * random.randint(1, 500)
    at = random.randrange(len(data))
    data[at:at] = piece


MUTATIONS: list[Callable[[bytearray, Random], None]] = [_cut, _flip, _splice, _insert]


@pytest.mark.slow
def test_mutated_real_files_are_read_or_refused(shared: Path) -> None:
    """For a minute at most; nothing crashes, hangs, or ends without a paper or a reason."""
    random = Random(5)
    originals = [file.read_bytes() for file in files(shared)]
    originals.append(pdf([column(50, 700, ["some words of a page"] * 20)] * 3))
    started, tried, slowest = time.monotonic(), 0, 0.0
    while time.monotonic() - started < 55 and tried < 4000:
        data = bytearray(random.choice(originals))
        for _ in range(random.randint(1, 3)):
            if data:
                random.choice(MUTATIONS)(data, random)
        before = time.process_time()
        try:
            found = list(read("a.dat", bytes(data)))
            assert found
            assert all(isinstance(record, Paper | Rejection) for record in found)
        except UnreadableInput as error:
            refused = str(error)
            if not refused:
                pytest.fail("refused without a reason")
        slowest = max(slowest, time.process_time() - before)
        tried += 1
    print(f"{tried} mutated files, slowest {slowest:.1f} s")
    assert tried > 100
    assert slowest < 30
