"""Secrets on the settings page: how they are kept is said, names can be added and deleted, values are never shown."""

import time

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from starlette.testclient import TestClient

from skales.app.app import App
from skales.data.document import write_object
from skales.data.key_store import StorePlace
from skales.data.paths import DataDirectory
from tests.data.key_stores import WaitingStore
from tests.server.ui.conftest import Look

HTMX = {"hx-request": "true"}
VALUE = "a-value-nobody-sees"


def post(page: TestClient, path: str = "", **filled: str) -> HTMLParser:
    answer = page.post(f"/ui/settings/secrets{path}", data=filled, headers=HTMX)
    assert answer.status_code == 200, answer.text
    assert VALUE not in answer.text
    return HTMLParser(answer.text)


def words(shown: HTMLParser) -> str:
    body = shown.body
    return " ".join(body.text().split()) if body else ""


def test_a_secret_is_added_shown_by_name_and_deleted(page: TestClient, look: Look, app: App) -> None:
    shown = words(post(page, name="GitHub", value=VALUE, hosts="api.github.com, *.example.org"))
    assert "github is kept" in shown
    assert "Only for api.github.com, *.example.org" in shown
    assert app.secrets.value("github") == VALUE
    whole = look("/settings")
    assert "github" in words(whole)
    assert VALUE not in (whole.html or "")
    gone = words(post(page, "/delete", name="github"))
    assert "github is deleted" in gone
    assert app.secrets.list() == []
    assert "There is no secret" in words(post(page, "/delete", name="github"))


def test_what_cannot_be_kept_is_said_and_the_name_stays_in_the_form(page: TestClient, app: App) -> None:
    shown = post(page, name="my secret", value=VALUE, hosts="api.example.org")
    assert "cannot name a secret" in words(shown)
    name, hosts, value = (shown.css_first(f"#secret-{part}") for part in ("name", "hosts", "value"))
    assert name is not None and hosts is not None and value is not None  # noqa: PT018 - one question
    assert (name.attributes["value"], hosts.attributes["value"]) == ("my secret", "api.example.org")
    assert not value.attributes.get("value")
    assert "masked form" in words(post(page, name="github", value="••••••••"))
    assert app.secrets.list() == []


def test_the_page_says_where_the_key_is(page: TestClient, look: Look, home: DataDirectory) -> None:
    assert "will be sealed with the first one" in words(look("/settings"))
    post(page, name="github", value=VALUE)
    shown = words(look("/settings"))
    assert str(home.encryption_key) in shown
    assert "whoever has a copy of the whole folder can open them" in shown


def test_a_locked_key_store_holds_the_page_up_for_nobody_and_can_be_tried_again(
    page: TestClient, look: Look, app: App, home: DataDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = WaitingStore()
    monkeypatch.setattr(app.vault.keys, "_find_store", lambda: store)
    monkeypatch.setattr(app.vault.keys, "_place", StorePlace.AUTO)
    write_object(home.vault, {"key": "0123456789abcdef"})
    started_s = time.monotonic()
    shown = look("/settings")
    assert time.monotonic() - started_s < 10
    assert "is locked or does not answer" in words(shown)
    retry = shown.css_first('[hx-post="/ui/settings/secrets/retry"]')
    assert retry is not None
    store.prompt.set()
    app.vault.retry()
    app.vault.settle()
    assert "is not on this computer" in words(post(page, "/retry"))


def test_the_search_finds_it(page: TestClient) -> None:
    assert "/settings#secrets" in page.get("/ui/settings/search?q=keychain").text
