"""What the command palette finds: screens and settings at once, conversations as one types.

Commands that act on the page are the page's own (`static/js/commands.js`); everything here has an address.
"""

from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Literal

import anyio.to_thread
from fastapi import APIRouter, Form
from fastapi.responses import Response

from skales.app.app import App
from skales.server.access import AppDep, PageSession
from skales.server.ui.phrases import show_moment
from skales.server.ui.places import list_places
from skales.server.ui.setting_search import setting_links
from skales.server.ui.setting_table import SECTIONS
from skales.server.words import _

router = APIRouter(prefix="/ui/commands", dependencies=[PageSession])

_CONVERSATIONS_AT_ONCE = 8

Theme = Literal["system", "light", "dark"]


@dataclass(frozen=True, slots=True)
class Entry:
    """Something to go to. `words` are more words to find it by; `aside` stands at its end."""

    group: str
    symbol: str
    label: str
    address: str
    words: str = ""
    aside: str = ""


@router.get("")
async def list_entries(app: AppDep) -> list[Entry]:
    """Every screen and setting."""
    return await anyio.to_thread.run_sync(lambda: [*_screens(app), *_settings(app)])


@router.get("/conversations")
def find_conversations(app: AppDep, q: str = "") -> list[Entry]:
    """The newest conversations that match, all of them when nothing is asked for."""
    now_ms = app.clock.now_ms()
    return [
        Entry(
            group="conversation",
            symbol="chat",
            label=found.title or _("New chat"),
            address=f"/chat/{found.id}",
            aside=show_moment(found.updated_ms, now_ms).words,
        )
        for found in app.sessions.list(limit=_CONVERSATIONS_AT_ONCE, query=q)
    ]


@router.post("/theme")
def use_theme(app: AppDep, theme: Annotated[Theme, Form()]) -> Response:
    """Light, dark, or as the system has it."""
    app.settings.set_value("theme", theme)
    return Response(status_code=204)


def _screens(app: App) -> list[Entry]:
    return [Entry("screen", place.symbol, place.label, place.address) for place in list_places(app)]


def _settings(app: App) -> list[Entry]:
    sections = (
        Entry("setting", "settings", _(title), f"/settings#{section}", words=_(summary))
        for section, (title, summary) in SECTIONS.items()
    )
    rows = (
        Entry("setting", "settings", link.label, link.address, words=link.words, aside=link.section)
        for link in setting_links(app)
    )
    return list(chain(sections, rows))
