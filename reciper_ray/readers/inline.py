"""The running text of XML and HTML elements: scripts, mathematics and marks on one line.

What belongs to a format is in its `Inline`; MathML, TeX and the choice among renderings of one
formula are the same everywhere.
"""

from collections.abc import Callable
from dataclasses import dataclass

from lxml import etree

from reciper_ray.readers import mathml, xml
from reciper_ray.readers.latex import strip_math
from reciper_ray.readers.script import superscript
from reciper_ray.text import normalise, squeeze

_LOOK_BACK = 8
_RENDERINGS = ("math", "tex-math", "textual-form")


def _no_mark(element: etree._Element) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Inline:
    """How a format writes running text: element names that are raised, lowered, left out, or
    stand apart from their neighbours, and which elements are citation marks."""

    left_out: frozenset[str]
    apart: frozenset[str]
    raised: frozenset[str] = frozenset(["sup"])
    lowered: frozenset[str] = frozenset(["sub"])
    is_mark: Callable[[etree._Element], bool] = _no_mark

    def line(self, element: etree._Element) -> str:
        """The text of `element` on one line, normalised."""
        return squeeze(normalise(self.inside(element, "")))

    def inside(self, element: etree._Element, before: str) -> str:
        """The text inside `element`, which stands behind `before`."""
        parts = [element.text or ""]
        last = parts[0][-_LOOK_BACK:]
        for child in element:
            for text in (self._written(child, last or before), child.tail or ""):
                parts.append(text)
                last = (last + text)[-_LOOK_BACK:]
        return "".join(parts)

    def _written(self, child: etree._Element, before: str) -> str:
        name = xml.local(child)
        if not name:
            return xml.entity(child)
        if name in self.left_out or self.is_mark(child):
            return ""
        if name in self.raised:
            return superscript(self.inside(child, ""), before)
        if name in self.lowered:
            return "".join(self.inside(child, before).split())
        if name == "math":
            return mathml.text(child, before)
        if name == "tex-math":
            return squeeze(strip_math(child.text or ""))
        if name == "alternatives":
            return self._one_of(child, before)
        inner = self.inside(child, before)
        return f" {inner} " if name in self.apart else inner

    def _one_of(self, alternatives: etree._Element, before: str) -> str:
        """One rendering of a formula given as MathML, TeX and picture."""
        by_name = {xml.local(child): child for child in reversed(alternatives)}
        for name in _RENDERINGS:
            if name in by_name:
                return self._written(by_name[name], before)
        return " ".join(self._written(child, before) for child in alternatives)
