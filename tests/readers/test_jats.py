"""JATS XML."""

import re
from pathlib import Path

import pytest

from reciper_ray.readers import read
from reciper_ray.types import Kind, Paper, Rejection


def paper_of(body: str, front: str = "", back: str = "", prolog: str = "") -> Paper:
    xml = (
        f"{prolog}<article xmlns:mml='http://www.w3.org/1998/Math/MathML'"
        f" xmlns:xlink='http://www.w3.org/1999/xlink'><front><article-meta>{front}"
        f"</article-meta></front><body>{body}</body>{back}</article>"
    )
    (paper,) = read("a.xml", xml.encode())
    assert isinstance(paper, Paper)
    return paper


def parts(paper: Paper) -> list[tuple[str, str, Kind]]:
    return [(p.heading, paper.text[p.start : p.end], p.kind) for p in paper.paragraphs]


def test_front_matter_of_a_sample(sample: Path) -> None:
    data = (sample / "papers" / "PMC7052380.xml").read_bytes()
    (paper,) = read("PMC7052380.xml", data)
    assert isinstance(paper, Paper)
    assert paper.title == (
        "One-Step Microwave Synthesis of Micro/Nanoscale LiFePO4/Graphene Cathode With High"
        " Performance for Lithium-Ion Batteries"
    )
    assert paper.authors == ("Shulong Liu", "Ping Yan", "Haibin Li", "Xiaobo Zhang", "Wei Sun")
    assert (paper.year, paper.doi) == (2020, "10.3389/fchem.2020.00104")
    assert (paper.journal, paper.licence) == ("Frontiers in Chemistry", "CC BY 4.0")
    assert paper.abstract.startswith("In this study, micro/nanoscale LiFePO4/graphene")
    assert "Keywords" not in paper.abstract


def test_a_sample_has_sections_tables_captions_and_no_references(sample: Path) -> None:
    data = (sample / "papers" / "PMC7040616.xml").read_bytes()
    (paper,) = read("PMC7040616.xml", data)
    assert isinstance(paper, Paper)
    kinds = {p.kind for p in paper.paragraphs}
    assert kinds >= {Kind.ABSTRACT, Kind.TEXT, Kind.CAPTION}
    headings = {p.heading for p in paper.paragraphs}
    assert "2. Materials and Methods > 2.3. Characterization" in headings
    assert "Table 1. Laser particle-size test results of submicron-scale LLZNO powder." in headings
    cited = re.findall(r"<article-title>([^<&]{40,})</article-title>", data.decode())
    assert len(cited) > 10
    assert not any(title in paper.text for title in cited)


def test_sections_give_the_heading_path() -> None:
    paper = paper_of(
        "<p>Before.</p><sec><label>2</label><title>Methods</title><p>One.</p>"
        "<sec><title>Synthesis of Li<sub>2</sub>O</title><p>Two.</p></sec></sec>"
    )
    assert parts(paper) == [
        ("", "Before.", Kind.TEXT),
        ("Methods", "One.", Kind.TEXT),
        ("Methods > Synthesis of Li2O", "Two.", Kind.TEXT),
    ]


@pytest.mark.parametrize(
    ("inline", "text"),
    [
        ("La<sub>0.6</sub>CoO<sub>3 − <italic>δ</italic></sub>", "La0.6CoO3−δ"),
        ("10<sup>14</sup> cm<sup>−3</sup> of Nb<sup>5+</sup>", "10¹⁴ cm⁻³ of Nb⁵⁺"),
        ("10<sup>−2.5</sup> and t<sup>1/2</sup>", "10^−2.5 and t1/2"),
        ("so<sup><xref ref-type='bibr'>1</xref>, <xref ref-type='bibr'>2</xref></sup>.", "so."),
        ("known<xref ref-type='bibr'><sup>12</sup></xref>.", "known."),
        ("known [<xref ref-type='bibr'>12</xref>].", "known [12]."),
        ("a<xref ref-type='fig'><sup>b</sup></xref>", "ab"),
        ("  two\n   lines\u2009°C ", "two lines °C"),
        ("a<fn><p>note</p></fn>b<inline-graphic/>c", "abc\n\nnote"),
        ("5&#xA0;h &lt; 6 h", "5 h < 6 h"),
    ],
)  # fmt: skip
def test_inline_markup_becomes_plain_text(inline: str, text: str) -> None:
    assert paper_of(f"<p>{inline}</p>").text == text


@pytest.mark.parametrize(
    ("mathml", "text"),
    [
        ("<mml:msub><mml:mi>x</mml:mi><mml:mn>2</mml:mn></mml:msub>", "x2"),
        ("<mml:msup><mml:mn>10</mml:mn><mml:mrow><mml:mo>−</mml:mo><mml:mn>3</mml:mn></mml:mrow>"
         "</mml:msup>", "10⁻³"),
        ("<mml:mi>a</mml:mi><mml:mo>=</mml:mo><mml:mfrac><mml:mi>b</mml:mi><mml:mrow><mml:mi>c"
         "</mml:mi><mml:mo>+</mml:mo><mml:mi>d</mml:mi></mml:mrow></mml:mfrac>", "a = b/(c+d)"),
        ("<mml:msqrt><mml:mi>x</mml:mi></mml:msqrt>", "√x"),
        ("<mml:mover><mml:mi>r</mml:mi><mml:mo>¯</mml:mo></mml:mover>", "r"),
        ("<mml:msubsup><mml:mi>V</mml:mi><mml:mi>O</mml:mi><mml:mn>2</mml:mn></mml:msubsup>",
         "VO²"),
        ("<mml:mfenced><mml:mi>x</mml:mi><mml:mi>y</mml:mi></mml:mfenced>", "(x,y)"),
        ("<mml:mrow><mml:mi>x</mml:mi></mml:mrow><mml:annotation>q</mml:annotation>", "x"),
    ],
)  # fmt: skip
def test_mathml_becomes_one_line(mathml: str, text: str) -> None:
    formula = f"<inline-formula><mml:math>{mathml}</mml:math></inline-formula>"
    assert paper_of(f"<p>so {formula}.</p>").text == f"so {text}."


def test_a_formula_given_twice_appears_once() -> None:
    alternatives = (
        "<alternatives><tex-math>\\begin{document}$$x_2$$\\end{document}</tex-math>"
        "<mml:math><mml:msub><mml:mi>x</mml:mi><mml:mn>2</mml:mn></mml:msub></mml:math>"
        "<inline-graphic/></alternatives>"
    )
    assert paper_of(f"<p>a {alternatives} b</p>").text == "a x2 b"


def test_tex_is_read_where_there_is_no_mathml() -> None:
    tex = "\\documentclass{minimal}\\begin{document}$$\\mathrm{Al}_{2}$$\\end{document}"
    assert paper_of(f"<p>a <tex-math>{tex}</tex-math> b</p>").text == "a Al2 b"


def test_tables_become_rows_under_their_caption() -> None:
    paper = paper_of(
        "<sec><title>Results</title><table-wrap><label>Table 1.</label><caption><p>Hardness.</p>"
        "</caption><table><thead><tr><th>Alloy</th><th colspan='2'>HV</th></tr></thead><tbody>"
        "<tr><td rowspan='2'>A</td><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></tbody>"
        "</table><table-wrap-foot><fn><p>At 25 °C.</p></fn></table-wrap-foot></table-wrap></sec>"
    )
    assert parts(paper) == [
        ("Results", "Table 1. Hardness.", Kind.CAPTION),
        ("Results > Table 1. Hardness.", "Alloy | HV\nA | 1 | 2\nA | 3 | 4", Kind.TABLE),
        ("Results", "At 25 °C.", Kind.CAPTION),
    ]


def test_figures_inside_a_paragraph_and_behind_the_body_give_captions() -> None:
    figure = "<fig><label>Figure {}</label><caption><title>A.</title><p>B.</p></caption></fig>"
    paper = paper_of(
        f"<p>Text {figure.format(1)} goes on.</p>",
        back=f"<floats-group>{figure.format(2)}</floats-group>",
    )
    assert [(text, kind) for _, text, kind in parts(paper)] == [
        ("Text goes on.", Kind.TEXT),
        ("Figure 1. A. B.", Kind.CAPTION),
        ("Figure 2. A. B.", Kind.CAPTION),
    ]


def test_lists_and_boxes_are_read_in_order() -> None:
    items = "<list><list-item><p>one</p></list-item><list-item><p>two</p></list-item></list>"
    box = "<boxed-text><sec><title>Box</title><p>Boxed.</p></sec></boxed-text>"
    paper = paper_of(f"<p>Steps: {items}</p><sec><title>S</title>{items}{box}</sec>")
    assert [(heading, text) for heading, text, _ in parts(paper)] == [
        ("", "Steps: one two"),
        ("S", "one"),
        ("S", "two"),
        ("S > Box", "Boxed."),
    ]


def test_back_matter_is_kept_without_references_and_biographies() -> None:
    paper = paper_of(
        "<p>Body.</p>",
        back="<back><ack><p>Thanks.</p></ack><ref-list><ref><mixed-citation>R.</mixed-citation>"
        "</ref></ref-list><app-group><app><title>Appendix</title><p>More.</p></app></app-group>"
        "<fn-group><fn><p>Note.</p></fn></fn-group><glossary><def-list><def-item><term>SPS</term>"
        "<def><p>spark plasma sintering</p></def></def-item></def-list></glossary>"
        "<bio><p>Born.</p></bio></back>",
    )
    assert [(heading, text, kind) for heading, text, kind in parts(paper)] == [
        ("", "Body.", Kind.TEXT),
        ("Acknowledgements", "Thanks.", Kind.TEXT),
        ("Appendix", "More.", Kind.TEXT),
        ("Notes", "Note.", Kind.CAPTION),
        ("Glossary", "SPS spark plasma sintering", Kind.TEXT),
    ]


def test_the_description_of_a_supplement_is_a_caption() -> None:
    supplement = (
        "<supplementary-material><label>Table S1.</label><caption><p>Fired at 850 °C.</p></caption>"
        "<media/></supplementary-material>"
    )
    paper = paper_of(f"<p>Body.</p>{supplement}")
    assert parts(paper)[1] == ("", "Table S1. Fired at 850 °C.", Kind.CAPTION)


def test_several_articles_in_an_envelope_are_called_by_their_ids() -> None:
    article = (
        "<article xmlns='https://jats.nlm.nih.gov/ns'><front><article-meta>{}</article-meta></front>"
        "<body><p>Text.</p></body></article>"
    )
    ids = ("<article-id pub-id-type='pmc'>PMC1</article-id>", "", "")
    xml = "".join(map(article.format, ids)) + "<article><body/></article>"
    found = list(read("all.xml", f"<pmc-articleset>{xml}</pmc-articleset>".encode()))
    assert [r.paper_id for r in found if isinstance(r, Paper)] == ["PMC1", "all#2", "all#3"]
    assert found[3] == Rejection("all.xml#4", "read", "no text")


def test_metadata_in_its_variants() -> None:
    paper = paper_of(
        "<p>x</p>",
        "<article-id pub-id-type='doi'>10.1/x</article-id><title-group><article-title>T<sub>2</sub>"
        " growth†<xref ref-type='fn'><sup>1</sup></xref></article-title><subtitle>S</subtitle>"
        "</title-group><contrib-group><contrib contrib-type='author'><collab>The Group</collab>"
        "</contrib><contrib contrib-type='editor'><name><surname>E</surname></name></contrib>"
        "</contrib-group><pub-date pub-type='pmc-release'><year>2010</year></pub-date>"
        "<pub-date><year>2012</year></pub-date><permissions><license xlink:href="
        "'https://creativecommons.org/licenses/by-nc-nd/4.0/'/></permissions>"
        "<abstract abstract-type='graphical'><p>Picture.</p></abstract>"
        "<abstract><title>Abstract</title><sec><title>Aim</title><p>Why.</p></sec></abstract>",
    )
    assert paper.authors == ("The Group",)
    assert (paper.year, paper.doi, paper.licence) == (2012, "10.1/x", "CC BY-NC-ND 4.0")
    assert paper.abstract == "Why."
    assert paper.paragraphs[0].heading == "Abstract > Aim"
    assert paper.title.startswith("T2 growth")


def test_an_article_without_front_matter_is_called_by_its_id() -> None:
    (paper,) = read("x/PMC1.xml", b"<article><body><p>Text.</p></body></article>")
    assert isinstance(paper, Paper)
    assert (paper.title, paper.paper_id, paper.year, paper.authors) == ("PMC1", "PMC1", None, ())


def test_standard_character_names_are_read_without_the_dtd() -> None:
    doctype = "<!DOCTYPE article PUBLIC '-//NLM//DTD JATS' 'absent.dtd'>"
    assert paper_of("<p>5&nbsp;h &alpha;&unknown;</p>", prolog=doctype).text == "5 h α"
