"""Signing in on the page: begin, come back in the browser or by pasting, sign out; no token ever reaches the page."""

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from starlette.testclient import TestClient

from skales.app.app import App
from skales.core.json import JsonObject
from tests.server.ui.conftest import Look
from tests.servers.oauth import OAuthServer

ADDRESS = "/ui/settings/providers/openai_oauth/signin"


@pytest.fixture
def oauth() -> Iterator[OAuthServer]:
    with OAuthServer() as server:
        yield server


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@pytest.fixture(autouse=True)
def _ready(app: App, oauth: OAuthServer, port: int) -> None:
    """Turned on and set up by a person who has an application of their own."""
    sign_in = {
        "clientId": "our-app",
        "authorizeUrl": f"{oauth.url}/authorize",
        "tokenUrl": f"{oauth.url}/token",
        "redirectUrl": f"http://localhost:{port}/auth/callback",
    }
    entry: JsonObject = {"enabled": True, "signIn": sign_in}
    app.settings.update(lambda raw: raw.update(providers={"openai_oauth": entry}))


def press(page: TestClient, what: str, **data: str) -> HTMLParser:
    answer = page.post(f"{ADDRESS}/{what}", data=data)
    assert answer.status_code == 200, answer.text
    return HTMLParser(answer.text)


def link_of(part: HTMLParser) -> str:
    node = part.css_first("[data-sign-in-link]")
    assert node is not None, part.html
    return str(node.attributes["href"])


def told(part: HTMLParser) -> str:
    node = part.css_first('[role="alert"]')
    return node.text(strip=True) if node else ""


def test_the_card_offers_to_sign_in_and_explains_it(look: Look) -> None:
    part = look("/settings/providers?open=openai_oauth").css_first(".sign-in")
    assert part is not None
    assert "not signed in" in part.text()
    assert "never sees your password" in part.text()


def test_a_pasted_address_signs_in(page: TestClient, app: App, oauth: OAuthServer) -> None:
    link = link_of(press(page, "begin"))
    wrong = press(page, "finish", landing="http://localhost/?code=1&state=2")
    assert "does not belong" in told(wrong)
    assert link_of(wrong) == link
    part = press(page, "finish", landing=oauth.sign_in(link))
    assert "signed in" in part.text()
    assert "access-" not in str(part.html)
    assert app.models.sign_in.is_signed_in("openai_oauth")
    assert "not signed in" in press(page, "end").text()


def test_the_browser_of_this_computer_comes_back_by_itself(page: TestClient, oauth: OAuthServer, port: int) -> None:
    landed = urlsplit(oauth.sign_in(link_of(press(page, "begin"))))
    assert page.get(ADDRESS).status_code == 204
    with urlopen(f"http://127.0.0.1:{port}{landed.path}?{landed.query}", timeout=5) as answer:
        assert b"signed in" in answer.read()
    answers = (page.get(ADDRESS) for _ in range(500))
    part = HTMLParser(next(answer.text for answer in answers if answer.status_code == 200))
    assert "signed in" in part.text()
    assert part.css_first("[data-sign-in-link]") is None


def test_a_taken_port_is_told_and_pasting_still_works(page: TestClient, oauth: OAuthServer, port: int) -> None:
    with socket.create_server(("127.0.0.1", port)):
        link = link_of(press(page, "begin"))
        answers = (page.get(ADDRESS) for _ in range(500))
        part = HTMLParser(next(answer.text for answer in answers if answer.status_code == 200))
        assert "is taken" in told(part)
        assert part.css_first("[hx-trigger]") is None
        assert "signed in" in press(page, "finish", landing=oauth.sign_in(link)).text()


def test_giving_up_forgets_the_link_and_frees_the_port(page: TestClient, port: int) -> None:
    press(page, "begin")
    assert press(page, "end").css_first("[data-sign-in-link]") is None
    press(page, "begin")
    assert page.get(ADDRESS).status_code == 204


def test_what_is_not_set_up_is_told(page: TestClient, app: App) -> None:
    app.settings.update(lambda raw: raw.update(providers={"openai_oauth": {"enabled": True}}))
    part = press(page, "begin")
    assert "not set up" in told(part)
    assert part.css_first("[data-sign-in-link]") is None


def test_a_provider_without_a_sign_in_has_no_part(page: TestClient, look: Look) -> None:
    assert look("/settings/providers?open=openai").css_first(".sign-in") is None
    assert page.get("/ui/settings/providers/openai/signin").status_code == 404
