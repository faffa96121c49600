"""The claims of a cited answer, and whether what they cite supports them.

A claim is a sentence of the answer with the citations that follow it. It is supported when each
of its quantities and formulas stands in a quote or passage that it cites. Whether the rest of its
wording says the same as the source is not judged.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from reciper_ray import formula, quantity
from reciper_ray.text import fold, sentences, squeeze
from reciper_ray.types import Answer, Citation

_MARK = re.compile(r"\[(\d{1,4}(?:\s?[,;]\s?\d{1,4})*)\]")
_QUOTE_MARKS = "“”\"' "


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer and what it cites; nothing if no citation follows it."""

    text: str
    citations: tuple[Citation, ...]


def of(answer: Answer) -> list[Claim]:
    """The claims of `answer`, in order.

    Sentences before a citation mark share the marks that follow the last of them. A mark inside a
    cited quote is the paper's own and cites nothing here; so is one whose number no citation has.
    """
    known = {citation.number: citation for citation in answer.citations}
    quoted = [
        (at, at + len(quote))
        for quote in (squeeze(citation.quote) for citation in answer.citations)
        if quote and (at := answer.text.find(quote)) >= 0
    ]
    claims: list[Claim] = []
    start = 0
    said: list[str] = []
    cited: list[Citation] = []
    for mark in _MARK.finditer(answer.text):
        numbers = [int(number) for number in re.findall(r"\d+", mark[1])]
        inside = any(a <= mark.start() < b for a, b in quoted)
        if inside or not all(number in known for number in numbers):
            continue
        between = answer.text[start : mark.start()]
        start = mark.end()
        if cited and between.strip(" .,;" + _QUOTE_MARKS):
            claims += [Claim(text, tuple(cited)) for text in said]
            said, cited = [], []
        said += _sentences(between)
        cited += [known[number] for number in numbers]
    claims += [Claim(text, tuple(cited)) for text in said]
    return claims + [Claim(text, ()) for text in _sentences(answer.text[start:])]


def supported(claim: Claim, passages: Mapping[str, str]) -> bool:
    """Whether each quantity and formula of `claim` stands in one of its citations' quotes, or in
    the support text that `passages` holds for the cited passage id."""
    texts = [c.quote for c in claim.citations]
    texts += [passages[c.passage_id] for c in claim.citations if c.passage_id in passages]
    if any(fold(claim.text) in fold(text) for text in texts):
        return True
    stated = [have for text in texts for have in quantity.find(text)]
    for wanted in quantity.find(claim.text):
        for part in wanted.stated():
            if not any(quantity.contains(have, part) for have in stated):
                return False
    named = {found.canonical for text in texts for _, found in formula.find(text)}
    return all(found.canonical in named for _, found in formula.find(claim.text))


def _sentences(text: str) -> list[str]:
    found = (text[span.start : span.end].strip(_QUOTE_MARKS) for span in sentences(text))
    return [sentence for sentence in found if sentence.strip(" .,;")]
