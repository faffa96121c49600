"""LaTeX damage in extracted text, read through: `$600^{\\circ}\\mathrm{C}$` becomes `600°C`.

Questions, recipes and models' words may carry inline LaTeX. The recognisers of quantities and
formulas work on the plain text made here and map what they find back to the source, character by
character. `reciper_ray.readers.latex` lays formulas out (fractions, raised script, tables), for
which characters must move and cannot be mapped; the commands' signs are the same for both.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass

from reciper_ray.types import Span

_RELATIONS = {
    "times": "×", "pm": "±", "le": "≤", "leq": "≤", "leqslant": "≤", "ge": "≥", "geq": "≥",
    "geqslant": "≥", "approx": "≈", "simeq": "≃", "cong": "≅", "equiv": "≡", "neq": "≠",
    "ne": "≠", "propto": "∝", "ll": "≪", "gg": "≫", "gtrsim": "≳", "lesssim": "≲", "to": "→",
    "rightarrow": "→", "longrightarrow": "→", "leftarrow": "←", "leftrightarrow": "↔",
    "rightleftharpoons": "⇌", "Rightarrow": "⇒", "in": "∈", "over": "/", "div": "÷",
}  # fmt: skip
SYMBOLS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε",
    "zeta": "ζ", "eta": "η", "theta": "θ", "vartheta": "θ", "iota": "ι", "kappa": "κ",
    "lambda": "λ", "mu": "μ", "upmu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ",
    "varrho": "ρ", "sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "φ", "varphi": "φ",
    "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ",
    "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
    "triangle": "Δ", "circ": "°", "degree": "°", "textdegree": "°", "celsius": "°C",
    "prime": "′", "AA": "Å",
    "ell": "ℓ", "hbar": "ħ", "partial": "∂", "nabla": "∇", "infty": "∞", "sum": "∑", "prod": "∏",
    "int": "∫", "cdot": "·", "bullet": "•", "star": "*", "ast": "*", "dagger": "†", "ddagger": "‡",
    "perp": "⊥", "parallel": "∥", "mid": "|", "vert": "|", "backslash": "\\", "lbrace": "{",
    "rbrace": "}", "lbrack": "[", "rbrack": "]", "langle": "⟨", "rangle": "⟩", "ldots": "…",
    "cdots": "…", "dots": "…", "sim": "∼", "square": "□", "bigcirc": "○", "textmu": "μ",
    "mp": "∓", "quad": " ", "qquad": " ", ",": " ", ";": " ", ":": " ", " ": " ", "\\": " ",
    "!": "", "hfill": " ", **{name: f" {sign} " for name, sign in _RELATIONS.items()},
}  # fmt: skip
"""What a command writes, by its name."""
_ESCAPES = {"%": "%", "&": "&", "#": "#", "_": "_", "$": "$"}
# An exponent keeps its caret after a digit (10^5), where dropping it would change the number.
_TOKEN = re.compile(
    r"\\(?P<name>[A-Za-z]+)[ ]?"
    r"|\\(?P<escape>.)"
    r"|(?P<power>(?<=[0-9])\^\{?[ ]?(?=[-−–+]?[ ]?[0-9]))"
    r"|(?P<drop>[${}^]|_(?=\{)|(?<=[A-Za-z)\]}$])_(?=[0-9xyzn]))",
    re.DOTALL,
)

_OPENING = re.compile(r"(?:\\[A-Za-z]+ ?)?\{$")


@dataclass(frozen=True, slots=True)
class Plain:
    """Plain `text` of `source`, made of pieces.

    Piece i starts at `starts[i]` of the text and at `places[i]` of the source; it is copied
    from there, or stands for `source[places[i]:ends[i]]` where `ends[i]` is not 0.
    """

    text: str
    source: str
    starts: tuple[int, ...] = (0,)
    places: tuple[int, ...] = (0,)
    ends: tuple[int, ...] = (0,)

    def span(self, start: int, end: int) -> Span:
        """Where `text[start:end]` (not empty) stands in the source, with its braces' other halves
        where they are next to it."""
        first, last = self._place(start)[0], self._place(end - 1)[1]
        depth = unopened = 0
        for char in self.source[first:last]:
            depth += (char == "{") - (char == "}")
            unopened = max(unopened, -depth)
        for _ in range(depth + unopened):
            last += self.source[last : last + 1] == "}"
        opening = _OPENING.search(self.source, max(0, first - 16), first) if unopened else None
        return Span(opening.start() if opening else first, last)

    def _place(self, at: int) -> tuple[int, int]:
        """Start and end in the source of the text's character `at`."""
        piece = bisect_right(self.starts, at) - 1
        start = self.places[piece]
        if self.ends[piece]:
            return start, self.ends[piece]
        start += at - self.starts[piece]
        return start, start + 1


def plain(source: str) -> Plain:
    """`source` without LaTeX markup; the same text when it has none."""
    if "\\" not in source:
        return Plain(source, source)
    text: list[str] = []
    starts: list[int] = []
    places: list[int] = []
    ends: list[int] = []
    length = last = 0

    def add(piece: str, start: int, end: int) -> None:
        nonlocal length
        if piece:
            text.append(piece)
            starts.append(length)
            places.append(start)
            ends.append(end)
            length += len(piece)

    for token in _TOKEN.finditer(source):
        add(source[last : token.start()], last, 0)
        if token["name"]:
            written = SYMBOLS.get(token["name"], "")
            symbol = written.strip() or written
        elif token["escape"]:
            symbol = _ESCAPES.get(token["escape"], " ")
        else:
            symbol = "^" if token["power"] else ""
        add(symbol, token.start(), token.end())
        last = token.end()
    add(source[last:], last, 0)
    return Plain("".join(text), source, tuple(starts), tuple(places), tuple(ends))
