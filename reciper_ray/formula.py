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

from reciper_ray import latex
from reciper_ray.types import Span

# A polynomial in the formula's symbols: monomial ("" for the constant) to coefficient.
Amount = dict[str, float]


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


_ELEMENT = (
    "A[cglmrstu]|B[aeir]|C[adelorsu]|Dy|E[ru]|Fe|G[ade]|H[efgo]|I[nr]|Kr|L[aiu]|M[gno]"
    "|N[abdeip]|Os|P[abdmortu]|R[abehu]|S[bceimnr]|T[abcehilm]|Xe|Yb|Z[nr]|[BCFHIKNOPSUVWY]"
)
_PLACEHOLDERS = frozenset(("Ln", "RE", "Me", "TM", "M", "A", "R", "X"))
_ATOM = rf"(?:{_ELEMENT}|Ln|RE|Me|TM|[MARX])"
_MINUS = "-−–‐‑"
_NUMBER = r"[0-9]{1,4}(?:\.[0-9]{1,5})?"
_TERM = rf"(?:(?:{_NUMBER})?[xyzw](?![a-z])|{_NUMBER})(?:/[0-9]{{1,2}}(?![0-9]))?"
_FURTHER = (
    rf"[{_MINUS}+±](?:{_NUMBER})?(?:[xyzwδαε](?![a-z])|d(?![A-Za-z0-9]))(?:/[0-9](?![0-9]))?"
)
_EXPRESSION = rf"{_TERM}(?:{_FURTHER})*"
_AMOUNT = rf"(?:{_EXPRESSION}|\((?=[^()]*[xyzwδ]){_EXPRESSION}\))"
_DOT = r"\s?[·•∙⋅‧・*]\s?"
_UNIT = (
    rf"(?:{_ATOM}{_AMOUNT}?|[(\[](?=[(\[]*{_ATOM})(?!(?:I{{1,3}}|I?V|VI{{1,3}})\))|,\s?(?={_ATOM})"
    rf"|[)\]](?:{_EXPRESSION}|n(?![a-z]))?)"
)
_WATER = rf"(?:{_DOT}|\.)(?:{_NUMBER}|[xn])?\s?H2O"
_ADDUCT = rf"[·•∙⋅‧・*](?:{_NUMBER})?(?=[A-Z(]){_UNIT}{{1,40}}"
_CHARGE = rf"[1-4]?[{_MINUS}+](?![A-Za-z0-9(+δ])"
_CANDIDATE = re.compile(
    rf"(?<![A-Za-z0-9.])(?=[A-Z(\[]){_UNIT}{{1,60}}(?:{_WATER}|{_ADDUCT}){{0,4}}"
    rf"(?:{_CHARGE})?(?![A-Za-z0-9α-ω])(?!(?<=[0-9])\.[0-9])"
)
_COEFFICIENT = (
    rf"(?:\((?:1|0?\.[0-9]{{1,5}})(?:[{_MINUS}][0-9.]{{0,5}}[xyz])+\)|1[{_MINUS}][xy]"
    r"|[01]?\.[0-9]{1,5}|[xyz])"
)
_PART = rf"{_COEFFICIENT}\s?[(\[A-Z][A-Za-z0-9.()\[\]/]{{1,60}}"
_MIXTURE = re.compile(
    rf"(?<![A-Za-z0-9.])(?=[(01.x-z]){_PART}(?:\s?[{_MINUS}+]\s?{_PART})+(?![A-Za-z0-9])"
)
_BETWEEN = re.compile(rf"\s?[{_MINUS}+]\s?(?={_COEFFICIENT}\s?[(\[A-Z])")
_WEIGHTED = re.compile(rf"({_COEFFICIENT})\s?(.+)", re.DOTALL)
_ABBREVIATION = re.compile(r"[A-Z][A-Za-z0-9]{1,8}")

_TOKEN = re.compile(
    rf"(?P<atom>{_ATOM})(?P<amount>{_AMOUNT})?|(?P<open>[(\[])|(?P<comma>,\s?)"
    rf"|[)\]](?P<times>{_EXPRESSION}|n)?"
)
_SPLIT = re.compile(rf"{_DOT}|\.(?=(?:{_NUMBER}|[xn])?\s?H2O)")
_MULTIPLE = re.compile(rf"({_NUMBER}|[xn])?\s?(.+)", re.DOTALL)
_SIGNED = re.compile(
    rf"([{_MINUS}+±])?(?=[0-9.xyzwδαεdn])({_NUMBER})?([xyzwδαεdn])?(?:/([0-9]{{1,2}}))?"
)
_IONS = tuple("OH NO3 NO2 NH4 H3O ClO4 PF6 BF4 BH4 HCO3 HSO4 H2PO4 MnO4 CN SCN AlO2".split())
_ION = re.compile(rf"(?P<body>{_ATOM}|{'|'.join(_IONS)})(?P<size>[1-7]?)(?P<sign>[{_MINUS}+])")
_OXYANION = re.compile(rf"(?P<body>.*[A-Z][a-z]?[2-7])(?P<size>[1-4])(?P<sign>[{_MINUS}+])")
_SHORT = re.compile(r"\(([A-Z]{2,})\)$")
_ACRONYM = re.compile(r"[A-Z]{2,}s[0-9]*|.*II")
_LEVEL = str.maketrans("₀₁₂₃₄₅₆₇₈₉ₓ₋⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789x-0123456789+-")

# All-capital words that are formulas far more often than acronyms.
_CAPITALS = frozenset("CO NO OH HF KOH BN WC VN KF KI KCN HCN COOH CHO".split())
_MOLECULES = frozenset("H2 O2 N2 O3 F2 Cl2 Br2 C60 C70".split())
_WORDS = frozenset(("NaN", "HeLa", "KHz"))
_HALOGENS = ("F", "Cl", "Br", "I")


def parse(text: str) -> Formula | None:
    """`text` as a formula, None if it is not one as a whole."""
    written = latex.plain(text).text.translate(_LEVEL).strip()
    return _mixture(written) or _formula(written)


def find(text: str) -> list[tuple[Span, Formula]]:
    """All formulas of `text`, by place; linear in its length."""
    plain = latex.plain(text)
    level = plain.text.translate(_LEVEL)
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
            formula = _formula(level[start:stop]) if _plausible(level[start:stop]) else None
        if formula:
            found.append((plain.span(start, stop), formula))
            end = stop
    return found


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
    """Without an abbreviation in brackets (`BaTiO3(BT)`) or a dash that is no charge (`Ti- and`)."""
    short = _SHORT.search(text, start, end)
    if short and short[1] not in _CAPITALS:
        end = short.start()
    if text[end - 1] in _MINUS + "+" and not _charged(text[start:end]):
        end -= 1
    return start, end


def _charged(written: str) -> re.Match[str] | None:
    """An ion's parts: body, size of its charge ("" for 1) and sign."""
    ion = _ION.fullmatch(written)
    if not ion:
        return _OXYANION.fullmatch(written)
    known = ion["size"] or ion["sign"] == "+" or ion["body"] in _HALOGENS + _IONS
    return ion if known and ion["body"] not in _PLACEHOLDERS else None


def _plausible(written: str) -> bool:
    """Whether a run of element symbols and amounts is a formula rather than a word or label."""
    if written in _CAPITALS or written in _MOLECULES:
        return True
    if written in _WORDS or _ACRONYM.fullmatch(written):
        return False
    if _charged(written):
        return True
    main = _SPLIT.split(written)[0]
    atoms = [(match["atom"], match["amount"]) for match in _TOKEN.finditer(main) if match["atom"]]
    names = {name for name, _ in atoms}
    if len(names) < 2:
        return False
    amounts = [amount for _, amount in atoms if amount]
    if names & _PLACEHOLDERS and not any(name == "O" and amount for name, amount in atoms):
        return False
    if any(len(name) > 1 and name not in _PLACEHOLDERS for name in names):
        return True
    if not amounts or len(names) < len(atoms) - (")" in main):
        return bool(amounts) and ("(" in main or "[" in main)
    if max(len(amount) for amount in amounts) > 2 and not any("." in a for a in amounts):
        return "C" in names and "H" in names
    if len(amounts) == 1 and atoms[-1][1]:
        return names >= {"H", "O"} or atoms[-1][0] in ("OF" if len(atoms) > 2 else "OFHNS")
    return "1" not in amounts


def _mixture(written: str) -> Formula | None:
    """Weighted parts whose weights sum to one, like `0.95NKN-0.05BZ`."""
    if not _MIXTURE.fullmatch(written):
        return None
    total: Amount = {}
    amounts: dict[str, Amount] = {}
    names: list[str] = []
    known = True
    for part in _BETWEEN.split(written):
        weighted = _WEIGHTED.fullmatch(part)
        if not weighted:
            return None
        weight = _amount(weighted[1].strip("()"))
        _add(total, weight)
        abbreviated = weighted[2].isupper() and weighted[2].isalpha()
        inner = None if abbreviated else _composition(weighted[2])
        if inner:
            for element, amount in inner[1].items():
                _add(amounts.setdefault(element, {}), _product(weight, amount))
        elif not _ABBREVIATION.fullmatch(weighted[2]):
            return None
        known = known and inner is not None
        names.append(f"{_expression(weight)}({inner[0] if inner else weighted[2]})")
    if abs(total.pop("", 0.0) - 1) > 1e-6 or any(abs(value) > 1e-6 for value in total.values()):
        return None
    return Formula("-".join(sorted(names)), _amounts(amounts) if known else ())


def _formula(written: str) -> Formula | None:
    charge = 0
    charged = _charged(written)
    if charged:
        written = charged["body"]
        charge = int(charged["size"] or 1) * (1 if charged["sign"] == "+" else -1)
    parts = [_MULTIPLE.fullmatch(part) for part in _SPLIT.split(written)]
    amounts: dict[str, Amount] = {}
    names: list[str] = []
    for part in parts:
        inner = _composition(part[2]) if part else None
        if not part or not inner or (part is parts[0] and part[1]):
            return None
        times = _amount(part[1] or "1")
        for element, amount in inner[1].items():
            _add(amounts.setdefault(element, {}), _product(times, amount))
        names.append(_expression(times, one="") + inner[0])
    sign = ("+" if charge > 0 else "-") if charge else ""
    canonical = "·".join([names[0], *sorted(names[1:])])
    if charge:
        canonical += f"({abs(charge)}{sign})"
    return Formula(canonical, _amounts(amounts), charge)


def _composition(written: str) -> tuple[str, dict[str, Amount]] | None:
    """Canonical name and composition of a formula without charge, water or weights."""
    groups: list[dict[str, Amount]] = [{}]
    listed: list[bool] = [False]
    end = 0
    for token in _TOKEN.finditer(written):
        if token.start() != end:
            return None
        end = token.end()
        if token["atom"]:
            amount = _amount((token["amount"] or "1").strip("()"))
            _add(groups[-1].setdefault(token["atom"], {}), amount)
        elif token["open"]:
            groups.append({})
            listed.append(False)
        elif token["comma"]:
            listed[-1] = True
        elif len(groups) > 1:
            group, shared = groups.pop(), listed.pop()
            times = _product(_amount(token["times"] or "1"), {"?": 1.0} if shared else {"": 1.0})
            for element, amount in group.items():
                _add(groups[-1].setdefault(element, {}), _product(times, amount))
        else:
            return None
    if end != len(written) or len(groups) != 1 or listed[0] or not groups[0]:
        return None
    return "".join(f"{e}{_expression(a, one='')}" for e, a in sorted(groups[0].items())), groups[0]


def _amount(written: str) -> Amount:
    """`1-x`, `0.5`, `2x/3`, `3−δ` as a polynomial; a lone final d is a δ that lost its font."""
    amount: Amount = {}
    for sign, number, symbol, over in _SIGNED.findall(written):
        value = float(number or 1) / float(over or 1)
        name = ("±" if sign == "±" else "") + symbol.replace("d", "δ")
        _add(amount, {name: value if sign in ("", "+", "±") else -value})
    return amount


def _add(to: Amount, more: Amount) -> None:
    for name, value in more.items():
        to[name] = to.get(name, 0.0) + value


def _product(a: Amount, b: Amount) -> Amount:
    product: Amount = {}
    for x, p in a.items():
        for y, q in b.items():
            _add(product, {"".join(sorted(x + y)): p * q})
    return product


def _expression(amount: Amount, one: str = "1") -> str:
    """`0.5`, `1-x`, `3-δ`; `one` for exactly 1, brackets around a sum after an element."""
    terms = [(name, value) for name, value in sorted(amount.items()) if abs(value) > 1e-9]
    if terms == [("", 1.0)]:
        return one
    text = ""
    for name, value in terms:
        size = f"{abs(value):.6g}"
        sign = "-" if value < 0 else "+" if text and not name.startswith("±") else ""
        text += sign + (name if name and size == "1" else size + name)
    text = text or "0"
    return f"({text})" if one == "" and any(name for name, _ in terms) else text


def _amounts(amounts: dict[str, Amount]) -> tuple[tuple[str, float | str], ...]:
    return tuple(
        (element, round(amount.get("", 0.0), 9) if set(amount) <= {""} else _expression(amount))
        for element, amount in sorted(amounts.items())
    )
