"""The undo pages and routes over HTTP: the timeline, the diff before anything happens, undo, redo, conflicts."""

from collections.abc import Callable

import pytest
from anyio.from_thread import BlockingPortal
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from starlette.testclient import TestClient

from skales.agent.origin import CallOrigin
from skales.app.app import App
from skales.core.ids import SessionId
from skales.core.tool import ToolCall
from tests.server.ui.conftest import Look

Run = Callable[..., str]


@pytest.fixture
def run(portal: BlockingPortal, app: App) -> Run:
    """A call of a tool in a turn; the id of the step that came of it."""

    def make(name: str, *, session_id: str = "", turn: str = "turn_1", **arguments: str) -> str:
        call = ToolCall(f"call_{app.ids.token(8)}", name, arguments)
        origin = CallOrigin(
            session_id=SessionId(session_id), surface="test", emit=lambda _event: None, by_user=True, turn_id=turn
        )
        result = portal.call(app.gate.run, call, origin)
        assert not result.is_error, result.text
        return app.undo.recent(1)[0].id

    return make


def words(tree: HTMLParser) -> str:
    return " ".join((tree.css_first("main") or tree.root).text(separator=" ").split())  # type: ignore[union-attr]


def form_of(tree: HTMLParser) -> dict[str, str]:
    form = tree.css_first("form[action='/ui/undo']")
    assert form is not None
    return {str(field.attributes["name"]): str(field.attributes["value"]) for field in form.css("input")}


def test_an_empty_timeline_says_what_will_be_there(look: Look) -> None:
    assert "Nothing was changed yet" in words(look("/undo"))


def test_a_step_is_shown_before_it_is_undone_and_can_be_brought_back(
    look: Look, page: TestClient, app: App, run: Run
) -> None:
    path = app.directory.workspace / "a.txt"
    path.write_text("one\ntwo\n", encoding="utf-8")
    step = run("edit_file", path="a.txt", old_text="two", new_text="three")
    links = [link.attributes["href"] for link in look("/undo").css(".undo-step a")]
    assert links == [f"/undo/{step}"]
    before = look(f"/undo/{step}")
    assert [line.text() for line in before.css(".line-added")] == ["+two"]
    assert [line.text() for line in before.css(".line-removed")] == ["-three"]
    assert path.read_text(encoding="utf-8") == "one\nthree\n"
    answer = page.post("/ui/undo", data=form_of(before))
    assert path.read_text(encoding="utf-8") == "one\ntwo\n"
    assert "Undid: " in answer.text
    back = look(f"/undo/{step}?redo=true")
    page.post("/ui/undo", data=form_of(back))
    assert path.read_text(encoding="utf-8") == "one\nthree\n"


def test_the_steps_of_a_turn_stand_under_its_conversation_and_go_together(
    look: Look, page: TestClient, app: App, run: Run
) -> None:
    session_id = app.sessions.create(title="Tidy <up>").id
    run("write_file", session_id=session_id, path="a.txt", content="1")
    last = run("write_file", session_id=session_id, path="b.txt", content="2")
    timeline = look("/undo")
    (heading,) = [node.text() for node in timeline.css(".undo-turn h2 a")]
    assert heading == "Tidy <up>"
    assert timeline.css_first(f"a[href='/undo/{last}?turn=true']") is not None
    page.post("/ui/undo", data=form_of(look(f"/undo/{last}?turn=true")))
    assert list(app.directory.workspace.glob("*.txt")) == []


def test_what_was_changed_since_is_named_and_the_rest_is_offered(
    look: Look, page: TestClient, app: App, run: Run
) -> None:
    step = run("execute_command", command="echo a > a.txt; echo b > b.txt")
    (app.directory.workspace / "a.txt").write_text("mine", encoding="utf-8")
    answer = page.post("/ui/undo", data={"step": step})
    assert "it was changed since" in answer.text
    shown = look(f"/undo/{step}")
    assert "a.txt" in str(shown.css(".undo-problem")[0].parent.text())  # type: ignore[union-attr]
    page.post("/ui/undo", data=form_of(shown))
    assert [path.name for path in app.directory.workspace.glob("*.txt")] == ["a.txt"]


def test_bytes_are_not_shown_as_text_and_secrets_are_masked(look: Look, app: App, run: Run) -> None:
    (app.directory.workspace / "b.bin").write_bytes(b"\0\1\2")
    step = run("delete_file", path="b.bin")
    assert "binary" in words(look(f"/undo/{step}"))
    key = "sk-" + "abcdefgh12345678" * 3
    step = run("write_file", path="env.txt", content=f"OPENAI_API_KEY={key}\n")
    assert key not in look(f"/undo/{step}").html  # type: ignore[operator]


def test_the_command_leads_to_the_last_change_of_the_conversation(page: TestClient, app: App, run: Run) -> None:
    session_id = app.sessions.create(title="Here").id
    step = run("write_file", session_id=session_id, path="a.txt", content="1")
    run("write_file", session_id=app.sessions.create().id, path="b.txt", content="1")
    form = {"text": "/undo", "session_id": session_id}
    answer = page.post("/ui/chat/send", data=form, headers={"accept": "application/json"})
    assert answer.json() == {"go": f"/undo/{step}"}


def test_programs_list_look_and_undo(page: TestClient, app: App, run: Run) -> None:
    step = run("write_file", path="a.txt", content="1")
    (listed,) = page.get("/api/undo").json()["steps"]
    assert (listed["id"], listed["tool"], listed["canUndo"], listed["state"]) == (step, "write_file", True, "done")
    preview = page.post("/api/undo/preview", json={}).json()
    assert [(change["what"], change["problem"]) for change in preview["changes"]] == [("removed", "")]
    assert page.post("/api/undo", json={"step": step}).json()["undoes"] == [step]
    assert not (app.directory.workspace / "a.txt").exists()
    assert page.post("/api/undo", json={}).status_code == 409
    assert page.post("/api/undo", json={"step": "nobody"}).status_code == 404
    assert page.get("/undo/nobody").status_code == 404


def test_nobody_without_the_cookie_or_a_token_undoes_anything(client: TestClient) -> None:
    assert client.post("/api/undo", json={}).status_code == 401
    assert client.post("/ui/undo", data={"step": "x"}).status_code == 401
