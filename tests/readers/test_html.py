"""HTML of publishers and of LaTeXML."""

from reciper_ray.readers import read
from reciper_ray.types import Kind, Paper

PUBLISHER = """<!DOCTYPE html>
<html><head><title>Site | On oxides</title>
<meta name="citation_title" content="On oxides">
<meta name="citation_author" content="Wei Li"><meta name="citation_author" content="Ann Lee">
<meta name="citation_doi" content="doi:10.1234/abc.5">
<meta name="citation_journal_title" content="J. Tests">
<meta name="citation_publication_date" content="2021/05/06">
<script>var x = "<p>no</p>";</script></head>
<body><nav><ul><li>Home</li></ul></nav><div class="cookie-banner">We use cookies.</div>
<article><h1>On oxides</h1><div class="share-tools">Tweet</div>
<section><h2>Abstract</h2><p>Why.</p></section>
<section><h2>2. Methods</h2>
<p>La<sub>0.6</sub>CoO<sub>3&minus;<i>&delta;</i></sub> was fired at 10<sup>&minus;3</sup>&nbsp;Pa
<sup><a href="#ref-CR1">1</a>,<a href="#ref-CR2">2</a></sup>.</p>
<h3>2.1. Firing</h3><ul><li>At 850&#8239;&deg;C.</li><li>For 2 h.</li></ul>
<figure><img src="a.png"><figcaption><b>Fig. 1</b> XRD at 25 &deg;C.</figcaption></figure>
<div class="table-wrap"><table><caption>Table 1. Alloys.</caption>
<tr><th rowspan="2">Alloy</th><th colspan="2">HV</th></tr><tr><th>a</th><th>b</th></tr>
<tr><td>A</td><td>1</td><td>2</td></tr></table></div></section>
<section id="references"><h2>References</h2><ol><li>Cited work.</li></ol></section>
<p><a href="https://creativecommons.org/licenses/by/4.0/">Licence</a></p>
</article><footer>Imprint</footer></body></html>"""

LATEXML = """<!DOCTYPE html><html lang="en"><head><title>On oxides</title></head><body>
<div id="watermark-tr">arXiv:2401.01234v2 [cond-mat.mtrl-sci] 3 Jan 2024</div>
<nav class="ltx_page_navbar">Contents</nav>
<div class="ltx_page_main"><div class="ltx_page_content">
<article class="ltx_document"><h1 class="ltx_title ltx_title_document">On oxides</h1>
<div class="ltx_authors">Wei Li</div>
<div class="ltx_abstract"><h6 class="ltx_title ltx_title_abstract">Abstract</h6>
<p class="ltx_p">Why.</p></div>
<section class="ltx_section"><h2 class="ltx_title"><span class="ltx_tag">1 </span>Methods</h2>
<div class="ltx_para"><p class="ltx_p">We fired <math alttext="x_2" class="ltx_Math"><semantics>
<msub><mi>x</mi><mn>2</mn></msub><annotation encoding="application/x-tex">x_{2}</annotation>
</semantics></math> at <math><msup><mn>10</mn><mrow><mo>-</mo><mn>3</mn></mrow></msup></math> Pa
<cite class="ltx_cite">[<a href="#bib.bib1">1</a>]</cite>.</p></div>
<table class="ltx_equation ltx_eqn_table"><tr class="ltx_equation"><td class="ltx_eqn_cell">
<math><mi>a</mi><mo>=</mo><mi>b</mi></math></td><td>(1)</td></tr></table>
<figure class="ltx_table"><figcaption class="ltx_caption">Table 1: Alloys.</figcaption>
<table class="ltx_tabular"><tr><td>A</td><td>1</td></tr></table></figure></section>
<section class="ltx_bibliography"><h2>References</h2><ul><li>Cited.</li></ul></section>
</article></div></div><footer class="ltx_page_footer">Generated</footer></body></html>"""


def paper_of(html: str | bytes) -> Paper:
    (paper,) = read("a.html", html.encode() if isinstance(html, str) else html)
    assert isinstance(paper, Paper)
    assert paper.format == "html"
    return paper


def parts(paper: Paper) -> list[tuple[str, str, Kind]]:
    return [(p.heading, paper.text[p.start : p.end], p.kind) for p in paper.paragraphs]


def test_a_publishers_page() -> None:
    paper = paper_of(PUBLISHER)
    assert (paper.title, paper.authors) == ("On oxides", ("Wei Li", "Ann Lee"))
    assert (paper.doi, paper.year, paper.journal) == ("10.1234/abc.5", 2021, "J. Tests")
    assert paper.licence == "CC BY 4.0"
    methods = "2. Methods > 2.1. Firing"
    assert parts(paper)[:-1] == [
        ("Abstract", "Why.", Kind.ABSTRACT),
        ("2. Methods", "La0.6CoO3−δ was fired at 10⁻³ Pa .", Kind.TEXT),
        (methods, "At 850 °C.", Kind.TEXT),
        (methods, "For 2 h.", Kind.TEXT),
        (methods, "Fig. 1 XRD at 25 °C.", Kind.CAPTION),
        (methods, "Table 1. Alloys.", Kind.CAPTION),
        (f"{methods} > Table 1. Alloys.", "Alloy | HV\nAlloy | a | b\nA | 1 | 2", Kind.TABLE),
    ]
    assert not any(word in paper.text for word in ("Home", "cookies", "Tweet", "Cited", "Imprint"))


def test_arxivs_page() -> None:
    paper = paper_of(LATEXML)
    assert (paper.title, paper.arxiv_id) == ("On oxides", "2401.01234")
    assert parts(paper) == [
        ("Abstract", "Why.", Kind.ABSTRACT),
        ("1 Methods", "We fired x2 at 10⁻³ Pa [1].", Kind.TEXT),
        ("1 Methods", "a = b (1)", Kind.TEXT),
        ("1 Methods", "Table 1: Alloys.", Kind.CAPTION),
        ("1 Methods > Table 1: Alloys.", "A | 1", Kind.TABLE),
    ]


def test_xhtml_with_a_declaration_and_old_encodings_are_read() -> None:
    page = '<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>T</h1><p>5 °C</p></body></html>'
    assert paper_of(f'<?xml version="1.0" encoding="UTF-8"?>{page}').text == "5 °C"
    old = f'<html><head><meta charset="iso-8859-1"></head>{page[43:]}'.encode("latin-1")
    assert paper_of(old).text == "5 °C"


def test_text_outside_of_paragraphs_is_read() -> None:
    page = "<html><body><h1>T</h1><div>One <b>two</b>.<div>Three.</div>Four.</div></body></html>"
    assert [text for _, text, _ in parts(paper_of(page))] == ["One two.", "Three.", "Four."]
