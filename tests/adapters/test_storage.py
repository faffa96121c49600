import os
import pickle
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import fs

from reciper_ray.adapters import storage
from reciper_ray.adapters.storage import CorpusFile, Store, open_corpus, read_corpus_file
from reciper_ray.errors import InvalidArgument, NotFound, Unavailable


def object_store(folder: Path) -> Store:
    """A store that is not the local file system to those who ask."""
    return Store("s3://bucket", fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem()), "here")


@pytest.fixture(params=["local", "object"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "local":
        return Store.open(tmp_path / "here")
    (tmp_path / "here" / "data").mkdir(parents=True)
    return object_store(tmp_path)


def test_what_was_written_is_read(store: Store) -> None:
    store.write("data/a.bin", b"first")
    store.write("data/a.bin", b"second")
    assert store.read("data/a.bin") == b"second"
    assert store.exists("data/a.bin")
    assert store.files() == [("data/a.bin", 6)]

    def tail(file: pa.NativeFile) -> bytes:
        file.seek(3)
        return bytes(file.read())

    assert store.load("data/a.bin", tail) == b"ond"


def test_a_deleted_folder_is_gone_and_may_be_deleted_again(store: Store) -> None:
    store.write("data/a.bin", b"x")
    store.delete_folder("data")
    store.delete_folder("data")
    assert store.files("data") == []


def test_a_missing_file_is_named_with_its_store(store: Store) -> None:
    with pytest.raises(NotFound, match=r"(here|bucket)/CURRENT does not exist$"):
        store.read("CURRENT")


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    store = Store.open(tmp_path)
    store.write("CURRENT", b"old")
    with pytest.raises(TypeError):
        store.write("CURRENT", object())
    assert store.read("CURRENT") == b"old"
    assert os.listdir(tmp_path) == ["CURRENT"]


def test_a_store_that_cannot_be_written_is_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where a folder should be")
    with pytest.raises(Unavailable, match=r"cannot write .*/data/x: (File exists|Not a directory)"):
        Store.open(tmp_path).write("data/x", b"")


def test_a_file_uri_and_a_plain_path_are_the_same_place(tmp_path: Path) -> None:
    folder = tmp_path / "with space"
    Store.open(folder).write("a", b"1")
    assert Store.open(folder.as_uri()).read("a") == b"1"


def test_a_store_survives_pickling(tmp_path: Path) -> None:
    Store.open(tmp_path).write("a", b"1")
    assert pickle.loads(pickle.dumps(Store.open(tmp_path))).read("a") == b"1"


@pytest.mark.parametrize("uri", ["ftp://host/papers", "file://host/papers", ""])
def test_a_uri_that_cannot_be_used_is_refused(uri: str) -> None:
    with pytest.raises(InvalidArgument, match=uri or "empty"):
        Store.open(uri)


def test_credentials_are_not_shown() -> None:
    store = Store.open("s3://key:word@bucket/papers?region=here&scheme=http")
    assert store.uri == "s3://bucket/papers"
    assert store.address("CURRENT") == "s3://bucket/papers/CURRENT"


def test_all_files_of_a_corpus_are_listed_and_none_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "b" / "deep").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (tmp_path / "b" / "deep" / "2.txt").write_text("two")
    (tmp_path / "a.txt").write_text("one!")
    (tmp_path / ".git" / "config").write_text("x")
    (tmp_path / "gone.txt").symlink_to("nowhere")
    (tmp_path / "b" / "loop").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    Path(os.fsdecode(bytes(tmp_path) + b"/n\xff.txt")).write_text("?")
    store, files = open_corpus(tmp_path)
    assert files == [
        CorpusFile(".git/config", 1, "hidden file"),
        CorpusFile("a.txt", 4),
        CorpusFile("b/deep/2.txt", 3),
        CorpusFile("b/loop", 0, "link to a folder above it"),
        CorpusFile("gone.txt", 0, "broken link"),
        CorpusFile("n\\xff.txt", 1, "file name is not UTF-8"),
        CorpusFile("pipe", 0, "not a regular file"),
    ]
    assert read_corpus_file(store, "b/deep/2.txt") == b"two"


def test_a_linked_folder_of_papers_is_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "1.txt").write_text("one")
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "link").symlink_to(tmp_path / "elsewhere")
    assert open_corpus(tmp_path / "corpus")[1] == [CorpusFile("link/1.txt", 3)]


def test_a_corpus_may_be_one_file(tmp_path: Path) -> None:
    (tmp_path / "rag_database.json").write_text("[]")
    (tmp_path / "other.txt").write_text("")
    store, files = open_corpus(tmp_path / "rag_database.json")
    assert files == [CorpusFile("rag_database.json", 2)]
    assert read_corpus_file(store, "rag_database.json") == b"[]"


def test_a_corpus_in_an_object_store_is_listed_the_same_way(tmp_path: Path) -> None:
    store = object_store(tmp_path)
    (tmp_path / "here" / "b").mkdir(parents=True)
    (tmp_path / "here" / "b" / "1.txt").write_text("one")
    assert store.files() == [("b/1.txt", 3)]


def test_a_missing_corpus_and_an_empty_one_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"corpus .*/nope does not exist"):
        open_corpus(tmp_path / "nope")
    with pytest.raises(InvalidArgument, match="holds no files"):
        open_corpus(tmp_path)


def test_a_file_that_vanished_is_bad_input_with_a_reason_free_of_paths(tmp_path: Path) -> None:
    for store in (Store.open(tmp_path), object_store(tmp_path)):
        with pytest.raises(InvalidArgument, match=r"^cannot be read: No such file or directory$"):
            read_corpus_file(store, "gone.txt")


def test_a_store_that_fails_is_not_taken_for_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "_PAUSES", (0.0,))
    nobody = fs.S3FileSystem(
        endpoint_override="127.0.0.1:1",
        scheme="http",
        access_key="k",
        secret_key="s",
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=1),
    )
    with pytest.raises(Unavailable, match=r"cannot look at s3://b/c/paper\.txt"):
        read_corpus_file(Store("s3://b/c", nobody, "b/c"), "paper.txt")
