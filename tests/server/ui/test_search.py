"""The history page: what its filters leave, how it goes on, and the trash."""

import json
from collections.abc import Callable

import pytest
from starlette.testclient import TestClient

from skales.app.app import App
from skales.core.clock import to_datetime
from skales.core.ids import SessionId
from skales.core.message import Role, text_message
from tests.server.ui.conftest import Look

Said = Callable[..., SessionId]
DAY_MS = 86_400_000


def write(app: App, updated_ms: int, title: str, text: str = "words", **others: object) -> str:
    """A conversation of a day, as a file."""
    app.directory.sessions.mkdir(exist_ok=True)
    session_id = f"session_{updated_ms}"
    messages = [{"role": "user", "content": text, "timestamp": updated_ms}]
    raw = {"title": title, "createdAt": updated_ms, "updatedAt": updated_ms, "messages": messages, **others}
    (app.directory.sessions / f"{session_id}.json").write_text(json.dumps(raw), encoding="utf-8")
    return session_id


def day(moment_ms: int) -> str:
    return f"{to_datetime(moment_ms):%Y-%m-%d}"


def titles(look: Look, address: str) -> list[str]:
    return [node.text(strip=True) for node in look(address).css("#found .title")]


@pytest.fixture
def three(app: App) -> int:
    """Conversations of three days; the moment of the newest."""
    now_ms = app.clock.now_ms()
    write(app, now_ms - 4 * DAY_MS, "Oldest", provider="anthropic", model="claude")
    write(app, now_ms - 2 * DAY_MS, "Middle", "a needle", folder="Work", provider="openai", model="gpt-5.5")
    write(app, now_ms, "Newest", "a needle too", provider="openai", model="gpt-4")
    return now_ms


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["Newest", "Middle", "Oldest"]),
        ("q=needle", ["Newest", "Middle"]),
        ("folder=Work", ["Middle"]),
        ("model=OpenAI", ["Newest", "Middle"]),
        ("model=openai/gpt-5", ["Middle"]),
        ("q=needle&folder=Work", ["Middle"]),
        ("since={middle}", ["Newest", "Middle"]),
        ("until={middle}", ["Middle", "Oldest"]),
        ("since={middle}&until={middle}", ["Middle"]),
        ("since=nonsense&until=0001-01-01", ["Newest", "Middle", "Oldest"]),
        ("before=nonsense", ["Newest", "Middle", "Oldest"]),
        ("q=absent", []),
    ],
)
def test_filters_leave_what_fits_newest_first(look: Look, three: int, query: str, expected: list[str]) -> None:
    assert titles(look, f"/history?{query.format(middle=day(three - 2 * DAY_MS))}") == expected


def test_the_form_shows_again_what_was_asked(look: Look, three: int) -> None:
    tree = look(f"/history?q=needle&folder=Work&since={day(three)}&model=gpt")
    values = {node.attributes["name"]: node.attributes.get("value") for node in tree.css(".history-filter input")}
    assert values == {"q": "needle", "since": day(three), "until": "", "model": "gpt"}
    assert [node.text() for node in tree.css("option[selected]")] == ["Work"]


def test_many_results_go_on_where_they_stopped(look: Look, app: App) -> None:
    now_ms = app.clock.now_ms()
    for number in range(65):
        write(app, now_ms - number * 1000, f"Number {number}", "needle")
    seen: list[str] = []
    address: str | None = "/history?q=needle"
    for _page in range(3):
        assert address is not None
        seen += titles(look, address)
        following = look(address).css_first("a[rel=next]")
        address = following.attributes["href"] if following else None
    assert address is None
    assert seen == [f"Number {number}" for number in range(65)]


def test_an_excerpt_leads_to_its_message(look: Look, said: Said) -> None:
    session_id = said(text_message(Role.USER, "first"), text_message(Role.ASSISTANT, "the <i>needle</i>"), title="Hay")
    (excerpt,) = look("/history?q=needle").css(".excerpt")
    assert excerpt.attributes["href"] == f"/chat/{session_id}?at=1&find=needle"
    assert excerpt.text() == "the <i>needle</i>"
    assert [mark.text() for mark in excerpt.css("mark")] == ["needle"]


def test_finding_within_names_the_messages(page: TestClient, said: Said) -> None:
    session_id = said(*(text_message(Role.USER, text) for text in ("needle", "hay", "NEEDLE", "nëedle s")))
    assert page.get(f"/ui/sessions/{session_id}/find?q=needle").json() == {"hits": [0, 2, 3], "total": 3}
    assert page.get(f"/ui/sessions/{session_id}/find?q=").json() == {"hits": [], "total": 0}


def test_deleted_conversations_come_back_or_go_for_good(page: TestClient, look: Look, said: Said, app: App) -> None:
    back, gone = said(title="Comes back"), said(title="Goes")
    assert "Nothing deleted" in look("/history?deleted=true").text()
    for session_id in (back, gone):
        page.delete(f"/ui/sessions/{session_id}")
    assert set(titles(look, "/history?deleted=true")) == {"Comes back", "Goes"}
    assert page.post(f"/ui/sessions/{back}/restore").status_code == 204
    assert page.delete(f"/ui/history/trash/{gone}").status_code == 204
    assert page.delete(f"/ui/history/trash/{gone}").status_code == 404
    assert titles(look, "/history?deleted=true") == []
    assert titles(look, "/history") == ["Comes back"]
    assert page.post(f"/ui/sessions/{gone}/restore").status_code == 404
    assert app.sessions.count() == 1


@pytest.mark.parametrize("address", ["/history", "/ui/history/export?format=md", "/ui/sessions/session_1/find"])
def test_strangers_get_nothing(client: TestClient, address: str) -> None:
    assert client.get(address, headers={"accept": "application/json"}).status_code == 401
