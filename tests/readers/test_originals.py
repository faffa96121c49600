"""The file's own text beside the normalised one."""

import json
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reciper_ray.provenance import as_written
from reciper_ray.readers import read
from reciper_ray.readers.originals import originals
from reciper_ray.text import sentences, squeeze
from reciper_ray.types import Kind, Original, Paper, Paragraph, Span

LATEX = r"""# On the firing of powders

The powder was fired at $600^{\circ}\mathrm{C}$ for 5 h in air, then milled at 850 oC $^{12}$ in the
same vessel until it was fine.

$1100^{\circ}\mathrm{C}$ was the highest temperature of all that were tried here.

![](image.png)

A density of 1014 cm−3 was reached in ﬁve samples.
"""


def paper_of(text: str, name: str = "a.md") -> Paper:
    (paper,) = read(name, text.encode())
    assert isinstance(paper, Paper)
    return paper


def pairs(paper: Paper) -> list[tuple[str, str]]:
    return [(paper.text[o.start : o.end], o.text) for o in paper.originals]


def test_what_was_repaired_is_kept_as_it_stands_in_the_file() -> None:
    paper = paper_of(LATEX)
    assert "fired at 600°C for 5 h in air, then milled at 850 °C in" in paper.text
    assert pairs(paper) == [
        ("600°C", r"$600^{\circ}\mathrm{C}$"),
        ("850 °C", "850 oC $^{12}$"),
        ("1100°C", r"$1100^{\circ}\mathrm{C}$"),
        ("10¹⁴", "1014"),
        ("five", "ﬁve"),
    ]


def test_every_sentence_of_a_damaged_text_is_found_in_its_file() -> None:
    paper, written = paper_of(LATEX), squeeze(LATEX)
    for paragraph in paper.paragraphs:
        for found in sentences(paper.text[paragraph.start : paragraph.end]):
            span = Span(paragraph.start + found.start, paragraph.start + found.end)
            assert as_written(paper.text, paper.originals, span) in written


def test_a_word_that_a_line_break_parted_is_parted_in_the_original() -> None:
    paper = paper_of("It was milled effi-\nciently in a steel jar for two hours.\n", "a.txt")
    assert pairs(paper) == [("efficiently", "effi- ciently")]


def test_a_text_without_damage_has_no_originals() -> None:
    assert (
        paper_of("One sentence that is long enough.\nAnother one, too.\n", "a.txt").originals == ()
    )


def test_an_xml_papers_originals_are_those_of_its_words_not_of_its_markup() -> None:
    jats = (
        "<article><front><article-meta><title-group><article-title>T</article-title>"
        "</title-group></article-meta></front><body><p>Al<sub>2</sub>O<sub>3</sub> was fired at"
        " 10<sup>3</sup> K, then at 850 oC for two hours in flowing argon.</p></body></article>"
    )
    paper = paper_of(jats, "a.xml")
    assert paper.text == "Al2O3 was fired at 10³ K, then at 850 °C for two hours in flowing argon."
    assert pairs(paper) == [("850 °C", "850 oC")]


def test_a_records_originals() -> None:
    record = {"title": "T", "text": "It was fired at 850 oC for two hours. (cid:0)5 K was the end."}
    paper = paper_of(json.dumps(record), "a.json")
    assert pairs(paper) == [("850 °C", "850 oC"), ("−5", "(cid:0)5")]


def test_a_cell_of_a_table_has_its_original() -> None:
    table = "# T\n\n| sample | fired at |\n|---|---|\n| A1 | $600^{\\circ}\\mathrm{C}$ in air |\n"
    assert pairs(paper_of(table)) == [("600°C", r"$600^{\circ}\mathrm{C}$")]


def test_a_sentence_torn_by_a_figure_has_the_originals_of_its_halves() -> None:
    torn = (
        "# On firing\n\nIn the first step the powder was fired at $600^{\\circ}\\mathrm{C}$ "
        "for five hours in\n\n"
        "![](a.png)\n\nFigure 1. A furnace.\n\nflowing argon at 850 oC and then cooled to room "
        "temperature within ten hours.\n"
    )
    paper = paper_of(torn)
    assert "for five hours in flowing argon at 850 °C" in paper.text
    assert pairs(paper) == [("600°C", r"$600^{\circ}\mathrm{C}$"), ("850 °C", "850 oC")]


def test_invisible_and_unwritable_characters_are_in_no_original() -> None:
    paper = paper_of(
        json.dumps({"title": "T", "text": "fired \ud800at 850\u200b oC\x00 for 2 h"}), "a.json"
    )
    assert pairs(paper) == [("850 °C", "850 oC")]
    paper.originals[0].text.encode()


@pytest.mark.parametrize("break_", [" ", "\n\n"])
def test_a_text_without_any_word_of_its_file_takes_no_long_time(break_: str) -> None:
    text = break_.join(f"fi{n}" for n in range(100_000))
    ends = [0, *(n for n, char in enumerate(text) if char == "\n"), len(text)][:: len(break_)]
    paragraphs = [Paragraph(a, b) for a, b in pairwise(sorted({0, *ends, len(text)}))]
    started = time.process_time()
    originals(text, paragraphs, text.replace("fi", "fo"))
    assert time.process_time() - started < 20


WORDS = st.lists(st.sampled_from(["fired", "at", "850 oC", "$x^{2}$", "|", "in", "air.", "\n\n"]))


@given(WORDS, WORDS)
def test_originals_are_disjoint_in_order_and_inside_their_paragraphs(
    one: list[str], other: list[str]
) -> None:
    text, written = " ".join(one), " ".join(other)
    half = len(text) // 2
    paragraphs = (Paragraph(0, half), Paragraph(half, len(text), kind=Kind.TABLE))
    ends = [0]
    for original in originals(text, paragraphs, written):
        assert ends[-1] <= original.start < original.end
        assert original.end <= half or original.start >= half
        assert isinstance(original, Original)
        ends.append(original.end)
    assert ends[-1] <= len(text)


@pytest.mark.slow
@pytest.mark.parametrize(("suffix", "least"), [("txt", 0.998), ("md", 0.96)])
def test_sentences_stand_in_their_files_as_they_are_shown(
    shared: Path, suffix: str, least: float
) -> None:
    """All but those that a figure or a page's end tears, and formulas beyond recognition."""
    found = total = 0
    for file in sorted((shared / "corpus/papers").glob(f"*.{suffix}")):
        written = squeeze(file.read_text("utf-8"))
        paper = paper_of(file.read_text("utf-8"), file.name)
        for paragraph in (p for p in paper.paragraphs if p.kind is not Kind.TABLE):
            for part in sentences(paper.text[paragraph.start : paragraph.end]):
                span = Span(paragraph.start + part.start, paragraph.start + part.end)
                shown = squeeze(as_written(paper.text, paper.originals, span))
                found, total = found + (shown in written), total + 1
    assert total > 3000
    assert found / total >= least
