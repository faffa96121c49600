"""`reciper inspect`, on a small published store."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reciper_ray.cli import app
from reciper_ray.cli.inspect import _paper, _recipe
from reciper_ray.copies import Copy
from reciper_ray.snapshot import IndexedPaper
from reciper_ray.types import Original, Passage, Recipe, Span
from tests import stores

COPY = Copy("b2", "b2.pdf", "b", "b.xml", "same DOI 10.1000/x")


@pytest.fixture
def store(tmp_path: Path) -> str:
    stores.write_store(tmp_path, ("a", "b"), copies=[COPY])
    return str(tmp_path)


def inspect(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["inspect", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_snapshot_counts_its_copies(store: str) -> None:
    assert ["copies", "1"] in [line.split() for line in inspect(store).splitlines()]


def test_a_copys_id_shows_the_paper_kept_and_its_copies(store: str) -> None:
    shown = inspect(store, "--paper", "b2")
    assert shown == inspect(store, "--paper", "b")
    assert "copy         b2, b2.pdf: same DOI 10.1000/x" in shown
    data = json.loads(inspect(store, "--paper", "b2", "--json"))
    assert data["paper"]["paper_id"] == "b"
    assert [copy["paper_id"] for copy in data["copies"]] == ["b2"]
    assert "copy " not in inspect(store, "--paper", "a")


def shown(passage: Passage) -> list[str]:
    found = IndexedPaper(stores.paper("a"), (), (passage,))
    return "\n".join(_paper(found, ())).splitlines()


def test_a_passage_names_its_pages_where_there_are_pages() -> None:
    passage = next(p for p in stores.passages(stores.paper("a")) if p.spans)
    head = f"paragraph 0  {passage.passage_id}"
    assert head in shown(passage)
    assert f"{head} (p. 3)" in shown(replace(passage, page=3, last_page=3))
    assert f"{head} (pp. 3–4)" in shown(replace(passage, page=3, last_page=4))


def test_a_passage_is_shown_as_the_file_has_it_where_that_differs() -> None:
    passage = stores.passages(stores.paper("a"))[1]
    assert passage.support == "It was fired at 850 °C."
    assert not any(line.startswith("in the file") for line in shown(passage))
    damaged = replace(passage, originals=(Original(16, 22, "850 oC"),))
    assert shown(damaged)[-2:] == [passage.text, "in the file: It was fired at 850 oC."]


def test_the_json_of_a_paper_has_both_texts_of_each_passage(store: str) -> None:
    for passage in json.loads(inspect(store, "--paper", "a", "--json"))["passages"]:
        assert passage["original"] == passage["support"]
        assert passage["originals"] == []
        assert passage["page"] is None


def test_a_recipe_says_what_its_model_read_lost_and_why_another_wrote_it() -> None:
    paper = stores.paper("a")
    recipe = Recipe(
        extractor="llm-1",
        read=(Span(0, 10),),
        dropped=("time: not in the text", "step: nothing left", "time: not in the text"),
        fallback="unfinished JSON",
    )
    shown = list(_recipe(paper, recipe))
    assert "fallback     unfinished JSON" in shown
    assert f"read         10 characters of {len(paper.text)}" in shown
    assert "dropped      step: nothing left (1); time: not in the text (2)" in shown
    own = list(_recipe(paper, Recipe(extractor="extractive-1")))
    assert own == ["\nrecipe of an unnamed material (extractive-1)"]
