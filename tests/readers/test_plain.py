"""Plain text."""

from pathlib import Path

import pytest

from reciper_ray.errors import UnreadableInput
from reciper_ray.readers import read
from reciper_ray.readers.title import split_title
from reciper_ray.types import Kind, Paper

TITLE = "High performance tubular fuel cells made by slurry casting"


def paper_of(text: str) -> Paper:
    (paper,) = read("a.txt", text.encode())
    assert isinstance(paper, Paper)
    assert paper.format == "plain"
    return paper


def parts(text: str) -> list[tuple[str, str, Kind]]:
    paper = paper_of(text)
    return [(p.heading, paper.text[p.start : p.end], p.kind) for p in paper.paragraphs]


def test_a_sample_of_one_sentence_a_line(sample: Path) -> None:
    (paper,) = read("PMC6073263.txt", (sample / "papers" / "PMC6073263.txt").read_bytes())
    assert isinstance(paper, Paper)
    assert paper.title == (
        "Novel Composite Electrolytes of Zr0.92Y0.08O2-α(8YSZ)-Low Melting Point Glass Powder for"
        " Intermediate Temperature Solid Oxide Fuel Cells"
    )
    headings = list(dict.fromkeys(p.heading for p in paper.paragraphs))
    assert headings == [
        "", "1. Introduction", "2. Experimental", "3. Results and Discussion", "4. Conclusions",
        "Author Contributions", "Conflicts of Interest", "Figures and tables",
    ]  # fmt: skip
    assert paper.text.endswith("glass 1550 °C 8YSZ-20% glass 1550 °C")
    assert "Novel Composite" not in paper.text[:200]


def test_a_sample_of_one_unbroken_line(sample: Path) -> None:
    (paper,) = read("steel_04.txt", (sample / "papers" / "steel_04.txt").read_bytes())
    assert isinstance(paper, Paper)
    assert paper.title == (
        "Study of 13Cr-4Ni-(Mo) (F6NM) Steel Grade Heat Treatment for Maximum Hardness Control"
        " in Industrial Heats"
    )
    assert paper.abstract.startswith("The standard NACE MR0175 (ISO 15156) requires")
    assert (paper.year, paper.licence) == (2017, "CC BY 4.0")
    assert "Homogenizing at 1473 K (1200 °C) for 4 h" in paper.text
    assert "Quench & partitioning response of a Mo-alloyed CMnSi steel" not in paper.text
    assert {p.heading for p in paper.paragraphs} >= {"Abstract", "2. Materials and Methods"}


@pytest.mark.parametrize(
    ("text", "title", "rest"),
    [
        (f"{TITLE} {TITLE} LiWei1 1School of It", TITLE, "LiWei1 1School of It"),
        (f" {TITLE.replace(' by', '  by')}   {TITLE}   Abstract. It", TITLE, "Abstract. It"),
        (f"{TITLE}\nThe text.", TITLE, "The text."),
        (f"{TITLE}  Abstract It is", TITLE, "Abstract It is"),
        (f"{TITLE} Abstract It is", TITLE, "Abstract It is"),
        (f"molecules Article {TITLE}    Abstract:", TITLE, "Abstract:"),
        (f"Nano It 81 (2021) © 2020 Full paper {TITLE}  A R T", TITLE, "A R T"),
        (f"{TITLE}https://doi.org/10.1/x A", TITLE, "https://doi.org/10.1/x A"),
        (f"{TITLE} Nejc Hodnik,* Luigi Romano,* {'and others ' * 40}", TITLE, None),
        (TITLE, TITLE, ""),
    ],
)  # fmt: skip
def test_the_title_ends_where_something_shows_it(text: str, title: str, rest: str | None) -> None:
    found, left = split_title(text)
    assert found == title
    if rest is not None:
        assert left == rest


def test_an_endless_beginning_lends_150_characters_as_title_and_stays_text() -> None:
    text = " ".join(f"word{n}" for n in range(100, 300))
    title, rest = split_title(text)
    # 18 words of 7 letters and 18 spaces are 144 characters, one more would be 152.
    assert title == " ".join(f"word{n}" for n in range(100, 118))
    assert rest == text


def test_a_single_line_is_title_and_text() -> None:
    paper = paper_of("Just one line, dried at 80 °C")
    assert (paper.title, paper.text) == ("Just one line, dried at 80 °C",) * 2


def test_lines_are_sentences_not_paragraphs() -> None:
    assert parts(f"{TITLE}\nOne.\nTwo (Fig.\nS1) it.\nThree.\n") == [
        ("", "One. Two (Fig. S1) it. Three.", Kind.TEXT)
    ]


def test_blank_lines_part_paragraphs() -> None:
    assert parts(f"{TITLE}\n\nOne\nline.\n\nTwo.\n") == [
        ("", "One line.", Kind.TEXT),
        ("", "Two.", Kind.TEXT),
    ]


def test_known_section_names_are_headings() -> None:
    assert parts(
        f"{TITLE}\nWe did it. 1. Introduction It is known.\n2. Experimental Section Powder was"
        " milled. Results show more. Fig. 3. Experimental set-up.\nResults and Discussion The cell."
    ) == [
        ("", "We did it.", Kind.TEXT),
        ("1. Introduction", "It is known.", Kind.TEXT),
        (
            "2. Experimental Section",
            "Powder was milled. Results show more. Fig. 3. Experimental set-up.",
            Kind.TEXT,
        ),
        ("Results and Discussion", "The cell.", Kind.TEXT),
    ]


def test_wide_gaps_mark_headings_and_paragraphs_but_cut_no_sentence() -> None:
    assert parts(
        f"   {TITLE}      Abstract:   It is so.   1.Introduction   Steel was measured by   X-ray"
        " diffraction.   Next.   2.1.Heat Treatment of It   More."
    ) == [
        ("Abstract", "It is so.", Kind.ABSTRACT),
        ("1.Introduction", "Steel was measured by X-ray diffraction.", Kind.TEXT),
        ("1.Introduction", "Next.", Kind.TEXT),
        ("1.Introduction > 2.1.Heat Treatment of It", "More.", Kind.TEXT),
    ]


def test_words_are_joined_only_where_that_is_certain() -> None:
    text = paper_of(
        f"{TITLE}\nThe fuel effi- ciency of sus- tainably made cells. Efficiency of an interme-"
        " diate-temperature cell. Both nano- and micro- scale. At 1190- 1250 °C by thermo-"
        " mechanical work, mechanical too."
    ).text
    assert text == (
        "The fuel efficiency of sustainably made cells. Efficiency of an intermediate-temperature"
        " cell. Both nano- and microscale. At 1190- 1250 °C by thermo- mechanical work, mechanical"
        " too."
    )


def test_the_reference_list_goes_and_the_captions_behind_it_stay() -> None:
    body = "The cell was fired. " * 20
    assert parts(
        f"{TITLE}\n{body}\nReferences 1. KendallK. Fuel Cells 2016 2. LiW. J. Methods Phys. Res. A"
        " Figure 1 XRD of it. Table 1 Cells."
    ) == [
        ("", body.strip(), Kind.TEXT),
        ("Figures and tables", "Figure 1 XRD of it. Table 1 Cells.", Kind.CAPTION),
    ]


@pytest.mark.parametrize(
    "tail",
    [
        "See Supplementary References for more. It is done.",
        "The references 1. and 2. agree. It is done.",
        "SinghP. & MinhN. Q. Status. Int. J. 1, 5–15 (2004).",
    ],
)
def test_without_a_clear_heading_nothing_goes(tail: str) -> None:
    text = "The cell was fired. " * 20 + tail
    assert paper_of(f"{TITLE}\n{text}").text == text


def test_latex_left_in_the_text_is_written_out() -> None:
    preamble = "\\documentclass[12pt]{minimal} \\usepackage{amsmath} \\begin{document}"
    text = paper_of(
        f"{TITLE}\nwhere {preamble}$$\\mathrm{{O}}_{{2}}$$\\end{{document}} is gas."
    ).text
    assert text == "where O2 is gas."


def test_a_table_of_tab_separated_values_is_no_paper() -> None:
    with pytest.raises(UnreadableInput, match="a table of tab-separated values"):
        paper_of("file\tlicence\ttitle\na.txt\tCC BY\tOn it\nb.txt\tCC BY\tOn that\n")
    assert paper_of(f"{TITLE}\n\tOne.\n\tTwo.\n").text == "One. Two."
