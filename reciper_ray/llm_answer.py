"""Answers in a language model's words, of which only what the evidence states gets through.

A sentence is let out when it has been verified against the passages that it cites; one that fails
is replaced by the next quote of the extractive answer that nothing written rests on yet, and the
answer says so. What is written is therefore never more than what was verified, at any moment.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from reciper_ray import answer_prompt
from reciper_ray.answer import cite, fallen_back, nearest, quoted
from reciper_ray.answer_prompt import Reader, Shown, Unit
from reciper_ray.config import AnswerConfig
from reciper_ray.errors import Unavailable
from reciper_ray.generation import StreamingGenerator
from reciper_ray.quotes import gather, states_what_is_asked
from reciper_ray.terms import tokens
from reciper_ray.types import Answer, Citation, Hit
from reciper_ray.verify import verify

NOTHING_STANDS = "nothing written stands in the evidence"
NOTHING_WRITTEN = "no answer written"
_SAME = 0.8


@dataclass(frozen=True, slots=True)
class LlmAnswerer:
    """Writes answers with a `StreamingGenerator`."""

    generator: StreamingGenerator
    config: AnswerConfig
    reasoning: bool = False

    async def write(
        self, question: str, hits: Sequence[Hit], extractive: Answer
    ) -> AsyncGenerator[Answer, None]:
        """An answer as it grows, each longer than the one before, the last one complete; then an
        abstention if the model says that the detail is not reported.

        `extractive` is the answer by quotes. Raises `Overloaded` and `Unavailable` as the
        generator does, and `Unavailable` if no evidence fits the context.
        """
        config = self.config
        shown = answer_prompt.show(
            question,
            gather(question, hits),
            hits,
            room=self.generator.room,
            count=self.generator.count,
            most=config.passages,
            most_sentences=config.sentences,
            constrain=config.constrain and config.backend == "vllm",
        )
        if shown is None:
            raise Unavailable("evidence longer than the context")
        draft = _Draft(question, shown, extractive, config.sentences, self.generator.name)
        reader = Reader(self.reasoning)
        # Leaving the stream makes the generator stop writing.
        async with aclosing(self._units(reader, shown)) as units:
            async for unit in units:
                for answer in draft.read(unit):
                    yield answer
                if draft.full:
                    break
        yield draft.whole(declined=reader.declined)

    async def _units(self, reader: Reader, shown: Shown) -> AsyncGenerator[Unit, None]:
        async with aclosing(self.generator.stream(shown.prompt)) as pieces:
            async for piece in pieces:
                for unit in reader.feed(piece):
                    yield unit
        for unit in reader.finish():
            yield unit


class _Draft:
    """What has been verified so far."""

    def __init__(
        self, question: str, shown: Shown, extractive: Answer, most: int, answerer: str
    ) -> None:
        self._question, self._passages, self._most = question, shown.passages, most
        self._extractive, self._answerer = extractive, answerer
        self._answer = Answer("", False, (), answerer=answerer)
        self._written = 0
        self._said: list[frozenset[str]] = []
        self._sentences = 0

    @property
    def full(self) -> bool:
        return self._sentences >= self._most

    def read(self, unit: Unit) -> list[Answer]:
        """The answer after each sentence of `unit` that changes its text."""
        known = [n for n in unit.numbers if 1 <= n <= len(self._passages)]
        cited = [self._passages[number - 1] for number in known]
        grown: list[Answer] = []
        for sentence in unit.sentences[: self._most - self._sentences]:
            self._sentences += 1
            words = frozenset(tokens(sentence))
            found = verify(sentence, cited, self._question)
            if any(len(words & said) > _SAME * len(words | said) for said in self._said):
                found = "said before"
            self._said.append(words)
            before = self._answer.text
            if isinstance(found, str):
                self._answer = replace(self._answer, unsupported=(*self._answer.unsupported, found))
                self._answer = quoted(self._answer, self._extractive, most=1)
            else:
                self._written += 1
                self._say(sentence, [cite(0, q.passage, q.span) for q in found])
            if self._answer.text != before:
                grown.append(self._answer)
        return grown

    def whole(self, declined: bool) -> Answer:
        """The complete answer: the quotes alone where nothing written got through."""
        if self._written:
            # Words that are true may still be beside the point.
            answer = self._answer
            for _ in self._extractive.citations:
                if states_what_is_asked(self._question, answer.text):
                    break
                answer = quoted(answer, self._extractive, most=1)
            return answer
        if declined and not self._answer.text:
            return replace(nearest(self._extractive), answerer=self._answerer)
        reason = NOTHING_STANDS if self._answer.unsupported else NOTHING_WRITTEN
        return fallen_back(self._answer, self._extractive, reason)

    def _say(self, sentence: str, citations: Sequence[Citation]) -> None:
        known = list(self._answer.citations)
        numbers: list[int] = []
        for citation in citations:
            same = (c.number for c in known if (c.passage_id, c.quote) == _place(citation))
            number = next(same, len(known) + 1)
            if number > len(known):
                known.append(replace(citation, number=number))
            numbers.append(number)
        marks = "".join(f"[{number}]" for number in dict.fromkeys(numbers))
        self._answer = replace(
            self._answer,
            text=f"{self._answer.text} {sentence} {marks}".strip(),
            citations=tuple(known),
        )


def _place(citation: Citation) -> tuple[str, str]:
    return citation.passage_id, citation.quote
