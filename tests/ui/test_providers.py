"""A provider's card in a real browser: probing a model with progress, and a sign-in that opens a tab of its own."""

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from skales.core.json import JsonObject
from tests.scripted import says
from tests.servers.oauth import OAuthServer
from tests.servers.raw_sse import Ending, RawServer, Reply, json_reply
from tests.ui.conftest import Serve, Witness, find_faults

pytestmark = pytest.mark.ui

NO = json_reply({"error": {"message": "this endpoint cannot do that"}}, 400)


@pytest.fixture(autouse=True)
def _patience(page: Page) -> Iterator[None]:
    """A busy machine is no fault of the page."""
    page.set_default_timeout(30_000)
    expect.set_options(timeout=20_000)
    yield
    expect.set_options(timeout=5_000)


@pytest.fixture
def server() -> Iterator[RawServer]:
    with RawServer() as running:
        yield running


@pytest.fixture
def oauth() -> Iterator[OAuthServer]:
    with OAuthServer() as running:
        yield running


def test_a_probe_shows_its_findings_as_they_come_and_keeps_the_focus(
    serve: Serve, page: Page, server: RawServer, witness: Witness
) -> None:
    server.replies.extend([NO] * 8)
    with serve(says("unused")) as site:
        site.app.settings.set_provider("custom_lab", base_url=server.url, model="m")
        page.goto(f"{site.address}/settings/providers?open=custom_lab")
        part = page.locator("[data-probe=custom_lab]")
        part.get_by_role("button", name="Probe").press("Enter")
        expect(part.locator(".badge").first).to_have_text("calls tools: no")
        expect(part).to_contain_text("measured at")
        expect(part.get_by_role("button", name="Probe again")).to_be_focused()
        assert find_faults(page) == []
    assert witness.complaints == []


def test_a_probe_can_be_stopped_and_keeps_nothing(serve: Serve, page: Page, server: RawServer) -> None:
    server.replies.append(Reply(b"", ending=Ending.STALL))
    with serve(says("unused")) as site:
        site.app.settings.set_provider("custom_lab", base_url=server.url, model="m")
        page.goto(f"{site.address}/settings/providers?open=custom_lab")
        part = page.locator("[data-probe=custom_lab]")
        part.get_by_role("button", name="Probe").click()
        expect(part.locator("progress")).to_be_visible()
        expect(part).to_contain_text("Trying to call a tool")
        assert find_faults(page) == []
        part.get_by_role("button", name="Stop").click()
        expect(part.locator("progress")).to_be_hidden()
        expect(part.get_by_role("button", name="Probe")).to_be_enabled()
        assert site.app.models.measured("custom_lab", "m") is None


def test_signing_in_opens_a_tab_and_the_card_hears_of_it(serve: Serve, page: Page, oauth: OAuthServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = int(probe.getsockname()[1])
    sign_in = {
        "clientId": "our-app",
        "authorizeUrl": f"{oauth.url}/authorize",
        "tokenUrl": f"{oauth.url}/token",
        "redirectUrl": f"http://localhost:{port}/auth/callback",
    }
    with serve(says("unused")) as site:
        entry: JsonObject = {"enabled": True, "signIn": sign_in}
        site.app.settings.update(lambda raw: raw.update(providers={"openai_oauth": entry}))
        page.goto(f"{site.address}/settings/providers?open=openai_oauth")
        part = page.locator(".sign-in")
        with page.context.expect_page() as opened:
            part.get_by_role("button", name="Sign in").click()
        assert opened.value.url.startswith((oauth.url, "about:blank"))
        link = part.get_by_role("link", name="Open the sign-in page")
        assert find_faults(page) == []
        landed = urlsplit(oauth.sign_in(str(link.get_attribute("href"))))
        opened.value.goto(f"http://127.0.0.1:{port}{landed.path}?{landed.query}")
        expect(part.locator(".badge")).to_have_text("signed in")
        part.get_by_role("button", name="Sign out").click()
        expect(part.locator(".badge")).to_have_text("not signed in")
