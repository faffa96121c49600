"""Elsevier's full-text XML."""

from pathlib import Path

import pytest

from reciper_ray.readers import read
from reciper_ray.types import Kind, Paper

OPEN = (
    "<full-text-retrieval-response xmlns='http://www.elsevier.com/xml/svapi/article/dtd'"
    " xmlns:ce='http://www.elsevier.com/xml/common/dtd' xmlns:dc='http://purl.org/dc/elements/1.1/'"
    " xmlns:prism='http://prismstandard.org/namespaces/basic/2.0/'"
    " xmlns:xocs='http://www.elsevier.com/xml/xocs/dtd'>"
)
CLOSE = "</full-text-retrieval-response>"


def paper_of(article: str, coredata: str = "") -> Paper:
    text = f"<originalText><xocs:doc><article>{article}</article></xocs:doc></originalText>"
    body = text if article else ""
    (paper,) = read("a.xml", f"{OPEN}<coredata>{coredata}</coredata>{body}{CLOSE}".encode())
    assert isinstance(paper, Paper)
    return paper


def parts(paper: Paper) -> list[tuple[str, str, Kind]]:
    return [(p.heading, paper.text[p.start : p.end], p.kind) for p in paper.paragraphs]


def test_sections_lists_floats_and_footnotes_are_read() -> None:
    paper = paper_of(
        "<ce:floats><ce:figure><ce:label>Fig. 1</ce:label><ce:caption><ce:simple-para>XRD at"
        " 25 °C.</ce:simple-para></ce:caption></ce:figure></ce:floats><head><ce:abstract"
        " class='graphical'><ce:abstract-sec><ce:simple-para>Picture.</ce:simple-para>"
        "</ce:abstract-sec></ce:abstract><ce:abstract class='author'><ce:abstract-sec>"
        "<ce:simple-para>Why.</ce:simple-para></ce:abstract-sec></ce:abstract></head><body>"
        "<ce:sections><ce:section><ce:label>2</ce:label><ce:section-title>Methods</ce:section-title>"
        "<ce:section><ce:label>2.1</ce:label><ce:section-title>Firing</ce:section-title><ce:para>"
        "La<ce:inf>0.6</ce:inf>CoO<ce:inf>3−<ce:italic>δ</ce:italic></ce:inf> at"
        " 10<ce:sup>−3</ce:sup> Pa<ce:footnote><ce:label>1</ce:label>"
        "<ce:note-para>In dry air.</ce:note-para></ce:footnote>"
        "<ce:cross-ref>[3]</ce:cross-ref>.</ce:para></ce:section></ce:section></ce:sections></body>"
        "<tail><ce:bibliography><ce:bib-reference>Cited.</ce:bib-reference></ce:bibliography></tail>"
    )
    assert parts(paper) == [
        ("Abstract", "Why.", Kind.ABSTRACT),
        ("2 Methods > 2.1 Firing", "La0.6CoO3−δ at 10⁻³ Pa[3].", Kind.TEXT),
        ("2 Methods > 2.1 Firing", "In dry air.", Kind.CAPTION),
        ("", "Fig. 1. XRD at 25 °C.", Kind.CAPTION),
    ]


def test_cals_tables_keep_spans_and_legends() -> None:
    paper = paper_of(
        "<body><ce:sections><ce:para>Text.</ce:para></ce:sections></body><ce:floats><ce:table>"
        "<ce:label>Table 1</ce:label><ce:caption><ce:simple-para>Alloys.</ce:simple-para>"
        "</ce:caption><tgroup cols='3'><colspec colname='c1'/><colspec colname='c2'/>"
        "<colspec colname='c3'/><thead><row><entry>Alloy</entry><entry namest='c2' nameend='c3'>HV"
        "</entry></row></thead><tbody><row><entry morerows='1'>A</entry><entry>1</entry>"
        "<entry>2</entry></row><row><entry>3</entry><entry>4</entry></row></tbody></tgroup>"
        "<ce:legend><ce:simple-para>At 25 °C.</ce:simple-para></ce:legend></ce:table></ce:floats>"
    )
    assert parts(paper)[1:] == [
        ("", "Table 1. Alloys.", Kind.CAPTION),
        ("Table 1. Alloys.", "Alloy | HV\nA | 1 | 2\nA | 3 | 4", Kind.TABLE),
        ("", "At 25 °C.", Kind.CAPTION),
    ]


def test_a_response_with_metadata_only_gives_its_abstract() -> None:
    paper = paper_of(
        "",
        "<dc:title>On it</dc:title><prism:doi>10.1016/x</prism:doi><dc:creator>Li, Wei</dc:creator>"
        "<prism:coverDate>2020-01-31</prism:coverDate><dc:description> Short. </dc:description>"
        "<prism:publicationName>Acta</prism:publicationName>",
    )
    assert (paper.title, paper.text, paper.doi) == ("On it", "Short.", "10.1016/x")
    assert (paper.authors, paper.year, paper.journal) == (("Wei Li",), 2020, "Acta")


@pytest.mark.slow
def test_a_real_response(shared: Path) -> None:
    file = shared / "formats" / "elsevier_10.1016_j.mattod.2024.11.015.xml"
    (paper,) = read(file.name, file.read_bytes())
    assert isinstance(paper, Paper)
    assert paper.title == "Metallic glasses: Elastically stiff yet flowing at any stress"
    assert paper.authors[0] == "Birte Riechers"
    assert (paper.doi, paper.year) == ("10.1016/j.mattod.2024.11.015", 2025)
    assert (paper.journal, paper.licence) == ("Materials Today", "CC BY 4.0")
    assert sum(p.kind is Kind.CAPTION for p in paper.paragraphs) >= 4
    assert "Disordered Materials" not in paper.text
