"""Unit expressions of scientific text (`mA cm−2`, `°C/min`, `wt.%`) reduced to SI.

Covers the units that materials papers use. Symbols that far more often mean something else
(in, T, H, C without a degree sign) are left out; factors are the SI Brochure's (9th edition).
"""

import re
from dataclasses import dataclass

_BASES = ("kg", "m", "s", "A", "K", "mol")
_Dimension = tuple[int, ...]
_NONE: _Dimension = (0,) * len(_BASES)


@dataclass(frozen=True, slots=True)
class Unit:
    """An SI value is `number * factor + offset` in the SI unit `si`.

    Shares of different things stay apart: `si` is `%`, `wt%`, `mol%`, … with factor 1.
    """

    si: str
    factor: float = 1.0
    offset: float = 0.0


CELSIUS = Unit("K", 1.0, 273.15)
FAHRENHEIT = Unit("K", 5 / 9, 273.15 - 32 * 5 / 9)
KELVIN = Unit("K")
SECOND = Unit("s")

_PREFIXES = {
    "n": 1e-9, "µ": 1e-6, "u": 1e-6, "m": 1e-3, "c": 1e-2, "d": 1e-1, "h": 1e2, "k": 1e3,
    "M": 1e6, "G": 1e9, "p": 1e-12, "T": 1e12, " ": 1.0,
}  # fmt: skip
# Symbols: which prefixes they take (a blank: none too), factor, exponents of _BASES.
_SYMBOLS: tuple[tuple[str, str, float, _Dimension], ...] = (
    ("m", " pnµumcdk", 1.0, (0, 1, 0, 0, 0, 0)),
    ("micron microns micrometer micrometers", " ", 1e-6, (0, 1, 0, 0, 0, 0)),
    ("Å", " ", 1e-10, (0, 1, 0, 0, 0, 0)),
    ("g", " pnµumk", 1e-3, (1, 0, 0, 0, 0, 0)),
    ("ton tons tonne tonnes", " ", 1e3, (1, 0, 0, 0, 0, 0)),
    ("s", " pnµum", 1.0, (0, 0, 1, 0, 0, 0)),
    ("sec secs second seconds", " ", 1.0, (0, 0, 1, 0, 0, 0)),
    ("min mins minute minutes", " ", 60.0, (0, 0, 1, 0, 0, 0)),
    ("h hr hrs hour hours", " ", 3600.0, (0, 0, 1, 0, 0, 0)),
    ("d day days", " ", 86400.0, (0, 0, 1, 0, 0, 0)),
    ("week weeks", " ", 604800.0, (0, 0, 1, 0, 0, 0)),
    ("month months", " ", 2629800.0, (0, 0, 1, 0, 0, 0)),
    ("year years", " ", 31557600.0, (0, 0, 1, 0, 0, 0)),
    ("rpm RPM r.p.m. r.p.m", " ", 1 / 60, (0, 0, -1, 0, 0, 0)),
    ("r rev revolutions", " ", 1.0, (0, 0, 0, 0, 0, 0)),
    ("Hz", " mkMGT", 1.0, (0, 0, -1, 0, 0, 0)),
    ("A", " pnµumk", 1.0, (0, 0, 0, 1, 0, 0)),
    ("K", " mk", 1.0, (0, 0, 0, 0, 1, 0)),
    ("mol", " nµumk", 1.0, (0, 0, 0, 0, 0, 1)),
    ("M", " nµum", 1e3, (0, -3, 0, 0, 0, 1)),
    ("L l", " nµumcd", 1e-3, (0, 3, 0, 0, 0, 0)),
    ("liter liters litre litres", " ", 1e-3, (0, 3, 0, 0, 0, 0)),
    ("sccm SCCM", " ", 1e-6 / 60, (0, 3, -1, 0, 0, 0)),
    ("slm SLM slpm SLPM", " ", 1e-3 / 60, (0, 3, -1, 0, 0, 0)),
    ("N", " µumkM", 1.0, (1, 1, -2, 0, 0, 0)),
    ("Pa", " mhkMG", 1.0, (1, -1, -2, 0, 0, 0)),
    ("bar", " µumk", 1e5, (1, -1, -2, 0, 0, 0)),
    ("atm", " ", 101325.0, (1, -1, -2, 0, 0, 0)),
    ("Torr torr", " µum", 101325 / 760, (1, -1, -2, 0, 0, 0)),
    ("mmHg", " ", 133.322387415, (1, -1, -2, 0, 0, 0)),
    ("psi", " ", 6894.757293168, (1, -1, -2, 0, 0, 0)),
    ("J", " nµumkMG", 1.0, (1, 2, -2, 0, 0, 0)),
    ("eV", " mkM", 1.602176634e-19, (1, 2, -2, 0, 0, 0)),
    ("Wh", " mkMG", 3600.0, (1, 2, -2, 0, 0, 0)),
    ("cal", " k", 4.184, (1, 2, -2, 0, 0, 0)),
    ("W", " nµumkMG", 1.0, (1, 2, -3, 0, 0, 0)),
    ("V", " nµumkM", 1.0, (1, 2, -3, -1, 0, 0)),
    ("volt volts", " ", 1.0, (1, 2, -3, -1, 0, 0)),
    ("Ω ohm", " µumkMG", 1.0, (1, 2, -3, -2, 0, 0)),
    ("ohms", " ", 1.0, (1, 2, -3, -2, 0, 0)),
    ("S", " nµumk", 1.0, (-1, -2, 3, 2, 0, 0)),
    ("F", " pnµumk", 1.0, (-1, -2, 4, 2, 0, 0)),
    ("C", "nµumk", 1.0, (0, 0, 1, 1, 0, 0)),
    ("Ah", " µumk", 3600.0, (0, 0, 1, 1, 0, 0)),
    ("T", "µum", 1.0, (1, 0, -2, -1, 0, 0)),
)
_TABLE: dict[str, tuple[float, _Dimension]] = {
    prefix.strip() + symbol: (_PREFIXES[prefix] * factor, dimension)
    for symbols, prefixes, factor, dimension in _SYMBOLS
    for symbol in symbols.split()
    for prefix in prefixes
}
# Counted apart, never part of a compound.
_APART = {"ppm": "ppm", "ppb": "ppb", "HV": "HV", "HRC": "HRC", "HB": "HB"}

_RING = "°◦∘˚º⁰\u030a"
_CELSIUS = rf"℃|(?:[{_RING}]|[dD]eg(?:rees?|\.)?|o)\s?(?:[cC]elsius|[cC]enti\s?grade|C(?![A-Za-z]))"
_FAHRENHEIT = rf"(?:[{_RING}]|[dD]eg(?:rees?|\.)?)\s?(?:F(?![A-Za-z])|[fF]ahrenheit)"
_FACTOR = re.compile(
    rf"(?:(?P<celsius>{_CELSIUS})|(?P<fahrenheit>{_FAHRENHEIT})|(?P<kelvin>[{_RING}]\s?K\b)"
    r"|(?P<share>(?:(?:wt|mol|at|vol|mass|weight)\.?[\s-]?)?%)"
    rf"|(?P<angle>[{_RING}])|(?P<symbol>r\.p\.m\.?|[A-Za-zµμΩΩÅ]+))"
    r"(?:\^?(?P<exponent>[-−–]?[1-4])(?![0-9A-Za-z])|(?P<raised>⁻?[¹²³⁴]))?"
)
_LEAD = re.compile(r"\s{0,2}(?:-\s?)?")
_NEXT = re.compile(r"(?P<over>\s?/\s?|\sper\s)|\s?[·⋅∙•*]\s?|\.(?=[A-Za-z])|\s")
_ASCII = str.maketrans("¹²³⁴⁻−–", "1234---")
_FOLD = str.maketrans("μΩ", "µΩ")
_MOST_FACTORS = 6


def match(text: str, at: int) -> tuple[Unit, int] | None:
    """The unit expression at `text[at:]`, after at most a hyphen and blanks, and its end.

    It ends where what follows is no unit: `5 h / air` is hours.
    """
    lead = _LEAD.match(text, at)
    start = lead.end() if lead else at
    dimension = _NONE
    factor, end, position = 1.0, start, start
    over = blank = False
    alone: Unit | None = None
    for _ in range(_MOST_FACTORS):
        part = _FACTOR.match(text, position)
        single = _single(part) if part else None
        if not part or not single:
            break
        exponent, part_end = _exponent(part, text)
        if blank and exponent > 0 and not (part["symbol"] == "h" and text[end - 1] in "AW"):
            break
        power = -exponent if over else exponent
        value, exponents, offset = single
        alone = offset if position == start and power == 1 else None
        factor *= value**power
        dimension = tuple(a + b * power for a, b in zip(dimension, exponents, strict=True))
        end = part_end
        separator = _NEXT.match(text, end)
        if not separator or (offset and offset.si != "K"):
            break
        position, over = separator.end(), bool(separator["over"])
        blank = separator[0].isspace()
    if end == start:
        return None
    if alone:
        return alone, end
    name = "·".join(
        base if power == 1 else f"{base}{power}"
        for base, power in zip(_BASES, dimension, strict=True)
        if power
    )
    return (Unit(name, factor), end) if name else None


def _single(part: re.Match[str]) -> tuple[float, _Dimension, Unit | None] | None:
    """Factor, dimension and, where the symbol standing alone means more than these, that unit."""
    kelvin = _TABLE["K"][1]
    if part["symbol"]:
        symbol = part["symbol"].translate(_FOLD)
        if symbol in _APART:
            return 1.0, _NONE, Unit(_APART[symbol])
        found = _TABLE.get(symbol)
        return (*found, None) if found else None
    if part["celsius"]:
        return 1.0, kelvin, CELSIUS
    if part["fahrenheit"]:
        return FAHRENHEIT.factor, kelvin, FAHRENHEIT
    if part["kelvin"]:
        return 1.0, kelvin, KELVIN
    if part["share"]:
        kind = part["share"][:-1].strip(" .-")
        return 1.0, _NONE, Unit({"weight": "wt", "mass": "wt"}.get(kind, kind) + "%")
    return 1.0, _NONE, Unit("°")


def _exponent(part: re.Match[str], text: str) -> tuple[int, int]:
    """The exponent of a factor and the end of the factor with it."""
    written = part["exponent"] or part["raised"]
    if not written:
        return 1, part.end()
    if written[0] in "-–":
        # `1 h-2 h` is a range, not an inverse hour.
        after = _FACTOR.match(text, (_LEAD.match(text, part.end()) or part).end())
        if after and _single(after):
            start = part.start("exponent")
            return 1, start - (text[start - 1] == "^")
    return int(written.translate(_ASCII)), part.end()
