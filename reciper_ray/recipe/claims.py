"""What a draft step claims, one value at a time, and where a sentence states the same."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from reciper_ray import quantity, units
from reciper_ray.quantity import Quantity
from reciper_ray.recipe.conditions import Field
from reciper_ray.recipe.draft import DraftStep
from reciper_ray.recipe.source import Sentence, Value
from reciper_ray.text import fold

_BARE = re.compile(r"[~∼≈]?\s?(\d+(?:\.\d+)?)")
_UNITS = {Field.TEMPERATURE: ("°C", "K"), Field.TIME: ("h", "min", "s", "days")}
# Words that describe an atmosphere without telling which one it is.
_LOOSE = re.compile(
    r"\b(?:atmospheres?|gas(?:es)?|flow(?:ing)?|an?|the|in|under|with|mixture|mixed|of|carrier"
    r"|environment|ambient(?= air)|solution|and|or|balance)\b"
)
_NAMES = {
    "argon": "ar", "nitrogen": "n2", "oxygen": "o2", "hydrogen": "h2", "helium": "he",
    "methane": "ch4", "ammonia": "nh3", "vacuo": "vacuum",
}  # fmt: skip
_WORD = re.compile(r"[a-z0-9]+(?:\.[0-9]+)?")
_PARTS = re.compile(r"(?:^|;)\s*(?=\S)")


@dataclass(frozen=True, slots=True)
class Claim:
    """`text` of field `name`: a `quantity`, one of several `readings` of a number without unit,
    or words. `field` is None for other conditions."""

    name: str
    field: Field | None
    text: str
    quantity: Quantity | None = None
    readings: tuple[Quantity, ...] = ()

    def find(self, sentence: Sentence) -> list[Value]:
        """The values of `sentence` that say the same."""
        if self.quantity or self.readings:
            wanted = self.readings or ((self.quantity,) if self.quantity else ())
            return [
                value
                for value in sentence.values
                if value.quantity and any(_same(value.quantity, q) for q in wanted)
            ]
        if self.field is Field.ATMOSPHERE and (found := self._atmospheres(sentence)):
            return found
        return list(_literal(self.text, self.field, sentence))

    def _atmospheres(self, sentence: Sentence) -> list[Value]:
        """Atmospheres that name everything this one names; its shares and pressures may stand
        anywhere in the sentence."""
        text = self.text
        for q in reversed(quantity.find(text)):
            if not any(v.quantity and _same(v.quantity, q) for v in sentence.values):
                return []
            text = text[: q.span.start] + " " + text[q.span.end :]
        names = _atmosphere(text)
        return [
            value
            for value in sentence.values
            if value.field is self.field and names and names <= _atmosphere(value.text)
        ]


def claims(step: DraftStep) -> list[Claim]:
    """The claims of a step, each once.

    A quantity counts for the field of its dimension, whichever field it was written in.
    """
    found: dict[Claim, None] = {}
    for field, text in ((Field.TEMPERATURE, step.temperature), (Field.TIME, step.time)):
        for claim in _of_field(field, text):
            found.setdefault(claim)
    for part in step.atmosphere.split(";"):
        if part.strip():
            found.setdefault(Claim("atmosphere", Field.ATMOSPHERE, part.strip()))
    for text in step.conditions:
        quantities = quantity.find(text)
        for q in quantities:
            found.setdefault(_claim(q, text, "conditions"))
        if not quantities:
            found.setdefault(Claim("conditions", None, text))
    return list(found)


def _of_field(field: Field, text: str) -> Iterator[Claim]:
    if not text:
        return
    quantities = quantity.find(text)
    for q in quantities:
        yield _claim(q, text, field.value)
    if quantities:
        return
    if bare := _BARE.fullmatch(text):
        readings = (q for unit in _UNITS[field] for q in quantity.find(f"{bare[1]} {unit}"))
        yield Claim(field.value, field, text, readings=tuple(readings))
    else:
        yield Claim(field.value, field, text)


def _claim(q: Quantity, text: str, name: str) -> Claim:
    field = None
    if q.unit.si == units.KELVIN.si:
        field = Field.TEMPERATURE
    elif q.unit.si == units.SECOND.si:
        field = Field.TIME
    whole = text if field is None and name == "conditions" else text[q.span.start : q.span.end]
    return Claim(field.value if field and name != "conditions" else name, field, whole, q)


def _same(stated: Quantity, wanted: Quantity) -> bool:
    """Whether `stated` says what `wanted` says: all of a range, or some of a list."""
    if stated.is_range or wanted.is_range:
        return stated.is_range == wanted.is_range and quantity.equal(stated, wanted)
    return quantity.contains(stated, wanted)


def _atmosphere(text: str) -> frozenset[str]:
    words = _WORD.findall(_LOOSE.sub(" ", fold(text)))
    return frozenset(_NAMES.get(word, word) for word in words)


def _literal(text: str, field: Field | None, sentence: Sentence) -> Iterator[Value]:
    """Where `text` stands word for word."""
    pattern = r"[\s-]+".join(re.escape(word) for word in re.split(r"[\s-]+", text.strip()) if word)
    if not pattern:
        return
    for match in re.finditer(rf"(?<![\w.]){pattern}(?![\w]|\.\d)", sentence.text, re.IGNORECASE):
        if not sentence.denies(match.start()):
            yield Value(field, match[0], match.start(), match.end())
