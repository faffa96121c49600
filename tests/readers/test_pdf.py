"""PDF with a text layer."""

import base64
import re
import unicodedata
import zlib
from collections import Counter
from pathlib import Path

import pypdfium2 as pdfium
import pytest

from reciper_ray.chunk import Limit, chunk
from reciper_ray.errors import UnreadableInput
from reciper_ray.provenance import pages_of
from reciper_ray.readers import read
from reciper_ray.types import Kind, Paper, Span
from tests.readers.pdfs import Text, column, pdf

# An RC4-encrypted page of "Hello", made once by pypdf with a user password; zlib, base85.
ENCRYPTED = (
    "c-oy*O>5LZ7)BI?`3K(S;2!IIe*~5V+wEfUqou2@AVnrKlQm_Vlq4;!e?t5ff_KmU1O)}bWA$n;9zEzJ*{y-}P|Y"
    "NeJn!?q&-+CNTjR+Jxx>KV?AwP=fItlMcpnUh06jiE^boC?%FOc_KwD<!OGpD@8;nN4XRapFo<qX}=zi)-_zbd|5"
    "BC6C%a5`Ol8!68)U_5We4w^U=%IJ1S<O#EEF6x+80zpe5wj`~OUPU1wlDLe!iFU4h?8J#UkDT}VM3u?rjMR(#{1s"
    "3lrdCGyuBA0@=k^id^W3IK&EPYSry(KfUn25e*ZkbX@2c|;cw5rzyC}hou1np@1Fm-&Tfyd?Y?>aihrzwE%=MDqE"
    "~pGEI`wvxN1IYkN~u5O5c=$?)mw#uTpCOTF-3m(rgCNZkpZA%5({I@|OQEu(F!Z-PKf7Pi4{5j?g484ua05^ZTcH"
    ")gxPs0Cy(PZ?5iSwF7C8f$YMSP#yLQavJeSDjEgzB%N2jfM{Bo%$Xw8z6poe3mUA#FwebK+%lUO8~a2MViYr$drM"
    "=drEu0U$0b#g@Q5fACr)`Dl6?Y))cMH8LUCskZ#>a5GE(uF3Z<>El<GL)UIYmxwBbZ@jKjA~lEh$wb$1m{3ZDQBB"
    "Y-b1D1~4GCh!6yp>d5R`-@55!w6+PjOxBGQ?!S18TBxsNDouAgH?q|=e}rWGEHClPzKu0^YA-p2fZ;4+cD%kqFS4"
    "TlGthzj>9CP4r`^9uu(L+3T3a^-Qx7Hf_k|-Wo3%0X<)=87!1}oC*ThhkXj4"
)

LEFT = [f"left column line number {word} which is long enough" for word in "abcdefgh"]
RIGHT = [f"right column line number {word} which is long enough" for word in "abcdefgh"]


def paper_of(data: bytes) -> Paper:
    (paper,) = read("a.pdf", data)
    assert isinstance(paper, Paper)
    assert paper.format == "pdf"
    return paper


def texts(paper: Paper) -> list[str]:
    return [paper.text[p.start : p.end] for p in paper.paragraphs]


def prose(words: int, start: str = "The powder") -> list[str]:
    """Lines of a paragraph that is long enough not to be taken for anything else."""
    return [f"{start if n == 0 else 'line'} {n} of a paragraph about sintering of ceramics that"
            for n in range(words)] + ["ends."]  # fmt: skip


def test_raised_and_lowered_script_hyphens_and_degrees() -> None:
    page: list[Text] = [
        (50, 700, 10, "La"), (61.2, 697, 6, "0.6"), (70, 700, 10, "CoO"),
        (92.5, 697, 6, "3"), (96, 700, 10, " was held at 10"),
        (166, 704, 6, "-3"), (173, 700, 10, " Pa and 1190-"),
        (50, 688, 10, "1250 °C in a furnace by thermo-"),
        (50, 676, 10, "mechanical work, mechanical and thermo too, effi-"),
        (50, 664, 10, "cient."),
    ]  # fmt: skip
    assert texts(paper_of(pdf([page]))) == [
        "La0.6CoO3 was held at 10⁻³ Pa and 1190-1250 °C in a furnace by thermo-mechanical work,"
        " mechanical and thermo too, efficient."
    ]


def test_columns_are_read_one_after_the_other_even_if_the_file_zigzags() -> None:
    rows = zip(column(50, 700, LEFT), column(320, 700, RIGHT), strict=True)
    zigzag = [text for row in rows for text in row]
    whole = paper_of(pdf([zigzag])).text
    assert re.findall(r"(left|right) column line number (\w)", whole) == [
        *(("left", letter) for letter in "abcdefgh"),
        *(("right", letter) for letter in "abcdefgh"),
    ]


def test_running_heads_page_numbers_and_line_numbers_go() -> None:
    pages = [
        [(50, 770, 8, f"J. Tests {n}, 12"), (300, 20, 8, str(n)), *column(50, 700, prose(5))]
        for n in range(1, 5)
    ]
    text = paper_of(pdf(pages)).text
    assert "J. Tests" not in text
    assert not re.search(r"(?:^|\n)\d+(?:\n|$)", text)
    numbered = column(50, 700, [f"{n} is a line of the manuscript" for n in range(1, 30)])
    lines = [(30, y, size, text.split()[0]) for _, y, size, text in numbered]
    body = [(50, y, size, "a line of the manuscript that goes on") for _, y, size, _ in numbered]
    both = [part for pair in zip(lines, body, strict=True) for part in pair]
    assert not re.search(r"\d", paper_of(pdf([both])).text)


def test_title_headings_and_pages() -> None:
    first = [(50, 750, 20, "Sintering of oxides"), (50, 700, 110, "1. Introduction"),
             *column(50, 680, prose(4))]  # fmt: skip
    second = [(50, 700, 110, "2. Methods"), *column(50, 680, prose(4, "Pellets"))]
    paper = paper_of(pdf([first, second]))
    assert paper.title == "Sintering of oxides"
    assert [(p.heading, p.page) for p in paper.paragraphs] == [
        ("1. Introduction", 1),
        ("2. Methods", 2),
    ]


def test_a_table_becomes_rows_under_its_caption() -> None:
    rows = [("Alloy", "T", "HV"), ("A", "850", "120"), ("B", "900", "140")]
    cells = [
        (50.0 + 100 * column, 640.0 - 12 * row, 9.0, cell)
        for row, line in enumerate(rows)
        for column, cell in enumerate(line)
    ]
    page = [*column(50, 740, prose(3)), (50, 660, 9, "Table 1. Alloys."), *cells,
            *column(50, 560, prose(3, "Later"))]  # fmt: skip
    paper = paper_of(pdf([page]))
    (table,) = (p for p in paper.paragraphs if p.kind is Kind.TABLE)
    assert table.heading == "Table 1. Alloys."
    assert paper.text[table.start : table.end] == "Alloy | T | HV\nA | 850 | 120\nB | 900 | 140"


def test_text_inside_a_drawing_or_beyond_the_page_is_no_part_of_the_paper() -> None:
    page = [*column(50, 700, prose(6)), (50, -40, 10, "beyond the page")]
    text = paper_of(pdf([page], drawing=[(100, 300, 8, "axis label")])).text
    assert "beyond" not in text
    assert "axis label" not in text
    only = pdf([[]], drawing=column(50, 700, prose(6)))
    assert "sintering of ceramics" in paper_of(only).text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (pdf([[], []]), "no text layer in this PDF of 2 pages"),
        (pdf([[(50, 770, 8, "Journal of Tests 12, pages")]] * 3), "but running heads"),
        (pdf([[(50, 700, 10, "p. 1")]]), "no text layer worth the name: 4 characters in 1 pages"),
        (zlib.decompress(base64.b85decode(ENCRYPTED)), "encrypted PDF: it needs a password"),
        (pdf([column(50, 700, prose(3))])[:300], "broken PDF"),
    ],
)
def test_a_pdf_without_readable_text_is_refused_with_the_reason(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableInput, match=reason):
        list(read("a.pdf", data))


@pytest.mark.slow
def test_a_word_that_a_pages_end_parts_belongs_to_both_pages() -> None:
    first = [*column(50, 700, prose(12)), (50, 540, 10, "The powder was then fired care-")]
    second = column(50, 740, ["fully in air for two hours and cooled down slowly.", *prose(12)])
    paper = paper_of(pdf([first, second]))
    at = paper.text.index("carefully in air")
    assert pages_of(paper, (Span(at - 20, at),)) == (1, 1)
    assert pages_of(paper, (Span(at, at + 9),)) == (1, 2)
    assert pages_of(paper, (Span(at + 10, at + 20),)) == (2, 2)


def test_a_thousand_pages_are_read() -> None:
    pages = [column(50, 700, prose(20)) for _ in range(1000)]
    assert paper_of(pdf(pages)).paragraphs[-1].page == 1000


def words(text: str) -> list[str]:
    return re.findall(r"[a-z]{2,}|\d+", unicodedata.normalize("NFKC", text).casefold())


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["doi_10_1038__s41598_017_16509_9", "doi_10_3390__e16020870", "doi_10_3390__e21010015"],
)
def test_a_real_pdf_holds_the_words_of_its_markdown_in_order(shared: Path, name: str) -> None:
    paper = paper_of((shared / "formats" / f"{name}.pdf").read_bytes())
    (other,) = read("a.md", (shared / "corpus" / "papers" / f"{name}.md").read_bytes())
    assert isinstance(other, Paper)
    mine, theirs = words(f"{paper.title} {paper.text}"), words(f"{other.title} {other.text}")
    covered = sum((Counter(mine) & Counter(theirs)).values()) / len(theirs)
    assert covered >= 0.95
    assert in_order(theirs, mine) / len(theirs) >= 0.9
    assert paper.doi == name.removeprefix("doi_").replace("__", "/").replace("10_", "10.").replace(
        "_", "-"
    )
    assert not re.search(r"\n\d+ of \d+\n|www\.nature\.com|20, x \d+ of", paper.text)


def in_order(one: list[str], other: list[str]) -> int:
    """The length of the longest common subsequence (bit-parallel, after Hyyrö 2004)."""
    at: dict[str, int] = {}
    for position, word in enumerate(one):
        at[word] = at.get(word, 0) | 1 << position
    row = (1 << len(one)) - 1
    for word in other:
        match = row & at.get(word, 0)
        row = (row + match) | (row - match)
        row &= (1 << len(one)) - 1
    return len(one) - row.bit_count()


@pytest.mark.slow
def test_the_words_of_a_passage_stand_on_its_pages(shared: Path) -> None:
    for file in sorted((shared / "formats").glob("*.pdf")):
        document = pdfium.PdfDocument(file.read_bytes())
        texts = [page.get_textpage().get_text_range().lower() for page in document]
        words = [set(re.findall(r"[a-z]{4,}", text)) for text in texts]
        for passage in chunk(paper_of(file.read_bytes()), Limit(1000, 254, lambda t: len(t) // 4)):
            assert passage.page
            assert passage.last_page
            there = set().union(*words[passage.page - 1 : passage.last_page])
            own = re.findall(r"[a-z]{4,}", passage.text.lower())
            # A word that a line break parted is not whole on its page.
            assert sum(word in there for word in own) >= 0.85 * len(own)
