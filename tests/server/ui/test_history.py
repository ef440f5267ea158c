"""The sidebar's conversations: their order, what can be done with them, and what a search shows."""

import json
from collections.abc import Callable

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from starlette.testclient import TestClient

from skales.app.app import App
from skales.core.approval import Approval, AskKind
from skales.core.ids import ApprovalId, CallId, SessionId
from skales.core.message import Role, text_message
from skales.data.approvals import ApprovalStore
from skales.server.ui.history import mark_pieces, parse_cursor
from tests.server.ui.conftest import Look

Said = Callable[..., SessionId]


def sections(tree: HTMLParser) -> dict[str, list[str]]:
    """Headings of the list with the titles or folders below them."""
    found: dict[str, list[str]] = {}
    for section in tree.css("section"):
        heading = section.css_first("h3")
        names = [node.text(strip=True) for node in section.css(".session .title, .session-folder .name")]
        found[heading.text(strip=True) if heading else ""] = names
    return found


def test_pinned_ones_come_first_then_folders_then_dates(page: TestClient, look: Look, said: Said) -> None:
    pinned, sorted_in, loose = (said(title=title) for title in ("Pinned one", "In a folder", "Loose"))
    assert page.post(f"/ui/sessions/{pinned}/pin", data={"pinned": "true"}).json() == {"pinned": True}
    assert page.post(f"/ui/sessions/{sorted_in}/folder", data={"folder": "  Work \n x "}).json() == {
        "folder": "Work x",
        "before": "",
    }
    assert list(sections(look("/ui/sessions")).items()) == [
        ("Pinned", ["Pinned one"]),
        ("Folders", ["Work x"]),
        ("Today", ["Loose"]),
    ]
    assert sections(look("/ui/sessions?folder=Work+x")) == {"": ["In a folder"]}
    page.post(f"/ui/sessions/{pinned}/pin", data={"pinned": "false"})
    page.post(f"/ui/sessions/{sorted_in}/folder", data={"folder": ""})
    assert set(sections(look("/ui/sessions"))["Today"]) == {"Pinned one", "In a folder", "Loose"}
    assert loose


def test_a_folder_gets_another_name_with_all_that_is_in_it(page: TestClient, look: Look, said: Said, app: App) -> None:
    for title in ("One", "Two"):
        app.sessions.update(said(title=title), folder="Old")
    renamed = page.post("/ui/sessions/folders/rename", data={"old": "Old", "new": " New  name "})
    assert renamed.json() == {"folder": "New name"}
    assert sections(look("/ui/sessions"))["Folders"] == ["New name"]
    assert page.post("/ui/sessions/folders/rename", data={"old": "New name", "new": " "}).status_code == 400


def test_the_move_form_offers_the_folders_there_are(page: TestClient, look: Look, said: Said, app: App) -> None:
    app.sessions.update(said(title="Other"), folder="<b>Work</b>")
    session_id = said(title="Mine")
    tree = look(f"/ui/sessions/{session_id}/move")
    options = [
        (node.attributes.get("value") or "", "checked" in node.attributes) for node in tree.css("input[type=radio]")
    ]
    assert options == [("", True), ("<b>Work</b>", False)]
    assert page.get("/ui/sessions/session_1/move").status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "data"),
    [
        ("POST", "/pin", {"pinned": "true"}),
        ("POST", "/folder", {"folder": "x"}),
        ("GET", "/export?format=md", None),
        ("GET", "/find?q=x", None),
    ],
)
def test_what_does_not_exist_cannot_be_changed(
    page: TestClient, method: str, path: str, data: dict[str, str] | None
) -> None:
    assert page.request(method, f"/ui/sessions/session_1{path}", data=data).status_code == 404


def test_a_search_shows_where_the_words_are_and_leads_there(look: Look, said: Said) -> None:
    text = "Nothing here"
    session_id = said(
        text_message(Role.USER, text), text_message(Role.ASSISTANT, "The <b>needle</b> is & stays"), title="<i>Hay</i>"
    )
    tree = look("/ui/sessions?q=needle")
    (link,) = tree.css(".session > a")
    assert link.attributes["href"] == f"/chat/{session_id}?at=1&find=needle"
    assert [mark.text() for mark in link.css("mark")] == ["needle"]
    (excerpt,) = link.css(".excerpt")
    assert excerpt.text() == "The <b>needle</b> is & stays"
    assert [node.text() for node in link.css(".title")] == ["<i>Hay</i>"]
    (title_hit,) = look("/ui/sessions?q=Hay").css(".session > a")
    assert title_hit.attributes["href"] == f"/chat/{session_id}"
    assert "Nothing found" in look("/ui/sessions?q=absent").text()


def test_a_waiting_question_is_told_in_the_list(look: Look, said: Said, app: App) -> None:
    session_id = said(text_message(Role.USER, "Hi"), title="Asks")
    now_ms = app.clock.now_ms()
    ApprovalStore(app.directory, app.quarantine).add(
        Approval(
            id=ApprovalId("ap_1"),
            kind=AskKind.TOOL,
            session_id=session_id,
            call_id=CallId("c1"),
            tool="write_file",
            args={},
            action="Write",
            reason="",
            created_ms=now_ms,
            expires_ms=now_ms + 60_000,
        )
    )
    (row,) = look("/ui/sessions").css(".session")
    assert row.css(".state.waiting")
    assert "waits for your answer" in row.text()


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ((), (("one two", False),)),
        (((0, 3),), (("one", True), (" two", False))),
        (((4, 7),), (("one ", False), ("two", True))),
        (((0, 3), (4, 7)), (("one", True), (" ", False), ("two", True))),
    ],
)
def test_a_line_is_cut_at_its_matches(
    spans: tuple[tuple[int, int], ...], expected: tuple[tuple[str, bool], ...]
) -> None:
    assert mark_pieces("one two", spans) == expected


@pytest.mark.parametrize(
    "text", ["", "~", "x~session_1", "1~../x", "²~session_1", "9" * 40 + "~session_1", "-1~session_1"]
)
def test_a_place_that_cannot_be_read_is_the_start(text: str) -> None:
    assert parse_cursor(text) is None


def test_programs_arrange_and_search_conversations_too(client: TestClient, app: App, said: Said) -> None:
    session_id = said(text_message(Role.USER, "a needle"), title="Hay")
    client.headers["authorization"] = f"Bearer {app.local_token}"
    found = client.get("/api/sessions/search", params={"q": "needle"}).json()
    assert [(hit["id"], hit["title"], hit["index"]) for hit in found["hits"]] == [(session_id, "Hay", 0)]
    assert client.patch(f"/api/sessions/{session_id}", json={"pinned": True, "folder": "Work"}).json() == {
        "id": session_id,
        "pinned": True,
        "folder": "Work",
    }
    assert client.patch(f"/api/sessions/{session_id}", json={"pinned": "yes"}).status_code == 400
    assert client.patch("/api/sessions/session_1", json={"pinned": True}).status_code == 404
    raw = json.loads((app.directory.sessions / f"{session_id}.json").read_text(encoding="utf-8"))
    assert (raw["pinned"], raw["folder"]) == (True, "Work")
