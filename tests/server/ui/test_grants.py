"""The page of grants and its routes: what is allowed, taking it back and undoing that, and what would happen."""

from collections.abc import Callable

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from starlette.testclient import TestClient

from skales.app.app import App
from skales.core.approval import Approval, AskKind, RuleStep
from skales.core.ids import ApprovalId, SessionId
from skales.core.message import Message, Role
from skales.core.tool import ToolCall
from skales.data.approvals import ApprovalStore
from skales.data.grants import FolderReach, Grant, Reach, ReachKind
from skales.server.ui.cards import build_card
from tests.server.ui.conftest import Look

HX = {"hx-request": "true"}


@pytest.fixture
def grant(app: App, said: Callable[..., SessionId]) -> Grant:
    reach = Reach(kind=ReachKind.PLACES, folders=(FolderReach("path", str(app.directory.workspace / "notes")),))
    return app.grants.add(
        Grant(
            id="",
            tool="write_file",
            session_id="",
            reach=reach,
            about="Write <b>",
            surface="page",
            given_in=said(title="Trip"),
        )
    )


def texts(tree: HTMLParser, selector: str) -> list[str]:
    return [" ".join(node.text(separator=" ").split()) for node in tree.css(selector)]


def test_without_grants_the_page_says_how_one_comes_to_be(look: Look) -> None:
    tree = look("/grants")
    assert texts(tree, ".empty-state h2") == ["Nothing is allowed for good"]
    assert "/grants" in [link.attributes["href"] for link in tree.css("nav a[aria-current]")]


def test_a_grant_stands_there_in_words_with_where_it_was_given_and_its_uses(look: Look, app: App, grant: Grant) -> None:
    app.grant_uses.note(grant.id)
    app.grant_uses.note(grant.id)
    tree = look("/grants")
    (row,) = texts(tree, ".work-row")
    assert row.startswith(f"write_file in the folder {app.directory.workspace}/notes and below Everywhere")
    for part in ("until you revoke it", "Used 2 times, last", "Given for: Write <b>", "in the page"):
        assert part in row
    assert [link.text() for link in tree.css(".work-row a")] == ["Trip"]


def test_revoking_on_the_page_counts_at_once_and_can_be_undone(page: TestClient, app: App, grant: Grant) -> None:
    board = HTMLParser(page.post(f"/grants/{grant.id}/revoke", headers=HX).text)
    assert app.grants.list() == []
    assert texts(board, ".callout button") == ["Undo"]
    page.post(f"/grants/{grant.id}/restore", headers=HX)
    assert app.grants.list() == [grant]
    assert "There is no grant" in page.post("/grants/grant_404/revoke", headers=HX).text
    answer = page.post(f"/grants/{grant.id}/revoke", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/grants")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("write_file path=notes/b.txt content=x", ["It would run without asking.", "You allowed this earlier"]),
        ("write_file path=b.txt content=x", ["It would ask you first.", "A wider yes would cover"]),
        ("execute_command command='rm -rf /'", ["It would be refused.", "This decides."]),
        ("read_file path=/etc/passwd", ["It would be refused.", "outside the allowed folders"]),
        ("write_flie path=x", ["It would be refused.", "Did you mean"]),
        ("write_file 'path=x", ["Close every quote"]),
        ("", []),
    ],
)
def test_the_page_tells_what_would_happen_with_a_call(
    page: TestClient, app: App, grant: Grant, call: str, words: list[str]
) -> None:
    for address in ("/ui/grants/why", "/grants"):
        text = HTMLParser(page.get(address, params={"call": call}).text).body
        assert text is not None
        assert all(word in text.text() for word in words)
    assert app.grant_uses.all() == {}
    assert not list(app.directory.workspace.glob("*.txt"))


def test_grants_are_listed_revoked_and_restored_over_http(page: TestClient, app: App, grant: Grant) -> None:
    (listed,) = page.get("/api/grants").json()["grants"]
    assert (listed["id"], listed["uses"], listed["givenInTitle"]) == (grant.id, 0, "Trip")
    assert page.delete(f"/api/grants/{grant.id}").json()["success"]
    assert page.delete(f"/api/grants/{grant.id}").status_code == 404
    assert page.get("/api/grants").json() == {"grants": []}
    assert page.post(f"/api/grants/{grant.id}/restore").json()["id"] == grant.id
    assert app.grants.list() == [grant]


def test_the_routes_answer_nobody_unknown(client: TestClient, grant: Grant) -> None:
    for method, path in (("GET", "/api/grants"), ("DELETE", f"/api/grants/{grant.id}"), ("POST", "/api/why")):
        assert client.request(method, path, json={"tool": "x"}).status_code in (401, 403)


def test_a_call_is_explained_over_http(page: TestClient) -> None:
    said = page.post("/api/why", json={"tool": "delete_file", "args": {"path": "a.log"}}).json()
    assert (said["outcome"], [step["rule"] for step in said["steps"] if step["decides"]]) == ("ask", ["level"])
    assert said["covers"].startswith("delete_file in the folder")


def test_a_question_and_its_answer_can_be_read_over_http(page: TestClient, app: App, client: TestClient) -> None:
    question = Approval(
        id=ApprovalId("ap_1"),
        kind=AskKind.TOOL,
        session_id=SessionId("session_1"),
        call_id="c",
        tool="delete_file",
        args={"path": "a"},
        action="Delete a",
        reason="it asks",
        why=(RuleStep("level", "ask", "it asks", decides=True),),
        created_ms=1,
        expires_ms=app.clock.now_ms() + 60_000,
    )
    ApprovalStore(app.directory, app.quarantine).add(question)
    assert page.get("/api/approvals/ap_1").json()["outcome"] == "pending"
    app.approvals.orphan_answered = None
    reply = {"decision": "approve", "args": {"path": "b"}, "surface": "page", "scope": "always", "lasts": "week"}
    assert page.post("/api/approvals/ap_1", json=reply).status_code == 200
    late = page.post("/api/approvals/ap_1", json={"decision": "reject"})
    assert (late.status_code, "pending question" in late.text) == (404, True)
    told = page.get("/api/approvals/ap_1").json()
    assert (told["args"], told["edited"], told["effective"]) == ({"path": "a"}, {"path": "b"}, {"path": "b"})
    assert (told["outcome"], told["by"], told["lasts"]) == ("approved", "page", "week")
    assert page.get("/api/approvals/ap_404").status_code == 404


def test_a_card_says_what_a_wider_yes_would_have_covered_and_why_it_is_asked() -> None:
    card = build_card(
        Approval(
            id=ApprovalId("ap_1"),
            kind=AskKind.TOOL,
            session_id=SessionId(""),
            call_id="c",
            tool="x",
            args={},
            action="Do",
            reason="r",
            covers="calls of x",
            past_covered=3,
            past_calls=8,
            sandbox="It runs in the sandbox",
            why=(
                RuleStep("path", "allow", "fine", "a.txt"),
                RuleStep("level", "ask", "r", "", "safetyMode", decides=True),
            ),
        )
    )
    assert card.past == "It would have covered 3 of the last 8 calls of this tool."
    assert [(line.rule, line.decides, line.link) for line in card.why] == [
        ("Place", False, ""),
        ("Safety level", True, "/settings#setting-safetyMode"),
    ]


def test_a_step_of_a_conversation_leads_to_the_rules_it_met(look: Look, said: Callable[..., SessionId]) -> None:
    call = ToolCall("c1", "read_file", {"path": "my notes.txt", "start": 2})
    session_id = said(
        Message(role=Role.USER),
        Message(role=Role.ASSISTANT, tool_calls=(call,)),
        Message(role=Role.TOOL, tool_call_id="c1"),
    )
    (link,) = [node for node in look(f"/chat/{session_id}").css(".step a") if node.text() == "By which rules?"]
    tree = look(str(link.attributes["href"]))
    assert tree.css("#grants-call")[0].attributes["value"] == "read_file 'path=my notes.txt' start=2"
    assert "It would run without asking." in texts(tree, ".why-head")[0]
