"""Markdown."""

from pathlib import Path

import pytest

from reciper_ray.readers import read
from reciper_ray.types import Kind, Paper


def paper_of(text: str) -> Paper:
    (paper,) = read("a.md", text.encode())
    assert isinstance(paper, Paper)
    assert paper.format == "markdown"
    return paper


def parts(text: str) -> list[tuple[str, str, Kind]]:
    paper = paper_of(text)
    return [(p.heading, paper.text[p.start : p.end], p.kind) for p in paper.paragraphs]


def test_a_sample_out_of_ocr(sample: Path) -> None:
    data = (sample / "papers" / "doi_10_1038__s41598_017_16509_9.md").read_bytes()
    (paper,) = read("doi_10_1038__s41598_017_16509_9.md", data)
    assert isinstance(paper, Paper)
    assert paper.title == (
        "Enhanced strength and ductility in a friction stir processing engineered dual phase"
        " high entropy alloy"
    )
    assert (paper.year, paper.doi) == (2017, "10.1038/s41598-017-16509-9")
    assert paper.licence == "CC BY 4.0"
    assert "composition Fe30Mn30Co10Cr10 (at.%) was severely deformed" in squeezed(paper.text)
    assert "Rotational Rate (RPM) | 350, 650\nTraverse Speed (mm/min) | 50.8" in paper.text
    for mark in ("$", "\\mathrm", "![", "&amp;", "# "):
        assert mark not in paper.text
    # The first entry of its reference list.
    assert "Nanostructured high-entropy alloys with multiple principal elements" not in paper.text


def squeezed(text: str) -> str:
    return " ".join(text.split())


def test_every_markdown_sample_keeps_its_references_out(sample: Path) -> None:
    for file in sorted((sample / "papers").glob("*.md")):
        (paper,) = read(file.name, file.read_bytes())
        assert isinstance(paper, Paper)
        assert "[CrossRef]" not in paper.text
        assert all("References" not in p.heading for p in paper.paragraphs)


def test_headings_give_the_path_by_number_or_by_level() -> None:
    assert parts(
        "# The title of it\n\nOne.\n\n# 2. Methods\n\nTwo.\n\n# 2.1. Melting\n\nThree.\n\n"
        "# Results\n\nFour.\n\n### Deep\n\nFive.\n"
    ) == [
        ("", "One.", Kind.TEXT),
        ("2. Methods", "Two.", Kind.TEXT),
        ("2. Methods > 2.1. Melting", "Three.", Kind.TEXT),
        ("Results", "Four.", Kind.TEXT),
        ("Results > Deep", "Five.", Kind.TEXT),
    ]


@pytest.mark.parametrize("masthead", ["#", "# Research Article", "# SCIENTIFIC REPORTS", "# OPEN"])
def test_a_masthead_is_no_title(masthead: str) -> None:
    paper = paper_of(f"{masthead}\n\nJournal of It\n\n# What is found\n\nText.\n")
    assert paper.title == "What is found"
    assert {p.heading for p in paper.paragraphs} == {""}


def test_without_a_heading_the_first_short_paragraph_lends_the_title() -> None:
    paper = paper_of("![a.png](a.png)\n\nOn the growth of it\n\nIt grows.\n\n# Abstract\n")
    assert (paper.title, paper.text) == ("On the growth of it", "On the growth of it\n\nIt grows.")


def test_front_matter_gives_metadata() -> None:
    paper = paper_of(
        "---\ntitle: On it\nauthors: [A. One, {name: B. Two}]\ndoi: 10.1234/x\ndate: 2021-03-01\n"
        "journal: J\nlicense: CC-BY-4.0\n---\n# Methods\n\nText.\n"
    )
    assert (paper.title, paper.authors) == ("On it", ("A. One", "B. Two"))
    assert (paper.doi, paper.year, paper.journal) == ("10.1234/x", 2021, "J")
    assert paper.licence == "CC BY 4.0"
    assert paper.text == "Text."


def test_what_only_looks_like_front_matter_stays() -> None:
    """YAML that is no mapping: an underlined heading to Markdown, which is the first one."""
    assert paper_of("---\nNo mapping.\n---\n\n# Methods\n\nText.\n").title == "No mapping."
    assert paper_of("---\nbad: [\n---\n\n# Methods\n\nText.\n").title == "bad: ["


def test_an_abstract_is_known_by_its_label_or_heading() -> None:
    assert parts("# Title here\n\nAbstract: What it is.\n")[0] == (
        "Abstract", "What it is.", Kind.ABSTRACT,
    )  # fmt: skip
    assert parts("# Title here\n\n## Abstract\n\nWhat it is.\n")[0] == (
        "Abstract", "What it is.", Kind.ABSTRACT,
    )  # fmt: skip


def test_images_go_and_captions_stay() -> None:
    assert parts(
        "# Title here\n\n![img-0.jpeg](img-0.jpeg)\n(a)\n\n![img-1.jpeg](img-1.jpeg)\n"
        "FIGURE 1: Micrographs at $30\\mathrm{mm}$ .\n\n![A furnace](x.png)\n\n"
        "Figure 1 shows it.\n"
    ) == [
        ("", "FIGURE 1: Micrographs at 30 mm.", Kind.CAPTION),
        ("", "A furnace", Kind.TEXT),
        ("", "Figure 1 shows it.", Kind.TEXT),
    ]


def test_pipe_tables_become_rows_under_their_caption() -> None:
    assert parts(
        "# Title here\n\nTable 1. Hardness.\n\n|  Alloy | HV  |\n| --- | --- |\n"
        "|  $\\mathrm{Al}_{2}$ | 5 ± 1  |\n|  B |   |\n\nAfter.\n"
    ) == [
        ("", "Table 1. Hardness.", Kind.CAPTION),
        ("Table 1. Hardness.", "Alloy | HV\nAl2 | 5 ± 1\nB", Kind.TABLE),
        ("", "After.", Kind.TEXT),
    ]


def test_html_tables_become_rows() -> None:
    table = (
        "<table><tr><th>A</th><th colspan=2>B</th></tr>"
        "<tr><td rowspan='2'>1</td><td>2<sup>3</sup></td><td>&alpha;</td></tr>"
        "<tr><td>4</td><td>5</td></tr></table>"
    )
    assert parts(f"# Title here\n\n{table}\n\nAfter.\n") == [
        ("", "A | B\n1 | 2³ | α\n1 | 4 | 5", Kind.TABLE),
        ("", "After.", Kind.TEXT),
    ]


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("**Bold**, *it* and `code`", "Bold, it and code"),
        ("[link](https://x.org) and a\\_b &amp; &mu;m", "link and a_b & μm"),
        ("Al~19.9~Li m^-3^ H<sub>2</sub>O 10<sup>4</sup>", "Al19.9Li m⁻³ H2O 10⁴"),
        ("from 1--3 to 500--600 °C", "from 1–3 to 500–600 °C"),
        ("one\ntwo  \nthree", "one two three"),
        ("> quoted", "quoted"),
        ("- one\n- two", "one\n\ntwo"),
        ("```\ncode here\n```", "code here"),
        ("<div>in a div</div>", "in a div"),
        ("<!-- hidden -->\n\nshown", "shown"),
        ("[12] a citation", "[12] a citation"),
    ],
)
def test_inline_markup_becomes_plain_text(markdown: str, text: str) -> None:
    assert paper_of(f"# Title here\n\n{markdown}\n").text == text


def test_references_go_and_what_follows_stays() -> None:
    assert parts(
        "# Title here\n\nText.\n\n## References\n\n[1] A. Author, It.\n\n2. B. Author\n\n"
        "### Methods\n\nMore.\n"
    ) == [("", "Text.", Kind.TEXT), ("Methods", "More.", Kind.TEXT)]


def test_a_paragraph_torn_by_a_page_is_joined() -> None:
    head = "The Journal of It"
    lines = "The properties of these alloys with many principal elements can be"
    assert parts(
        f"# Title here\n\n{head}\n\n{lines}\n\n{head}\n\n![i.png](i.png)\nFigure 1. It.\n\n"
        f"improved by much.\n\n{head}\n\nNext one.\n"
    ) == [
        ("", f"{lines} improved by much.", Kind.TEXT),
        ("", "Figure 1. It.", Kind.CAPTION),
        ("", "Next one.", Kind.TEXT),
    ]


def test_display_mathematics_is_a_line() -> None:
    text = paper_of("# Title here\n\nThus\n\n$$\nx = \\frac{a}{b} \\tag{1}\n$$\n\nholds.\n").text
    assert "x = a/b (1)" in text
