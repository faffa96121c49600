"""The composition that one written formula states: its grammar and its algebra.

Amounts may be symbolic (`1-x`, `3-δ`), so they are polynomials in the formula's symbols. Finding
formulas in text, hydrates, mixtures and ions are `reciper_ray.formula`'s.
"""

import re

# Monomial ("" for the constant, `x`, `xy`, `±δ`) to its coefficient.
Amount = dict[str, float]
Composition = dict[str, Amount]

_ZERO = 1e-9

_ELEMENT = (
    "A[cglmrstu]|B[aeir]|C[adelorsu]|Dy|E[ru]|Fe|G[ade]|H[efgo]|I[nr]|Kr|L[aiu]|M[gno]"
    "|N[abdeip]|Os|P[abdmortu]|R[abehu]|S[bceimnr]|T[abcehilm]|Xe|Yb|Z[nr]|[BCFHIKNOPSUVWY]"
)
# What general formulas write for any element of a kind.
PLACEHOLDERS = frozenset(("Ln", "RE", "Me", "TM", "M", "A", "R", "X"))
ATOM = rf"(?:{_ELEMENT}|Ln|RE|Me|TM|[MARX])"
MINUS = "-−–‐‑"
NUMBER = r"[0-9]{1,4}(?:\.[0-9]{1,5})?"
_TERM = rf"(?:(?:{NUMBER})?[xyzw](?![a-z])|{NUMBER})(?:/[0-9]{{1,2}}(?![0-9]))?"
_FURTHER = rf"[{MINUS}+±](?:{NUMBER})?(?:[xyzwδαε](?![a-z])|d(?![A-Za-z0-9]))(?:/[0-9](?![0-9]))?"
EXPRESSION = rf"{_TERM}(?:{_FURTHER}){{0,6}}"
AMOUNT = rf"(?:{EXPRESSION}|\((?=[^()]{{0,20}}[xyzwδ]){EXPRESSION}\))"
TOKEN = re.compile(
    rf"(?P<atom>{ATOM})(?P<amount>{AMOUNT})?|(?P<open>[(\[])|(?P<comma>,\s?)"
    rf"|[)\]](?P<times>{EXPRESSION}|n)?"
)
_SIGNED = re.compile(
    rf"([{MINUS}+±])?(?=[0-9.xyzwδαεdn])({NUMBER}|\.[0-9]+)?([xyzwδαεdn])?(?:/([0-9]{{1,2}}))?"
)


def parse(written: str) -> tuple[str, Composition] | None:
    """Canonical name and composition of a formula without charge, water or weights.

    In `(Zn,Ti)O3`, whose elements share a site in unknown amounts, each has the amount `?`.
    """
    groups: list[Composition] = [{}]
    listed: list[bool] = [False]
    end = 0
    for token in TOKEN.finditer(written):
        if token.start() != end:
            return None
        end = token.end()
        if token["atom"]:
            add(groups[-1].setdefault(token["atom"], {}), amount(token["amount"] or "1"))
        elif token["open"]:
            groups.append({})
            listed.append(False)
        elif token["comma"]:
            listed[-1] = True
        elif len(groups) > 1:
            group, shared = groups.pop(), listed.pop()
            times = product(amount(token["times"] or "1"), {"?": 1.0} if shared else {"": 1.0})
            for element, inner in group.items():
                add(groups[-1].setdefault(element, {}), product(times, inner))
        else:
            return None
    if end != len(written) or len(groups) != 1 or listed[0] or not groups[0]:
        return None
    return "".join(f"{e}{expression(a, one='')}" for e, a in sorted(groups[0].items())), groups[0]


def amount(written: str) -> Amount:
    """`1-x`, `0.5`, `2x/3`, `3−δ` as a polynomial; a lone final d is a δ that lost its font."""
    total: Amount = {}
    for sign, number, symbol, over in _SIGNED.findall(written):
        value = float(number or 1) / (float(over or 1) or 1.0)
        name = ("±" if sign == "±" else "") + symbol.replace("d", "δ")
        add(total, {name: value if sign in ("", "+", "±") else -value})
    return total


def add(to: Amount, more: Amount) -> None:
    """Adds `more` to `to`, in place."""
    for name, value in more.items():
        to[name] = to.get(name, 0.0) + value


def product(a: Amount, b: Amount) -> Amount:
    """`a` times `b`."""
    result: Amount = {}
    for x, p in a.items():
        for y, q in b.items():
            add(result, {"".join(sorted(x + y)): p * q})
    return result


def expression(of: Amount, one: str = "1") -> str:
    """`0.5`, `1-x`, `3-δ`; `one` for exactly 1, brackets around a sum after an element."""
    terms = [(name, value) for name, value in sorted(of.items()) if abs(value) > _ZERO]
    if terms == [("", 1.0)]:
        return one
    text = ""
    for name, value in terms:
        size = f"{abs(value):.6g}"
        sign = "-" if value < 0 else "+" if text and not name.startswith("±") else ""
        text += sign + (name if name and size == "1" else size + name)
    text = text or "0"
    return f"({text})" if one == "" and any(name for name, _ in terms) else text


def amounts(of: Composition) -> tuple[tuple[str, float | str], ...]:
    """Each element with its amount: a number, or an expression where it has symbols."""
    return tuple(
        (
            element,
            expression(total)
            if any(name and abs(value) > _ZERO for name, value in total.items())
            else round(total.get("", 0.0), 9),
        )
        for element, total in sorted(of.items())
    )
