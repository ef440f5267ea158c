"""An HTML page as a plain tree of elements and texts; the only module that knows the HTML parser.

What a browser keeps out of the page has no place in the tree: comments, and the content of `<template>`.
"""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Union

from msgspec import Struct, field

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

# Beyond this no page is text for a reader; the rest is left out and `is_cut` says so.
_MOST_NODES = 400_000
# Comments are taken whole (`?>`): a page of nothing else would cost exponential time.
_DOCTYPE = re.compile(r"(?>\s*<!--.*?-->)*+\s*<!doctype\s+html", re.IGNORECASE | re.DOTALL)


class Element(Struct, eq=False):
    """One element. `elements` are those of its `children` that are elements, `position` is its place among them.

    `is_hidden` says that nobody sees it or anything below it, `is_muted` that its own words cannot be seen, but
    perhaps something below it; `hidden` fills both in.
    """

    tag: str
    attributes: Mapping[str, str]
    parent: "Element | None" = None
    children: list["Node"] = field(default_factory=list)
    elements: list["Element"] = field(default_factory=list)
    position: int = 0
    is_hidden: bool = False
    is_muted: bool = False

    @property
    def previous(self) -> "Element | None":
        """The element before this one under the same parent."""
        return self.parent.elements[self.position - 1] if self.parent and self.position else None

    def walk(self) -> Iterator["Element"]:
        """This element and every one below it, in document order."""
        waiting: list[Element] = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(reversed(element.elements))

    def earlier(self) -> Iterator["Element"]:
        """The elements before this one under the same parent, nearest first."""
        if self.parent:
            for place in range(self.position - 1, -1, -1):
                yield self.parent.elements[place]

    def ancestors(self) -> Iterator["Element"]:
        """Its parent, and so on to the root."""
        above = self.parent
        while above is not None:
            yield above
            above = above.parent


class Text(Struct, eq=False):
    """A run of characters; it is seen unless its element is muted or something around it is hidden."""

    text: str


Node = Union[Element, Text]  # noqa: UP007 - quoted types inside it are not evaluated by `|`


class Page(Struct, frozen=True):
    """A parsed page; `root` is its `<html>` element.

    In quirks mode, the way of pages without a doctype, names of classes and ids match in any case.
    """

    root: Element
    is_quirks: bool
    is_cut: bool


def parse_page(html: str, *, most_nodes: int = _MOST_NODES) -> Page:
    """Parse as a browser does; any text is a page."""
    from selectolax.lexbor import LexborHTMLParser

    top = LexborHTMLParser(html).root
    root = Element("html", _attributes(top) if top else {})
    is_cut = _copy_below(top, root, most_nodes) if top else False
    return Page(root, is_quirks=_DOCTYPE.match(html) is None, is_cut=is_cut)


def _copy_below(top: "LexborNode", root: Element, most_nodes: int) -> bool:
    """Rebuild the tree without recursion, since a hostile page may nest deeper than any stack; True when cut."""
    waiting: list[tuple[LexborNode | None, Element]] = [(top.first_child, root)]
    count = 0
    while waiting:
        node, parent = waiting.pop()
        if node is None:
            continue
        count += 1
        if count > most_nodes:
            return True
        waiting.append((node.next, parent))
        tag = (node.tag or "").lower()
        if tag == "-text":
            parent.children.append(Text(node.text_content or ""))
        elif tag and not tag.startswith("-"):
            element = Element(tag, _attributes(node), parent, position=len(parent.elements))
            parent.children.append(element)
            parent.elements.append(element)
            waiting.append((node.first_child, element))
    return False


def _attributes(node: "LexborNode") -> Mapping[str, str]:
    return {name.lower(): value or "" for name, value in node.attributes.items()}
