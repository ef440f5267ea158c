"""The compare page against the real app: who can be chosen, the stream of frames, going on with one answer."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from starlette.testclient import TestClient

from skales.app.app import App
from skales.core.errors import ProviderError, ProviderFault
from skales.core.ids import SessionId
from skales.core.message import Message, Role, text_message
from skales.core.ports import Finished, FinishReason, TextPiece
from tests.scripted import ScriptedProvider, says
from tests.server.ui.conftest import Look

Say = Callable[..., SessionId]
BOTH = ["custom_lab/one", "custom_two/two"]


@pytest.fixture(autouse=True)
def _two_providers(app: App) -> None:
    for name, model in (("custom_lab", "one"), ("custom_two", "two")):
        app.settings.set_provider(name, base_url="http://127.0.0.1:9/v1", model=model)


def ask(page: TestClient, *choices: str, text: str = "Which?", session_id: str = "") -> list[tuple[str, Any]]:
    """The frames of one comparison."""
    answer = page.post("/ui/compare", data={"text": text, "session_id": session_id, "choice": list(choices)})
    assert answer.status_code == 200, answer.text
    frames = [frame for frame in answer.text.split("\n\n") if frame.startswith("event: ")]
    lines = [frame.split("\n") for frame in frames]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in lines]


def done(frames: list[tuple[str, Any]]) -> dict[int, HTMLParser]:
    return {data["column"]: HTMLParser(data["html"]) for name, data in frames if name == "done"}


def test_the_page_offers_every_model_that_can_answer_and_begins_with_two(look: Look) -> None:
    picks = look("/compare?q=Which%3F").css("select[name=choice]")
    assert len(picks) == 4
    assert set(BOTH) < {str(option.attributes["value"]) for option in picks[0].css("option")}
    chosen = [[option.attributes["value"] for option in pick.css("option[selected]")] for pick in picks]
    assert all(first and first[0] for first in chosen[:2])
    assert chosen[0] != chosen[1]
    assert chosen[2:] == [[""], [""]]


def test_the_message_comes_along_and_the_conversation_is_named(look: Look, said: Say) -> None:
    session_id = said(text_message(Role.USER, "Hello"), title="A <b>talk</b>")
    tree = look(f"/compare?session={session_id}&q=Which%3F")
    field = tree.css_first("#compare-text")
    assert field is not None
    assert field.text() == "Which?"
    assert "A <b>talk</b>" in tree.css_first(".lead").text()  # type: ignore[union-attr]
    assert tree.css_first(f'.crumbs a[href="/chat/{session_id}"]') is not None


def test_a_conversation_that_is_gone_is_said_to_be(page: TestClient) -> None:
    assert page.get("/compare?session=session_1").status_code == 404


def test_answers_come_as_text_and_then_as_html_with_their_facts(page: TestClient, provider: ScriptedProvider) -> None:
    provider.steps = [says("**Bold** claim")]
    frames = ask(page, *BOTH)
    assert frames[0][0] == "begin"
    assert len(HTMLParser(frames[0][1]["html"]).css(".compare-column")) == 2
    texts = ["".join(data["text"] for name, data in frames if name == "text" and data["column"] == n) for n in (0, 1)]
    assert texts == ["**Bold** claim"] * 2
    for number, column in done(frames).items():
        assert column.css_first(".prose strong").text() == "Bold"  # type: ignore[union-attr]
        assert "tokens" in column.css_first(".compare-foot").text()  # type: ignore[union-attr]
        assert column.css_first("[data-keep]").attributes["data-keep"] == (  # type: ignore[union-attr]
            f"/ui/compare/{frames[0][1]['id']}/{number}/keep"
        )


def test_going_on_leads_to_a_conversation_with_the_answer(page: TestClient, app: App) -> None:
    frames = ask(page, *BOTH)
    told = page.post(f"/ui/compare/{frames[0][1]['id']}/1/keep").json()
    session = app.sessions.load(SessionId(told["go"].removeprefix("/chat/")))
    assert [message.text for message in session.messages] == ["Which?", "Hello there."]
    assert (session.provider, session.model) == ("custom_two", "two")
    assert HTMLParser(page.get(told["go"]).text).css_first(".message-answer") is not None


def test_a_conversation_that_went_on_refuses_the_answer(page: TestClient, app: App, said: Say) -> None:
    session_id = said(text_message(Role.USER, "Hello"), Message(role=Role.ASSISTANT))
    frames = ask(page, *BOTH, session_id=session_id)
    app.sessions.append(session_id, text_message(Role.USER, "Something else"))
    answer = page.post(f"/ui/compare/{frames[0][1]['id']}/0/keep", headers={"accept": "application/json"})
    assert answer.status_code == 409
    assert "went on meanwhile" in answer.json()["error"]


def test_a_failure_is_told_in_its_column_with_what_to_do(page: TestClient, provider: ScriptedProvider) -> None:
    fault = ProviderError("Lab cannot be reached", fault=ProviderFault.UNREACHABLE, hint="Start it")
    provider.steps = [[fault], [TextPiece("Fine"), Finished(FinishReason.STOP)]]
    columns = done(ask(page, *BOTH))
    told = [column.css_first('[role="alert"]') for _number, column in sorted(columns.items())]
    assert [bool(node) for node in told].count(True) == 1
    words = next(node.text() for node in told if node)
    assert "Lab cannot be reached" in words
    assert "Start it" in words


def test_an_answer_can_be_fetched_as_far_as_it_came(page: TestClient) -> None:
    frames = ask(page, *BOTH)
    assert "Hello there." in page.get(f"/ui/compare/{frames[0][1]['id']}/0").text
    assert page.get(f"/ui/compare/{frames[0][1]['id']}/7").status_code == 404
    assert page.get("/ui/compare/nobody/0").status_code == 404


@pytest.mark.parametrize(
    ("choices", "text"),
    [(BOTH[:1], "Which?"), (BOTH[:1] * 2, "Which?"), (BOTH, " "), (["openai/x", "custom_lab/one"], "Which?")],
)
def test_what_cannot_be_compared_is_refused_before_anybody_is_asked(
    page: TestClient, provider: ScriptedProvider, choices: list[str], text: str
) -> None:
    answer = page.post("/ui/compare", data={"text": text, "choice": choices}, headers={"accept": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["error"]
    assert provider.requests == []


def test_the_command_leads_to_the_page_with_the_message(page: TestClient, said: Say) -> None:
    session_id = said(text_message(Role.USER, "Hello"))
    told = page.post(
        "/ui/chat/send",
        data={"text": "/compare which is it?", "session_id": session_id},
        headers={"accept": "application/json"},
    ).json()
    assert told == {"go": f"/compare?session={session_id}&q=which+is+it%3F"}
