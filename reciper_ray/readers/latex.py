"""LaTeX mathematics as plain text.

Covers what papers' inline mathematics holds: formulas, quantities, symbols, simple equations.
`$\\mathrm{Al}_{0.5}$` becomes `Al0.5`, `$1100^{\\circ}\\mathrm{C}$` `1100°C`, `$10^{-3}$` `10⁻³`.
Macros are never expanded and files never read; a command it does not know keeps its name.
Layout (matrices, alignment) is flattened.
"""

import re

from reciper_ray.readers.script import superscript

_SYMBOLS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε",
    "zeta": "ζ", "eta": "η", "theta": "θ", "vartheta": "θ", "iota": "ι", "kappa": "κ",
    "lambda": "λ", "mu": "μ", "upmu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ",
    "varrho": "ρ", "sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "φ", "varphi": "φ",
    "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ",
    "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
    "triangle": "Δ", "circ": "°", "degree": "°", "prime": "′", "AA": "Å", "angstrom": "Å",
    "ell": "ℓ", "hbar": "ħ", "partial": "∂", "nabla": "∇", "infty": "∞", "sum": "∑", "prod": "∏",
    "int": "∫", "cdot": "·", "bullet": "•", "star": "*", "ast": "*", "dagger": "†", "ddagger": "‡",
    "perp": "⊥", "parallel": "∥", "mid": "|", "vert": "|", "backslash": "\\", "lbrace": "{",
    "rbrace": "}", "lbrack": "[", "rbrack": "]", "langle": "⟨", "rangle": "⟩", "ldots": "…",
    "cdots": "…", "dots": "…", "sim": "∼", "square": "□", "bigcirc": "○", "angle": "∠",
    "percent": "%", "textdegree": "°", "textmu": "μ", "mp": "∓",
}  # fmt: skip
_RELATIONS = {
    "times": "×", "pm": "±", "le": "≤", "leq": "≤", "leqslant": "≤", "ge": "≥", "geq": "≥",
    "geqslant": "≥", "approx": "≈", "simeq": "≃", "cong": "≅", "equiv": "≡", "neq": "≠",
    "ne": "≠", "propto": "∝", "ll": "≪", "gg": "≫", "gtrsim": "≳", "lesssim": "≲", "to": "→",
    "rightarrow": "→", "longrightarrow": "→", "leftarrow": "←", "leftrightarrow": "↔",
    "rightleftharpoons": "⇌", "Rightarrow": "⇒", "in": "∈", "over": "/", "div": "÷",
}  # fmt: skip
_SPACES = frozenset(["quad", "qquad", ",", ";", ":", " ", ">", "enspace", "space", "newline"])
_IGNORED = frozenset(
    "left right big Big bigg Bigg bigl bigr Bigl Bigr displaystyle textstyle scriptstyle limits"
    " nolimits nonumber notag rm bf it sf tt cal mathstrut strut hfill ! middle".split()
)
_WITH_SKIPPED_ARGUMENT = frozenset(["begin", "end", "label", "hspace", "vspace", "color"])
_TEXT = frozenset(["text", "textrm", "textit", "textbf", "textsf", "mbox", "hbox", "textnormal"])
_UPRIGHT = frozenset(["mathrm", "operatorname", "mathsf", "ce", "rm"]) | _TEXT
_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|[{}^_&~']|[=<>]|\s+|-+|[^\\{}^_&~'=<>\s-]", re.DOTALL)
_DEPTH = 40
_MATH = re.compile(
    r"\\documentclass(?:(?!\\documentclass).){0,800}?\\begin\{document\}"
    r"(?P<document>.{0,6000}?)\\end\{document\}"
    r"|\$\$(?P<display>[^$]{1,6000})\$\$"
    r"|(?P<gap>[ ]{0,3})\$(?P<inline>[^$\n]{1,1000})\$(?!\d)"
    r"|\\\((?P<round>[^\n]{1,1000}?)\\\)"
    r"|\\\[(?P<square>.{1,6000}?)\\\]",
    re.DOTALL,
)
_LOOSE = re.compile(r"(?P<gap> ?)(?P<script>(?:[_^]\{[^{}$\n]{0,80}\})+)")
_CITATION = re.compile(r"\s*\^\s*\{?[\d\s,*†‡§–-]*\}?\s*")
_UNIT_BEFORE = re.compile(r"(?:^|[\d\s(/·.×])(?:[kcmdnμµp]?m|Å|in|[mμµ]?[sgLAVC]|K|T)$")


def strip_math(text: str) -> str:
    """`text` with its LaTeX mathematics, marked as such or left loose (`Ni_{3}`), as plain text.

    A raised number alone behind a word that is no unit is a citation mark and is dropped.
    """
    text = _MATH.sub(_replace, text)
    return _LOOSE.sub(_replace_loose, text)


def _replace(match: re.Match[str]) -> str:
    if match["inline"] is None:
        display = match["document"] or match["display"] or match["round"] or match["square"] or ""
        return f" {plain(display.strip().strip('$'))} "
    inner = match["inline"]
    if not (set(inner) & set("\\^_{<>=") or not inner[0].isspace() and not inner[-1].isspace()):
        return match[0]
    return _attach(match, inner)


def _replace_loose(match: re.Match[str]) -> str:
    return _attach(match, match["script"])


def _attach(match: re.Match[str], math: str) -> str:
    if math.lstrip()[:1] not in ("^", "_"):
        return match["gap"] + plain(math)
    before = match.string[max(0, match.start() - 6) : match.start()]
    if _CITATION.fullmatch(math) and not before[-1:].isdigit():
        if not _UNIT_BEFORE.search(before) or "," in math:
            return ""
    return plain(math, before)


def plain(math: str, before: str = "") -> str:
    """The mathematics `math` (without its dollars), standing behind `before`, as plain text."""
    tokens = _TOKEN.findall(math)
    out, _ = _group(tokens, 0, before, keep_space=False, depth=0)
    return " ".join(out.split())


def _group(
    tokens: list[str], at: int, before: str, *, keep_space: bool, depth: int
) -> tuple[str, int]:
    """The text of `tokens` from `at` to the group's end, and the index behind it."""
    out = ""
    plain_digit = False
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token == "}":
            break
        was_digit, plain_digit = plain_digit, False
        if token == "{":
            piece, at = _nested(tokens, at - 1, keep_space=keep_space, depth=depth)
        elif token in "^_":
            piece, at = _argument(tokens, at, keep_space=keep_space, depth=depth)
            out = out.rstrip()
            if token == "^":
                piece = superscript(piece, out or before)
        elif token == "'":
            piece = "′"
        elif token in "~&" or (token.isspace() and keep_space):
            piece = " "
        elif token.isspace():
            plain_digit, piece = was_digit, ""
        elif token in "=<>":
            piece = f" {token} "
        elif token.startswith("\\"):
            piece, at = _command(token[1:].rstrip("*"), tokens, at, keep_space, depth)
            if was_digit and piece[:1].isalpha() and token[1:] in _UPRIGHT:
                piece = " " + piece
        elif token[0] == "-":
            piece = token if keep_space else _dash(out, tokens, at)
        else:
            piece, plain_digit = token, token.isdigit()
        out += piece
    return out, at


def _dash(out: str, tokens: list[str], at: int) -> str:
    while at < len(tokens) and tokens[at].isspace():
        at += 1
    between = out[-1:].isdigit() and at < len(tokens) and tokens[at].isdigit()
    return "–" if between else "−"


def _nested(tokens: list[str], at: int, *, keep_space: bool, depth: int) -> tuple[str, int]:
    if depth >= _DEPTH:
        return "", at + 1
    return _group(tokens, at + 1, "", keep_space=keep_space, depth=depth + 1)


def _argument(tokens: list[str], at: int, *, keep_space: bool, depth: int) -> tuple[str, int]:
    """The next group, command or character, and the index behind it."""
    while at < len(tokens) and tokens[at].isspace():
        at += 1
    if at == len(tokens) or tokens[at] == "}":
        return "", at
    if tokens[at] == "{":
        return _nested(tokens, at, keep_space=keep_space, depth=depth)
    if tokens[at].startswith("\\"):
        return _command(tokens[at][1:].rstrip("*"), tokens, at + 1, keep_space, depth)
    return ("−" if tokens[at] == "-" else tokens[at]), at + 1


def _command(
    name: str, tokens: list[str], at: int, keep_space: bool, depth: int
) -> tuple[str, int]:
    if depth >= _DEPTH:
        return "", at
    if name in _SYMBOLS:
        return _SYMBOLS[name], at
    if name in _RELATIONS:
        return f" {_RELATIONS[name]} ", at
    if name in _SPACES or name == "\\":
        return " ", at
    if name in _IGNORED:
        return "", at
    if name in _WITH_SKIPPED_ARGUMENT:
        return " ", _argument(tokens, at, keep_space=True, depth=depth + 1)[1]
    if name == "tag":
        inner, at = _argument(tokens, at, keep_space=True, depth=depth + 1)
        return f" ({inner})", at
    if name in ("frac", "dfrac", "tfrac"):
        over, at = _argument(tokens, at, keep_space=False, depth=depth + 1)
        under, at = _argument(tokens, at, keep_space=False, depth=depth + 1)
        return f"{_bracketed(over)}/{_bracketed(under)}", at
    if name == "sqrt":
        inner, at = _argument(tokens, at, keep_space=False, depth=depth + 1)
        return f"√{_bracketed(inner)}", at
    if name.isalpha():
        following = _next_is_group(tokens, at)
        inner, after = (
            _argument(tokens, at, keep_space=name in _TEXT, depth=depth + 1)
            if following
            else ("", at)
        )
        if following:
            return inner, after
        return f" {name} " if len(name) > 1 else name, at
    return name, at


def _next_is_group(tokens: list[str], at: int) -> bool:
    while at < len(tokens) and tokens[at].isspace():
        at += 1
    return at < len(tokens) and tokens[at] == "{"


def _bracketed(text: str) -> str:
    text = text.strip()
    return text if len(text) <= 1 or re.fullmatch(r"[\w.,′]+", text) else f"({text})"
