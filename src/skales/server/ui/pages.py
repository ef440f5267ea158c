"""From views to HTML: the one place that knows Jinja."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from skales.server import words
from skales.server.ui.assets import asset_address
from skales.server.views import View

_FOLDER = Path(__file__).parent.parent / "templates"


class PageResponse(HTMLResponse):
    """HTML whose text may hold anything that a file held, halves of characters included. Never kept by the browser."""

    def init_headers(self, headers: Mapping[str, str] | None = None) -> None:
        """Every page shows what is, so none is kept."""
        super().init_headers({"cache-control": "no-store", **(headers or {})})

    def render(self, content: object) -> bytes:
        """UTF-8, with a question mark for what it cannot hold."""
        return str(content).encode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Command:
    """A word that does something when it begins a message."""

    name: str
    what: str


COMMANDS = (
    Command("/tool", "run a tool yourself: /tool read_file path=notes.txt"),
    Command("/new", "begin a new chat"),
    Command("/help", "show keys and commands"),
)


def render(view: View) -> str:
    """The HTML of a page or fragment; the view's class names the template."""
    tag = words.language()
    return (
        environment()
        .get_template(view.template)
        .render(view=view, asset=asset_address, commands=COMMANDS, language=tag, script_words=words.script_words(tag))
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
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Newstyle: `%(name)s` in a message is filled in and escaped by the template itself.
    translating: Any = made  # the extension gives the environment this method
    translating.install_gettext_callables(words.gettext, words.ngettext_unfilled, newstyle=True)
    return made
