"""A browser that has opened the page, and helpers to look at what it got."""

from collections.abc import Callable
from contextlib import aclosing

import anyio
import pytest
from anyio.from_thread import BlockingPortal
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from starlette.testclient import TestClient

from skales.app.app import App
from skales.core.ids import SessionId
from skales.core.message import Message

Look = Callable[[str], HTMLParser]


@pytest.fixture
def page(client: TestClient) -> TestClient:
    """The client with the page's cookie."""
    client.headers["accept"] = "text/html"
    assert client.get("/chat").status_code == 200
    return client


@pytest.fixture
def look(page: TestClient) -> Look:
    """The parsed page of an address."""
    return lambda address: HTMLParser(page.get(address).text)


@pytest.fixture
def said(app: App) -> Callable[..., SessionId]:
    """A conversation with these messages on disk."""

    def make(*messages: Message, title: str = "") -> SessionId:
        session_id = app.sessions.create(title=title).id
        if messages:
            app.sessions.append(session_id, *messages)
        return session_id

    return make


@pytest.fixture
def finish(portal: BlockingPortal, app: App) -> Callable[[str], None]:
    """Wait until no turn of a session runs, at most five seconds."""

    async def wait(session_id: str) -> None:
        with anyio.fail_after(5):
            async with aclosing(app.turns.follow(SessionId(session_id), 0)) as events:
                async for _ in events:
                    pass

    return lambda session_id: portal.call(wait, session_id)
