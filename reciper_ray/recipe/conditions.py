"""The conditions that a sentence states: temperatures, durations and atmospheres, as written.

An atmosphere is what surrounds the work: a gas, a vacuum, or the liquid it is milled, etched or
quenched in.
"""

import re
from collections.abc import Iterator
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
    """`text`, a condition of kind `field`, at `start:end` of a sentence.

    A `loose` one (a gas that is merely mentioned) is a condition only where another stands.
    """

    field: Field
    text: str
    start: int
    end: int
    loose: bool = False


_SHORTEST = 0.5  # seconds; less is a pulse, not a step's duration
_COOLED = re.compile(
    r"(?:\bcool\w*|\bdown|\bquench\w*|\bback)\s(?:\w+\s){0,3}(?:to|until|till)\s(?:\w+\s)?$"
)
_LEVELS = re.compile(r"\b(?:low|elevated|high) temperatures?\b(?!\s\w+\s(?:cell|fuel))")

_MANNER = (
    r"(?:(?:dry|wet|humidified|humid|moist|pure|high[- ]purity|ultra[- ]?high(?:[- ]purity)?"
    r"|flowing|static|stagnant|ambient|synthetic|laboratory|lab|still|compressed|open|slight|low"
    r"|high|hard|dynamic|controlled|reduced|normal|gaseous|filtered|diluted?|industrial|extra"
    r"|natural|free)[\s-])"
)
_SHARE = r"(?:[0-9][0-9.,]*\s?(?:vol\.?|mol\.?|at\.?)?\s?%\s?(?:of\s)?)"
_PRESSURE = (
    r"(?:[<≤~∼]?\s?[0-9][0-9.,×x\s–−-]{0,16}(?:m|k|M|µ|h)?"
    r"(?:Torr|torr|Pa|bar|atm|sccm|mL/min)\s(?:of\s)?)"
)
_END = r"(?![A-Za-z0-9₀-₉])"
_GAS = (
    r"(?:(?i:air|argon|nitrogen|oxygen|hydrogen|helium|methane|ammonia|acetylene|chlorine|steam"
    r"|vacuum|vacuo|forming gas|(?:inert|noble|protective|reducing) gas|water vapou?r"
    r"|carbon (?:di|mon)oxide)(?![A-Za-z])"
    r"|(?:Ar|N[2₂]|O[2₂]|H[2₂]|He|Kr|Xe|CO[2₂]|CO|NH[3₃]|CH[4₄]|C2H2|C2H4|Cl[2₂]|H[2₂]S|SF[6₆]"
    rf"|CF[4₄]|CHF3|HCl|NO|N2O|18O2){_END})"
)
_ONE = rf"{_PRESSURE}?{_SHARE}?{_GAS}"
_MIX = rf"{_ONE}(?:\s?(?:[/+:–-]|\bin\b|\bwith\b|\band\b|plus)\s?{_ONE}){{0,4}}"
_DETAIL = r"(?:\s?\((?=[^()]{0,30}(?:%|Pa|bar|[Tt]orr|ppm|[0-9]:[0-9]))[^()]{1,30}\))?"
_PART = r"(?:\s(?:mixture|carrier gas|pressure|plasma))"
_KIND = (
    r"(?:atmospheres?|gas(?:es)?(?:\s(?:flow|stream|atmosphere))?|flow|environments?|ambient"
    r"|ambience|stream|conditions?|glove\s?box)"
)
_NO_GAS_AFTER = r"(?![\s-](?:reduc|oxid|evol|electrode|side|stor|product|adsor|permea|bubbl))"
_STATED = re.compile(
    rf"\b(?:in|under|with|into|by|using)\s(?:an?\s|the\s)?"
    rf"(?P<in>{_MANNER}{{0,4}}{_MIX}{_END}{_PART}?{_DETAIL}){_NO_GAS_AFTER}"
    rf"|\b(?P<named>{_MANNER}{{0,4}}{_MIX}(?:{_PART}|(?=[\s-]{_KIND}))){_END}"
    r"|\b(?P<manner>"
    r"(?:inert|reducing|oxidi[sz]ing|protective|ambient|normal|controlled)\s(?:gas\s)?atmosphere"
    rf"(?:\sof\s{_MIX})?"
    r"|(?:reduced|atmospheric|ambient|standard|normal)\spressure)\b"
    rf"|\batmosphere\sof\s(?P<of>{_MIX})"
    rf"|\b(?P<vacuum>{_MANNER}{{0,4}}[Vv]acuum)(?=[\s-](?:dr|oven|chamber|induction|arc|hot|tube|box|seal"
    r"|anneal|sinter|melt|degas|filtr|of|level|furnace|evapor|heat|\())"
    rf"|\b(?P<filled>{_GAS})(?=[- ](?:filled|purged|saturated|protected|shield|furnace))"
    r"|\b(?:purged|flushed|filled|backfilled|bubbled|degassed|protected|sparged)\s(?:\w+\s)?"
    rf"(?:with|by)\s(?:\w+\s){{0,2}}?(?P<purged>{_MIX})"
)
_MENTIONED = re.compile(rf"(?<![A-Za-z0-9/@-])(?P<gas>{_MANNER}{{0,4}}{_MIX}){_END}(?!-)")
_STRENGTH = (
    r"(?:(?:[0-9.]+\s?(?:M|wt\.?\s?%|vol\.?\s?%|%)|diluted?|concentrated|de-?ionized|distilled"
    r"|absolute|anhydrous|aqueous)\s)"
)
_LIQUID = re.compile(
    r"\b(?:in|into|with|by)\s(?:an?\s|the\s|cold\s|hot\s|iced?[- ]?)?(?P<liquid>"
    rf"{_STRENGTH}{{0,4}}(?:ethanol|methanol|isopropanol|isopropyl alcohol|2-propanol"
    r"|propan-2-ol|IPA|acetone|toluene|xylene|hexane|water|oil|brine|KOH|NaOH|HF|HCl|H2SO4|HNO3"
    r"|H3PO4|H2O2|NaCl|alcohol|ethylene glycol|ice[- ]?water)"
    r"(?:(?:/|, (?:and )?| and | or )(?:water|air|oil|ethanol|acetone|toluene|xylene)\b){0,4}"
    r"(?:\s(?:solution|acid|bath))?)\b"
)
# What any of the above contains; spares the others most sentences.
_HINT = re.compile(
    r"[Aa]ir|acu|rgon|ogen|elium|ethan|mmonia|cetylene|hlorine|team|gas|vapou?r|oxide|atmosph"
    r"|pressure|water|oil|brine|lcohol|acetone|toluene|xylene|hexane|propan|glycol|acid"
    r"|SF|[ANHOCKX][recEO2₂0-9lFHPaN]"
)


def find(sentence: str) -> list[Condition]:
    """The conditions of `sentence` by place."""
    found = [*_quantities(sentence), *_atmospheres(sentence)]
    found.sort(key=lambda condition: condition.start)
    return found


def _quantities(sentence: str) -> Iterator[Condition]:
    for q in quantity.find(sentence):
        start, end = q.span.start, q.span.end
        if q.unit.si == units.KELVIN.si:
            if q.word and _COOLED.search(sentence, max(0, start - 40), start):
                continue
            yield Condition(Field.TEMPERATURE, sentence[start:end], start, end)
        elif q.unit.si == units.SECOND.si and (q.word or min(q.values) >= _SHORTEST):
            yield Condition(Field.TIME, sentence[start:end], start, end)
    for match in _LEVELS.finditer(sentence):
        yield Condition(Field.TEMPERATURE, match[0], match.start(), match.end(), loose=True)


def _atmospheres(sentence: str) -> Iterator[Condition]:
    if not _HINT.search(sentence):
        return
    taken = 0
    for match in _STATED.finditer(sentence):
        start, taken = match.span(match.lastgroup or "")
        text = sentence[start:taken].lstrip()
        yield Condition(Field.ATMOSPHERE, text, taken - len(text), taken)
    if taken:
        return
    for pattern, group in ((_LIQUID, "liquid"), (_MENTIONED, "gas")):
        for match in pattern.finditer(sentence):
            text, end = match[group].lstrip(), match.end(group)
            yield Condition(Field.ATMOSPHERE, text, end - len(text), end, loose=True)
