"""What a question asks for: the attributes it names, and what a value of each looks like.

`At what temperature and for how long was X fired` asks for a temperature and a time; `Which
etchant and RF power were used` for an etchant, whose values have no common form, and a power,
whose values are quantities in watts. Read by pattern from questions in English; a question that
names no attribute (`How was X made?`) asks for nothing that could be looked for.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from reciper_ray import units
from reciper_ray.quantity import Quantity
from reciper_ray.terms import STOP, tokens


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value: the `head` of a noun phrase that names it (group 1), and how a sentence
    states it: by a quantity in one of the SI `units`, or by words that match `stated`."""

    name: str
    head: re.Pattern[str]
    units: frozenset[str] = frozenset()
    stated: re.Pattern[str] | None = None

    def states(self, text: str, quantities: Iterable[Quantity]) -> bool:
        """Whether `text`, which holds `quantities`, states a value of this kind."""
        if self.stated:
            return self.stated.search(text) is not None
        return any(q.unit.si in self.units for q in quantities)


@dataclass(frozen=True, slots=True)
class Attribute:
    """Something asked for, as the question words it. `terms` are its content words without
    those that only name the kind: `imidization` of `imidization temperature`."""

    text: str
    kind: Kind | None
    terms: frozenset[str]


# What may stand after the head of a noun phrase.
_AFTER_HEAD = (
    r"(?:\s+(?:ranges?|windows?|mixtures?|values?|levels?|conditions?|applied|programm?e?"
    r"|schedules?))*"
)


def _kind(name: str, asked: str, symbols: str = "", stated: str = "") -> Kind:
    found = frozenset(
        unit[0].si if (unit := units.match(symbol, 0)) else symbol for symbol in symbols.split()
    )
    head = re.compile(rf"\b({asked})\b{_AFTER_HEAD}\s*$", re.IGNORECASE)
    return Kind(name, head, found, re.compile(stated) if stated else None)


_SHARES = "% wt% mol% vol% at%"
# Where two kinds fit, the longer name holds, then the later one.
KINDS = (
    _kind("temperature", r"temp(?:erature)?s?|how hot", "K"),
    _kind(
        "time",
        r"how long|(?<!many )(?:dwell |holding |hold )?times?|durations?|dwell|hold|holding"
        r"|how many (?:seconds|minutes|hours|days)|(?:minutes|hours)",
        "s",
    ),
    _kind(
        "heating rate",
        r"(?:heating|cooling|ramp(?:ing)?|scan(?:ning)?) rates?|ramps?",
        "K/s",
    ),
    _kind("strain rate", r"(?:strain|shear) rates?", "Hz"),
    _kind("pressure", r"pressures?|vacuum(?: level)?|loads?|forces?|\w+ stress", "Pa N kg"),
    _kind("strength", r"\w+ strengths?|modulus|moduli", "Pa"),
    _kind("flow", r"flow(?: rates?)?|flows|feed rates?", "m3/s"),
    _kind("speed", r"speeds?|rotation(?:al)? rates?|growth rates?|velocity|rpm", "rpm m/s r/s"),
    _kind("power", r"powers?", "W"),
    _kind("power density", r"power densit(?:y|ies)", "W/m2 W/kg W/m3"),
    _kind("voltage", r"voltages?|potentials?|overpotentials?|overpotential gap|OCV", "V"),
    _kind("current", r"currents?(?! collect)", "A"),
    _kind("current density", r"current densit(?:y|ies)", "A/m2 A/kg"),
    _kind("frequency", r"frequenc(?:y|ies)", "Hz"),
    _kind(
        "length",
        r"thick(?:ness(?:es)?)?|distances?|diameters?|(?:grain|particle|crystallite) sizes?"
        r"|dimensions?|widths?|radius|radii|depths?|wavelengths?|lengths?",
        "m",
    ),
    _kind(
        "concentration",
        r"concentrations?|loadings?|molarity",
        f"mol/m3 kg/m3 kg/m2 mol/kg {_SHARES}",
    ),
    _kind(
        "share",
        r"percent(?:age)?s?|fractions?|efficienc(?:y|ies)|yields?|elongations?|porosity|reduction"
        r"|humidity",
        _SHARES,
    ),
    _kind("conductivity", r"conductivit(?:y|ies)", "S/m"),
    _kind("capacity", r"capacit(?:y|ies)", "A·s/kg A·s A·s/m2"),
    _kind("capacitance", r"capacitances?", "F/kg F/m2 F/m3 F"),
    _kind("resistance", r"resistances?|ASR", "Ω Ω·m2"),
    _kind("pH", r"pH", stated=r"\bpH\b(?:[^.;]|\.\d){0,60}?\d"),
    _kind(
        "ratio",
        r"ratios?",
        stated=r"\d\s?[:∶]\s?\d|\bratios?\b(?:[^.;]|\.\d){0,40}?\d|\d\s?/\s?\d",
    ),
    _kind(
        "atmosphere",
        r"atmospheres?|gas(?:es)?|gas mixture",
        stated=r"\b(?:air|argon|Ar|N2|nitrogen|H2|hydrogen|oxygen|O2|vacuum|helium|He|CO2|ammonia"
        r"|NH3|methane|CH4|reducing|inert)\b",
    ),
)

# Words of an attribute that tell nothing about where its value stands.
_GENERIC = STOP | frozenset(
    tokens(
        "what which how many much long often at for maximum max peak best average total initial"
        " final highest lowest high low minimum value level range window type kind condition"
        " parameter schedule program programme treatment amount applied used two three exact list"
    )
)
_END = (
    r"(?<![\w-])(?:is|are|was|were|be|does|do|did|has|have|had|can|could|would|will|gave|gives?"
    r"|turn(?:s|ed)?|convert(?:s|ed)?|made|makes?|used|using|kept|keeps?|reached|resulted|resulting"
    r"|follow(?:s|ed)?|during|when|while|before|after|in|on|at|of|for|to|by|from|between|without|under"
    r")(?![\w-])"
)
_ASK = re.compile(
    r"\b(?:what|which)\s+(?:(?:is|are|was|were)\s+the\b)?\s*"
    r"(?:(?:range|kind|type|sort|value|amount|window)s?\s+of\b)?"
    rf"(?P<asked>.*?)(?={_END}|[?;]|$)",
    re.IGNORECASE | re.DOTALL,
)
_HOW = re.compile(
    r"\bhow (?:long|thick|hot)\b|\bhow many (?:seconds|minutes|hours|days)\b", re.IGNORECASE
)
_FRAGMENT = re.compile(rf".*?(?={_END}|[?;:]|$)", re.IGNORECASE | re.DOTALL)
_BRACKET = re.compile(r"\(([^()]*)\)")
_PART = re.compile(r",|;|\band\b|\bor\b|&")
_LEAD = re.compile(r"(?:at|for|with|by|in|to|over|under|what|which|list|give|state|the)\b\s*", re.I)
_MANNER = re.compile(
    r"\s*(?:.*,\s*)?how\b|.*\bhow\s+(?:is|are|was|were|do|does|did)\b", re.I | re.S
)
_LONGEST = 12


def attributes(question: str) -> tuple[Attribute, ...]:
    """The attributes that `question` asks for, in order, each once."""
    # `(temperature, time, gas)`: a list in brackets says what is asked, `(BaTiO3)` does not.
    listed = [b for b in _BRACKET.findall(question) if any(map(_kind_of, _PART.split(b)))]
    plain = _BRACKET.sub(" ", question)
    phrases = [match["asked"] for match in _ASK.finditer(plain)]
    phrases += _HOW.findall(plain)
    if not phrases and (fragment := _FRAGMENT.match(plain)) and not _MANNER.match(plain):
        phrases = [fragment[0]]
    found: dict[tuple[str, frozenset[str]], Attribute] = {}
    for phrase in phrases + listed:
        for part in _PART.split(" ".join(phrase.split()[:_LONGEST])):
            attribute = _attribute(part.strip())
            if attribute.kind or attribute.terms:
                name = attribute.kind.name if attribute.kind else ""
                found.setdefault((name, attribute.terms), attribute)
    return tuple(found.values())


def _attribute(text: str) -> Attribute:
    while lead := _LEAD.match(text):
        text = text[lead.end() :]
    named = _kind_of(text)
    if not named:
        return Attribute(text, None, frozenset(tokens(text)) - _GENERIC)
    kind, start, end = named
    rest = f"{text[:start]} {text[end:]}"
    return Attribute(text, kind, frozenset(tokens(rest)) - _GENERIC)


def _kind_of(text: str) -> tuple[Kind, int, int] | None:
    """The kind that the head of a noun phrase, its last word, names, and where."""
    best: tuple[Kind, int, int] | None = None
    for kind in KINDS:
        match = kind.head.search(text)
        if match and (best is None or match.start(1) <= best[1]):
            best = kind, *match.span(1)
    return best
