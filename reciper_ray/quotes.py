"""The sentences of retrieved passages, weighed against a question.

A sentence scores by how much of the question it covers, whether it states the kinds of value that
are asked for, and where it was found. What is made of the best ones is `reciper_ray.answer`.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from reciper_ray import quantity
from reciper_ray.asked import Attribute, attributes
from reciper_ray.quantity import Quantity
from reciper_ray.terms import tokens
from reciper_ray.text import sentences, squeeze
from reciper_ray.types import Hit, Passage, Span, View

# Words in the sentence before or after count less than words beside the value.
NEIGHBOUR = 0.7

# A logistic regression on which sentences hold the answers of 292 questions, rounded.
WEIGHTS = {
    "covered": 5.0,
    "asked": 0.85,
    "stated": 1.55,
    "values": 1.15,
    "best_paper": 1.5,
    "rank": 0.9,
    "fragment": -1.1,
}
# What a further sentence gains for covering new words, for a kind of value not stated yet, and for
# standing beside a sentence already chosen.
NEW_WORDS = 2.0
NEW_KIND = 1.0
ADJACENT = 0.6

_FRAGMENT_CHARS = 50
_MANY_VALUES = 4
_SAME = 0.8


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence at `span` of a passage's support text: its words, those of its neighbours, how
    many values it states that the question does not give, and which kinds asked for they are.

    `rank` is its passage's among the hits, `number` its own within the passage.
    """

    passage: Passage
    span: Span
    rank: int
    number: int
    text: str
    terms: frozenset[str]
    near: frozenset[str]
    values: int
    states: frozenset[str]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A question (its terms with their weights, and what it asks for) and the `sentences` that
    were retrieved for it. `best_paper` holds the share `relevance` of the question's words, the
    most of all; `titles` are the terms of every paper's title."""

    weights: Mapping[str, float]
    attributes: tuple[Attribute, ...]
    sentences: tuple[Sentence, ...]
    best_paper: str
    relevance: float
    titles: Mapping[str, frozenset[str]]

    def share(self, terms: Iterable[str]) -> float:
        """The weight of `terms` as a share of the question's."""
        total = sum(self.weights.values())
        return sum(self.weights.get(t, 0.0) for t in sorted(terms)) / total if total else 0.0


def gather(question: str, hits: Sequence[Hit]) -> Evidence:
    """The evidence that `hits` hold. A word weighs more the fewer of the sentences hold it.

    For relevance words count alike: where the sentences are few and all to the point, the words
    that they share would weigh next to nothing. It is 0 without any hit.
    """
    asked = attributes(question)
    words = dict.fromkeys(tokens(question))
    pool = tuple(_pool(hits, asked, quantity.find(question)))
    holding = Counter(term for sentence in pool for term in sentence.terms)
    titles = {hit.passage.paper_id: frozenset(tokens(hit.passage.title)) for hit in hits}
    held = {paper: set(title & words.keys()) for paper, title in titles.items()}
    for sentence in pool:
        held[sentence.passage.paper_id] |= sentence.terms & words.keys()
    # Of papers that hold equally much, max takes the first, which has the best hit.
    best = max(held, key=lambda paper: len(held[paper]), default="")
    return Evidence(
        weights={t: math.log(1 + (len(pool) + 1) / (holding[t] + 0.5)) for t in words},
        attributes=asked,
        sentences=pool,
        best_paper=best,
        relevance=len(held.get(best, ())) / max(len(words), 1),
        titles=titles,
    )


def support(evidence: Evidence) -> dict[str, float]:
    """How well the best paper supports each attribute that has a kind, 0..1.

    The support of an attribute is the best, over the sentences that state a value of its kind, of
    the share of its words (of the question's other words, if it has none) that stand there; 0
    where no sentence states one.
    """
    paper = [s for s in evidence.sentences if s.passage.paper_id == evidence.best_paper]
    named = {t for a in evidence.attributes if a.kind for t in tokens(a.text)}
    title = evidence.titles.get(evidence.best_paper, frozenset())
    others = frozenset(evidence.weights) - title - named
    return {
        a.text: max(
            (_held(evidence, a.terms or others, s) for s in paper if a.kind.name in s.states),
            default=0.0,
        )
        for a in evidence.attributes
        if a.kind
    }


def features(evidence: Evidence, sentence: Sentence) -> dict[str, float]:
    """What the score of a sentence is made of, each 0..1 and named as its weight."""
    paper = sentence.passage.paper_id
    kinds = {a.kind.name for a in evidence.attributes if a.kind}
    wanted = {t for attribute in evidence.attributes for t in attribute.terms}
    held = sentence.terms & evidence.weights.keys()
    return {
        # Title words say which paper, not which sentence.
        "covered": evidence.share(held - evidence.titles[paper]),
        "asked": len(wanted & sentence.terms) / len(wanted) if wanted else 0.0,
        "stated": len(sentence.states) / len(kinds) if kinds else 0.0,
        "values": min(sentence.values, _MANY_VALUES) / _MANY_VALUES,
        "best_paper": float(paper == evidence.best_paper),
        "rank": 1 / sentence.rank,
        "fragment": float(len(sentence.text) < _FRAGMENT_CHARS),
    }


def choose(evidence: Evidence, most: int) -> list[Sentence]:
    """The best sentence, then up to `most` in all, those that add most to the ones chosen."""
    left = [(_worth(evidence, s), s) for s in evidence.sentences]
    chosen: list[Sentence] = []
    covered: frozenset[str] = frozenset()
    stated: frozenset[str] = frozenset()
    while left and len(chosen) < most:
        best, best_gain = left[0][1], -math.inf
        for score, sentence in left:
            gain = score + NEW_KIND * len(sentence.states - stated)
            words = (sentence.terms & evidence.weights.keys()) - covered
            gain += NEW_WORDS * evidence.share(words)
            gain += ADJACENT * any(_adjacent(sentence, other) for other in chosen)
            if gain > best_gain:
                best, best_gain = sentence, gain
        chosen.append(best)
        covered |= best.terms
        stated |= best.states
        left = [item for item in left if not _alike(item[1], best)]
    return chosen


def states_what_is_asked(question: str, text: str) -> bool:
    """Whether `text` states a value of each kind that `question` asks for, not one it gives."""
    given = quantity.find(question)
    stated = quantity.find(text)
    new = [q for q in stated if not any(quantity.contains(g, q) for g in given)]
    return all(a.kind.states(text, new) for a in attributes(question) if a.kind)


def worths(evidence: Evidence) -> dict[tuple[str, str], float]:
    """How well each sentence answers, by its paper and its text on one line."""
    return {(s.passage.paper_id, squeeze(s.text)): _worth(evidence, s) for s in evidence.sentences}


def passages_by_worth(worth: Mapping[tuple[str, str], float], hits: Sequence[Hit]) -> list[Passage]:
    """The passages of `hits` by their best sentence, `worth` as `worths` has it, then by rank.

    A sentence of several passages of a paper counts for each of them.
    """

    def best(passage: Passage) -> float:
        texts = (passage.support[s.start : s.end] for s, _, _ in _parsed(passage.support))
        found = (worth.get((passage.paper_id, squeeze(text))) for text in texts)
        return max((value for value in found if value is not None), default=-math.inf)

    return sorted((hit.passage for hit in hits), key=lambda passage: -best(passage))


def _worth(evidence: Evidence, sentence: Sentence) -> float:
    return sum(WEIGHTS[name] * value for name, value in features(evidence, sentence).items())


def _pool(
    hits: Sequence[Hit], asked: Iterable[Attribute], given: Sequence[Quantity]
) -> list[Sentence]:
    """All sentences, each once a paper. Paragraphs go first: there a sentence has neighbours."""
    kinds = {a.kind.name: a.kind for a in asked if a.kind}
    ranked = sorted(enumerate(hits, 1), key=lambda item: item[1].passage.view is View.RECIPE)
    found: dict[tuple[str, str], Sentence] = {}
    for rank, hit in ranked:
        passage = hit.passage
        parsed = _parsed(passage.support)
        for n, (span, terms, quantities) in enumerate(parsed):
            text = passage.support[span.start : span.end]
            key = passage.paper_id, squeeze(text)
            if key in found:
                continue
            new = [q for q in quantities if not any(quantity.contains(g, q) for g in given)]
            around = (t for _, t, _ in parsed[max(n - 1, 0) : n + 2])
            found[key] = Sentence(
                passage=passage,
                span=span,
                rank=rank,
                number=n,
                text=text,
                terms=terms,
                near=frozenset().union(*around) - terms,
                values=len(new),
                states=frozenset(name for name, kind in kinds.items() if kind.states(text, new)),
            )
    return list(found.values())


@lru_cache(maxsize=4096)
def _parsed(text: str) -> list[tuple[Span, frozenset[str], list[Quantity]]]:
    """The sentences of a support text with their terms and quantities."""
    stated = quantity.find(text)
    return [
        (
            span,
            frozenset(tokens(text[span.start : span.end])),
            [q for q in stated if span.start <= q.span.start < span.end],
        )
        for span in sentences(text)
    ]


def _held(evidence: Evidence, words: Iterable[str], sentence: Sentence) -> float:
    """The weighted share of `words` in a sentence and its neighbours; 1 if there are none."""
    total = inside = around = 0.0
    for word in sorted(words):
        weight = evidence.weights.get(word, 0.0)
        total += weight
        inside += weight * (word in sentence.terms)
        around += weight * (word in sentence.near)
    return (inside + NEIGHBOUR * around) / total if total else 1.0


def _adjacent(a: Sentence, b: Sentence) -> bool:
    return a.passage is b.passage and abs(a.number - b.number) == 1


def _alike(a: Sentence, b: Sentence) -> bool:
    """Whether two sentences say the same: copies of a paper, an abstract and a conclusion."""
    return a is b or len(a.terms & b.terms) > _SAME * len(a.terms | b.terms)
