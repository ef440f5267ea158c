"""Summaries on the page: the mark in the transcript, its undo, the command."""

import re
from collections.abc import Callable

from fastapi.testclient import TestClient

from skales.app.app import App
from skales.core.ids import SessionId
from skales.core.message import Role, text_message
from skales.data.session_compactions import Compaction
from tests.scripted import ScriptedProvider, says
from tests.server.ui.conftest import Look

HISTORY = tuple(text_message(role, f"{role} {number}") for number in range(3) for role in (Role.USER, Role.ASSISTANT))
Said = Callable[..., SessionId]


def test_marks_stand_above_what_is_told_as_it_is_and_only_the_newest_can_be_undone(
    look: Look, app: App, said: Said
) -> None:
    session_id = said(*HISTORY)
    for up_to in (2, 4):
        app.sessions.add_compaction(
            session_id, Compaction(up_to=up_to, summary=f"**Part** {up_to} <b>x</b>", model="m")
        )
    tree = look(f"/chat/{session_id}")
    order = [
        node.attributes.get("id") or node.attributes.get("data-summary") for node in tree.css(".message, .summary-mark")
    ]
    assert order == ["m-0", "m-1", "2", "m-2", "m-3", "4", "m-4", "m-5"]
    assert [node.attributes["data-undo-summary"] for node in tree.css("[data-undo-summary]")] == ["4"]
    newest = tree.css(".summary-mark")[-1]
    assert "Summarised 4 earlier messages" in newest.text()
    assert newest.css_first("strong") is not None


def test_an_undo_is_posted_and_done_once(page: TestClient, app: App, said: Said) -> None:
    session_id = said(*HISTORY)
    app.sessions.add_compaction(session_id, Compaction(up_to=4, summary="They met."))
    address = f"/ui/chat/{session_id}/compaction/undo"
    assert page.post(address, data={"up_to": "4"}).status_code == 204
    assert app.sessions.load(session_id).compaction is None
    assert page.post(address, data={"up_to": "4"}).status_code == 404


def test_the_command_summarises_now(
    page: TestClient, app: App, said: Said, provider: ScriptedProvider, finish: Callable[[str], None]
) -> None:
    provider.steps = [says("They met.")]
    session_id = said(*HISTORY)
    answer = page.post("/ui/chat/send", data={"text": "/compact", "session_id": session_id})
    assert answer.is_success
    finish(session_id)
    mark = app.sessions.load(session_id).compaction
    assert mark is not None
    assert re.match(r"They met\.", mark.summary)
