"""Whether words, formulas and numbers of a text stand in sentences, whatever their typography."""

import re
from collections.abc import Sequence

from reciper_ray import formula, quantity
from reciper_ray.recipe.source import Sentence
from reciper_ray.recipe.words import stems
from reciper_ray.text import contains
from reciper_ray.types import Span

_LITTLE = stems(
    "an the of for with and or to at in on by as from into was were is are be then after before"
    " under using via per each all its"
)
_METHOD = stems("method route process technique synthesis approach based procedure processing")
_PARTS = re.compile(r"\s*[,;/+()]\s*|\s+(?:and|then|with|on|by|from|plus|via|followed by)\s+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def standing(item: str, text: Sequence[Sentence]) -> str:
    """`item` if every word, formula, quantity and number of it stands in `text`; its formulas
    alone if these do and only words are missing; else ""."""
    words = item
    formulas = formula.find(item)
    if not {f.canonical for _, f in formulas} <= {name for s in text for name in s.formulas}:
        return ""
    quantities = quantity.find(item)
    have = [v.quantity for s in text for v in s.values if v.quantity]
    for q in quantities:
        if not all(any(quantity.contains(other, part) for other in have) for part in q.stated()):
            return ""
    for span in [*(span for span, _ in formulas), *(q.span for q in quantities)]:
        words = _blanked(words, span)
    if not all(any(contains(n, s.text) for s in text) for n in _NUMBER.findall(words)):
        return ""
    if stems(words) - _LITTLE <= {word for s in text for word in s.stems}:
        if stems(words) - _LITTLE or formulas or quantities:
            return item
        alone = re.compile(rf"(?<!\w){re.escape(item)}(?!\w)") if item.strip() else None
        return item if alone and any(alone.search(s.text) for s in text) else ""
    return ", ".join(item[span.start : span.end] for span, _ in formulas)


def named(item: str, text: Sequence[Sentence]) -> str:
    """What of a name stands in `text`, each part of it in one sentence: the whole, or the parts
    between commas, brackets and conjunctions. "" if one of its formulas stands nowhere."""
    for sentence in text:
        if standing(item, [sentence]) == item:
            return item
    formulas = {f.canonical for _, f in formula.find(item)}
    if not formulas <= {name for sentence in text for name in sentence.formulas}:
        return ""
    found = []
    for part in _PARTS.split(item):
        stated = (standing(part, [sentence]) for sentence in text)
        best = max(stated, key=len, default="")
        f = formula.parse(best)
        if not (f and len(f.elements) < 2):
            found.append(best)
    return ", ".join(dict.fromkeys(filter(None, found)))


def method(item: str, text: Sequence[Sentence]) -> str:
    """What of a method's name stands in `text`; words like `route` need not."""
    found = []
    for part in _PARTS.split(item):
        words = stems(part) - _LITTLE - _METHOD
        if words and any(words <= sentence.stems for sentence in text):
            found.append(part)
    return item if found == _PARTS.split(item) else ", ".join(dict.fromkeys(found))


def _blanked(text: str, span: Span) -> str:
    return text[: span.start] + " " * (span.end - span.start) + text[span.end :]
