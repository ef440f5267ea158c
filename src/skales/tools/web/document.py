"""Turns what a server sent into text for a model: which kinds can be read, and how each is.

Pure work on bytes; `read_in_bounds` keeps it away from the event loop and ends it when a page takes too long.
"""

import re
from collections.abc import Callable
from enum import StrEnum
from typing import TypeVar

import anyio
import anyio.to_process
import anyio.to_thread
from anyio import BrokenWorkerProcess
from msgspec import Struct

from skales.core.errors import ToolError
from skales.security.invisible import strip_invisible
from skales.tools.web.article import find_article
from skales.tools.web.charset import decode_body
from skales.tools.web.dom import Page, parse_page
from skales.tools.web.hidden import hide_unseen
from skales.tools.web.readable import page_title, read_visible

# The parser takes quadratic time for hostile nesting: up to this size two seconds, for 5 MB hours. What is larger is
# read in a process of its own, which can be ended.
_SMALL_BYTES = 64_000
_MOST_S = 25.0

_HTML = {"text/html", "application/xhtml+xml"}
_TEXT = {
    "application/json", "application/xml", "application/javascript", "application/x-javascript",
    "application/ecmascript", "application/yaml", "application/x-yaml", "application/toml", "application/x-ndjson",
    "application/ndjson", "application/jsonlines", "application/sql", "application/x-sh", "application/graphql",
    "application/csv", "application/x-www-form-urlencoded", "message/rfc822",
}  # fmt: skip
_UNTYPED = {"", "application/octet-stream", "binary/octet-stream", "application/unknown", "content/unknown"}
_HTML_START = re.compile(
    rb"(?>\s*<!--.*?-->)*+\s*<(?:!doctype\s+html|html|head|body|title|meta|h1|div|p|table)\b", re.IGNORECASE | re.DOTALL
)
Order = TypeVar("Order")
Made = TypeVar("Made")

_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


class Part(StrEnum):
    """How much of a page is wanted: all that a reader sees, or the text it is about."""

    WHOLE = "whole"
    MAIN = "main"


class Source(Struct, frozen=True):
    """An answer as it came. `is_cut` says that the body is longer."""

    body: bytes
    content_type: str
    address: str
    is_cut: bool = False


class Document(Struct, frozen=True):
    """What a reader sees of it; title and text are words of a stranger. `is_cut` says that there was more.

    `hidden_characters` is how much of the page's text no reader can see; it is not in `text`.
    """

    title: str
    text: str
    is_cut: bool = False
    hidden_characters: int = 0


def require_readable(content_type: str, address: str) -> None:
    """Refuse what is no text before its body is fetched. Raises ToolError."""
    kind = _essence(content_type)
    if kind == "application/pdf":
        raise _unreadable(address, "a PDF document")
    if kind not in _HTML | _TEXT | _UNTYPED and not kind.startswith("text/") and not kind.endswith(("+xml", "+json")):
        raise _unreadable(address, f"not text ({kind[:80]})")


async def read_in_bounds(source: Source, part: Part, *, most_s: float = _MOST_S) -> Document:
    """The same as `read_document`, off the event loop. Raises ToolError, also when it takes too long."""
    return await work_in_bounds(read_document, source, part, most_s=most_s)


async def work_in_bounds(
    work: Callable[[Source, Order], Made], source: Source, order: Order, *, most_s: float = _MOST_S
) -> Made:
    """Do something with a page off the event loop; `work` is a plain function of a module, for another process.

    Raises ToolError, also when it takes too long.
    """
    try:
        with anyio.fail_after(most_s):
            if len(source.body) <= _SMALL_BYTES:
                return await anyio.to_thread.run_sync(work, source, order, abandon_on_cancel=True)
            return await anyio.to_process.run_sync(work, source, order, cancellable=True)
    except (TimeoutError, BrokenWorkerProcess) as error:
        raise ToolError(
            "The page is built in a way that takes too long to read", hint="Try another page with the same content"
        ) from error


def parse_source(source: Source) -> Page:
    """The page with what nobody sees marked. Raises ToolError for what is no page."""
    kind = _essence(source.content_type)
    if source.body.startswith(b"%PDF-"):
        raise _unreadable(source.address, "a PDF document")
    if (_sniff(source) if kind in _UNTYPED else kind) not in _HTML:
        raise ToolError(
            f"What is at {source.address} is no web page but {kind or 'plain text'}",
            hint="Read it with fetch_web_page",
            code="not_a_page",
        )
    page = parse_page(decode_body(source.body, source.content_type, is_cut=source.is_cut).text)
    hide_unseen(page)
    return page


def read_document(source: Source, part: Part) -> Document:
    """The title and the text. Raises ToolError for what is no text after all."""
    kind = _essence(source.content_type)
    if source.body.startswith(b"%PDF-"):
        raise _unreadable(source.address, "a PDF document")
    if kind in _UNTYPED:
        kind = _sniff(source)
    text = decode_body(source.body, source.content_type, is_cut=source.is_cut).text
    if kind not in _HTML:
        shown, removed = strip_invisible(text)
        return Document("", shown.strip(), source.is_cut, removed)
    page = parse_page(text)
    hidden = hide_unseen(page)
    part_shown = find_article(page.root) if part is Part.MAIN else page.root
    text, removed = read_visible(part_shown, page.root, source.address)
    return Document(page_title(page.root), text, source.is_cut or page.is_cut, hidden + removed)


def _essence(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _sniff(source: Source) -> str:
    """What a body without a type is."""
    head = source.body[:1024]
    if not head.startswith((b"\xff\xfe", b"\xfe\xff")) and _CONTROL.search(head):
        raise _unreadable(source.address, "not text")
    return "text/html" if _HTML_START.match(head) else "text/plain"


def _unreadable(address: str, what: str) -> ToolError:
    return ToolError(
        f"What is at {address} is {what}, which cannot be shown as a page",
        hint="Save it as a file in the workspace and open it with read_file",
        code="not_a_page",
    )
