"""Safe XML: bytes to a tree, nothing fetched, nothing expanded.

lxml, because it is the well-kept one that can be told so: no network, no external or parameter
entities, no DTD, libxml2's own bounds on depth and size (`huge_tree` off). A reference to an
entity stays a node: the standard HTML names are read as their characters, any other is left out.
"""

import html

from lxml import etree

from reciper_ray.errors import UnreadableInput


def parse(data: bytes) -> etree._Element:
    """The root element of the XML document `data`.

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
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        line, column = error.position
        raise UnreadableInput(f"broken XML at line {line}, column {column}: {error.msg}") from error


def local(element: etree._Element) -> str:
    """The element's name without namespace, "" for an entity reference."""
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def entity(element: etree._Element) -> str:
    """The character of an HTML entity reference that was left in the tree, else ""."""
    name = str(element.text or "")
    character = html.unescape(name)
    return "" if character == name else character
