"""Recognising formats, refusing what cannot be read, and reading whole corpora."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reciper_ray.chunk import Limit, chunk
from reciper_ray.errors import UnreadableInput
from reciper_ray.readers import read
from reciper_ray.text import contains
from reciper_ray.types import Kind, Paper, Rejection

FORMATS = {"xml": "jats", "md": "markdown", "txt": "plain"}


def read_one(source: str, data: bytes | str) -> Paper:
    (paper,) = read(source, data.encode() if isinstance(data, str) else data)
    assert isinstance(paper, Paper)
    return paper


def papers_in(folder: Path) -> dict[str, Paper]:
    return {file.name: read_one(file.name, file.read_bytes()) for file in sorted(folder.iterdir())}


def check(paper: Paper, name: str) -> None:
    assert paper.paper_id == Path(name).stem
    assert paper.source == name
    assert paper.format == FORMATS[name.rpartition(".")[2]]
    assert len(paper.title) > 15
    assert paper.title not in paper.text[: len(paper.title) + 1]
    assert len(paper.text) > 5000
    assert paper.paragraphs
    at = 0
    for paragraph in paper.paragraphs:
        assert at <= paragraph.start < paragraph.end
        body = paper.text[paragraph.start : paragraph.end]
        assert body == body.strip()
        assert "\n" not in body or paragraph.kind is Kind.TABLE
        at = paragraph.end
    assert at == len(paper.text)


def test_every_sample_paper_is_read(sample: Path) -> None:
    papers = papers_in(sample / "papers")
    assert len(papers) == 12
    for name, paper in papers.items():
        check(paper, name)


@pytest.mark.slow
def test_every_paper_of_the_large_corpus_is_read(shared: Path) -> None:
    papers = papers_in(shared / "corpus" / "papers")
    assert len(papers) == 151
    for name, paper in papers.items():
        check(paper, name)


@pytest.mark.slow
def test_titles_of_the_large_corpus_are_the_papers_titles(shared: Path) -> None:
    """The index names three Markdown papers by their masthead and garbles letters like δ."""
    lines = (shared / "corpus" / "INDEX.tsv").read_text("utf-8").splitlines()[1:]
    titles = {line.split("\t")[0]: line.split("\t")[3] for line in lines}
    papers = papers_in(shared / "corpus" / "papers")

    def words(title: str) -> set[str]:
        return {word for word in title.casefold().split() if word.isascii() and word.isalpha()}

    alike = [
        name
        for name, paper in papers.items()
        if len(words(titles[name]) & words(paper.title)) >= 0.8 * len(words(titles[name]))
    ]
    assert len(alike) >= 148


def test_answers_stand_in_single_passages(sample: Path) -> None:
    """Reading and chunking tear no fact apart: 47 of the 48 answerable questions at the least."""
    limit = Limit(1000, 254, lambda text: len(text) // 4)
    passages = {
        paper.paper_id: [passage.text for passage in chunk(paper, limit)]
        for paper in papers_in(sample / "papers").values()
    }
    questions = [json.loads(line) for line in (sample / "qa.jsonl").read_text("utf-8").splitlines()]
    answerable = [q for q in questions if q["type"] != "unanswerable"]
    found = [
        any(
            all(contains(needle, text) for needle in question["must_contain"])
            for text in passages[question["paper_id"]]
        )
        for question in answerable
    ]
    assert len(found) == 48
    assert sum(found) >= 47


def test_the_content_decides_the_format_not_the_name(sample: Path) -> None:
    for name in ("PMC7040616.xml", "doi_10_3390__met9030351.md", "steel_04.txt"):
        paper = read_one("folder/paper.dat", (sample / "papers" / name).read_bytes())
        assert paper.format == FORMATS[name.rpartition(".")[2]]
        assert (paper.paper_id, paper.source) == ("paper", "folder/paper.dat")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the file is empty"),
        (b" \n\t ", "the file is empty"),
        (b"%PDF-1.7 ...", "broken PDF: "),
        (b"PK\x03\x04rest", "broken ZIP archive: "),
        (b"\x1f\x8brest", "broken gzip file: "),
        (b"\x89PNG\r\n", "binary: the file is a PNG image"),
        (b"text\x00\x01\x02" * 100, "binary: 300 control characters"),
        (b"caf\xe9 \xc2\xb0C", r"not utf-8 text: .* at byte 3 \(0xe9\)"),
        ("全角".encode("gb18030") * 20, "not utf-8 text"),
        (b"\xff\xfea", "not utf-16.* text"),
        (b'<?xml version="1.0"?><svg/>', "XML with root <svg> is not a format that is read"),
        (b"<rss><item>x</item></rss>", "XML with root <rss> is not a format that is read"),
        (b'<?xml version="1.0"?><TEI/>', "no text"),
        (b"<!DOCTYPE html><html></html>", "no text"),
        (b"<article><body><p>x</body></article>", "broken XML at line 1, column 2.: .*mismatch"),
        (b"<article>\n<body>\n<p>x", "broken XML at line 3, column"),
        (b"<article><body><p/></body></article>", "no text"),
        (b'[{"title": ]', "broken JSON at line 1, column 12"),
        (b'{"title": "x"}', "no text"),
        (b'[{"name": "x"}]', "unknown JSON shape: no entry has a title or a text; its keys"),
        (b"[]", "no papers"),
        (b"[" * 100_000, "nested too deeply"),
        (b"# Only a title", "no text"),
    ],
)  # fmt: skip
def test_an_unreadable_file_is_refused_with_the_reason(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableInput, match=reason):
        read("a.txt", data)


def test_utf16_and_byte_order_marks_are_read() -> None:
    text = "A title of some length\nThe sample was fired at 850 °C. It was dense."
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32"):
        paper = read_one("a.txt", text.encode(encoding))
        assert (paper.title, paper.text) == tuple(text.split("\n"))


def test_old_western_text_is_read() -> None:
    text = "A title of some length\nFired at 850 °C for 2 h, ±5 °C, 3 µm."
    assert read_one("a.txt", text.encode("cp1252")).text == text.split("\n")[1]
    for encoding in ("utf-16-le", "utf-16-be"):
        assert read_one("a.txt", text.encode(encoding)).title == "A title of some length"


def test_a_bad_record_is_rejected_and_the_others_are_read() -> None:
    data = b'[{"title": "Good", "abstract": "Text."}, 5, {"title": "None"}]'
    good, number, empty = read("db.json", data)
    assert isinstance(good, Paper)
    assert good.source == "db.json#1"
    assert isinstance(number, Rejection)
    assert isinstance(empty, Rejection)
    assert (number.path, number.stage) == ("db.json#2", "read")
    assert number.reason == "the record is a number or boolean, not an object"
    # printf 5 | sha256sum
    assert number.head_hash.startswith("ef2d127de37b942b")
    assert (empty.path, empty.reason) == ("db.json#3", "no text")


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_whatever_comes_is_read_or_refused(data: bytes) -> None:
    with suppress(UnreadableInput):
        assert all(isinstance(paper, Paper | Rejection) for paper in read("a.txt", data))


@given(st.data())
def test_a_damaged_sample_is_read_or_refused(sample: Path, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["PMC7077619.xml", "doi_10_3390__met10111466.md"]))
    content = (sample / "papers" / name).read_bytes()[:6000]
    at = data.draw(st.integers(0, len(content)))
    until = data.draw(st.integers(at, min(at + 400, len(content))))
    damage = data.draw(st.sampled_from([b"", b"$$", b"{", b"|---|\n", b"<table>", b"\\[", b"\n\n"]))
    with suppress(UnreadableInput):
        assert list(read(name, content[:at] + damage + content[until:]))
