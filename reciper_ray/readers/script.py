"""Superscripts in plain text.

`10` with a raised `14` must not become `1014`, and must still match it: Unicode's superscript
digits keep the exponent visible and NFKC folds them onto plain digits. Subscripts need nothing
of the kind: `TiO` with a lowered `2` is `TiO2`.
"""

import re

_RAISED = str.maketrans("0123456789+-−–=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿⁱ")
_EXPONENT = re.compile(r"[+\-−–]?[0-9]")
_RAISABLE = re.compile(r"[0-9+\-−–=()]+|[ni]")


def superscript(text: str, before: str) -> str:
    """`text` raised behind `before`: in Unicode's superscripts where they have all of it,
    after `^` where a bare number would run into `before`'s, else plain."""
    text = "".join(text.split())
    if _RAISABLE.fullmatch(text):
        return text.translate(_RAISED)
    if before[-1:].isdigit() and _EXPONENT.match(text):
        return f"^{text}"
    return text
