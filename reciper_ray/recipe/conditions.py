"""The conditions that a sentence states: temperatures, durations and atmospheres, as written."""

import re
from dataclasses import dataclass
from enum import StrEnum

from reciper_ray import quantity, units


class Field(StrEnum):
    """Which field of a step a condition fills."""

    TEMPERATURE = "temperature"
    TIME = "time"
    ATMOSPHERE = "atmosphere"


@dataclass(frozen=True, slots=True)
class Condition:
    """`text`, a condition of kind `field`, at `start:end` of a sentence."""

    field: Field
    text: str
    start: int
    end: int


_SHORTEST = 0.5  # seconds; less is a pulse, not a step's duration
_COOLED = re.compile(r"(?:cool\w*|down|quench\w*|back)\s+(?:\w+\s+){0,2}(?:to|until|till)\s+(?:\w+\s+)?$")

_MANNER = (
    r"(?:dry|wet|humid|humidified|moist|pure|high[- ]purity|ultra[- ]?(?:high|pure)|flowing|static"
    r"|stagnant|ambient|synthetic|laboratory|lab|still|compressed|open|inert|oxidi[sz]ing|reducing"
    r"|protective|slight|low|high|dynamic|controlled|reduced|normal|gaseous|filtered|dilute[d]?)"
)
_SHARE = r"(?:[0-9][0-9.,]*\s?(?:vol\.?|mol\.?|at\.?)?\s?%\s?(?:of\s)?)"
_GAS = (
    r"(?:air|argon|nitrogen|oxygen|hydrogen|helium|methane|ammonia|steam|vacuum|vacuo|forming gas"
    r"|(?:inert|noble|protective|reducing) gas|water vapou?r|carbon (?:di|mon)oxide"
    r"|(?:Ar|N[2₂]|O[2₂]|H[2₂]|He|CO[2₂]|CO|NH[3₃]|CH[4₄]|Cl[2₂]|H[2₂]S|SF[6₆]|CF[4₄]|NO|H[2₂]O)(?![A-Za-z0-9₀-₉]))"
)
_MIX = rf"{_SHARE}?{_GAS}(?:\s?(?:[/+:–-]|and|in|with)\s?{_SHARE}?{_GAS})*"
_KIND = (
    r"(?:atmospheres?|gas(?:\s+(?:flow|stream|atmosphere|mixture))?|flow|environments?|ambient|ambience|stream"
    r"|conditions?|glove\s?box|mixture|carrier gas|pressure)"
)
_DETAIL = r"(?:\s?\([^()]{1,30}\))?"
_AFTER = (
    r"(?=\s(?:at|for|and|to|with|followed|prior|before|after|until|using|over|from|on|during|by|in|or"
    r"|as|then|inside|of|[0-9])\b|\s?[,.;:()\]–-]|$)"
)
_ATMOSPHERE = re.compile(
    rf"\b(?:in|under|with|into|by)\s(?:an?\s|the\s|flowing\s)?(?P<in>(?:{_MANNER}[\s-])*{_MIX}{_DETAIL}(?:\s{_KIND}|{_AFTER}))"
    rf"|\b(?P<named>(?:{_MANNER}[\s-])*{_MIX}[\s-]{_KIND})\b"
    rf"|\b(?P<manner>(?:inert|reducing|oxidi[sz]ing|protective|ambient|normal|controlled)\s(?:atmosphere|pressure))\b"
    rf"|\batmosphere\sof\s(?P<of>{_MIX})"
    rf"|\b(?P<vacuum>(?:(?:ultra[- ]?)?high[- ]|low[- ]|slight\s)?vacuum)(?=[\s-](?:dr|furnace|oven|chamber|induction|arc|hot|tube|seal|anneal|sinter|degas|filtr|of|level|\())"
    rf"|\b(?P<filled>{_GAS})(?=[- ]filled|[- ]purged|[- ]saturated|[- ]protected|[- ]shield|[- ]furnace)"
    rf"|\b(?:purged|flushed|filled|backfilled|bubbled|degassed|protected)\s(?:with|by)\s(?:\w+\s){{0,2}}?(?P<purged>{_MIX})",
)


def find(sentence: str) -> list[Condition]:
    """The conditions of `sentence` by place."""
    found = []
    for q in quantity.find(sentence):
        if q.unit.si == units.KELVIN.si:
            field = Field.TEMPERATURE
            if q.word and _COOLED.search(sentence, max(0, q.span.start - 40), q.span.start):
                continue
        elif q.unit.si == units.SECOND.si and (q.word or min(q.values) >= _SHORTEST):
            field = Field.TIME
        else:
            continue
        text = sentence[q.span.start : q.span.end]
        found.append(Condition(field, text, q.span.start, q.span.end))
    for match in _ATMOSPHERE.finditer(sentence):
        name = match.lastgroup or ""
        start, end = match.span(name)
        found.append(Condition(Field.ATMOSPHERE, sentence[start:end].strip(), start, end))
    found.sort(key=lambda condition: condition.start)
    return found
