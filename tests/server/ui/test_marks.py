"""The chip of a conversation that has read text of others: what it lists, and what lifting does."""

from collections.abc import Callable

from starlette.testclient import TestClient

from skales.app.app import App
from skales.core.ids import SessionId
from skales.core.message import Message, Role
from tests.server.ui.conftest import Look

Said = Callable[..., SessionId]


def mark(app: App, session_id: SessionId, *sources: str) -> None:
    app.sessions.append(
        session_id, Message(role=Role.TOOL, tool_call_id="c", name="fetch_web_page", extra={"sources": list(sources)})
    )


def test_a_conversation_of_ones_own_shows_no_chip(look: Look, said: Said) -> None:
    assert look(f"/chat/{said()}").css_first("#marks button") is None


def test_the_chip_lists_the_sources_and_lifting_takes_it_away(
    page: TestClient, look: Look, said: Said, app: App
) -> None:
    session_id = said()
    mark(app, session_id, "web page a.example/x", "file <b>.pdf")
    shown = look(f"/chat/{session_id}").css_first("#marks")
    assert shown is not None
    assert [item.text() for item in shown.css("li")] == ["web page a.example/x", "file <b>.pdf"]
    assert "2 sources" in shown.text()
    assert look(f"/ui/chat/{session_id}/marks").css_first("#marks li") is not None
    lifted = page.post(f"/ui/chat/{session_id}/marks/lift")
    assert lifted.status_code == 200
    assert "a.example" not in lifted.text
    assert look(f"/chat/{session_id}").css_first("#marks button") is None


def test_lifting_where_there_is_no_conversation_says_so(page: TestClient) -> None:
    assert page.post("/ui/chat/session_1/marks/lift").status_code == 404
