"""The frame as the server makes it: navigation, notices, palette entries, and pages that cannot be shown."""

import json
from collections.abc import AsyncGenerator, Callable, MutableMapping
from typing import Any

import anyio
import pytest
from anyio.from_thread import BlockingPortal
from msgspec import structs
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from selectolax.lexbor import LexborNode
from starlette.testclient import TestClient

from skales.app.app import App
from skales.core.errors import StorageError
from skales.core.ids import SessionId
from skales.data.paths import DataDirectory
from skales.server.app import create_server
from skales.server.live import Frame
from skales.server.ui import frame, places
from skales.server.ui.notices import board_frames, push_with_notices
from skales.server.views import Screen
from tests.server.ui.conftest import Look


def only(tree: HTMLParser, selector: str) -> LexborNode:
    node = tree.css_first(selector)
    assert node is not None, selector
    return node


def entries(tree: HTMLParser) -> list[str]:
    return [link.text(strip=True) for link in tree.css(".places .place")]


def test_the_screen_one_is_on_is_lit_in_the_navigation(look: Look) -> None:
    (lit,) = look("/tools").css(".places [aria-current]")
    assert lit.attributes["href"] == "/tools"
    assert lit.attributes["aria-current"] == "page"


@pytest.mark.parametrize("enabled", [True, False])
def test_the_developer_entry_is_there_while_the_devkit_is_on(
    page: TestClient, home: DataDirectory, enabled: bool
) -> None:
    (home.root / "devkit").mkdir(exist_ok=True)
    (home.root / "devkit" / "devkit.json").write_text(json.dumps({"enabled": enabled, "token": "t" * 20}), "utf-8")
    app = page.app.state.skales  # type: ignore[attr-defined]
    app.devkit._cached = None
    tree = HTMLParser(page.get("/chat").text)
    assert ("Developer" in entries(tree)) is enabled


def test_a_place_of_an_add_on_is_listed_while_the_add_on_is_on(
    app: App, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = structs.replace(places.PLACES[0], id=Screen.NONE, address="/studio", label="Studio", addon="studio")
    monkeypatch.setattr(places, "PLACES", (*places.PLACES, studio))
    assert "Studio" in entries(look("/chat"))
    app.settings.update(lambda raw: raw.update(addons={"studio": False}))
    assert "Studio" not in entries(look("/chat"))


def test_every_place_leads_somewhere(app: App, page: TestClient) -> None:
    for place in places.list_places(app):
        assert page.get(place.address).status_code == 200, place


def test_the_palette_knows_every_screen_and_setting_and_finds_conversations(page: TestClient, app: App) -> None:
    app.sessions.create(title="Packing list")
    app.sessions.create(title="Reports")
    known = page.get("/ui/commands").json()
    assert {"/chat", "/tools", "/settings"} <= {entry["address"] for entry in known if entry["group"] == "screen"}
    assert any(entry["label"] == "Theme" for entry in known if entry["group"] == "setting")
    (found,) = page.get("/ui/commands/conversations", params={"q": "packing"}).json()
    assert found["label"] == "Packing list"
    assert found["address"].startswith("/chat/session_")
    assert len(page.get("/ui/commands/conversations").json()) == 2


@pytest.mark.parametrize(("theme", "status"), [("dark", 204), ("neon", 400)])
def test_the_palette_sets_only_themes_that_exist(page: TestClient, app: App, theme: str, status: int) -> None:
    before = app.settings.load().theme
    assert page.post("/ui/commands/theme", data={"theme": theme}).status_code == status
    assert app.settings.load().theme == (theme if status == 204 else before)


@pytest.mark.parametrize("address", ["/ui/commands", "/ui/commands/conversations", "/ui/notices", "/ui/events"])
def test_only_the_page_may_ask(client: TestClient, address: str) -> None:
    assert client.get(address).status_code == 401


def test_a_broken_file_is_in_the_tray_until_one_has_looked(page: TestClient, app: App, home: DataDirectory) -> None:
    home.sessions.mkdir(exist_ok=True)
    (home.sessions / "session_1.json").write_text("{broken", encoding="utf-8")
    app.sessions.list()
    tree = HTMLParser(page.get("/chat").text)
    (notice,) = tree.css("#tray .notice")
    assert "session_1.json" in notice.text()
    assert only(tree, "#tray-button").attributes["data-unread"] == "1"
    assert page.post("/ui/notices/seen").status_code == 204
    tree = HTMLParser(page.get("/ui/notices").text)
    assert tree.css(".notice")
    assert not tree.css(".notice.new")


def test_a_page_that_knows_the_board_waits_and_one_that_does_not_is_told(app: App, portal: BlockingPortal) -> None:
    async def first(after: str) -> Frame | None:
        stream = board_frames(app, after)
        try:
            with anyio.move_on_after(0.2):
                return await anext(stream)
            return None
        finally:
            await stream.aclose()

    told = portal.call(first, "")
    assert told is not None
    assert told.name == "notice-board"
    assert isinstance(told.data, dict)
    known = str(told.data["place"])
    assert portal.call(first, known) is None
    app.notices.version += 1
    assert portal.call(first, known) is not None
    assert portal.call(first, "another-1") is not None


def test_a_conversation_carries_the_boards_frames_and_ends_by_itself(
    app: App, portal: BlockingPortal, said: Callable[..., SessionId]
) -> None:
    session_id = said()

    async def collect() -> list[str]:
        async def own() -> AsyncGenerator[Frame, None]:
            yield Frame("sync", None)
            await told.wait()
            yield Frame("reload", None)

        async def receive() -> MutableMapping[str, Any]:
            await anyio.sleep_forever()
            raise AssertionError("unreachable")

        async def send(message: MutableMapping[str, Any]) -> None:
            lines = message.get("body", b"").decode().splitlines()
            names.extend(line.removeprefix("event: ") for line in lines if line.startswith("event: "))
            if "notice-board" in names:
                told.set()

        told = anyio.Event()
        names: list[str] = []
        with anyio.fail_after(5):
            await push_with_notices(app, session_id, own())({"type": "http"}, receive, send)
        return names

    names = portal.call(collect)
    assert sorted(names[:2]) == ["notice-board", "sync"]
    assert names[-1] == "reload"


def test_an_address_that_does_not_exist_is_a_page_that_leads_on(page: TestClient) -> None:
    answer = page.get("/nowhere")
    tree = HTMLParser(answer.text)
    assert answer.status_code == 404
    assert only(tree, ".error-page h2").text() == "Page not found"
    assert tree.css(".error-page [href='/chat'], .error-page [data-find]")
    assert page.get("/nowhere", headers={"accept": "application/json"}).json() == {"error": "Not found"}


def test_who_opens_a_wrong_address_first_is_known_all_the_same(client: TestClient) -> None:
    client.get("/nowhere", headers={"accept": "text/html"})
    assert client.get("/ui/commands").status_code == 200


def test_a_screen_that_fails_says_why_and_offers_to_try_again(
    page: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_app: App) -> None:
        raise StorageError("The disk is full", hint="Free some space")

    monkeypatch.setattr(frame, "list_places", refuse)
    answer = page.get("/tools")
    tree = HTMLParser(answer.text)
    assert answer.status_code == 500
    assert "The disk is full. Free some space." in only(tree, ".error-page").text()
    assert only(tree, ".error-page a.primary").attributes["href"] == "/tools"
    assert "Chat" in entries(tree)


def test_a_fault_of_ours_is_a_page_for_people_and_json_for_programs(
    page: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(_app: App) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(frame, "list_places", break_down)
    answer = page.get("/tools")
    assert answer.status_code == 500
    assert "Something broke" in only(HTMLParser(answer.text), ".error-page").text()
    answer = page.get("/tools", headers={"accept": "application/json"})
    assert answer.status_code == 500
    assert "ZeroDivisionError" in answer.json()["error"]


def test_the_frame_speaks_the_persons_language_on_pages_that_cannot_be_shown(page: TestClient, app: App) -> None:
    app.settings.set_value("locale", "de")
    assert only(HTMLParser(page.get("/nowhere").text), "html").attributes["lang"] == "de"


def test_no_module_of_the_page_is_longer_than_it_may_be() -> None:
    from skales.server.ui import pages

    root = pages._FOLDER.parent
    long = {
        path.name: lines
        for pattern, most in (("static/js/*.js", 250), ("templates/**/*.html", 150))
        for path in root.glob(pattern)
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > most
    }
    assert long == {}


@pytest.mark.parametrize(("value", "status"), [("1", 200), ("0", 404), (None, 404)])
def test_the_page_of_samples_exists_in_development_only(
    app: App, portal: BlockingPortal, monkeypatch: pytest.MonkeyPatch, value: str | None, status: int
) -> None:
    monkeypatch.delenv("SKALES_DEV", raising=False)
    if value is not None:
        monkeypatch.setenv("SKALES_DEV", value)
    client = TestClient(create_server(app), base_url="http://127.0.0.1:3000")
    client.portal = portal
    # Only the start counts.
    monkeypatch.delenv("SKALES_DEV", raising=False)
    answer = client.get("/design", headers={"accept": "text/html"})
    assert answer.status_code == status
    assert ("Approval card" in answer.text) is (status == 200)
