"""USPTO patents."""

from pathlib import Path

import pytest

from reciper_ray.readers import read
from reciper_ray.types import Kind, Paper


def test_a_patent_in_small() -> None:
    xml = (
        "<?xml version='1.0'?><!DOCTYPE us-patent-grant SYSTEM 'x.dtd' [ ]><us-patent-grant>"
        "<us-bibliographic-data-grant><publication-reference><document-id><date>20050111</date>"
        "</document-id></publication-reference><invention-title>Oxide TiO<sub>2</sub>"
        "</invention-title><applicants><applicant><addressbook><last-name>Li</last-name>"
        "<first-name>Wei</first-name></addressbook></applicant></applicants>"
        "<references-cited><citation>Cited.</citation></references-cited>"
        "</us-bibliographic-data-grant><abstract><p>What.</p></abstract><description>"
        "<heading>EXAMPLE 1</heading><p>Dried at 25°C.<tables><table><tgroup><tbody><row><entry>T"
        "</entry><entry>25</entry></row></tbody></tgroup></table></tables></p></description><claims>"
        "<claim><claim-text>1. A powder <claim-text>of TiO<sub>2</sub>;</claim-text></claim-text>"
        "</claim></claims></us-patent-grant>"
    )
    (paper,) = read("US1.xml", xml.encode())
    assert isinstance(paper, Paper)
    assert (paper.title, paper.authors, paper.year) == ("Oxide TiO2", ("Wei Li",), 2005)
    assert [(p.heading, paper.text[p.start : p.end], p.kind) for p in paper.paragraphs] == [
        ("Abstract", "What.", Kind.ABSTRACT),
        ("EXAMPLE 1", "Dried at 25°C.", Kind.TEXT),
        ("EXAMPLE 1", "T | 25", Kind.TABLE),
        ("Claims", "1. A powder of TiO2;", Kind.TEXT),
    ]


@pytest.mark.slow
def test_a_real_patent(shared: Path) -> None:
    file = shared / "formats" / "US06840965B2.xml"
    (paper,) = read(file.name, file.read_bytes())
    assert isinstance(paper, Paper)
    assert paper.title == "P-aminophenols and colorants containing said compounds"
    assert (paper.year, paper.authors) == (2005, ("Laurent Chassot", "Hans-Juergen Braun"))
    assert "hydrogenated at 25°C" in paper.text
    assert " | Calculated | 52.75 | 4.43 | 6.15 | 15.57" in paper.text
    claims = [p for p in paper.paragraphs if p.heading == "Claims"]
    assert len(claims) == 10
