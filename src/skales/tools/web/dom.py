"""An HTML page as a plain tree of elements and texts; the only module that knows the parser.

What a browser keeps out of the page has no place in the tree: comments, and the content of `<template>`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Union

from skales.core.errors import ToolError

# A page beyond this is no text for a reader; the rest is left out, and `is_cut` says so.
_MOST_NODES = 400_000


@dataclass(slots=True, eq=False)
class Element:
    """One element. `position` counts it among its parent's elements, from 0; `is_hidden` is filled in by `hidden`."""

    tag: str
    attributes: Mapping[str, str]
    parent: "Element | None" = None
    children: list["Node"] = field(default_factory=list)
    position: int = 0
    is_hidden: bool = False

    @property
    def elements(self) -> list["Element"]:
        """The children that are elements."""
        return [child for child in self.children if isinstance(child, Element)]

    def walk(self) -> Iterator["Element"]:
        """This element and every one below it, in document order."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(reversed(element.elements))

    def find(self, *tags: str) -> "Element | None":
        """The first element of one of these names at or below this one."""
        return next((element for element in self.walk() if element.tag in tags), None)


@dataclass(slots=True, eq=False)
class Text:
    """A run of characters. `is_hidden` is filled in by `hidden`."""

    text: str
    is_hidden: bool = False


Node = Union[Element, Text]  # noqa: UP007 - a forward reference inside `|` is not evaluated


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed page; `root` is its `<html>` element."""

    root: Element
    is_cut: bool


def parse_page(html: str) -> Page:
    """Parse as a browser does; any text is a page."""
    from selectolax.lexbor import LexborHTMLParser, SelectolaxError  # noqa: PLC0415

    try:
        top = LexborHTMLParser(html).root
    except (SelectolaxError, MemoryError) as error:
        raise ToolError("The page cannot be read as HTML") from error
    root = Element("html", {})
    if top is None:
        return Page(root, is_cut=False)
    root = Element("html", _attributes(top.attributes))
    count, node, parent = 0, top.first_child, root
    while node is not None and count < _MOST_NODES:
        count += 1
        added = _add_node(parent, node.tag or "", node.text_content, node.attributes)
        deeper = node.first_child if added is not None else None
        ...
