"""Markdown as a tree, for everything that turns text into documents."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

# What XML, and so every Office file, has no place for.
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*$", re.MULTILINE)
# What lies deeper is cut by the parser; the default of 20 is ten lists in each other.
_DEEPEST = 100
_SAFE_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)


def plain_text(text: str) -> str:
    r"""The text without signs that no document can hold; line ends as `\\n`."""
    return _NO_TEXT.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def open_parser() -> "MarkdownIt":
    """The parser of everything here: HTML in a text is text."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False, "maxNesting": _DEEPEST}).enable(["table", "strikethrough"])


def parse_marks(text: str) -> "SyntaxTreeNode":
    """The tree of a Markdown text."""
    from markdown_it.tree import SyntaxTreeNode

    return SyntaxTreeNode(open_parser().parse(text))


def first_heading(text: str) -> str:
    """What the first heading says, else the first line; empty without either."""
    found = _HEADING.search(text)
    line = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return re.sub(r"[*_`#\[\]]", "", found[1] if found else line).strip()


def is_safe_link(address: str) -> bool:
    """Whether a link in a document may lead there: a web page or a mail, no program and no file."""
    return _SAFE_LINK.match(address) is not None
