import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from reciper_ray.adapters.storage import Store, open_corpus
from reciper_ray.build import stages
from reciper_ray.build.records import RECORDS
from reciper_ray.build.work import Written, finished
from reciper_ray.config import Config, parse
from reciper_ray.recipe import ExtractiveExtractor
from reciper_ray.types import Paper, Recipe

PROSE = "The powders were mixed in ethanol. The mixture was calcined at 850 °C for 12 h in air.\n"


Row = dict[str, Any]


def read(folder: Path, finished: Iterable[str] = ()) -> list[Row]:
    corpus, files = open_corpus(folder)
    batch = pa.Table.from_pylist([{"path": f.path, "problem": f.problem} for f in files])
    found: list[Row] = pa.concat_tables(stages.read(batch, corpus, frozenset(finished))).to_pylist()
    return found


def table(rows: Sequence[Row]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), RECORDS)


def record(paper_id: str, text: str = PROSE) -> Row:
    paragraph = {"text": text}
    section = {"heading": "Experimental", "paragraphs_with_entities": [paragraph]}
    return {"paper_id": paper_id, "title": f"On {paper_id}", "sections": [section]}


def test_every_file_leaves_a_row_whatever_it_is(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text(PROSE * 5)
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "binary.dat").write_bytes(bytes(range(256)) * 16)
    (tmp_path / "broken.xml").write_text("<article><front><p>cut of")
    (tmp_path / "gone.txt").symlink_to("nowhere")
    rows = {row["source"]: row for row in read(tmp_path)}
    assert sorted(rows) == ["binary.dat", "broken.xml", "empty.txt", "gone.txt", "good.txt"]
    assert rows["good.txt"]["reason"] is None
    assert rows["good.txt"]["paper_id"] == "good"
    bad = [rows[name] for name in sorted(rows) if name != "good.txt"]
    assert all(row["stage"] == "read" and row["reason"] and row["file"] for row in bad)
    assert rows["gone.txt"]["reason"] == "broken link"
    head = hashlib.sha256((bytes(range(256)) * 16)[:4096]).hexdigest()
    assert rows["binary.dat"]["head_hash"] == head
    assert rows["empty.txt"]["head_hash"] == ""


def test_a_file_of_records_leaves_a_row_a_record(tmp_path: Path) -> None:
    records = [record("p1"), "no paper", record("p3")]
    (tmp_path / "all.json").write_text(json.dumps(records))
    rows = read(tmp_path)
    assert [row["source"] for row in rows] == ["all.json#1", "all.json#2", "all.json#3"]
    assert [row["position"] for row in rows] == [0, 1, 2]
    assert {row["file"] for row in rows} == {"all.json"}
    assert [row["reason"] is None for row in rows] == [True, False, True]


def test_many_records_leave_in_several_tables(tmp_path: Path) -> None:
    (tmp_path / "all.json").write_text(json.dumps([record(f"p{n}") for n in range(20)]))
    corpus, _ = open_corpus(tmp_path)
    batch = pa.Table.from_pylist([{"path": "all.json", "problem": ""}])
    tables = list(stages.read(batch, corpus, frozenset()))
    assert [t.num_rows for t in tables] == [8, 8, 4]


def test_a_finished_paper_leaves_its_text_behind(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(PROSE * 5)
    [first] = read(tmp_path)
    [again] = read(tmp_path, [first["digest"]])
    assert again["finished"]
    assert again["text"] is None
    assert again["digest"] == first["digest"]
    (tmp_path / "a.txt").write_text(PROSE * 6)
    [changed] = read(tmp_path, [first["digest"]])
    assert not changed["finished"]


def test_recipes_and_passages_are_added_to_papers_and_not_to_rejections(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(PROSE * 5)
    (tmp_path / "b.txt").write_text("")
    extracted = stages.extract(table(read(tmp_path)), ExtractiveExtractor())
    good, bad = stages.chunk(extracted, Config()).to_pylist()
    assert {passage["view"] for passage in good["passages"]} == {"paragraph", "recipe"}
    assert "850 °C" in {step["temperature"] for r in good["recipes"] for step in r["steps"]}
    assert bad["stage"] == "read"
    assert not bad["passages"]


class Picky:
    """An extractor that fails on one paper, and on every batch that holds it."""

    name = "picky"

    def extract(self, papers: Sequence[Paper]) -> list[tuple[Recipe, ...]]:
        if any(paper.paper_id == "p2" for paper in papers):
            raise ZeroDivisionError("no steps\nat all")
        return [(Recipe(material=paper.paper_id),) for paper in papers]


def test_a_paper_that_an_extractor_fails_on_is_rejected_alone(tmp_path: Path) -> None:
    (tmp_path / "all.json").write_text(json.dumps([record(f"p{n}") for n in (1, 2, 3)]))
    one, two, three = stages.extract(table(read(tmp_path)), Picky()).to_pylist()
    assert (two["stage"], two["reason"]) == ("extract", "ZeroDivisionError: no steps")
    assert [row["recipes"][0]["material"] for row in (one, three)] == ["p1", "p3"]


def test_recipes_that_are_written_are_not_written_again(tmp_path: Path) -> None:
    """By one extractor, in a build that was killed, or for the snapshot before."""

    class Counting(ExtractiveExtractor):
        papers = 0

        def extract(self, papers: Sequence[Paper]) -> list[tuple[Recipe, ...]]:
            self.papers += len(papers)
            return [*super().extract(papers)]

    text = "The powder was calcined at 850 °C for 5 h."
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for name in "ab":
        (corpus / f"{name}.txt").write_text(f"On {name}\n\n{text} {name}\n", "utf-8")
    store, rows = Store.open(tmp_path / "store"), table(read(corpus))
    extractor = Counting()
    first = stages.extract(rows.slice(0, 1), extractor, Written(store, "work/recipes-x", {}))
    assert (extractor.papers, first["extracted"].to_pylist()) == (1, [True])
    places = finished(store, "work/recipes-x")
    both = stages.extract(rows, extractor, Written(store, "work/recipes-x", places))
    assert (extractor.papers, both["extracted"].to_pylist()) == (2, [None, True])
    assert both["recipes"][0].as_py() == first["recipes"][0].as_py() != []


def test_a_paper_without_text_is_rejected() -> None:
    row = {"paper_id": "p", "source": "p.txt", "text": "", "title": "", "format": "plain"}
    lists: Row = {"paragraphs": [], "authors": [], "source_recipes": [], "recipes": []}
    [found] = stages.chunk(table([row | lists]), Config()).to_pylist()
    assert (found["stage"], found["reason"]) == ("chunk", "the paper has no text")


def test_passages_leave_room_for_the_encoders_own_tokens_and_the_prefix() -> None:
    config = parse({"encoder": {"max_tokens": 64, "passage_prefix": "passage: "}})
    # [CLS], [SEP], and "passage", ":"
    assert stages.passage_limit(config).max_tokens == 64 - 2 - 2


@pytest.mark.slow
def test_vectors_of_a_paper_do_not_depend_on_its_neighbours(tmp_path: Path) -> None:
    from reciper_ray.adapters.encoder import fingerprint
    from reciper_ray.adapters.storage import Store
    from reciper_ray.build.work import read_part

    config = Config()
    texts = {"p1": PROSE * 3, "p2": PROSE * 40, "p3": "Short. " + PROSE}
    (tmp_path / "all.json").write_text(json.dumps([record(p, t) for p, t in texts.items()]))
    rows = stages.chunk(stages.extract(table(read(tmp_path)), ExtractiveExtractor()), config)
    store = Store.open(tmp_path / "store")
    embed = stages.Embed(config.encoder, fingerprint(config.encoder), store, "work")

    def vectors(receipts: pa.Table) -> dict[str, bytes]:
        return {
            row["paper_id"]: read_part(store, row["part"], [row["row"]], ["vectors"])["vectors"][
                0
            ].as_py()
            for row in receipts.to_pylist()
        }

    together = vectors(embed(rows))
    alone: dict[str, bytes] = {}
    for number in reversed(range(3)):
        alone |= vectors(embed(rows.slice(number, 1)))
    assert together == alone
    assert set(alone) == set(texts)
