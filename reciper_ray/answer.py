"""Cited answers: the extractive one, and how a language model's falls back on it.

The extractive answer quotes the sentences of the evidence that answer a question. It abstains
where nothing relevant was found, where the best paper states no value of the kind asked for near
what was asked about, and where the evidence contradicts itself; it then shows the nearest
evidence, or both sides. Answers in new words are `reciper_ray.llm_answer`'s.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Protocol

from reciper_ray.conflict import conflict
from reciper_ray.errors import DeadlineExceeded, Overloaded, ReciperError
from reciper_ray.provenance import as_written
from reciper_ray.quotes import choose, gather, support
from reciper_ray.search import METHODS
from reciper_ray.text import squeeze
from reciper_ray.types import (
    Abstention,
    Answer,
    Citation,
    Hit,
    Method,
    Passage,
    Piece,
    Query,
    SearchResult,
    Span,
    View,
)

EXTRACTIVE = "extractive"

# So many passages of the best paper are read besides the hits.
PAPER_PASSAGES = 20

# Below this share of the question's words in the best paper, nothing relevant was found. No
# question of the development set is, and half of those about other subjects are.
MIN_RELEVANCE = 1 / 3
# A value counts as reported when the sentence that states it, or a neighbour, holds more than
# this share of the words that say which value is meant. Recall and precision of abstention stay
# the same from 0.02 to 0.08.
MIN_SUPPORT = 0.05

# Some words at a time: a message costs more than its text.
_PIECE = re.compile(r"\s*(?:\S+\s*){1,8}")

Search = Callable[[Query], Awaitable[SearchResult]]
Quote = Callable[[str, Sequence[Hit]], Awaitable[Answer]]


class Writer(Protocol):
    """Writes answers in words of its own, each from a question, all hits that were read, and the
    extractive answer, which is no abstention."""

    def write(
        self, question: str, hits: Sequence[Hit], extractive: Answer
    ) -> AsyncGenerator[Answer, None]:
        """The answer as it grows; each one's text begins with the text of the one before, and the
        last one is complete. Raises `ReciperError`, with a message that is the same for all
        failures of a kind.
        """
        ...


@dataclass(frozen=True, slots=True)
class Answering:
    """How questions are answered: by `search`; `quote` makes the extractive answer (here and now,
    unless given), and `writer`, if there is one, another from it, for which it has the time of a
    request but `reserve_s` seconds."""

    search: Search
    quote: Quote | None = None
    writer: Writer | None = None
    reserve_s: float = 0.0

    async def answer(self, query: Query) -> tuple[Answer, SearchResult]:
        """The complete answer, and the hits that `query` asks for. Raises as `stream` does."""
        async with aclosing(self.stream(query)) as pieces:
            async for piece in pieces:
                if not isinstance(piece, str):
                    return piece
        raise ReciperError("the answer ended before it was complete")

    async def stream(self, query: Query) -> AsyncGenerator[Piece, None]:
        """The answer to `query` as it is written, then as a whole with the hits it asks for. All
        pieces together are its text.

        What the hits leave out of the best paper is searched for as well, by words and within
        that paper, since only then can it be said that the paper does not report something. A
        writer that fails is replaced by the extractive answer. Raises what `search` raises,
        `Overloaded` if the writer's queue is full, and `DeadlineExceeded`.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + query.timeout_ms / 1000
        result, read = await self._read(query, end)
        answer = Answer("", False, ())
        async with aclosing(self._answers(query.text, read, end)) as answers:
            while longer := await _until(end, query, anext(answers, None)):
                for piece in _PIECE.findall(longer.text[len(answer.text) :]):
                    yield piece
                answer = longer
        yield answer, result

    async def _read(self, query: Query, end: float) -> tuple[SearchResult, list[Hit]]:
        result = await self.search(query)
        read = list(result.hits)
        if read and View.PARAGRAPH in (query.views or METHODS[query.method].views):
            best = frozenset({gather(query.text, read).best_paper})
            left = end - asyncio.get_running_loop().time()
            within = replace(
                query,
                method=Method.BM25,
                k=PAPER_PASSAGES,
                views=frozenset(),
                filters=replace(query.filters, paper_ids=best),
                timeout_ms=max(1, round(1000 * left)),
            )
            seen = {hit.passage.passage_id for hit in read}
            more = await self.search(within)
            read += [hit for hit in more.hits if hit.passage.passage_id not in seen]
        return result, read

    async def _answers(
        self, question: str, hits: Sequence[Hit], end: float
    ) -> AsyncGenerator[Answer, None]:
        quotes = await self.quote(question, hits) if self.quote else extractive(question, hits)
        if quotes.abstained or not self.writer:
            yield quotes
            return
        begun: Answer | None = None
        failure = "no answer written"
        try:
            async with aclosing(self.writer.write(question, hits, quotes)) as written:
                while True:
                    async with asyncio.timeout_at(end - self.reserve_s):
                        answer = await anext(written, None)
                    if answer is None:
                        break
                    begun = answer
                    yield answer
            if begun:
                return
        except Overloaded:
            raise
        except TimeoutError:
            failure = "timeout"
        except ReciperError as error:
            failure = str(error)
        yield fallen_back(begun, quotes, failure)


def extractive(question: str, hits: Sequence[Hit], max_sentences: int = 3) -> Answer:
    """At most `max_sentences` quotes from the support texts of `hits`, best first, that answer
    `question`; an abstention where they do not, with the nearest evidence if there is any.

    The same hits give the same answer. Linear in the length of the support texts.
    """
    evidence = gather(question, hits)
    if evidence.relevance < MIN_RELEVANCE:
        text = "Nothing relevant was retrieved."
        return Answer(text, True, (), Abstention.NOTHING_RELEVANT, EXTRACTIVE)
    kind: Abstention | None = None
    text = ""
    supports = support(evidence)
    if max(supports.values(), default=1.0) < MIN_SUPPORT:
        chosen = choose(evidence, 1)
        text = f"Not reported in the retrieved passages: {', '.join(supports)}. Nearest evidence:"
        kind = Abstention.NOT_REPORTED
    elif sides := conflict(question, evidence):
        chosen = [sides.one, sides.other]
        text = f"The evidence conflicts on the {sides.attribute.text}:"
        kind = Abstention.CONFLICT
    else:
        chosen = choose(evidence, max_sentences)
    begun = Answer(text, kind is not None, (), kind, EXTRACTIVE)
    citations = tuple(cite(n, s.passage, s.span) for n, s in enumerate(chosen, 1))
    return quoted(begun, Answer("", False, citations))


def quoted(answer: Answer, quotes: Answer, most: int | None = None) -> Answer:
    """`answer` with the first `most` (None: all) of the citations of `quotes` that it does not
    rest on already, quoted behind its text."""
    rested = {(c.passage_id, squeeze(c.quote)) for c in answer.citations}
    new = [c for c in quotes.citations if not any(_within(c, *place) for place in rested)]
    text, citations = [answer.text] if answer.text else [], list(answer.citations)
    for citation in new[:most]:
        number = len(citations) + 1
        citations.append(replace(citation, number=number))
        text.append(f"“{squeeze(citation.quote)}” [{number}]")
    return replace(answer, text=" ".join(text), citations=tuple(citations))


def nearest(quotes: Answer) -> Answer:
    """The abstention of who finds in the evidence of `quotes` no answer."""
    text = "Not reported in the retrieved passages. Nearest evidence:"
    return quoted(Answer(text, True, (), Abstention.NOT_REPORTED), quotes, most=1)


def fallen_back(begun: Answer | None, quotes: Answer, reason: str) -> Answer:
    """The answer `quotes` in a language model's place, behind what that got verified before it
    failed for `reason`."""
    if begun is None or not begun.text:
        return replace(quotes, fallback=reason, unsupported=begun.unsupported if begun else ())
    return replace(quoted(begun, quotes), fallback=reason)


def cite(number: int, passage: Passage, span: Span) -> Citation:
    """A citation of `span` of the passage's support text."""
    quote = passage.support[span.start : span.end]
    original = as_written(passage.support, passage.originals, span)
    return Citation(
        number=number,
        paper_id=passage.paper_id,
        passage_id=passage.passage_id,
        title=passage.title,
        quote=quote,
        span=_located(passage, span),
        original=original if original != quote else "",
        page=passage.page,
        last_page=passage.last_page,
    )


def _within(citation: Citation, passage_id: str, quote: str) -> bool:
    return citation.passage_id == passage_id and squeeze(citation.quote) in quote


async def _until(end: float, query: Query, work: Awaitable[Answer | None]) -> Answer | None:
    try:
        async with asyncio.timeout_at(end):
            return await work
    except TimeoutError:
        raise DeadlineExceeded(
            f"timeout_ms = {query.timeout_ms} passed before the reply was complete"
        ) from None


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
