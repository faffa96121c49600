import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from reciper_ray import claims
from reciper_ray.answer import EXTRACTIVE, Answering, extractive
from reciper_ray.errors import DeadlineExceeded
from reciper_ray.types import (
    Abstention,
    Answer,
    Filters,
    Hit,
    Method,
    Original,
    Passage,
    Query,
    SearchResult,
    Span,
    View,
)
from tests.support import passage

PAPER = "Xx. BZY was milled in ethanol. The powder was fired at 900 °C for 5 h in air."
BEGIN = 4
TEXT = PAPER[BEGIN:]
QUESTION = "At what temperature and for how long was the BZY powder fired?"


def hits(*passages: Passage) -> list[Hit]:
    return [Hit(p, 1.0 / n, n) for n, p in enumerate(passages, start=1)]


def paragraph(text: str = TEXT, start: int = BEGIN) -> Passage:
    whole = passage("a:1", text, title="On BZY")
    return replace(whole, spans=(Span(start, start + len(text)),))


def test_the_answer_quotes_the_sentence_and_cites_it() -> None:
    answer = extractive(QUESTION, hits(paragraph()), max_sentences=1)
    assert answer.text == "“The powder was fired at 900 °C for 5 h in air.” [1]"
    assert not answer.abstained
    (citation,) = answer.citations
    assert (citation.number, citation.paper_id, citation.passage_id) == (1, "a", "a:1")
    assert citation.title == "On BZY"
    assert citation.quote == "The powder was fired at 900 °C for 5 h in air."


def test_a_citation_points_into_the_papers_text() -> None:
    for citation in extractive(QUESTION, hits(paragraph())).citations:
        assert citation.span is not None
        assert PAPER[citation.span.start : citation.span.end] == citation.quote


def test_there_are_at_most_three_sentences_each_with_its_number() -> None:
    text = " ".join(
        f"The BZY powder number {n} was fired at {n}00 °C for {n} h." for n in range(1, 9)
    )
    answer = extractive(QUESTION, hits(paragraph(text)))
    assert [c.number for c in answer.citations] == [1, 2, 3]
    assert [answer.text.count(f"[{n}]") for n in (1, 2, 3, 4)] == [1, 1, 1, 0]


def test_a_quote_is_verbatim_and_shown_on_one_line() -> None:
    text = "The BZY powder was\nfired at 900 °C  for 5 h in air."
    answer = extractive(QUESTION, hits(paragraph(text)))
    assert answer.citations[0].quote == text
    assert answer.text == "“The BZY powder was fired at 900 °C for 5 h in air.” [1]"


def test_a_citation_has_the_quote_as_the_file_has_it_and_its_pages() -> None:
    text = "The BZY powder was fired at 900 °C for 5 h in air. It was then milled again."
    damaged = replace(paragraph(text), originals=(Original(28, 34, "900 oC"),), page=3, last_page=4)
    answer = extractive(QUESTION, hits(damaged), max_sentences=2)
    first, second = answer.citations
    assert first.quote == "The BZY powder was fired at 900 °C for 5 h in air."
    assert first.original == "The BZY powder was fired at 900 oC for 5 h in air."
    assert (first.page, first.last_page) == (3, 4)
    assert second.original == ""
    assert "900 °C" in answer.text


def test_a_quote_of_a_recipe_points_to_the_step_it_comes_from() -> None:
    first, second = Span(4, 30), Span(31, len(PAPER))
    support = f"{PAPER[first.start : first.end]} {PAPER[second.start : second.end]}"
    recipe = Passage("a:r", "a", View.RECIPE, 0, "", "", "1. fired", support, (first, second))
    (citation,) = extractive(QUESTION, hits(recipe), max_sentences=1).citations
    assert citation.span == second
    assert PAPER[second.start : second.end] == citation.quote


def test_a_quote_across_two_spans_reaches_from_the_first_to_the_last() -> None:
    support = "The BZY powder was fired at 900 °C for 5 h."
    cut = support.index(" at")
    spans = (Span(100, 100 + cut), Span(200, 200 + len(support) - cut - 1))
    recipe = Passage("a:r", "a", View.RECIPE, 0, "", "", "", support, spans)
    (citation,) = extractive(QUESTION, hits(recipe)).citations
    assert citation.span == Span(100, spans[1].end)


@pytest.mark.parametrize("spans", [(), (Span(0, 5),), (Span(0, 500),)])
def test_where_the_place_is_not_known_none_is_claimed(spans: tuple[Span, ...]) -> None:
    unplaced = replace(paragraph(), spans=spans)
    assert all(c.span is None for c in extractive(QUESTION, hits(unplaced)).citations)


def test_it_abstains_when_no_value_of_the_kind_asked_for_is_reported() -> None:
    answer = extractive("What RF power was used to fire the BZY powder?", hits(paragraph()))
    assert answer.abstained
    assert answer.text.startswith(
        "Not reported in the retrieved passages: RF power. Nearest evidence: “"
    )
    assert len(answer.citations) == 1


def test_it_abstains_when_values_of_that_kind_belong_to_something_else() -> None:
    question = "What imidization temperature was used for the polyimide in the BZY work?"
    assert extractive(question, hits(paragraph())).abstained


def test_it_answers_when_one_of_two_things_asked_is_reported() -> None:
    question = "What firing temperature and RF power were used for the BZY powder in air?"
    text = "The BZY powder was fired: the firing temperature was 900 °C in air."
    assert not extractive(question, hits(paragraph(text))).abstained


def test_it_abstains_without_citations_when_nothing_relevant_was_found() -> None:
    nothing = Answer(
        "Nothing relevant was retrieved.",
        abstained=True,
        citations=(),
        abstention=Abstention.NOTHING_RELEVANT,
        answerer=EXTRACTIVE,
    )
    assert extractive(QUESTION, []) == nothing
    assert extractive("Who won the football world cup in 1998?", hits(paragraph())) == nothing
    assert extractive("?", hits(paragraph())) == nothing
    assert extractive(QUESTION, hits(paragraph(""))) == nothing


def test_no_claim_of_an_extractive_answer_is_unsupported() -> None:
    text = (
        "As reported [2], BZY was fired at 900 °C for 5 h. It was milled (1:2) at 1014 rpm [1,3]."
    )
    answer = extractive(QUESTION, hits(paragraph(text)))
    assert len(claims.of(answer)) == len(answer.citations)
    assert all(claims.supported(claim, {}) for claim in claims.of(answer))


def test_equal_input_gives_an_equal_answer() -> None:
    pair = hits(paragraph(), passage("b:1", "BZY powder was fired at 800 °C for 2 h."))
    assert extractive(QUESTION, pair) == extractive(QUESTION, tuple(pair))


class Corpus:
    """A search over two passages of one paper, the second found only within the paper."""

    def __init__(self, first: Sequence[Passage], within: Sequence[Passage]) -> None:
        self.first, self.within = first, within
        self.asked: list[Query] = []

    async def search(self, query: Query) -> SearchResult:
        self.asked.append(query)
        found = self.within if query.filters.paper_ids else self.first
        return SearchResult(tuple(hits(*found)), "s", {}, ())


def test_the_rest_of_the_best_paper_is_read_too() -> None:
    intro = passage("a:0", "The BZY powder is of interest.")
    corpus = Corpus([intro], [intro, paragraph()])
    answer, result = asyncio.run(Answering(corpus.search).answer(Query(QUESTION, k=1)))
    assert "900 °C" in answer.text
    assert [hit.passage for hit in result.hits] == [intro]
    first, within = corpus.asked
    assert first == Query(QUESTION, k=1)
    assert within.filters == Filters(paper_ids=frozenset({"a"}))
    assert within.method is Method.BM25


def test_years_and_coverage_asked_for_hold_in_the_second_search() -> None:
    corpus = Corpus([paragraph()], [paragraph()])
    query = Query(QUESTION, filters=Filters(year_from=2001), min_coverage=0.5, timeout_ms=900)
    asyncio.run(Answering(corpus.search).answer(query))
    within = corpus.asked[1]
    assert within.filters == Filters(frozenset({"a"}), year_from=2001)
    assert within.min_coverage == 0.5
    assert within.timeout_ms <= 900


@pytest.mark.parametrize(
    "query",
    [
        Query(QUESTION, method=Method.RECIPE),
        Query(QUESTION, views=frozenset({View.RECIPE})),
    ],
)
def test_an_answer_from_recipes_alone_reads_no_paragraphs(query: Query) -> None:
    corpus = Corpus([paragraph()], [paragraph()])
    asyncio.run(Answering(corpus.search).answer(query))
    assert corpus.asked == [query]


def test_without_hits_there_is_no_second_search() -> None:
    corpus = Corpus([], [])
    answer, _ = asyncio.run(Answering(corpus.search).answer(Query(QUESTION)))
    assert answer.abstained
    assert len(corpus.asked) == 1


def test_an_error_of_the_search_is_the_answers() -> None:
    async def late(query: Query) -> SearchResult:
        raise DeadlineExceeded("timeout_ms = 1 passed")

    with pytest.raises(DeadlineExceeded):
        asyncio.run(Answering(late).answer(Query(QUESTION)))
