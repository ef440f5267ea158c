"""The activity page over HTTP: what happened and waits, filters, paging, links, the kill switch; a tool's uses."""

import json
from collections.abc import Callable, Collection, Mapping

import pytest
from anyio.from_thread import BlockingPortal
from msgspec import structs
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from starlette.testclient import TestClient

from skales.app.activity import CallKey
from skales.app.app import App
from skales.core.approval import Approval, AskKind
from skales.core.ids import ApprovalId, SessionId
from skales.core.message import Message, Role, text_message
from skales.core.tool import ToolCall
from skales.data.approvals import ApprovalStore
from skales.data.audit import AuditDecision, AuditLog, AuditRun
from skales.security.redact import redact_value
from skales.server.app import create_server
from tests.server.ui.conftest import Look

Say = Callable[..., None]


@pytest.fixture
def record(app: App) -> Say:
    """Write a call into the log as the gate does."""
    log = AuditLog(app.directory, app.clock, redact_value)

    def write(  # noqa: PLR0913 - what differs from call to call
        tool: str,
        decision: str = "auto",
        *,
        ok: bool | None = True,
        session_id: str = "",
        call_id: str = "c1",
        effects: tuple[str, ...] = (),
        **arguments: str,
    ) -> None:
        number = log.decided(
            AuditDecision(
                session_id=session_id,
                call_id=call_id,
                surface="page",
                tool=tool,
                decision=decision,
                arguments=arguments,
                effects=effects,
                reason="BLOCKED: A rule forbids it" if decision == "blocked" else "",
            )
        )
        if ok is not None:
            error = "" if ok else "It broke"
            log.ran(
                AuditRun(session_id=session_id, call_id=call_id, tool=tool, decision_number=number, ok=ok, error=error)
            )

    return write


def texts(tree: HTMLParser, selector: str) -> list[str]:
    return [" ".join(node.text(separator=" ").split()) for node in tree.css(selector)]


def actions(tree: HTMLParser) -> list[str]:
    return texts(tree, "ol .activity-what span")


def test_an_empty_page_says_what_will_be_there(look: Look) -> None:
    tree = look("/activity")
    assert "Nothing happened yet" in texts(tree, "main")[0]
    assert tree.css_first("form.activity-filters") is not None


def test_a_call_is_told_in_words_and_leads_to_its_place(
    app: App, look: Look, record: Say, said: Callable[..., SessionId]
) -> None:
    call = ToolCall("c7", "read_file", {"path": "notes.txt"})
    session_id = said(
        text_message(Role.USER, "read it"), Message(role=Role.ASSISTANT, tool_calls=(call,)), title="Notes"
    )
    record("read_file", session_id=session_id, call_id="c7", path="notes.txt")
    tree = look("/activity")
    (row,) = tree.css("ol .activity-row")
    assert "notes.txt" in actions(tree)[0]
    links = [link.attributes["href"] for link in row.css("a")]
    assert links[:2] == [f"/chat/{session_id}?at=1&find=", "/tools/read_file"]
    assert look(str(links[0])).css_first("article") is not None
    assert actions(look(str(links[2]))) == actions(tree)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["d", "c", "b", "a"]),
        ("?kind=asked", ["c", "b"]),
        ("?kind=outbound", ["a"]),
        ("?kind=changes", ["b"]),
        ("?kind=refused", ["d", "c"]),
        ("?outcome=done", ["a"]),
        ("?outcome=failed", ["b"]),
        ("?outcome=not-run", ["d", "c"]),
        ("?tool=B", ["b"]),
        ("?session=s2", ["b"]),
        ("?days=1&kind=nonsense", ["d", "c", "b", "a"]),
        ("?tool=zzz", []),
    ],
)
def test_filters(look: Look, record: Say, query: str, found: list[str]) -> None:
    record("a", effects=("outbound",))
    record("b", "approved", ok=False, session_id="s2", effects=("writes",))
    record("c", "declined", ok=None)
    record("d", "blocked", ok=None)
    tree = look(f"/activity{query}")
    assert actions(tree) == found
    assert ("Nothing fits" in texts(tree, "main")[0]) is (found == [])


def test_older_calls_are_a_page_further_and_none_is_lost(look: Look, record: Say) -> None:
    for number in range(45):
        record(f"tool{number}")
    tree = look("/activity")
    older = next(link.attributes["href"] for link in tree.css("a.button") if link.text(strip=True) == "Older")
    names = actions(tree) + actions(look(str(older)))
    assert names == [f"tool{number}" for number in reversed(range(45))]


def test_what_waits_is_on_top_and_leads_to_its_answer(app: App, look: Look, said: Callable[..., SessionId]) -> None:
    session_id = said(title="Sums")
    now_ms = app.clock.now_ms()
    ApprovalStore(app.directory, app.quarantine).add(
        Approval(
            id=ApprovalId("ap_1"),
            kind=AskKind.TOOL,
            session_id=session_id,
            call_id="c1",
            tool="write_file",
            args={},
            action="Write 3 KB to <b>sums</b>.txt",
            reason="",
            created_ms=now_ms,
            expires_ms=now_ms + 60_000,
        )
    )
    tree = look("/activity")
    assert texts(tree, "#activity-waiting ~ ul .activity-what span") == ["Write 3 KB to <b>sums</b>.txt"]
    assert tree.css_first("ul .activity-links a").attributes["href"] == f"/chat/{session_id}"  # type: ignore[union-attr]


def test_a_deleted_conversation_is_named_without_a_link(look: Look, record: Say) -> None:
    record("a", session_id="gone")
    tree = look("/activity")
    assert "A deleted conversation (gone)" in texts(tree, "ol .activity-row")[0]
    assert not [link for link in tree.css("ol .activity-row a") if "/chat/" in str(link.attributes["href"])]


def test_what_can_be_undone_leads_there(app: App, portal: BlockingPortal, record: Say) -> None:
    class Timeline:
        def addresses(self, calls: Collection[CallKey]) -> Mapping[CallKey, str]:
            return {key: "/undo#7" for key in calls if key[1] == "c1"}

    record("a", call_id="c1")
    record("b", call_id="c2")
    client = TestClient(create_server(structs.replace(app, undoable=Timeline())), base_url="http://127.0.0.1:3000")
    client.portal = portal
    client.headers["accept"] = "text/html"
    client.get("/chat")
    tree = HTMLParser(client.get("/activity").text)
    assert [link.attributes["href"] for link in tree.css("ol a") if link.text(strip=True) == "Undo"] == ["/undo#7"]


def test_a_tool_shows_its_last_five_uses(look: Look, record: Say) -> None:
    assert "It was not used yet" in look("/tools/read_file").text()
    for number in range(7):
        record("read_file", path=f"{number}.txt")
        record("write_file", path="other.txt")
    shown = actions(look("/tools/read_file"))
    assert len(shown) == 5
    assert "6.txt" in shown[0]
    assert "2.txt" in shown[-1]


def test_the_kill_switch_needs_two_clicks_and_leaves_a_note(app: App, page: TestClient, look: Look) -> None:
    tree = look("/chat")
    (switch,) = tree.css(".tray details.kill")
    assert "open" not in switch.attributes
    answer = page.post("/ui/killswitch", follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/activity#incident-")
    tree = look("/activity")
    assert "Nothing ran" in texts(tree, ".incident pre")[0]
    assert actions(tree) == ["The kill switch was used"]
    assert "are paused since" in texts(tree, "main")[0]
    assert app.settings.load().automation_paused
    page.post("/ui/go-on")
    assert not app.settings.load().automation_paused
    assert "are paused since" not in texts(look("/activity"), "main")[0]


def test_strangers_cannot_use_the_switch_or_read_the_log(client: TestClient) -> None:
    for path in ("/ui/killswitch", "/ui/go-on"):
        assert client.post(path).status_code in (401, 403)
    assert client.post("/api/killswitch").status_code == 401
    assert client.get("/ui/activity/export").status_code in (401, 403)


def test_the_switch_works_for_programs(app: App, client: TestClient) -> None:
    answer = client.post("/api/killswitch", headers={"authorization": f"Bearer {app.local_token}"})
    assert answer.json()["left"] == 0


def test_the_log_can_be_taken_along(page: TestClient, record: Say) -> None:
    record("a")
    lines = [json.loads(line) for line in page.get("/ui/activity/export").text.splitlines()]
    assert [line["kind"] for line in lines] == ["begun", "decision", "run"]
