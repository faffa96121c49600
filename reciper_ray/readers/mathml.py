"""Presentation MathML as one line of plain text.

Scripts, fractions, roots and fences are written out; layout is flattened; content MathML and
annotations are left out.
"""

from lxml import etree

from reciper_ray.readers.script import superscript
from reciper_ray.readers.xml import entity, local

_RELATIONS = frozenset("=<>≤≥⩽⩾≈≃≅≡≠±×→←↔⇌⇄∝≪≫")
_SKIPPED = frozenset(["annotation", "annotation-xml", "mphantom", "none", "mprescripts"])
_ACCENTED = frozenset(["mover", "munder"])


def text(element: etree._Element, before: str = "") -> str:
    """The mathematics under `element`, standing behind `before`."""
    return " ".join(_write(element, before).split())


def _write(element: etree._Element, before: str) -> str:
    name = local(element)
    if not name:
        return entity(element)
    if name in _SKIPPED:
        return ""
    if len(element) == 0:
        return _leaf(name, " ".join((element.text or "").split()))
    children = list(element)
    if name in ("msup", "msub", "msubsup", "munderover", *_ACCENTED):
        return _scripted(name, children, before)
    if name == "mfrac" and len(children) == 2:
        return f"{_bracketed(text(children[0]))}/{_bracketed(text(children[1]))}"
    inner = element.text.strip() if element.text else ""
    for child in children:
        inner += _write(child, before + inner) + (child.tail or "").strip()
    if name in ("msqrt", "mroot"):
        return f"√{_bracketed(inner)}"
    if name == "mfenced":
        opening, closing = element.get("open", "("), element.get("close", ")")
        separator = element.get("separators", ",")[:1]
        return opening + separator.join(text(child) for child in children) + closing
    return inner + " " if name in ("mtd", "mtr", "mlabeledtr") else inner


def _leaf(name: str, content: str) -> str:
    if name == "mspace":
        return " "
    if name == "mo" and content in _RELATIONS:
        return f" {content} "
    if name == "mtext" or (name == "mi" and len(content) > 1):
        return f"{content} " if content in ("ln", "log", "exp", "sin", "cos", "tan") else content
    return content


def _scripted(name: str, children: list[etree._Element], before: str) -> str:
    base = _write(children[0], before)
    if name in _ACCENTED and len(text(children[1])) <= 1:
        return base
    if name in ("msub", "munder"):
        return base + "".join(text(child) for child in children[1:])
    if name in ("msup", "mover"):
        return base + superscript(text(children[1]), before + base)
    lower = base + text(children[1]) if len(children) > 1 else base
    return lower + superscript(text(children[2]), before + lower) if len(children) > 2 else lower


def _bracketed(content: str) -> str:
    return content if content.replace(".", "").isalnum() or len(content) <= 1 else f"({content})"
