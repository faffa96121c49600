"""LaTeX mathematics as plain text.

Covers what papers' inline mathematics holds: formulas, quantities, symbols, simple equations.
`$\\mathrm{Al}_{0.5}$` becomes `Al0.5`, `$1100^{\\circ}\\mathrm{C}$` `1100°C`, `$10^{-3}$` `10⁻³`.
Macros are not expanded and files not read; an unknown command keeps its argument, or its name.
Layout (matrices, alignment) is flattened.
"""

import html
import re

from reciper_ray.latex import SYMBOLS
from reciper_ray.readers.script import superscript

_IGNORED = {"left", "right", "big", "Big", "bigg", "Bigg", "displaystyle", "textstyle", "limits"}
_IGNORED |= {"nolimits", "nonumber", "rm", "bf", "it", "middle"}
_ARGUMENT_LEFT_OUT = {"begin", "end", "label", "hspace", "vspace", "color"}
_TEXT = {"text", "textrm", "textit", "textbf", "textsf", "mbox", "hbox", "textnormal", "tag"}
_UPRIGHT = _TEXT | {"mathrm", "operatorname", "mathsf"}
_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\s+|-+|.", re.DOTALL)
_DEPTH = 30
_MATH = re.compile(
    r"\\documentclass(?:(?!\\documentclass).){0,800}?\\begin\{document\}"
    r"(?P<document>(?:(?!\\begin\{document).){0,6000}?)\\end\{document\}"
    r"|\$\$(?P<display>[^$]{1,6000})\$\$"
    r"|(?P<gap> {0,3})\$(?P<inline>[^$\n]{1,1000})\$(?!\d)(?: (?=[,.;:)]))?"
    r"|\\\((?P<round>(?:(?!\\[()]).){1,1000})\\\)"
    r"|\\\[(?P<square>(?:(?!\\[\[\]]).){1,6000})\\\]",
    re.DOTALL,
)
_LOOSE = re.compile(r"(?P<gap> ?)(?P<inline>(?:[_^]\{[^{}$\n]{0,80}\})+)")
_CITATION = re.compile(r"\s*\^\s*\{?[\d\s,*†‡§–-]*\}?\s*")
_UNIT = re.compile(r"(?:^|[\d\s(/·.×])(?:[kcmdnμµp]?m|Å|in|[mμµ]?[sgLAVC]|K|T)$")


def strip_math(text: str) -> str:
    """`text` with its LaTeX mathematics, marked as such or left loose (`Ni_{3}`), as plain text.

    A raised number alone behind a word that is no unit is a citation mark and is dropped. Dollars
    around what does not look like mathematics stay.
    """
    if "$" in text or "\\" in text:
        text = _MATH.sub(_marked, text)
    return _LOOSE.sub(_attached, text) if "{" in text else text


def _marked(match: re.Match[str]) -> str:
    inner = match["inline"]
    if inner is None:
        display = match["document"] or match["display"] or match["round"] or match["square"] or ""
        return f" {plain(display.strip().strip('$'))} "
    padded = inner[0].isspace() or inner[-1].isspace()
    return match[0] if padded and not set(inner) & set("\\^_{<>=") else _attached(match)


def _attached(match: re.Match[str]) -> str:
    """The inline mathematics of `match`; scripts go without a gap to what they belong to."""
    math = match["inline"]
    before = match.string[max(0, match.start() - 6) : match.start()]
    if math.lstrip()[:1] not in ("^", "_"):
        return ("" if before.endswith("(") else match["gap"]) + plain(math)
    exponent = before[-1:].isdigit() or (_UNIT.search(before) is not None and "," not in math)
    return "" if _CITATION.fullmatch(math) and not exponent else plain(math, before)


def plain(math: str, before: str = "") -> str:
    """The mathematics `math` (without its dollars), standing behind `before`, as plain text."""
    return " ".join(_Reader(_TOKEN.findall(html.unescape(math))).group(before).split())


class _Reader:
    """A walk over the tokens of one formula."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def group(self, before: str = "", keep_space: bool = False) -> str:
        """The text up to the end of the group that has been entered."""
        out = ""
        digit = False
        while self._at < len(self._tokens):
            token = self._next()
            was_digit, digit = digit, False
            if token == "}" and self._depth == 0:
                continue
            if token == "}":
                break
            if token == "_":
                out = out.rstrip() + self._argument()
            elif token == "^":
                out = out.rstrip()
                out += superscript(self._argument(), out or before)
            elif token.isspace():
                out += " " if keep_space else ""
                digit = was_digit
            elif token[0] == "-":
                out += token if keep_space else self._dash(out)
            elif token[0] == "\\" and len(token) > 1:
                name = token[1:].rstrip("*")
                written = self._command(name)
                parted = was_digit and name in _UPRIGHT and written[:1].isalpha()
                out += f" {written}" if parted else written
            else:
                out += self._character(token, keep_space)
                digit = token.isdigit()
        return out

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    def _peek(self) -> str:
        """The next token that is no white space, "" at the end."""
        while self._at < len(self._tokens) and self._tokens[self._at].isspace():
            self._at += 1
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _nested(self, keep_space: bool) -> str:
        self._depth += 1
        inner = self.group(keep_space=keep_space) if self._depth <= _DEPTH else ""
        self._depth -= 1
        return inner

    def _character(self, token: str, keep_space: bool) -> str:
        if token == "{":
            return self._nested(keep_space)
        if token in "=<>":
            return f" {token} "
        return {"~": " ", "&": " ", "'": "′", "\\": ""}.get(token, token)

    def _dash(self, out: str) -> str:
        return "–" if out[-1:].isdigit() and self._peek().isdigit() else "−"

    def _argument(self, keep_space: bool = False) -> str:
        """The next group, command or character."""
        token = self._peek()
        if token in ("", "}"):
            return ""
        self._at += 1
        if token == "{":
            return self._nested(keep_space)
        if token[0] == "\\" and len(token) > 1:
            self._depth += 1
            written = self._command(token[1:].rstrip("*")) if self._depth <= _DEPTH else ""
            self._depth -= 1
            return written
        return "−" if token == "-" else token

    def _command(self, name: str) -> str:
        if name in SYMBOLS:
            return SYMBOLS[name]
        if name in _IGNORED:
            return ""
        if name in _ARGUMENT_LEFT_OUT:
            self._argument()
            return " "
        if name == "tag":
            return f" ({self._argument(keep_space=True)})"
        if name in ("frac", "dfrac", "tfrac"):
            return f"{_bracketed(self._argument())}/{_bracketed(self._argument())}"
        if name == "sqrt":
            return f"√{_bracketed(self._argument())}"
        if name.isalpha() and self._peek() == "{":
            return self._argument(keep_space=name in _TEXT)
        return f" {name} " if len(name) > 1 else name


def _bracketed(text: str) -> str:
    text = text.strip()
    return text if len(text) <= 1 or re.fullmatch(r"[\w.,′]+", text) else f"({text})"
