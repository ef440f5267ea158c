"""What a page costs: bytes as they go over the wire, and requests. Both are the same on every machine, unlike times."""

import re
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from skales.app.app import App
from skales.core.message import Role, text_message
from tests.scripted import says
from tests.ui.conftest import Serve

pytestmark = pytest.mark.ui

_MOST_BYTES = 150_000
_MOST_REQUESTS = 12


@pytest.fixture
def loaded(context: BrowserContext, page: Page) -> dict[str, int]:
    """Bytes by request, headers included, of all that the page has loaded."""
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    sizes: dict[str, int] = {}

    def note(event: dict[str, Any]) -> None:
        sizes[event["requestId"]] = int(event["encodedDataLength"])

    session.on("Network.loadingFinished", note)
    return sizes


def fill(app: App, conversations: int, messages: int) -> str:
    """So many conversations; the last one is long. Its id."""
    words = "river stone cloud lamp field paper wheel window garden letter " * 3
    for number in range(conversations):
        made = app.sessions.create(title=f"Conversation {number} about {words.split()[number % 10]}")
    said = [
        text_message(Role.ASSISTANT if at % 2 else Role.USER, f"{at} {words}", timestamp_ms=1_700_000_000_000 + at)
        for at in range(messages)
    ]
    app.sessions.append(made.id, *said)
    return made.id


def test_the_first_page_is_light(serve: Serve, page: Page, loaded: dict[str, int]) -> None:
    with serve(says("unused")) as site:
        fill(site.app, 60, 2)
        page.goto(f"{site.address}/chat", wait_until="networkidle")
        assert 20_000 < sum(loaded.values()) < _MOST_BYTES
        assert len(loaded) <= _MOST_REQUESTS


def test_a_conversation_of_5000_messages_is_hardly_heavier(serve: Serve, page: Page, loaded: dict[str, int]) -> None:
    with serve(says("unused")) as site:
        session = fill(site.app, 60, 5000)
        page.goto(f"{site.address}/chat/{session}")
        expect(page.locator("#m-4999")).to_be_in_viewport()
        assert 20_000 < sum(loaded.values()) < _MOST_BYTES
        assert len(loaded) <= _MOST_REQUESTS


def test_what_is_rarely_wanted_comes_when_it_is_wanted(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        session = fill(site.app, 1, 2)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
        page.goto(f"{site.address}/chat/{session}")
        assert not {"finder.js", "find.js"} & set(asked)
        page.keyboard.press("Control+k")
        page.keyboard.type("settings")
        expect(page.locator("#finder [role=option]").first).to_contain_text("Settings")
        page.keyboard.press("Escape")
        page.keyboard.press("Control+Shift+f")
        page.keyboard.type("river")
        expect(page.locator("[data-find-count]")).to_have_text(re.compile(r"[12] of 2"))
        assert {"finder.js", "find.js"} <= set(asked)
