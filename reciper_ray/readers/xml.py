"""Safe XML: bytes to a tree, nothing fetched, nothing expanded.

lxml, because it is the well-kept one that can be told so: no network, no external or parameter
entities, no DTD, libxml2's own bounds on depth and size (`huge_tree` off). A reference to an
entity stays a node: the standard HTML names are read as their characters, any other is left out.
"""

import html
import re

from lxml import etree

from reciper_ray.errors import UnreadableInput
from reciper_ray.text import normalise, squeeze

_DECLARED = re.compile(r"\s*<(?:\?xml\s|!DOCTYPE\s)", re.IGNORECASE)
_PROLOG = re.compile(
    r"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL | re.IGNORECASE
)
_ROOT = re.compile(r"<([A-Za-z_][\w.:-]*)")


def parse(data: bytes) -> etree._Element:
    """The root element of the XML document `data`, all names without their namespace.

    Raises `UnreadableInput` with line and column when it is not well-formed or over the bounds.
    """
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        attribute_defaults=False,
        huge_tree=False,
        recover=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        line, column = error.position
        reason = error.msg.removesuffix(f", line {line}, column {column}")
        raise UnreadableInput(f"broken XML at line {line}, column {column}: {reason}") from error
    for element in root.iter(etree.Element):
        name = str(element.tag)
        if name[0] == "{":
            element.tag = name.rpartition("}")[2]
    return root


def root_name(head: str) -> str:
    """The name of the root element of an XML document that starts with `head`; "" for no XML."""
    at = 0
    while match := _PROLOG.match(head, at):
        at = match.end()
    root = _ROOT.match(head, at)
    return root[1] if root else ""


def is_document(head: str) -> bool:
    """Whether `head` opens with an XML declaration or a document type."""
    return _DECLARED.match(head) is not None


def first(element: etree._Element, path: str) -> str:
    """The bare text of the first element at `path` that has any, "" for none."""
    for found in element.iterfind(path):
        text = squeeze(normalise("".join(found.itertext(etree.Element))))
        if text:
            return text
    return ""


def local(element: etree._Element) -> str:
    """The element's name, "" for an entity reference."""
    return element.tag if isinstance(element.tag, str) else ""


def entity(element: etree._Element) -> str:
    """The character of an HTML entity reference that was left in the tree, else ""."""
    name = str(element.text or "")
    character = html.unescape(name)
    return "" if character == name else character
