"""The first run: asked once, kept step by step, left and come back to at will."""

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from skales.app.app import App
from skales.data.paths import DataDirectory
from skales.server.words import LANGUAGES
from tests.server.ui.conftest import Look

STEPS = ("language", "answerer", "safety", "tasks")


def start_of(page: TestClient) -> str:
    return page.get("/", follow_redirects=False).headers["location"]


def test_a_fresh_program_asks_and_one_that_was_used_does_not(page: TestClient, app: App) -> None:
    assert start_of(page) == "/bootstrap"
    app.sessions.create(title="Used before")
    assert start_of(page) == "/chat"


def test_settings_of_an_older_program_are_not_asked_again(page: TestClient, app: App) -> None:
    app.settings.set_provider("ollama", model="llama3.2")
    assert start_of(page) == "/chat"


def test_it_goes_on_where_it_was_left(page: TestClient, look: Look) -> None:
    answer = page.post("/bootstrap/language", data={"locale": "de"}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/bootstrap?step=answerer")
    tree = look("/bootstrap")
    assert tree.css_matches('form[action="/bootstrap/answerer/local"]')
    html = tree.css_first("html")
    assert html is not None
    assert html.attributes["lang"] == "de"


def test_it_can_be_skipped_and_replayed(page: TestClient, look: Look) -> None:
    page.post("/bootstrap/skip")
    assert start_of(page) == "/chat"
    assert look("/bootstrap").css_matches('form[action="/bootstrap/language"]')


def test_the_starter_model_is_one_click(page: TestClient, app: App) -> None:
    page.post("/bootstrap/answerer/local")
    settings = app.settings.load()
    assert (settings.active_provider, settings.onboarding) == ("skales_local", "safety")


def test_a_key_that_cannot_be_tried_is_kept_and_the_reason_is_said(page: TestClient, app: App) -> None:
    filled = {
        "provider_id": "custom",
        "api_key": "sk-not-shown-again",
        "base_url": "http://127.0.0.1:9/v1",
        "model": "m",
    }
    answer = page.post("/bootstrap/answerer/provider", data=filled)
    assert answer.status_code == 422
    assert "sk-not-shown-again" not in answer.text
    assert 'name="anyway"' in answer.text
    assert app.settings.load().active_provider == "skales_local"
    page.post("/bootstrap/answerer/provider", data={**filled, "api_key": "", "anyway": "true"})
    settings = app.settings.load()
    assert (settings.active_provider, settings.provider("custom").api_key) == ("custom", "sk-not-shown-again")


def test_a_mask_is_never_kept_as_a_key(page: TestClient, app: App) -> None:
    filled = {"provider_id": "openai", "api_key": "sk-…1234", "anyway": "true"}
    assert page.post("/bootstrap/answerer/provider", data=filled).status_code == 422
    assert app.settings.load().provider("openai").api_key == ""


@pytest.mark.parametrize("filled", [{"provider_id": "../x"}, {"provider_id": ""}, {"provider_id": "nobody"}])
def test_a_provider_that_there_is_none_of_is_refused(page: TestClient, app: App, filled: dict[str, str]) -> None:
    assert page.post("/bootstrap/answerer/provider", data=filled).status_code == 422
    assert app.settings.load().active_provider == "skales_local"


def test_the_safety_mode_and_a_folder_are_kept_together(page: TestClient, app: App, tmp_path: Path) -> None:
    folder = tmp_path / "My documents"
    folder.mkdir()
    page.post("/bootstrap/safety", data={"safety_mode": "advanced", "folder": f" {folder} "})
    settings = app.settings.load()
    assert settings.safety_mode == "advanced"
    assert settings.allowed_folders == [str(folder)]
    assert settings.file_access_mode == "custom"


@pytest.mark.parametrize(
    "filled", [{"safety_mode": "safe", "folder": "/no/such/folder"}, {"safety_mode": "reckless", "folder": ""}]
)
def test_what_cannot_be_kept_changes_nothing(page: TestClient, home: DataDirectory, filled: dict[str, str]) -> None:
    before = home.settings.read_bytes() if home.settings.exists() else b""
    assert page.post("/bootstrap/safety", data=filled).status_code == 422
    assert (home.settings.read_bytes() if home.settings.exists() else b"") == before


def test_the_tasks_are_about_the_chosen_folder_and_begin_a_conversation(
    page: TestClient, look: Look, app: App, tmp_path: Path
) -> None:
    page.post("/bootstrap/safety", data={"safety_mode": "safe", "folder": str(tmp_path)})
    texts = [node.attributes["value"] or "" for node in look("/bootstrap?step=tasks").css("button[name=text]")]
    assert len(texts) == 3
    assert all(str(tmp_path) in text for text in texts)
    answer = page.post("/bootstrap/tasks", data={"text": texts[0]}, follow_redirects=False)
    assert answer.headers["location"].startswith("/chat/session_")
    assert app.settings.load().onboarding == "done"
    assert start_of(page) == "/chat"


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("step", STEPS)
def test_every_step_is_a_whole_page_in_every_language(
    page: TestClient, app: App, look: Look, tag: str, step: str
) -> None:
    app.settings.set_value("locale", tag)
    tree = look(f"/bootstrap?step={step}")
    assert [len(tree.css(name)) for name in ("main", "h1", "nav")] == [1, 1, 1]
    current = tree.css_first('[aria-current="step"]')
    assert current is not None
    assert tree.css_matches("main form")


def test_a_foreign_language_is_refused(page: TestClient, home: DataDirectory) -> None:
    assert page.post("/bootstrap/language", data={"locale": "tlh"}).status_code == 400
    assert not home.settings.exists() or "locale" not in json.loads(home.settings.read_text(encoding="utf-8"))
