"""GROBID's TEI."""

from pathlib import Path

import pytest

from reciper_ray.readers import read
from reciper_ray.types import Kind, Paper


def paper_of(text: str, header: str = "") -> Paper:
    xml = (
        "<?xml version='1.0' encoding='UTF-8'?><TEI xmlns='http://www.tei-c.org/ns/1.0'>"
        f"<teiHeader>{header}</teiHeader><text>{text}</text></TEI>"
    )
    (paper,) = read("a.tei.xml", xml.encode())
    assert isinstance(paper, Paper)
    return paper


def parts(paper: Paper) -> list[tuple[str, str, Kind]]:
    return [(p.heading, paper.text[p.start : p.end], p.kind) for p in paper.paragraphs]


def test_metadata_are_those_of_the_header() -> None:
    paper = paper_of(
        "<body><p>It.</p></body>",
        "<fileDesc><titleStmt><title type='main'>On TiO<hi>2</hi></title></titleStmt>"
        "<publicationStmt><availability><licence target='https://creativecommons.org/licenses/by/4.0/'/>"
        "</availability><date when='2021-03-04'/></publicationStmt><sourceDesc><biblStruct>"
        "<analytic>"
        "<author><persName><forename>A.</forename><forename>B.</forename><surname>Li</surname>"
        "</persName></author><idno type='DOI'>10.1/x</idno></analytic><monogr>"
        "<title level='j'>J. Tests</title></monogr></biblStruct></sourceDesc></fileDesc>"
        "<profileDesc><abstract><div><p>Why.</p></div></abstract></profileDesc>",
    )
    assert (paper.title, paper.authors) == ("On TiO2", ("A. B. Li",))
    assert (paper.doi, paper.journal, paper.year) == ("10.1/x", "J. Tests", 2021)
    assert (paper.licence, paper.abstract, paper.paper_id) == ("CC BY 4.0", "Why.", "a.tei")


def test_sections_figures_tables_and_notes_are_read_and_the_bibliography_is_not() -> None:
    paper = paper_of(
        "<body><div><head n='2'>Methods</head><p>We cite <ref type='bibr'>[1]</ref>.</p></div>"
        "<div><head n='2.1'>Firing</head><p>At 850 °C.</p><formula>E = mc 2 <label>(1)</label>"
        "</formula></div><figure type='table'><head>Table 1 .</head><figDesc>Alloys.</figDesc>"
        "<table><row><cell>Alloy</cell><cell cols='2'>HV</cell></row><row><cell>A</cell>"
        "<cell>1</cell><cell>2</cell></row></table></figure><note place='foot'>In air."
        "</note></body>"
        "<back><div type='acknowledgement'><div><head>Acknowledgements</head><p>Thanks.</p></div>"
        "</div><div type='references'><listBibl><biblStruct><note>Cited work.</note></biblStruct>"
        "</listBibl></div></back>"
    )
    assert parts(paper) == [
        ("2. Methods", "We cite [1].", Kind.TEXT),
        ("2. Methods > 2.1. Firing", "At 850 °C.", Kind.TEXT),
        ("2. Methods > 2.1. Firing", "E = mc 2 (1)", Kind.TEXT),
        ("2. Methods > 2.1. Firing", "Table 1 . Alloys.", Kind.CAPTION),
        ("2. Methods > 2.1. Firing > Table 1 . Alloys.", "Alloy | HV\nA | 1 | 2", Kind.TABLE),
        ("2. Methods > 2.1. Firing", "In air.", Kind.CAPTION),
        ("Acknowledgements", "Thanks.", Kind.TEXT),
    ]


@pytest.mark.slow
def test_real_files_of_grobid(shared: Path) -> None:
    for name, title, last in (
        ("N18-3011", "Construction of the Literature Graph in Semantic Scholar", "Oren Etzioni"),
        ("2020.acl-main.207", "SPECTER: Document-level Representation Learning", "Daniel S Weld"),
    ):
        (paper,) = read(f"{name}.xml", (shared / "formats" / f"{name}.tei.xml").read_bytes())
        assert isinstance(paper, Paper)
        assert paper.title.startswith(title)
        assert paper.authors[-1] == last
        assert len(paper.text) > 25_000
        assert "ACL workshop (SemEval)" not in paper.text
        assert paper.abstract
