"""The tools page against the real app: every tool is found and run here without a model."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from starlette.testclient import TestClient

from skales.app.app import App
from skales.data.paths import DataDirectory
from tests.server.ui.conftest import Look


def run(page: TestClient, tool: str, filled: dict[str, str]) -> HTMLParser:
    """The result that the stream of a run ends with."""
    answer = page.post(f"/ui/tools/{tool}/run", data=filled)
    assert answer.status_code == 200
    frames = [frame.split("\n") for frame in answer.text.split("\n\n") if frame.startswith("event: ")]
    (end,) = [json.loads(data.removeprefix("data: ")) for name, data in frames if name == "event: end"]
    return HTMLParser(end["html"])


def names(tree: HTMLParser) -> list[str]:
    return [node.text() for node in tree.css("a .name")]


def test_every_tool_is_listed_and_has_a_page_with_its_form(look: Look, page: TestClient, app: App) -> None:
    assert set(names(look("/tools"))) == {spec.name for spec in app.toolbox.specs()}
    for spec in app.toolbox.specs():
        tree = look(f"/tools/{spec.name}")
        fields = {str(node.attributes["name"]) for node in tree.css(".tool-form [name]")}
        assert fields == {f"arg-{name}" for name in spec.parameters["properties"]}  # type: ignore[union-attr]


@pytest.mark.parametrize(("query", "first"), [("read_file", "read_file"), ("READ text", "read_file")])
def test_the_search_goes_over_names_and_descriptions(look: Look, query: str, first: str) -> None:
    assert first in names(look(f"/ui/tools?q={query}"))


def test_a_search_without_hits_says_so(look: Look) -> None:
    tree = look("/ui/tools?q=zzzz")
    assert names(tree) == []
    assert "zzzz" in tree.css_first(".empty").text()  # type: ignore[union-attr]


def test_a_tool_runs_and_shows_its_result(page: TestClient, home: DataDirectory) -> None:
    (home.workspace / "notes.txt").write_text("buy <milk>", encoding="utf-8")
    tree = run(page, "read_file", {"arg-path": "notes.txt", "arg-start": "1"})
    assert tree.css_first("h3").text().startswith("Done")  # type: ignore[union-attr]
    assert "buy <milk>" in tree.css_first(".output").text()  # type: ignore[union-attr]


def test_a_tool_that_asks_first_runs_at_once_for_the_person(page: TestClient, home: DataDirectory) -> None:
    run(page, "write_file", {"arg-path": "new.txt", "arg-content": "line\r\n"})
    assert (home.workspace / "new.txt").read_text(encoding="utf-8") == "line\n"


@pytest.mark.parametrize(
    ("tool", "filled", "words"),
    [
        ("read_file", {"arg-path": "nothing.txt"}, "does not exist"),
        ("read_file", {"arg-path": "notes.txt", "arg-start": "soon"}, "must be a whole number"),
        ("read_file", {}, "path"),
        ("write_file", {"arg-path": "/etc/hosts", "arg-content": "x"}, "BLOCKED"),
    ],
)
def test_what_goes_wrong_is_told_where_the_result_would_be(
    page: TestClient, tool: str, filled: dict[str, str], words: str
) -> None:
    assert words in run(page, tool, filled).body.text()  # type: ignore[union-attr]


def test_without_scripts_the_whole_page_comes_back_with_result_and_form(page: TestClient, home: DataDirectory) -> None:
    (home.workspace / "notes.txt").write_text("hello", encoding="utf-8")
    tree = HTMLParser(page.post("/tools/read_file", data={"arg-path": "notes.txt"}).text)
    assert tree.css_first("#field-path").attributes["value"] == "notes.txt"  # type: ignore[union-attr]
    assert "hello" in tree.css_first("#tool-result").text()  # type: ignore[union-attr]


def wait_for_question(page: TestClient) -> str:
    """The id of the question that waits, as soon as one does."""
    deadline_s = time.monotonic() + 5
    while time.monotonic() < deadline_s:
        if waiting := page.get("/api/approvals").json()["approvals"]:
            return str(waiting[0]["id"])
    raise AssertionError("nothing was asked")


def test_what_a_run_asks_is_shown_in_its_stream_and_on_the_activity_page_and_answered(
    page: TestClient, look: Look
) -> None:
    filled = {"arg-question": "Tea or <coffee>?", "arg-options": "Tea\nCoffee"}
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(page.post, "/ui/tools/ask_user/run", data=filled)
        question = wait_for_question(page)
        card = look("/activity").css_first(f"#activity-waiting ~ ul [data-asked] #approval-{question}")
        tray = look("/chat").css_first("#tray")
        answer = {"decision": "approve", "instead": "Tea", "surface": "page"}
        assert page.post(f"/api/approvals/{question}", json=answer).status_code == 200
        assert page.post(f"/api/approvals/{question}", json=answer).status_code == 404
        stream = running.result(timeout=5).text
    assert card is not None
    assert [button.attributes["data-option"] for button in card.css("[data-option]")] == ["Tea", "Coffee"]
    assert tray is not None
    assert tray.css_first('a[href="/activity"]') is not None
    frames = {
        lines[0].removeprefix("event: "): json.loads(lines[1].removeprefix("data: "))
        for lines in (frame.split("\n") for frame in stream.split("\n\n") if frame.startswith("event: "))
    }
    assert list(frames) == ["ask", "asked", "end"]
    assert frames["ask"]["text"] == "Question: Tea or <coffee>?"
    shown = HTMLParser(frames["ask"]["html"])
    assert shown.css_first(f'[data-approval="{question}"] h3').text() == "Tea or <coffee>?"  # type: ignore[union-attr]
    assert frames["asked"]["id"] == question
    assert "The person answered: Tea" in frames["end"]["html"]


def test_without_scripts_a_question_is_refused_at_once_and_named(page: TestClient) -> None:
    tree = HTMLParser(page.post("/tools/ask_user", data={"arg-question": "Tea or coffee?"}).text)
    told = tree.css_first("#tool-result").text()  # type: ignore[union-attr]
    assert "Not done" in told
    assert "Nobody can be asked here, and this must be: Tea or coffee?" in told


def test_a_plain_request_waits_for_its_answer_or_is_refused_as_it_wishes(page: TestClient) -> None:
    body = {"question": "Tea or coffee?"}
    refused = page.post("/api/tools/ask_user/run?attended=false", json=body).json()
    assert (refused["isError"], "Tea or coffee?" in refused["text"]) == (True, True)
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(page.post, "/api/tools/ask_user/run", json=body)
        answer = {"decision": "approve", "instead": "Tea"}
        page.post(f"/api/approvals/{wait_for_question(page)}", json=answer)
        assert running.result(timeout=5).json()["text"] == "The person answered: Tea"


def test_a_tool_that_does_not_exist_gets_a_page_with_a_way_on(page: TestClient) -> None:
    answer = page.get("/tools/nope")
    assert answer.status_code == 404
    assert HTMLParser(answer.text).css_first('.error-page a[href="/tools"]') is not None
    assert page.post("/ui/tools/nope/run").status_code == 400


def test_the_message_field_learns_the_tools_and_their_parameters(page: TestClient) -> None:
    known = {tool["name"]: tool for tool in page.get("/ui/tools/names").json()}
    assert known["read_file"]["required"] == ["path"]
    assert known["read_file"]["usage"].startswith("/tool read_file path=")


def test_a_tool_is_pinned_and_unpinned_on_its_page(page: TestClient, look: Look, app: App) -> None:
    assert look("/tools/move_file").css_first("#tool-pinned:checked") is None
    answer = page.post("/ui/tools/move_file/pin", data={"pinned": "true"})
    assert "checked" in HTMLParser(answer.text).css_first("#tool-pinned").attributes  # type: ignore[union-attr]
    assert app.settings.load().pinned_tools == ["move_file"]
    page.post("/ui/tools/move_file/pin", data={"pinned": "false"})
    assert app.settings.load().pinned_tools == []


def test_a_basic_tool_needs_no_pin(look: Look) -> None:
    assert look("/tools/read_file").css_first("#tool-pinned") is None
