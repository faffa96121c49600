"""Files of records: JSON, JSON Lines, Parquet, S2ORC."""

import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reciper_ray.errors import UnreadableInput
from reciper_ray.readers import read
from reciper_ray.types import Kind, Paper, Rejection

TEXT = "The powder was calcined at 850 °C."


def papers(data: Any, source: str = "all.json") -> list[Paper | Rejection]:
    return list(read(source, data if isinstance(data, bytes) else json.dumps(data).encode()))


def one(data: Any, source: str = "a.json") -> Paper:
    (paper,) = papers(data, source)
    assert isinstance(paper, Paper)
    return paper


def parts(paper: Paper) -> list[tuple[str, str, Kind]]:
    return [(p.heading, paper.text[p.start : p.end], p.kind) for p in paper.paragraphs]


def test_a_row_of_title_and_text_is_a_paper() -> None:
    paper = one({"title": "On it", "text": f"{TEXT}\n\nIt was dense."})
    assert (paper.paper_id, paper.title, paper.format) == ("a", "On it", "records")
    assert [text for _, text, _ in parts(paper)] == [TEXT, "It was dense."]


def test_metadata_are_found_under_their_usual_names() -> None:
    paper = one(
        {
            "id": 7, "title": "T", "abstract": "Why.", "fulltext": TEXT,
            "publication_date": "2020-1-2",
            "authors": [{"first": "A.", "middle": ["B."], "last": "Li"}, {"name": "C. Wu"},
                        "D. Xu"],
            "metadata": {"doi": "https://doi.org/10.1234/x", "arxiv_id": "2401.01234v2"},
            "venue": "Acta", "license": "CC-BY 4.0",
        }
    )  # fmt: skip
    assert (paper.paper_id, paper.year, paper.journal, paper.abstract) == (
        "7",
        2020,
        "Acta",
        "Why.",
    )
    assert (paper.doi, paper.arxiv_id, paper.licence) == ("10.1234/x", "2401.01234", "CC BY 4.0")
    assert paper.authors == ("A. B. Li", "C. Wu", "D. Xu")


def test_sections_give_the_heading_path() -> None:
    paper = one(
        {
            "title": "T",
            "sections": [
                {"heading": "Methods", "text": "One.",
                 "subsections": [{"title": "a", "text": "Two."}]},
                {"section": "Results", "paragraphs": ["Three.", {"text": "Four."}, None, 5]},
            ],
        }
    )  # fmt: skip
    assert [(heading, text) for heading, text, _ in parts(paper)] == [
        ("Methods", "One."),
        ("Methods > a", "Two."),
        ("Results", "Three."),
        ("Results", "Four."),
        ("Results", "5"),
    ]


@pytest.mark.parametrize(
    "wrap", [list, lambda rows: {"papers": rows}, lambda rows: {"a": rows[0], "b": rows[1]}]
)
def test_arrays_wrapped_arrays_and_mappings_are_read(wrap: Any) -> None:
    rows = [{"title": "T", "text": TEXT}, {"title": "U", "text": TEXT}]
    found = papers(wrap(rows))
    assert [p.title for p in found if isinstance(p, Paper)] == ["T", "U"]
    ids = [p.paper_id for p in found if isinstance(p, Paper)]
    assert ids == (
        ["a", "b"] if isinstance(wrap(rows), dict) and "a" in wrap(rows) else ["all#1", "all#2"]
    )


def test_json_lines_reject_a_broken_line_alone() -> None:
    lines = [json.dumps({"paper_id": "p", "text": TEXT}), "{broken", "", json.dumps({"x": 1})]
    good, broken, other = papers("\n".join(lines).encode(), "all.jsonl")
    assert isinstance(good, Paper)
    assert (good.paper_id, good.source) == ("p", "all.jsonl#1")
    assert isinstance(broken, Rejection)
    assert (broken.path, broken.reason[:12]) == ("all.jsonl#2", "broken JSON:")
    assert isinstance(other, Rejection)
    assert other.reason == "the record is no paper: no entry has a title or a text; its keys are x"


def test_parquet_rows_are_records() -> None:
    rows = [{"title": "T", "text": TEXT, "year": 2020}, {"title": "U", "text": None, "year": None}]
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    good, empty = papers(sink.getvalue(), "all.parquet")
    assert isinstance(good, Paper)
    assert (good.title, good.year, good.source) == ("T", 2020, "all.parquet#1")
    assert isinstance(empty, Rejection)
    assert (empty.path, empty.reason) == ("all.parquet#2", "no text")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"question": "Q?", "answer": "A", "title": "T"}, "questions and answers, not papers"),
        ([{"question": "Q?", "answer": "A"}], "questions and answers, not papers"),
        (b'{"question": "Q?", "answer": "A"}\n' * 2, "lines without papers: questions and answers"),
        ([1, 2], "the entries are no objects"),
        ([], "no papers"),
        ({"x": 1}, "no entry has a title or a text; its keys are x"),
        (b'{"a": 1', "broken JSON at line 1"),
        (b"PAR1 and then nothing", "broken Parquet file"),
    ],
)
def test_what_holds_no_papers_is_refused(data: Any, reason: str) -> None:
    with pytest.raises(UnreadableInput, match=reason):
        papers(data)


def test_a_table_of_something_else_is_refused() -> None:
    sink = io.BytesIO()
    pq.write_table(pa.table({"x": [1]}), sink)
    with pytest.raises(UnreadableInput, match="a table without papers: its columns are x"):
        papers(sink.getvalue())


def test_s2orcs_parsed_json() -> None:
    paper = one(
        {
            "paper_id": "abc", "title": "T", "year": "2019", "venue": "Acta",
            "authors": [{"first": "A", "middle": [], "last": "Li"}],
            "identifiers": {"doi": "10.1234/x", "arxiv_id": None}, "abstract": "Short.",
            "pdf_parse": {
                "abstract": [{"text": "Why.", "section": "Abstract"}],
                "body_text": [{"text": TEXT, "section": "Methods", "cite_spans": []}],
                "ref_entries": {
                    "FIGREF0": {"text": "XRD at 25 °C.", "num": "1"},
                    "TABREF0": {"text": "Alloys.", "num": "1", "content": "A | 1"},
                },
                "bib_entries": {"BIBREF0": {"title": "Cited."}},
            },
        }
    )  # fmt: skip
    assert (paper.paper_id, paper.doi, paper.year, paper.authors) == (
        "abc",
        "10.1234/x",
        2019,
        ("A Li",),
    )
    assert parts(paper) == [
        ("Abstract", "Why.", Kind.ABSTRACT),
        ("Methods", TEXT, Kind.TEXT),
        ("", "Figure 1. XRD at 25 °C.", Kind.CAPTION),
        ("", "Table 1. Alloys.", Kind.CAPTION),
        ("Alloys.", "A | 1", Kind.TABLE),
    ]


def test_cord19s_json() -> None:
    body = [{"text": TEXT, "section": "Methods"}]
    paper = one({"paper_id": "s", "metadata": {"title": "T"}, "abstract": [], "body_text": body})
    assert (paper.title, paper.format) == ("T", "s2orc")
    assert parts(paper) == [("Methods", TEXT, Kind.TEXT)]


def test_s2orcs_annotated_text() -> None:
    text = f"On it\nWhy.\nMethods\n{TEXT}\nReferences\nCited."

    def span(piece: str) -> dict[str, int]:
        return {"start": text.index(piece), "end": text.index(piece) + len(piece)}

    annotations = {
        "title": json.dumps([span("On it")]), "abstract": json.dumps([span("Why.")]),
        "sectionheader": json.dumps([span("Methods")]), "bibentry": json.dumps([span("Cited.")]),
        "paragraph": json.dumps([span("Why."), span(TEXT), span("Cited.")]),
    }  # fmt: skip
    record = {
        "corpusid": 12, "externalids": {"doi": "10.1234/x", "arxiv": "2401.01234"},
        "content": {"source": {"oainfo": {"license": "CCBY"}}, "text": text,
                    "annotations": annotations},
    }  # fmt: skip
    (paper,) = papers(json.dumps(record).encode() + b"\n", "s2orc.jsonl")
    assert isinstance(paper, Paper)
    assert (paper.paper_id, paper.title, paper.arxiv_id) == ("12", "On it", "2401.01234")
    assert parts(paper) == [("Abstract", "Why.", Kind.ABSTRACT), ("Methods", TEXT, Kind.TEXT)]
    broken = json.dumps(record | {"content": {"text": text, "annotations": {"abstract": "[{}]"}}})
    (rejection,) = papers(f"{broken}\n{broken}".encode()[: len(broken)] + b"\n" + b"{}", "a.jsonl")[
        :1
    ]
    assert isinstance(rejection, Rejection)
    assert rejection.reason == "annotations.abstract holds no spans"
