"""Archives, friendly and hostile."""

import gzip
import io
import tarfile
import zipfile

import pytest

from reciper_ray.errors import UnreadableInput
from reciper_ray.readers import archive, read
from reciper_ray.types import Paper, Rejection

TEXT = b"A title of some length\nThe powder was calcined at 850 \xc2\xb0C."
XML = b"<article><body><p>Dried at 80 &#xB0;C.</p></body></article>"


def zipped(*members: tuple[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in members:
            out.writestr(name, data)
    return file.getvalue()


def tarred(*members: tuple[str, bytes], link: str = "") -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as out:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            out.addfile(info, io.BytesIO(data))
        if link:
            info = tarfile.TarInfo("link.txt")
            info.type, info.linkname = tarfile.SYMTYPE, link
            out.addfile(info)
    return file.getvalue()


def names(data: bytes, source: str = "all.zip") -> list[tuple[str, str]]:
    """(paper id, source) of papers, (path, reason) of rejections."""
    return [
        (found.paper_id, found.source) if isinstance(found, Paper) else (found.path, found.reason)
        for found in read(source, data)
    ]


def test_members_are_named_after_the_archive_and_their_path() -> None:
    both = [("a/x.xml", XML), ("y.txt", TEXT)]
    for source, data in (
        ("all.zip", zipped(*both)),
        ("all.tar", tarred(*both)),
        ("all.tar.gz", gzip.compress(tarred(*both))),
    ):
        assert names(data, source) == [("x", f"{source}/a/x.xml"), ("y", f"{source}/y.txt")]


def test_a_gzip_file_holds_one_paper_called_without_the_suffix() -> None:
    assert names(gzip.compress(XML), "b/x.xml.gz") == [("x", "b/x.xml.gz/x.xml")]


def test_a_bad_member_is_rejected_alone() -> None:
    data = zipped(
        ("../../etc/passwd", TEXT), ("/abs.txt", TEXT), (".hidden", TEXT), ("__MACOSX/x", TEXT),
        ("bad.xml", b"<article><p>"), ("empty.txt", b""), ("image.png", b"\x89PNG"),
        ("y.txt", TEXT),
    )  # fmt: skip
    found = names(data)
    assert found[0] == ("all.zip/../../etc/passwd", "the member's path leads out of the archive")
    assert found[1] == ("all.zip//abs.txt", "the member's path leads out of the archive")
    assert found[2:4] == [("all.zip/.hidden", "hidden file"), ("all.zip/__MACOSX/x", "hidden file")]
    assert found[4][1].startswith("broken XML")
    assert found[5:] == [
        ("all.zip/empty.txt", "the file is empty"),
        ("all.zip/image.png", "binary: the file is a PNG image"),
        ("y", "all.zip/y.txt"),
    ]


def test_links_and_encrypted_members_are_rejected() -> None:
    assert names(tarred(("y.txt", TEXT), link="/etc/passwd"), "a.tar") == [
        ("y", "a.tar/y.txt"),
        ("a.tar/link.txt", "not a regular file"),
    ]
    data = bytearray(zipped(("y.txt", TEXT)))
    central = data.index(b"PK\x01\x02")
    data[6] |= 1
    data[central + 8] |= 1
    assert names(bytes(data)) == [("all.zip/y.txt", "encrypted: it needs a password")]


def test_bombs_are_bounded_by_what_they_unpack_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_MEMBER", 4 << 20)
    zeros = bytes(5 << 20)
    with pytest.raises(UnreadableInput, match="unpacks to more than 4 MiB"):
        read("bomb.gz", gzip.compress(zeros))
    assert names(zipped(("bomb", zeros), ("y.txt", TEXT))) == [
        ("all.zip/bomb", "unpacks to more than 4 MiB"),
        ("y", "all.zip/y.txt"),
    ]


def test_nesting_and_the_number_of_members_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    data = TEXT
    for _ in range(5):
        data = zipped(("in.zip", data))
    ((path, reason),) = names(data)
    assert path == "all.zip/in.zip/in.zip/in.zip"
    assert reason == "archives inside one another more than 3 deep"
    monkeypatch.setattr(archive, "MAX_MEMBERS", 2)
    found = names(zipped(*((f"{n}.txt", TEXT) for n in range(4))))
    assert [name for name, _ in found] == ["0", "1", "all.zip/2.txt"]
    assert found[-1][1] == "more than 2 files in the archive; rest unread"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (gzip.compress(TEXT)[:-12], "broken gzip file"),
        (zipped(("y.txt", TEXT))[:-20], "broken ZIP archive"),
        (zipped(("word/document.xml", XML), ("[Content_Types].xml", XML)), "a Word file"),
    ],
)
def test_what_is_no_archive_of_papers_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableInput, match=reason):
        list(read("a.zip", data))


def test_an_archive_that_breaks_off_keeps_what_came_before() -> None:
    data = tarred(("y.txt", TEXT), ("z.txt", TEXT * 100))[:2100]
    found = list(read("a.tar", data))
    assert isinstance(found[0], Paper)
    assert isinstance(found[-1], Rejection)
    assert found[-1].reason.startswith("broken archive")


def test_an_archive_without_files_is_rejected_by_its_name() -> None:
    assert names(zipped(), "a.zip") == [("a.zip", "no files in the archive")]
