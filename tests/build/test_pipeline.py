"""The whole build on Ray: slow to start, so a few builds serve all tests."""

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from reciper_ray.adapters.encoder import fingerprint
from reciper_ray.adapters.storage import Store
from reciper_ray.build import stages
from reciper_ray.build.pipeline import Summary, build
from reciper_ray.build.work import work_folder, work_key
from reciper_ray.config import parse
from reciper_ray.errors import ConfigError, InvalidArgument, NotFound
from reciper_ray.recipe import ExtractiveExtractor
from reciper_ray.snapshot import Snapshot
from reciper_ray.types import View

pytestmark = pytest.mark.slow

CONFIG = parse({"build": {"shards": 3, "actors": 2}})


@pytest.fixture(scope="module")
def corpus(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three real papers, a copy of one under the same name, and what is no paper."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "copies").mkdir()
    papers = sorted((sample / "papers").iterdir(), key=lambda path: (path.stat().st_size, path))
    for path in papers[:3]:
        shutil.copy(path, folder)
    shutil.copy(papers[0], folder / "copies")
    (folder / "empty.txt").write_text("")
    (folder / "binary.dat").write_bytes(bytes(range(256)) * 16)
    (folder / "broken.xml").write_text("<article><front><p>cut of")
    (folder / "gone.txt").symlink_to("nowhere")
    return folder


@pytest.fixture(scope="module")
def built(ray_cluster: None, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Summary:
    return build(str(corpus), str(tmp_path_factory.mktemp("store")), CONFIG, print)


def twice(corpus: Path) -> tuple[str, str]:
    """The two paths of the paper that is there twice."""
    [copy] = (corpus / "copies").iterdir()
    return copy.name, f"copies/{copy.name}"


def ids(uri: str) -> set[str]:
    snapshot = Snapshot.open(uri)
    return {
        passage_id
        for view in View
        for shard in range(snapshot.manifest.shards)
        for passage_id in snapshot.passages(view, shard)["passage_id"].to_pylist()
    }


def test_good_papers_are_indexed_and_the_rest_is_accounted_for(
    built: Summary, corpus: Path
) -> None:
    assert built.files == 8
    assert built.papers == 3
    assert built.copies == 1
    assert built.records == 8 == built.papers + built.copies + sum(built.quarantined.values())
    rejected = Snapshot.open(built.uri).quarantine()
    assert all(rejection.stage and rejection.reason for rejection in rejected)
    bad = {"binary.dat", "broken.xml", "empty.txt", "gone.txt"}
    assert {rejection.path for rejection in rejected} == bad


def test_of_two_files_with_one_paper_the_first_by_path_is_kept(
    built: Summary, corpus: Path
) -> None:
    kept, other = sorted(twice(corpus))
    snapshot = Snapshot.open(built.uri)
    assert snapshot.paper(Path(kept).stem).paper.source == kept
    [copy] = snapshot.copies()
    assert (copy.source, copy.kept_source) == (other, kept)
    assert copy.reason


def test_the_snapshot_is_whole_and_says_what_is_in_it(built: Summary) -> None:
    snapshot = Snapshot.open(built.uri)
    snapshot.verify()
    snapshot.require_encoder(fingerprint(CONFIG.encoder))
    assert snapshot.id == built.snapshot_id
    assert snapshot.manifest.papers == 3
    assert len(ids(built.uri)) == sum(built.passages.values()) > 0
    assert built.passages[View.RECIPE] > 0
    assert not Store.open(built.uri).files("work")


@pytest.fixture(scope="module")
def resumed(built: Summary, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Summary:
    """The same papers, in a store where a killed build left one of them finished, by one actor
    that takes them one by one."""
    config = parse({"build": {"shards": 3, "actors": 1, "block_papers": 1}})
    folder = tmp_path_factory.mktemp("resumed")
    encoder, extractor = fingerprint(config.encoder), ExtractiveExtractor()
    path = max(twice(corpus), key=len).removeprefix("copies/")
    batch = pa.Table.from_pylist([{"path": path, "problem": ""}])
    rows = pa.concat_tables(stages.read(batch, Store.open(corpus), frozenset()))
    work = work_folder(work_key(config, encoder, extractor.name))
    embed = stages.Embed(config.encoder, encoder, Store.open(folder), work)
    embed(stages.chunk(stages.extract(rows, extractor), config))
    return build(str(corpus), str(folder), config, print)


def test_a_build_takes_up_what_a_killed_one_finished(resumed: Summary) -> None:
    assert resumed.resumed == 1
    assert resumed.papers == 3


def test_neither_workers_nor_an_interruption_change_a_byte(
    built: Summary, resumed: Summary
) -> None:
    assert resumed.snapshot_id == built.snapshot_id

    def data(uri: str) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (Path(uri) / "data").iterdir()}

    assert data(resumed.uri) == data(built.uri)


def test_a_file_of_records_is_built_like_files(
    ray_cluster: None, built: Summary, tmp_path: Path
) -> None:
    paragraph = {"text": "The powder was calcined at 850 °C for 12 h in air. " * 3}
    records = [
        {"paper_id": f"p{n}", "title": "T", "sections": [{"paragraphs_with_entities": [paragraph]}]}
        for n in range(5)
    ]
    path = tmp_path / "rag_database.json"
    path.write_text(json.dumps([*records, "no paper", {"paper_id": "empty"}]))
    summary = build(str(path), str(tmp_path / "store"), CONFIG, print)
    assert summary.papers == 5
    assert sum(summary.quarantined.values()) == 2
    assert Snapshot.open(summary.uri).paper("p3").paper.source == "rag_database.json#4"


def test_a_store_keeps_its_number_of_shards(built: Summary, corpus: Path) -> None:
    with pytest.raises(ConfigError, match=r"build\.shards = 5, but the store .* has 3 shards"):
        build(str(corpus), built.uri, parse({"build": {"shards": 5}}), print)


def test_a_store_inside_its_corpus_is_refused(corpus: Path) -> None:
    with pytest.raises(InvalidArgument, match="lies inside the corpus"):
        build(str(corpus), str(corpus / "store"), CONFIG, print)


def test_a_corpus_without_a_paper_publishes_nothing(ray_cluster: None, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "empty.txt").write_text("")
    with pytest.raises(InvalidArgument, match=r"none of its 1 files can be indexed: .* \(1\)"):
        build(str(tmp_path / "in"), str(tmp_path / "out"), CONFIG, print)
    with pytest.raises(NotFound):
        Snapshot.open(tmp_path / "out")


def test_a_model_that_does_not_load_is_named(
    ray_cluster: None, corpus: Path, tmp_path: Path
) -> None:
    encoder = CONFIG.encoder.model_copy(update={"model": str(tmp_path / "no-model")})
    config = CONFIG.model_copy(update={"encoder": encoder})
    with pytest.raises(ConfigError, match="no-model"):
        build(str(corpus), str(tmp_path / "out"), config, print)
