"""The settings page against the real app: each change is saved at once, a key never comes back."""

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from starlette.testclient import TestClient

from skales.app.wiring import App
from skales.data.paths import DataDirectory
from tests.server.ui.conftest import Look

KEY = "sk-test-0123456789abcdefghijklmnopqrstuv"


def words(text: str) -> str:
    body = HTMLParser(text).body
    return " ".join(body.text().split()) if body else ""


def test_every_provider_of_the_catalogue_is_there_the_active_one_first(look: Look, app: App) -> None:
    shown = [str(node.attributes["id"]) for node in look("/settings").css("details.provider")]
    assert shown[0] == f"provider-{app.settings.load().active_provider}"
    assert {"provider-openai", "provider-ollama", "provider-custom"} <= set(shown)


def test_a_provider_is_saved_and_its_key_is_never_sent_to_the_page(page: TestClient, app: App) -> None:
    saved = page.post("/ui/settings/providers/openai", data={"api_key": KEY, "model": "gpt-x", "base_url": ""})
    assert words(saved.text).startswith("Saved")
    own = app.settings.load().provider("openai")
    assert (own.api_key, own.model) == (KEY, "gpt-x")
    for text in (saved.text, page.get("/settings").text, page.get("/chat").text):
        assert KEY not in text
    assert KEY[-4:] in saved.text


def test_an_empty_key_field_leaves_the_key_alone_and_forgetting_is_its_own_wish(page: TestClient, app: App) -> None:
    page.post("/ui/settings/providers/openai", data={"api_key": KEY})
    page.post("/ui/settings/providers/openai", data={"api_key": "", "model": "other"})
    assert app.settings.load().provider("openai").api_key == KEY
    page.post("/ui/settings/providers/openai", data={"forget_key": "true"})
    own = app.settings.load().provider("openai")
    assert (own.api_key, own.model) == ("", "other")


def test_a_refused_value_is_told_with_the_way_out_and_nothing_is_written(page: TestClient, app: App) -> None:
    told = page.post("/ui/settings/providers/openai", data={"base_url": "http://example.org/v1", "model": "m"})
    assert "https://" in words(told.text)
    assert app.settings.load().provider("openai").model == ""


def test_activating_a_provider_makes_it_answer_and_shows_it_first(page: TestClient, app: App) -> None:
    shown = HTMLParser(page.post("/ui/settings/providers/openai/activate", data={"model": "gpt-x"}).text)
    assert shown.css_first("details.provider").attributes["id"] == "provider-openai"  # type: ignore[union-attr]
    settings = app.settings.load()
    assert (settings.active_provider, settings.provider("openai").model) == ("openai", "gpt-x")


def test_an_unknown_provider_cannot_be_activated(page: TestClient, app: App) -> None:
    assert page.post("/ui/settings/providers/nobody/activate").status_code in (400, 404)
    assert app.settings.load().active_provider != "nobody"


def test_a_connection_test_says_what_is_wrong(page: TestClient) -> None:
    filled = {"base_url": "http://127.0.0.1:9/v1", "model": "m"}
    told = page.post("/ui/settings/providers/custom/test", data=filled)
    assert told.status_code == 200
    assert HTMLParser(told.text).css_first('.callout.bad[role="alert"]') is not None


@pytest.mark.parametrize("mode", ["safe", "advanced", "unrestricted"])
def test_the_safety_mode_is_saved_at_once(page: TestClient, look: Look, app: App, mode: str) -> None:
    assert "Saved" in page.post("/ui/settings/safety", data={"safety_mode": mode}).text
    assert app.settings.load().safety_mode == mode
    checked = look("/settings").css_first('[name="safety_mode"][checked]')
    assert checked is not None
    assert checked.attributes["value"] == mode


@pytest.mark.parametrize("theme", ["system", "light", "dark"])
def test_the_theme_is_on_every_page_before_any_script_runs(page: TestClient, look: Look, theme: str) -> None:
    page.post("/ui/settings/theme", data={"theme": theme})
    for address in ("/chat", "/tools", "/settings"):
        root = look(address).css_first("html")
        assert root is not None
        assert root.attributes["data-theme"] == theme


@pytest.mark.parametrize(("path", "filled"), [("theme", {"theme": "<b>"}), ("safety", {"safety_mode": "reckless"})])
def test_a_value_that_does_not_exist_is_refused_with_words(page: TestClient, path: str, filled: dict[str, str]) -> None:
    told = page.post(f"/ui/settings/{path}", data=filled)
    assert HTMLParser(told.text).css_first(".bad") is not None


def test_the_page_says_where_the_data_is_and_which_files_were_set_aside(look: Look, home: DataDirectory) -> None:
    assert str(home.root) in look("/settings").css_first(".path code").text()  # type: ignore[union-attr]
    home.settings.write_text("{ broken", encoding="utf-8")
    tree = look("/settings")
    assert "settings.json" in tree.css_first("#broken-title").parent.parent.text()  # type: ignore[union-attr]
