from pathlib import Path

import numpy as np

from reciper_ray.adapters.storage import Store
from reciper_ray.build.work import finished, read_part, work_key, write_part
from reciper_ray.config import Config, parse
from tests import stores


def test_rows_of_a_part_are_read_back_one_by_one(tmp_path: Path) -> None:
    store = Store.open(tmp_path)
    path = write_part(store, "work/w", [stores.part_row(stores.paper(p)) for p in "abc"])
    table = read_part(store, path, [0, 2], ["paper_id", "vectors", "dimension"])
    assert table["paper_id"].to_pylist() == ["a", "c"]
    vectors = np.frombuffer(table["vectors"][1].as_py(), "<f4").reshape(-1, stores.DIMENSION)
    np.testing.assert_array_equal(vectors, stores.vectors(stores.paper("c")))


def test_a_part_is_named_after_what_it_holds(tmp_path: Path) -> None:
    store = Store.open(tmp_path)
    a, b = (stores.part_row(stores.paper(p)) for p in "ab")
    first, again, other = (write_part(store, "w", rows) for rows in ([a, b], [a, b], [b]))
    assert first == again != other


def test_finished_papers_are_found_by_digest(tmp_path: Path) -> None:
    store = Store.open(tmp_path)
    one = write_part(store, "w", [stores.part_row(stores.paper(p)) for p in "ab"])
    two = write_part(store, "w", [stores.part_row(stores.paper("c"))])
    write_part(store, "elsewhere", [stores.part_row(stores.paper("d"))])
    assert finished(store, "w") == {
        "digest of a": (one, 0),
        "digest of b": (one, 1),
        "digest of c": (two, 0),
    }
    assert finished(store, "nowhere") == {}


def test_a_damaged_part_and_a_half_written_one_are_done_again(tmp_path: Path) -> None:
    store = Store.open(tmp_path)
    kept = write_part(store, "w", [stores.part_row(stores.paper("a"))])
    damaged = write_part(store, "w", [stores.part_row(stores.paper("b"))])
    (tmp_path / damaged).write_bytes((tmp_path / damaged).read_bytes()[:-100])
    (tmp_path / "w" / ".x.parquet.0.tmp").write_bytes(b"PAR1")
    assert finished(store, "w") == {"digest of a": (kept, 0)}


def test_work_is_shared_by_builds_whose_vectors_and_passages_are_the_same() -> None:
    def key(config: Config, encoder: str = "m:1", extractor: str = "extractive") -> str:
        return work_key(config, encoder, extractor)

    same = [Config(), parse({"build": {"shards": 9, "block_papers": 1}, "search": {}})]
    other = [
        key(parse({"chunk": {"max_chars": 500}})),
        key(parse({"encoder": {"dtype": "bfloat16"}})),
        key(Config(), encoder="m:2"),
        key(Config(), extractor="llm"),
    ]
    assert len({key(config) for config in same}) == 1
    assert len({key(Config()), *other}) == 1 + len(other)
