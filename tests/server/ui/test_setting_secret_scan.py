"""The settings page looks for old secrets, masks them and takes that back; it shows markers only."""

import json
from html import unescape
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from starlette.testclient import TestClient

from skales.app.app import App
from skales.core.errors import ConflictError
from skales.data.paths import DataDirectory

LOOKS = "ghp" + "_" + "Pl4nt3dS3cr3tPl4nt3dS3cr3tPl4nt3dXY"
HTMX = {"hx-request": "true"}


@pytest.fixture
def old(home: DataDirectory) -> Path:
    path = home.sessions / "session_1700000000000.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"id": "session_1700000000000", "messages": [{"role": "user", "content": f"It is {LOOKS} indeed"}]}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def press(page: TestClient, deed: str, shown: HTMLParser | None = None) -> HTMLParser:
    """What a button of the part does; the search is over when the answer is there."""
    data = {}
    if shown is not None:
        button = shown.css_first(f'[hx-post="/ui/settings/secret-scan/{deed}"]')
        assert button is not None
        data = json.loads(unescape(str(button.attributes.get("hx-vals", "{}"))))
    answer = page.post(f"/ui/settings/secret-scan/{deed}", data=data, headers=HTMX)
    assert answer.status_code == 200, answer.text
    assert LOOKS not in answer.text
    return HTMLParser(page.get("/ui/settings/secret-scan").text if deed in ("look", "mask") else answer.text)


def words(shown: HTMLParser) -> str:
    body = shown.body
    return " ".join(body.text().split()) if body else ""


def test_looking_shows_where_and_what(page: TestClient, old: Path) -> None:
    before = old.read_bytes()
    shown = words(press(page, "look"))
    assert "sessions/session_1700000000000.json" in shown
    assert "[secret: GitHub token ghp_…3dXY]" in shown
    assert "1 secret" in shown
    assert old.read_bytes() == before


def test_masking_holds_for_pages_and_search_and_can_be_taken_back(page: TestClient, app: App, old: Path) -> None:
    before = old.read_bytes()
    assert app.sessions.search("indeed", 3)
    masked = press(page, "mask", press(page, "look"))
    assert LOOKS not in old.read_text(encoding="utf-8")
    assert "Masked" in words(masked)
    assert LOOKS.encode() not in app.directory.index.read_bytes() if app.directory.index.exists() else True
    assert app.sessions.search("indeed", 3)
    back = press(page, "undo", masked)
    assert "1 file is as it was" in words(back)
    assert old.read_bytes() == before


def test_the_copy_can_be_deleted(page: TestClient, app: App, old: Path) -> None:
    masked = press(page, "mask")
    press(page, "forget", masked)
    files = [path for path in app.directory.root.rglob("*") if path.is_file()]
    assert old in files
    assert [path for path in files if LOOKS.encode() in path.read_bytes()] == []


def test_one_search_at_a_time(page: TestClient, app: App, old: Path) -> None:
    app.secret_scan.claim()
    with pytest.raises(ConflictError):
        app.secret_scan.claim()
    shown = words(press(page, "look"))
    assert "Stop" in shown
    assert old.exists()


def test_a_masking_that_is_gone_is_told(page: TestClient, old: Path) -> None:
    answer = page.post("/ui/settings/secret-scan/undo", data={"backup": "../sessions"}, headers=HTMX)
    assert "There is no such masking to take back" in answer.text
    assert old.exists()
