"""The extractive answer: the sentences of the evidence that answer a question, quoted and cited.

Where the best paper states no value of the kind asked for near what was asked about, the answer
abstains and shows the nearest evidence instead. Every sentence is a quote; answers in new words
are not written here.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from reciper_ray.provenance import as_written
from reciper_ray.quotes import Sentence, choose, gather, support
from reciper_ray.search import METHODS
from reciper_ray.text import squeeze
from reciper_ray.types import (
    Answer,
    Citation,
    Hit,
    Method,
    Passage,
    Query,
    SearchResult,
    Span,
    View,
)

# So many passages of the best paper are read besides the hits.
PAPER_PASSAGES = 20

# Below this share of the question's words in the best paper, nothing relevant was found. No
# question of the development set is, and half of those about other subjects are.
MIN_RELEVANCE = 1 / 3
# A value counts as reported when the sentence that states it, or a neighbour, holds more than
# this share of the words that say which value is meant. Recall and precision of abstention stay
# the same from 0.02 to 0.08.
MIN_SUPPORT = 0.05


async def answer(
    query: Query,
    search: Callable[[Query], Awaitable[SearchResult]],
    write: Callable[[str, Sequence[Hit]], Awaitable[Answer]] | None = None,
) -> tuple[Answer, SearchResult]:
    """The extractive answer to `query`, and the hits it asks for.

    `write` makes the answer from the question and all hits that were read; without it
    `extractive` does, here and now.

    What the hits leave out of the best paper is searched for as well, by words and within that
    paper, since only then can it be said that the paper does not report something. Raises what
    `search` raises.
    """
    started = time.monotonic()
    result = await search(query)
    read = list(result.hits)
    if read and View.PARAGRAPH in (query.views or METHODS[query.method].views):
        best = frozenset({gather(query.text, read).best_paper})
        passed = round(1000 * (time.monotonic() - started))
        within = replace(
            query,
            method=Method.BM25,
            k=PAPER_PASSAGES,
            views=frozenset(),
            filters=replace(query.filters, paper_ids=best),
            timeout_ms=max(1, query.timeout_ms - passed),
        )
        seen = {hit.passage.passage_id for hit in read}
        more = await search(within)
        read += [hit for hit in more.hits if hit.passage.passage_id not in seen]
    written = await write(query.text, read) if write else extractive(query.text, read)
    return written, result


def extractive(question: str, hits: Sequence[Hit], max_sentences: int = 3) -> Answer:
    """At most `max_sentences` quotes from the support texts of `hits`, best first, that answer
    `question`; an abstention where they do not, with the nearest evidence if there is any.

    The same hits give the same answer. Linear in the length of the support texts.
    """
    evidence = gather(question, hits)
    if evidence.relevance < MIN_RELEVANCE:
        return Answer("Nothing relevant was retrieved.", abstained=True, citations=())
    supports = support(evidence)
    missing = max(supports.values(), default=1.0) < MIN_SUPPORT
    chosen = choose(evidence, 1 if missing else max_sentences)
    citations = tuple(_citation(number, sentence) for number, sentence in enumerate(chosen, 1))
    text = " ".join(f"“{squeeze(c.quote)}” [{c.number}]" for c in citations)
    if missing:
        names = ", ".join(supports)
        text = f"Not reported in the retrieved passages: {names}. Nearest evidence: {text}"
    return Answer(text, abstained=missing, citations=citations)


def _citation(number: int, sentence: Sentence) -> Citation:
    passage = sentence.passage
    original = as_written(passage.support, passage.originals, sentence.span)
    return Citation(
        number=number,
        paper_id=passage.paper_id,
        passage_id=passage.passage_id,
        title=passage.title,
        quote=sentence.text,
        span=_located(passage, sentence.span),
        original=original if original != sentence.text else "",
        page=passage.page,
        last_page=passage.last_page,
    )


def _located(passage: Passage, span: Span) -> Span | None:
    """Where `span` of the support text stands in the paper's text, None if that is not known.

    The support text is the passage's spans joined by one character; a quote across several of
    them reaches from the first to the last.
    """
    at = 0
    starts: list[int] = []
    ends: list[int] = []
    for source in passage.spans:
        length = source.end - source.start
        if span.start < at + length and span.end > at:
            starts.append(source.start + max(span.start - at, 0))
            ends.append(source.start + min(span.end - at, length))
        at += length + 1
    if at != len(passage.support) + 1:
        return None
    return Span(min(starts), max(ends)) if starts else None
