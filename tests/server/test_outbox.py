"""The outbox over HTTP and on its page."""

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from starlette.testclient import TestClient

from skales.app.app import App
from skales.core.ids import SessionId
from skales.data.outbox import OPEN_STATES, Draft, Intent, OutboxState

ROUTES = [("GET", "/api/outbox"), ("POST", "/api/outbox/out_1/sent")]


@pytest.fixture
def known(client: TestClient, app: App) -> TestClient:
    client.headers["authorization"] = f"Bearer {app.local_token}"
    return client


@pytest.fixture
def page(client: TestClient) -> TestClient:
    client.headers["accept"] = "text/html"
    assert client.get("/chat").status_code == 200
    return client


@pytest.fixture
def question(app: App) -> Intent:
    """A request that nobody is sure of."""
    draft = Draft(
        session_id=SessionId("session_1"),
        conversation=SessionId("session_1"),
        call_id="call_1",
        tool="http_request",
        arguments={"url": "http://127.0.0.1:9/", "method": "POST", "headers": {"Authorization": "Bearer lovelace"}},
        action="POST http://<b>/",
    )
    intent = app.outbox.store.intend(draft)
    return app.outbox.store.move(intent.id, OPEN_STATES, OutboxState.MAYBE, note="It broke off")


def texts(page: str, selector: str) -> list[str]:
    return [" ".join(node.text(separator=" ").split()) for node in HTMLParser(page).css(selector)]


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize("token", ["", "Bearer wrong"])
def test_strangers_are_turned_away(client: TestClient, method: str, path: str, token: str) -> None:
    assert client.request(method, path, headers={"authorization": token}).status_code == 401


def test_the_list_shows_what_waits_without_secrets(known: TestClient, question: Intent) -> None:
    answer = known.get("/api/outbox")
    (waiting,) = answer.json()["waiting"]
    assert (waiting["id"], waiting["state"], waiting["note"]) == (question.id, "maybe", "It broke off")
    assert "lovelace" not in answer.text


@pytest.mark.parametrize(("answer", "state"), [("sent", "sent"), ("drop", "dropped")])
def test_an_answer_counts_once(known: TestClient, question: Intent, answer: str, state: str) -> None:
    assert known.post(f"/api/outbox/{question.id}/{answer}").json()["intent"]["state"] == state
    assert known.post(f"/api/outbox/{question.id}/again").status_code == 409
    assert known.get("/api/outbox").json()["waiting"] == []


@pytest.mark.parametrize(("path", "status"), [("out_0/sent", 404), ("..%2fgrants/drop", 404), ("out_0/eaten", 400)])
def test_what_is_not_there_cannot_be_answered(known: TestClient, path: str, status: int) -> None:
    assert known.post(f"/api/outbox/{path}").status_code == status


def test_the_page_asks_and_the_tray_leads_to_it(page: TestClient, question: Intent) -> None:
    shown = page.get("/outbox").text
    assert texts(shown, ".work-row h2") == ["POST http://<b>/"]
    assert texts(shown, ".work-row form button") == ["It was sent", "Send it again", "Do not send it"]
    assert "/outbox" in [link.attributes["href"] for link in HTMLParser(shown).css("nav a[aria-current]")]
    tray = page.get("/ui/notices").text
    assert [link.attributes["href"] for link in HTMLParser(tray).css("a.notice")] == ["/outbox"]


def test_an_answer_on_the_page_settles_it(page: TestClient, app: App, question: Intent) -> None:
    answer = page.post(f"/outbox/{question.id}/sent", headers={"hx-request": "true"})
    assert texts(answer.text, ".badge") == ["Sent"]
    assert not texts(answer.text, "form")
    assert app.outbox.store.get(question.id).by == "page"
    late = page.post(f"/outbox/{question.id}/again", headers={"hx-request": "true"})
    assert "settled already" in late.text
    assert HTMLParser(page.get("/ui/notices").text).css("a.notice") == []


def test_what_cannot_be_sent_again_stays_and_says_why(page: TestClient, question: Intent) -> None:
    answer = page.post(f"/outbox/{question.id}/again", headers={"hx-request": "true"})
    assert "It could not be sent again" in answer.text
    assert len(texts(answer.text, "form")) == 3


def test_a_page_without_a_script_gets_the_page_again(page: TestClient, question: Intent) -> None:
    answer = page.post(f"/outbox/{question.id}/drop")
    assert answer.url.path == "/outbox"
    assert texts(answer.text, ".badge") == ["Dropped"]


def test_without_anything_the_page_says_what_belongs_here(page: TestClient) -> None:
    assert texts(page.get("/outbox").text, ".empty-state h2") == ["Nothing was sent yet"]
    assert "/outbox" not in [link.attributes.get("href") for link in HTMLParser(page.get("/chat").text).css("nav a")]
