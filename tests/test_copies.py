"""Copies of one paper."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reciper_ray.copies import Traits, clusters, traits
from reciper_ray.readers import read
from reciper_ray.types import Paper

WORDS = ["milled", "dried", "pressed", "sintered", "annealed", "quenched", "polished", "etched"]


def text(seed: int, sentences: int = 80) -> str:
    """Sentences that no other seed shares."""
    return " ".join(
        f"Sample {seed}-{n} was {WORDS[(seed + n) % 8]} at {seed + 7 * n} degrees for {n} hours."
        for n in range(sentences)
    )


def paper(source: str, body: str, **fields: str) -> Traits:
    known = {"title": f"On the making of {source}", "format": "plain"} | fields
    return traits(Paper(source, text=body, paragraphs=(), source=source, **known))  # type: ignore[arg-type]


def copies(*papers: Traits) -> dict[str, tuple[str, str]]:
    """Source of each copy → source kept, and why."""
    return {
        papers[at].source: (papers[kept].source, reason)
        for at, (kept, reason) in clusters(papers).items()
    }


def test_spellings_of_one_doi_are_one() -> None:
    spelt = ["10.1002/ADVS.411", "https://doi.org/10.1002/advs.411", "doi:10.1002%2Fadvs.411."]
    found = copies(*(paper(f"{n}.txt", text(1), doi=doi) for n, doi in enumerate(spelt)))
    assert found == {f"{n}.txt": ("0.txt", "same DOI 10.1002/advs.411") for n in (1, 2)}


def test_a_preprint_gives_way_to_the_journals_version_whatever_the_format() -> None:
    title = "On the sintering of yttria-stabilised zirconia"
    found = copies(
        paper("preprint.html", text(1), title=title, format="html", arxiv_id="2401.01234v2"),
        paper(
            "journal.pdf", text(1) + text(2, 20), title=title.upper(), format="pdf", doi="10.1000/x"
        ),
        paper("again.txt", text(1), doi="10.48550/arXiv.2401.01234"),
    )
    assert set(found) == {"preprint.html", "again.txt"}
    assert {kept for kept, _ in found.values()} == {"journal.pdf"}


def test_structured_text_goes_before_what_was_extracted_then_the_longer() -> None:
    forms = ["pdf", "plain", "markdown", "tei", "html", "jats"]
    papers = [paper(f"{form}.x", text(1), format=form, doi="10.1000/x") for form in forms]
    for count in range(2, len(forms) + 1):
        assert {kept for kept, _ in copies(*papers[:count]).values()} == {f"{forms[count - 1]}.x"}
    both = copies(paper("a", text(1)), paper("b", text(1) + " The end."))
    assert both["a"][0] == "b"


def test_near_identical_texts_are_found_without_any_id() -> None:
    damaged = text(1).replace("sintered", "sin tered").replace("Sample 1-3 ", "")
    found = copies(paper("a", text(1)), paper("b", damaged), paper("c", text(500)))
    assert set(found) == {"b"}
    assert found["b"][1].startswith("near-identical text (0.")


def test_an_article_and_its_supplement_are_none() -> None:
    article = paper("x.xml", text(1), doi="10.1000/x", format="jats")
    by_text = paper("y.pdf", f"Supporting Information for it. {text(1, 30)}", doi="10.1000/x")
    by_name = paper("x_si.txt", text(1), doi="10.1000/x")
    by_words = paper("z.txt", text(900), doi="10.1000/x")
    for supplement in (by_text, by_name, by_words):
        assert copies(article, supplement) == {}


@pytest.mark.parametrize("title", ["Editorial", "Introduction", "Supplementary Information"])
def test_short_titles_tell_nothing(title: str) -> None:
    assert copies(paper("a", "Few words.", title=title), paper("b", "Others.", title=title)) == {}


def test_the_same_title_needs_a_text_that_does_not_deny_it() -> None:
    title = "On the sintering of yttria-stabilised zirconia"
    full, other = paper("a", text(1), title=title), paper("b", text(900), title=title)
    abstract = paper("c", "We sintered it.", title=title)
    assert copies(full, other) == {}
    assert copies(full, abstract) == {"c": ("a", "same title")}


def test_the_authors_benchmark_is_left_alone() -> None:
    both = [paper(f"db.json#{n}", text(1), format="rag_database", doi="10.1000/x") for n in (1, 2)]
    assert copies(*both) == {}


def test_a_chain_is_one_cluster_and_says_through_whom() -> None:
    a = paper("a", text(1), doi="10.1000/x")
    b = replace(paper("b", text(1), doi="10.1000/x"), arxiv_id="2401.01234", signature=())
    c = replace(paper("c", "Short.", title=b.title), arxiv_id="2401.01234", chars=5)
    b, c = replace(b, title=a.title), replace(c, title=a.title)
    found = copies(a, b, c)
    assert set(found) == {"b", "c"}
    assert found["c"][0] == "a"


entries = st.builds(
    paper,
    st.uuids().map(str),
    st.integers(0, 3).map(text),
    doi=st.sampled_from(["", "10.1000/x", "10.1000/y"]),
    format=st.sampled_from(["jats", "pdf", "plain"]),
    title=st.sampled_from(["", "On the sintering of yttria-stabilised zirconia"]),
)


@settings(max_examples=25, deadline=None)
@given(st.lists(entries, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_the_papers_does_not_matter(papers: list[Traits], random: object) -> None:
    shuffled = list(papers)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert copies(*papers) == copies(*shuffled)
    kept = {source for source, _ in copies(*papers).values()}
    assert not kept & set(copies(*papers))


@pytest.mark.slow
def test_the_copies_in_the_corpus_are_found_and_no_other_pair_is(shared: Path) -> None:
    files = [*(shared / "corpus" / "papers").iterdir()]
    files += [f for f in (shared / "formats").iterdir() if f.suffix != ".tsv"]
    papers = [p for f in sorted(files) for p in read(f.name, f.read_bytes())]
    found = copies(*(traits(p) for p in papers if isinstance(p, Paper)))
    assert {source: kept for source, (kept, _) in found.items()} == {
        "sofc_01.txt": "PMC5700654.txt",
        "sofc_02.txt": "PMC4772004.txt",
        "sofc_03.txt": "PMC6158676.txt",
        "sofc_04.txt": "PMC6247067.txt",
        "doi_10_1038__s41598_017_16509_9.pdf": "doi_10_1038__s41598_017_16509_9.md",
        "doi_10_3390__e16020870.pdf": "doi_10_3390__e16020870.md",
        "doi_10_3390__e21010015.pdf": "doi_10_3390__e21010015.md",
    }
