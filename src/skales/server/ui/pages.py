"""From views to HTML: the one place that knows Jinja."""

import gzip
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.types import Receive, Scope, Send

from skales.server import words
from skales.server.ui.assets import asset_address, sheet_address, takes_gzip
from skales.server.ui.compiled import CompiledTemplates
from skales.server.ui.kept import keep, say
from skales.server.ui.slash import COMMANDS
from skales.server.views import View

_FOLDER = Path(__file__).parent.parent / "templates"
# A smaller page fits into the packets that it takes anyway; a higher level costs twice the time for one byte in thirty.
_LEAST_BYTES = 1000
_LEVEL = 5


class PageResponse(HTMLResponse):
    """HTML whose text may hold anything that a file held, halves of characters included. Never kept by the browser."""

    def init_headers(self, headers: Mapping[str, str] | None = None) -> None:
        """Every page shows what is, so none is kept."""
        super().init_headers({"cache-control": "no-store", **(headers or {})})

    def render(self, content: object) -> bytes:
        """UTF-8, with a question mark for what it cannot hold."""
        return str(content).encode("utf-8", "replace")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Goes out compressed to those who take it."""
        accepted = next((value for name, value in scope["headers"] if name == b"accept-encoding"), b"")
        if len(self.body) >= _LEAST_BYTES and takes_gzip(accepted.decode("latin-1")):
            self.body = gzip.compress(self.body, _LEVEL, mtime=0)
            self.headers["content-encoding"] = "gzip"
            self.headers["content-length"] = str(len(self.body))
        self.headers["vary"] = "accept-encoding"
        await super().__call__(scope, receive, send)


def render(view: View) -> str:
    """The HTML of a page or fragment; the view's class names the template."""
    tag = words.language()
    return (
        environment()
        .get_template(view.template)
        .render(
            view=view,
            commands=COMMANDS,
            language=tag,
            script_words=words.script_words(tag),
        )
    )


@cache
def environment() -> Environment:
    """Strict: a template that asks for what its view does not have is a fault. Everything is escaped."""
    made = Environment(
        extensions=["jinja2.ext.i18n"],
        loader=FileSystemLoader(_FOLDER, encoding="utf-8"),
        undefined=StrictUndefined,
        autoescape=True,
        auto_reload=False,
        bytecode_cache=CompiledTemplates(),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Jinja types its globals by those it has itself, and the extension gives the environment its method.
    untyped: Any = made
    # What macros use is known everywhere, so that a template's macros are made once and not by each page.
    untyped.globals.update(asset=asset_address, sheet_of=sheet_address, keep=keep)
    # Newstyle: `%(name)s` in a message is filled in and escaped by the template itself.
    untyped.install_gettext_callables(words.gettext, words.ngettext_unfilled, newstyle=True)
    # The extension's own looks each message up, and whether it is to be escaped, with thirty calls.
    untyped.globals.update(_=say, gettext=say)
    return made
