"""Chemical formulas in text: found, parsed to their composition, written canonically.

Reads nested groups, hydrates (`Fe(NO3)3·9H2O`), symbolic amounts (`Fe1−xMxO3−δ`), ions,
mixtures of parts that sum to one (`0.95NKN-0.05BZ`, `(1-x)BaTiO3-xSrTiO3`), Unicode and LaTeX
sub- and superscripts. `find` wants evidence that a word is a formula, so bare element symbols,
acronyms (SOFC, UV), labels (B2, S1) and roman numerals are left alone; `parse` takes the caller's
word for it. Not covered: names (barium titanate), isomers and structure, formulas whose
subscripts the source has set off by blanks.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from reciper_ray import composition, latex
from reciper_ray.composition import ATOM, EXPRESSION, MINUS, NUMBER, PLACEHOLDERS, TOKEN
from reciper_ray.types import Span


@dataclass(frozen=True, slots=True)
class Formula:
    """A composition.

    `canonical` is the same for every way of writing it: elements in alphabetical order, amounts
    as short as possible, hydrate and mixture parts apart. `amounts` maps element to total
    amount, a number or (like `1-x`) an expression; it is empty where a part of a mixture is an
    abbreviation.
    """

    canonical: str
    amounts: tuple[tuple[str, float | str], ...]
    charge: int = 0

    @property
    def elements(self) -> frozenset[str]:
        return frozenset(element for element, _ in self.amounts)


_DOT = r"\s?[·•∙⋅‧・*]\s?"
_PARTNER = rf"{ATOM}{composition.AMOUNT}?"
_SHARED_SITE = rf"[(\[]{_PARTNER}(?:,\s?{_PARTNER}){{1,8}}(?=[)\]])"
_UNIT = (
    rf"(?:{_PARTNER}|{_SHARED_SITE}"
    rf"|[(\[](?=[(\[]{{0,4}}{ATOM})(?!(?:I{{1,3}}|I?V|VI{{1,3}})\))"
    rf"|[)\]](?:{EXPRESSION}|n(?![a-z]))?)"
)
_WATER = rf"(?:{_DOT}|\.)(?:{NUMBER}|[xn])?\s?H2O"
_ADDUCT = rf"[·•∙⋅‧・*](?:{NUMBER})?(?=[A-Z(]){_UNIT}{{1,40}}"
_CHARGE = rf"[1-4]?[{MINUS}+](?![A-Za-z0-9(+δ])"
_CANDIDATE = re.compile(
    rf"(?<![A-Za-z0-9.])(?=[A-Z(\[]){_UNIT}{{1,60}}(?:{_WATER}|{_ADDUCT}){{0,4}}"
    rf"(?:{_CHARGE})?(?![A-Za-z0-9α-ω])(?!(?<=[0-9])\.[0-9])"
)
_COEFFICIENT = (
    rf"(?:\((?:1|0?\.[0-9]{{1,5}})(?:[{MINUS}][0-9.]{{0,5}}[xyz])+\)|1[{MINUS}][xy]"
    r"|[01]?\.[0-9]{1,5}|[xyz])"
)
_PART = rf"{_COEFFICIENT}\s?[(\[A-Z][A-Za-z0-9.()\[\]/]{{1,60}}"
_MIXTURE = re.compile(
    rf"(?<![A-Za-z0-9.])(?=[(01.x-z]){_PART}(?:\s?[{MINUS}+]\s?{_PART})+(?![A-Za-z0-9])"
)
_BETWEEN = re.compile(rf"\s?[{MINUS}+]\s?(?={_COEFFICIENT}\s?[(\[A-Z])")
_WEIGHTED = re.compile(rf"({_COEFFICIENT})\s?(.+)", re.DOTALL)
_ABBREVIATION = re.compile(r"[A-Z][A-Za-z0-9]{1,8}")

_SPLIT = re.compile(rf"{_DOT}|\.(?=(?:{NUMBER}|[xn])?\s?H2O)")
_MULTIPLE = re.compile(rf"({NUMBER}|[xn])?\s?(.+)", re.DOTALL)
_IONS = ("OH", "NO3", "NO2", "NH4", "H3O", "ClO4", "PF6", "BF4", "BH4", "HCO3", "HSO4", "CN", "SCN")
_ION = re.compile(rf"(?P<body>{ATOM}|{'|'.join(_IONS)})(?P<size>[1-7]?)(?P<sign>[{MINUS}+])")
_OXYANION = re.compile(rf"(?P<body>.*[A-Z][a-z]?[2-7])(?P<size>[1-4])(?P<sign>[{MINUS}+])")
_SHORT = re.compile(r"\(([A-Z]{2,})\)$")
_ACRONYM = re.compile(r"[A-Z]{2,}s[0-9]*|.*II")
_OFF_LINE = re.compile("[₀-₉ₓ₋⁰¹²³⁴-⁹⁺⁻]")
_LEVEL = str.maketrans("₀₁₂₃₄₅₆₇₈₉ₓ₋⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789x-0123456789+-")

# All-capital words that are formulas far more often than acronyms.
_CAPITALS = ("CO", "NO", "OH", "HF", "KOH", "BN", "WC", "VN", "KF", "KI", "KCN", "HCN", "COOH")
_MOLECULES = ("H2", "O2", "N2", "O3", "F2", "Cl2", "Br2", "C60", "C70")
_WORDS = ("NaN", "HeLa", "KHz")
_HALOGENS = ("F", "Cl", "Br", "I")


def parse(text: str) -> Formula | None:
    """`text` as a formula, None if it is not one as a whole."""
    written = _levelled(latex.plain(text).text).strip()
    return _mixture(written) or _formula(written)


def find(text: str) -> list[tuple[Span, Formula]]:
    """All formulas of `text`, by place; linear in its length."""
    plain = latex.plain(text)
    level = _levelled(plain.text)
    found: list[tuple[Span, Formula]] = []
    end = 0
    matches = [*_MIXTURE.finditer(level), *_CANDIDATE.finditer(level)]
    for match in sorted(matches, key=lambda match: match.start()):
        start, stop = match.span()
        if start < end:
            continue
        if match.re is _MIXTURE:
            formula = _mixture(level[start:stop])
        else:
            start, stop = _trimmed(level, *_balanced(level, start, stop))
            formula = _recognised(level[start:stop])
        if formula:
            found.append((plain.span(start, stop), formula))
            end = stop
    return found


@lru_cache(maxsize=16384)
def _recognised(written: str) -> Formula | None:
    return _formula(written) if _plausible(written) else None


def _levelled(text: str) -> str:
    """`text` with raised and lowered characters on the line, each in its place."""
    return text.translate(_LEVEL) if _OFF_LINE.search(text) else text


def _balanced(text: str, start: int, end: int) -> tuple[int, int]:
    """`start:end` without the sentence's own brackets: `(NiO` and `(NiO)` are NiO."""
    opened: list[int] = []
    for at in range(start, end):
        if text[at] in "([":
            opened.append(at)
        elif text[at] in ")]":
            if not opened:
                end = at
                break
            first = opened.pop()
            if not opened and first == start and at == end - 1:
                return _balanced(text, start + 1, end - 1)
    if opened and opened[0] == start:
        return _balanced(text, start + 1, end)
    return start, (opened[0] if opened else end)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Without an abbreviation in brackets (`BaTiO3(BT)`) or a dash that is no charge (`Ti-`)."""
    short = _SHORT.search(text, start, end)
    if short and short[1] not in _CAPITALS:
        end = short.start()
    if text[end - 1] in MINUS + "+" and not _charged(text[start:end]):
        end -= 1
    return start, end


def _charged(written: str) -> re.Match[str] | None:
    """An ion's parts: body, size of its charge ("" for 1) and sign."""
    ion = _ION.fullmatch(written)
    if not ion:
        return _OXYANION.fullmatch(written)
    known = ion["size"] or ion["sign"] == "+" or ion["body"] in _HALOGENS + _IONS
    return ion if known and ion["body"] not in PLACEHOLDERS else None


def _plausible(written: str) -> bool:
    """Whether a run of element symbols and amounts is a formula rather than a word or label."""
    if written in _CAPITALS or written in _MOLECULES:
        return True
    if written in _WORDS or _ACRONYM.fullmatch(written):
        return False
    if _charged(written):
        return True
    main = _SPLIT.split(written)[0]
    atoms = [(match["atom"], match["amount"]) for match in TOKEN.finditer(main) if match["atom"]]
    names = {name for name, _ in atoms}
    amounts = [amount for _, amount in atoms if amount]
    grouped = "(" in main or "[" in main
    if len(names) < 2:
        return False
    if names & PLACEHOLDERS and not any(name == "O" and amount for name, amount in atoms):
        return False
    if any(len(name) > 1 and name not in PLACEHOLDERS for name in names):
        return True
    # From here on only capitals and numbers, as in labels: K2CO3, but not SOFC1, P2P or IC50.
    if not amounts or len(names) < len(atoms) - grouped:
        return bool(amounts) and grouped
    if max(map(len, amounts)) > 2 and not any("." in amount for amount in amounts):
        return {"C", "H"} <= names
    if len(amounts) == 1 and atoms[-1][1]:
        return names >= {"H", "O"} or atoms[-1][0] in ("OF" if len(atoms) > 2 else "OFHNS")
    return "1" not in amounts


def _mixture(written: str) -> Formula | None:
    """Weighted parts whose weights sum to one, like `0.95NKN-0.05BZ`."""
    if not _MIXTURE.fullmatch(written):
        return None
    total: composition.Amount = {}
    amounts: composition.Composition = {}
    names: list[str] = []
    known = True
    for part in _BETWEEN.split(written):
        weighted = _WEIGHTED.fullmatch(part)
        if not weighted:
            return None
        weight = composition.amount(weighted[1])
        composition.add(total, weight)
        abbreviated = weighted[2].isupper() and weighted[2].isalpha()
        inner = None if abbreviated else composition.parse(weighted[2])
        if inner:
            for element, amount in inner[1].items():
                composition.add(
                    amounts.setdefault(element, {}), composition.product(weight, amount)
                )
        elif not _ABBREVIATION.fullmatch(weighted[2]):
            return None
        known = known and inner is not None
        names.append(f"{composition.expression(weight)}({inner[0] if inner else weighted[2]})")
    if abs(total.pop("", 0.0) - 1) > 1e-6 or any(abs(value) > 1e-6 for value in total.values()):
        return None
    return Formula("-".join(sorted(names)), composition.amounts(amounts) if known else ())


def _formula(written: str) -> Formula | None:
    charge = 0
    charged = _charged(written)
    if charged:
        written = charged["body"]
        charge = int(charged["size"] or 1) * (1 if charged["sign"] == "+" else -1)
    parts = [_MULTIPLE.fullmatch(part) for part in _SPLIT.split(written)]
    amounts: composition.Composition = {}
    names: list[str] = []
    for part in parts:
        inner = composition.parse(part[2]) if part else None
        if not part or not inner or (part is parts[0] and part[1]):
            return None
        times = composition.amount(part[1] or "1")
        for element, amount in inner[1].items():
            composition.add(amounts.setdefault(element, {}), composition.product(times, amount))
        names.append(composition.expression(times, one="") + inner[0])
    sign = ("+" if charge > 0 else "-") if charge else ""
    canonical = "·".join([names[0], *sorted(names[1:])])
    if charge:
        canonical += f"({abs(charge)}{sign})"
    return Formula(canonical, composition.amounts(amounts), charge)
