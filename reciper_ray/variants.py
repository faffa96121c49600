"""The same question as other people would write it, by rule: to measure that it does not matter.

Each rule changes one thing (typography, a unit, a name, the order of a composition, case,
spelling, one slip of the finger) and leaves alone a question that has nothing to change.
"""

import re
from collections.abc import Callable, Mapping

from reciper_ray.terms import chemical_names

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_LEVEL = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_FORMULA = re.compile(r"\b(?:[A-Z][a-z]?(?:\d+(?:\.\d+)?)?){2,}(?![a-z])")
_ELEMENT = re.compile(r"[A-Z][a-z]?(?:\d+(?:\.\d+)?)?")
_CELSIUS = re.compile(r"(?<![\d.–-])(\d{2,4}) ?(?:°C|degC)")
_HOURS = re.compile(r"(?<![\d.–-])(\d{1,3}) ?(?:h|hours?)\b")
_WORD = re.compile(r"\b[a-z]{7,}\b")
_AMERICAN = {
    "aluminium": "aluminum",
    "sulphur": "sulfur",
    "fibre": "fiber",
    "colour": "color",
    "vapour": "vapor",
    "grey": "gray",
    "centre": "center",
    "ised": "ized",
    "ise ": "ize ",
    "ising": "izing",
    "isation": "ization",
    "analyse": "analyze",
}


def subscripts(question: str) -> str:
    """Digits of formulas below the line."""
    if question != (level := question.translate(_LEVEL)):
        return level
    return _FORMULA.sub(lambda m: m[0] if "." in m[0] else m[0].translate(_SUBSCRIPTS), question)


def named(question: str) -> str:
    """Formulas of common chemicals by name, or names as formulas."""
    names = chemical_names()
    formulas = {formula: name for name, formula in names.items()}
    replaced = _FORMULA.sub(lambda m: formulas.get(m[0], m[0]), question)
    if replaced != question:
        return replaced
    for name in sorted(names, key=len, reverse=True):
        question = re.sub(rf"\b{name}\b", names[name], question, flags=re.IGNORECASE)
    return question


def degrees(question: str) -> str:
    """`°C` written out."""
    return question.replace("°C", "degC")


def kelvin(question: str) -> str:
    """Temperatures in kelvin."""
    return _CELSIUS.sub(lambda m: f"{int(m[1]) + 273} K", question)


def minutes(question: str) -> str:
    """Durations in minutes."""
    return _HOURS.sub(lambda m: f"{int(m[1]) * 60} min", question)


def reordered(question: str) -> str:
    """Compositions with their elements in another order."""

    def turn(match: re.Match[str]) -> str:
        elements = _ELEMENT.findall(match[0])
        return "".join(elements[1:] + elements[:1]) if len(elements) > 2 else match[0]

    return _FORMULA.sub(turn, question)


def american(question: str) -> str:
    """American spelling, or British where it was that already."""
    changed = question
    for british, other in _AMERICAN.items():
        changed = changed.replace(british, other)
    if changed == question:
        for british, other in _AMERICAN.items():
            changed = changed.replace(other, british)
    return changed


def slip(question: str) -> str:
    """Two inner letters of the longest word swapped."""
    words = _WORD.findall(question)
    if not words:
        return question
    word = max(words, key=lambda w: (len(w), w))
    middle = len(word) // 2
    swapped = word[: middle - 1] + word[middle] + word[middle - 1] + word[middle + 1 :]
    return question.replace(word, swapped, 1)


RULES: Mapping[str, Callable[[str], str]] = {
    "subscripts": subscripts,
    "named": named,
    "degC": degrees,
    "kelvin": kelvin,
    "minutes": minutes,
    "reordered": reordered,
    "spelling": american,
    "slip": slip,
    "upper case": str.upper,
    "lower case": str.lower,
}


def variants(question: str) -> dict[str, str]:
    """The question under each rule that changes it."""
    written = {name: rule(question) for name, rule in RULES.items()}
    return {name: text for name, text in written.items() if text != question}
