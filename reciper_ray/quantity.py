"""Quantities in scientific text: numbers with units, as SI values with their place in the text.

Reads ranges and lists that share a unit (`600, 700 and 800 °C`, `8~10 h`, `60 ± 5 °C`), the
typography of extracted papers (`850 oC`, `600 ◦C`, `10−5 Torr`, `1,200 °C`, inline LaTeX) and
the words `overnight`, `room temperature`, `two hours`. Not covered: numbers without a unit,
arithmetic, superscripts that the source has lost (`1014 cm−3` reads as 1014).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from reciper_ray import latex, units
from reciper_ray.types import Span
from reciper_ray.units import Unit

_PASCAL = "kg·m-1·s-2"

_DASH = "-‐‑‒–—−"
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_NUMBER = re.compile(
    rf"(?<![A-Za-z0-9_.])(?P<sign>(?<![^\s(=~∼≈,;])[-−–](?=\.?[0-9]))?"
    rf"(?:10(?:\^\(?(?P<caret>[{_DASH}+]?[0-9]{{1,2}})(?![0-9])\)?|(?P<raised>⁻?[{_RAISED}]{{1,2}}))"
    r"|(?P<digits>[0-9]{1,3}(?:[,\u2009\u202f\u00a0][0-9]{3})+(?![0-9])|[0-9]{1,15}|(?=\.[0-9]))"
    r"(?P<decimals>\.[0-9]{1,15}|,[0-9]{1,2}(?![0-9,]))?"
    rf"(?:\s?[×x·⋅]\s?10\s?(?:\^?\(?(?P<power>[{_DASH}+]?[1-9][0-9]?)(?![0-9.])\)?"
    rf"|(?P<high>⁻?[{_RAISED}]{{1,2}}))|[eE](?P<e>[{_DASH}+]?[0-9]{{1,2}})(?![0-9A-Za-z.]))?)"
)
_JOIN = re.compile(
    rf"\s*(?:(?P<range>[{_DASH}~∼～]+|to|up to|through)|(?P<error>±|\+/-|\+/−)"
    r"|(?P<list>,?\s?(?:and|or)|&|/)|(?P<comma>[,;])|(?P<product>[×x]))\s*"
    r"(?:[~∼≈]|ca\.?\s|about\s|around\s)?"
)
_LABEL = re.compile(
    r"\b(?:figs?|figures?|tables?|tab|eqs?|equations?|refs?|sections?|schemes?|samples?|no|nos"
    r"|steps?|cycles?|stages?|type|grade)\b\.?\s?\(?$",
    re.IGNORECASE,
)
_ORBITAL = re.compile(r"[A-Z][a-z]?\s?$")
_WORDS = re.compile(
    r"\b(?:(?P<room>room[\s-]+temperatures?|ambient[\s-]+temperatures?|(?<![A-Z-])RT(?![A-Za-z-]))"
    r"|(?P<night>over[\s-]?night)"
    r"|(?P<count>an?|half an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|fifteen|sixteen|eighteen|twenty|twenty-four|thirty|forty|forty-eight|sixty"
    r"|seventy-two|ninety)"
    r"[\s-]+(?P<unit>hours?|minutes?|days?|weeks?|seconds?))\b"
)
_COUNTS = {
    "a": 1, "an": 1, "half a": 0.5, "half an": 0.5, "one": 1, "two": 2, "three": 3, "four": 4,
    "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12, "fifteen": 15, "sixteen": 16, "eighteen": 18, "twenty": 20,
    "twenty-four": 24, "thirty": 30, "forty": 40, "forty-eight": 48, "sixty": 60,
    "seventy-two": 72, "ninety": 90,
}  # fmt: skip
_ASCII = str.maketrans(_RAISED + "⁻" + _DASH, "0123456789-" + "-" * len(_DASH))
_GROUPING = re.compile(r"[^0-9]")
_SPACES = re.compile(r"\s+")
_BARE_CELSIUS = re.compile(r"\s?C(?![A-Za-z0-9/·−-]|\s?\.\s*[A-Z]\b)")
_COLDEST_BARE = 25.0
_LONGEST_JOIN = 16
_MOST_JOINED = 16


@dataclass(frozen=True, slots=True)
class Quantity:
    """`values` in the SI unit `unit.si`, standing at `span` of the text.

    Several values are a range's ends (`is_range`) or a list that shares a unit. `slack` is how
    far each value may be off because it was rounded when it was written. A quantity in words
    without a number (overnight, room temperature) has no values and that `word`.
    """

    values: tuple[float, ...]
    unit: Unit
    span: Span
    slack: tuple[float, ...] = ()
    is_range: bool = False
    word: str = ""

    def stated(self) -> list["Quantity"]:
        """What it states: a range as one, each value of a list for itself."""
        return [self] if self.is_range else self.parts()

    def parts(self) -> list["Quantity"]:
        """One quantity for each value; itself if there are no several."""
        if len(self.values) < 2:
            return [self]
        return [
            Quantity((value,), self.unit, self.span, (slack,))
            for value, slack in zip(self.values, self.slack, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class _Number:
    value: float
    half_place: float
    start: int
    end: int
    exponent: int = 0


def find(text: str) -> list[Quantity]:
    """All quantities of `text`, by place; linear in its length."""
    plain = latex.plain(text)
    found = [*_numeric(plain), *_worded(plain)]
    found.sort(key=lambda quantity: quantity.span.start)
    return found


def equal(a: Quantity, b: Quantity) -> bool:
    """Whether both say the same: 873 K is 600 °C, 90 min is 1.5 h, 600–800 °C is not 600 °C.

    Values written in different units may differ by the rounding that their decimals (whole
    degrees for temperatures) allow, and never by more than 2 %.
    """
    if a.unit.si != b.unit.si or a.word != b.word or len(a.values) != len(b.values):
        return False
    return all(_close(a, x, b, y) for x, y in zip(_ordered(a), _ordered(b), strict=True))


def contains(whole: Quantity, part: Quantity) -> bool:
    """Whether each value of `part` is one of `whole`'s; a range contains no value inside it."""
    if whole.unit.si != part.unit.si or whole.word != part.word:
        return False
    return all(any(_close(whole, x, part, y) for x in _ordered(whole)) for y in _ordered(part))


def _ordered(quantity: Quantity) -> list[tuple[float, float]]:
    return sorted(zip(quantity.values, quantity.slack, strict=True))


def _close(a: Quantity, x: tuple[float, float], b: Quantity, y: tuple[float, float]) -> bool:
    gap = abs(x[0] - y[0])
    size = max(abs(x[0]), abs(y[0]))
    if gap <= 1e-9 * size:
        return True
    return a.unit != b.unit and gap <= min(max(x[1], y[1]), 0.02 * size)


def _numeric(plain: latex.Plain) -> Iterator[Quantity]:
    text = plain.text
    # Numbers wait in `chain` for the unit that the last of them has.
    chain: list[_Number] = []
    joins: list[str] = []
    unit: Unit | None = None
    end = 0
    for match in _NUMBER.finditer(text):
        if match.start() < end:  # an exponent of the last unit
            continue
        number = _number(match)
        if match["sign"] and chain and not text[end : number.start].strip():
            number = replace(number, value=-number.value, start=number.start + 1)
        join = _join(text, end, number.start) if chain and len(chain) < _MOST_JOINED else ""
        found = units.match(text, number.end) or _bare_celsius(text, number)
        if unit and join and not (join in ("range", "error") and found and found[0] == unit):
            join = ""
        if not join:
            if unit and (quantity := _quantity(plain, chain, joins, unit, end)):
                yield quantity
            chain, joins, unit = [], [], None
        chain.append(number)
        if join:
            joins.append(join)
        if found:
            unit, end = found
        else:
            end = number.end
    if unit and (quantity := _quantity(plain, chain, joins, unit, end)):
        yield quantity


def _number(match: re.Match[str]) -> _Number:
    power = match["power"] or match["high"] or match["e"] or match["caret"] or match["raised"]
    exponent = int(power.translate(_ASCII)) if power else 0
    if match["digits"] is None:
        return _Number(10.0**exponent, 0.0, match.start(), match.end())
    decimals = (match["decimals"] or "")[1:]
    value = float(f"0{_GROUPING.sub('', match['digits'])}.{decimals}e{exponent}")
    half = 0.5 * 10.0 ** (exponent - len(decimals)) if decimals else 0.0
    value = -value if match["sign"] else value
    return _Number(value, half, match.start(), match.end(), exponent)


def _join(text: str, start: int, end: int) -> str:
    """How the text between two numbers joins them: range, error, list, comma, product or ""."""
    if end - start > _LONGEST_JOIN:
        return ""
    match = _JOIN.fullmatch(text, start, end)
    return (match.lastgroup or "") if match else ""


def _bare_celsius(text: str, number: _Number) -> tuple[Unit, int] | None:
    """`150 C` is a temperature; `0.5 C` a battery's rate, `24 C. Zuo` an author."""
    match = _BARE_CELSIUS.match(text, number.end)
    return (units.CELSIUS, match.end()) if match and number.value >= _COLDEST_BARE else None


def _quantity(
    plain: latex.Plain, chain: list[_Number], joins: list[str], unit: Unit, end: int
) -> Quantity | None:
    """The chain of joined numbers before `unit`, less what does not belong to it; None for a
    label that looks like a quantity (`Fig. 2 h`, `O 1s`)."""
    text = plain.text
    if joins and joins[-1] == "comma" and "list" not in joins:
        chain, joins = chain[-1:], []
    if len(chain) > 1 and joins[-1] == "product" and unit.si == units.SECOND.si:
        chain, joins = chain[-1:], []
    start = chain[0].start
    written = text[chain[-1].end : end].strip()
    if len(written) == 1 and written.isalpha() and _LABEL.search(text, max(0, start - 16), start):
        return None
    if text[chain[-1].end] == "s" and _ORBITAL.search(text, max(0, start - 4), start):
        return None
    powers = _lost_power(text, chain, unit)
    if powers is not None:
        chain, joins = [powers], []
    if joins and joins[-1] == "error":
        chain, joins = chain[:-1], joins[:-1]
    if len(chain) == 2 and joins == ["range"] and not chain[0].exponent:
        power = 10.0 ** chain[1].exponent  # 1–2 × 10−2 M
        chain = [replace(chain[0], value=chain[0].value * power), chain[1]]
    values = tuple(n.value * unit.factor + unit.offset for n in chain)
    # 873 K for 600 °C: of temperatures, whole degrees are rounded too.
    whole = 0.5 if unit.si == units.KELVIN.si else 0.0
    slack = tuple((n.half_place or whole) * unit.factor for n in chain)
    is_range = len(values) == 2 and joins == ["range"]
    return Quantity(values, unit, plain.span(start, end), slack, is_range)


def _lost_power(text: str, chain: list[_Number], unit: Unit) -> _Number | None:
    """`10−5 Torr` is a power of ten whose superscript was lost; `10–20 nm` is a range."""
    if len(chain) != 2 or chain[0].value != 10 or chain[1].half_place:
        return None
    gap = text[chain[0].end : chain[1].start]
    exponent = chain[1].value
    if len(gap) != 1 or gap not in _DASH or not 1 <= exponent <= 40:
        return None
    if exponent < 10 or (gap == "−" and unit.si == _PASCAL):
        return _Number(10.0**-exponent, 0.0, chain[0].start, chain[1].end)
    return None


def _worded(plain: latex.Plain) -> Iterator[Quantity]:
    for match in _WORDS.finditer(plain.text):
        span = plain.span(match.start(), match.end())
        if match["room"]:
            yield Quantity((), units.KELVIN, span, word="room temperature")
        elif match["night"]:
            yield Quantity((), units.SECOND, span, word="overnight")
        else:
            found = units.match(match["unit"], 0)
            if found:
                value = _COUNTS[_SPACES.sub(" ", match["count"].lower())] * found[0].factor
                yield Quantity((value,), found[0], span, (0.0,))
