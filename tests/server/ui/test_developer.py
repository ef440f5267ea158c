"""The Developer section: there while the DevKit is on, and never telling its token."""

import json
from collections.abc import Callable

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from starlette.testclient import TestClient

from skales.app.app import App
from skales.core.ids import SessionId
from skales.core.message import Role, text_message
from skales.data.paths import DataDirectory
from skales.server.ui.devkit_routes import list_routes
from tests.server.ui.conftest import Look

TOKEN = "the-token-of-this-machine"


@pytest.fixture
def devkit(home: DataDirectory) -> None:
    home.devkit.parent.mkdir(parents=True, exist_ok=True)
    home.devkit.write_text(json.dumps({"enabled": True, "api": {"token": TOKEN}}), encoding="utf-8")


@pytest.mark.parametrize("path", ["/developer", "/developer/debug", "/developer/docs"])
def test_while_the_devkit_is_off_the_section_says_how_to_switch_it_on(look: Look, path: str) -> None:
    tree = look(path)
    assert "The DevKit is off" in _main_text(tree)
    assert tree.css_first('main a[href="/settings#developer"]') is not None


@pytest.mark.usefixtures("devkit")
@pytest.mark.parametrize("path", ["/developer", "/developer/debug", "/developer/docs"])
def test_no_page_tells_the_token(page: TestClient, path: str) -> None:
    answer = page.get(path)
    assert answer.status_code == 200
    assert TOKEN not in answer.text


@pytest.mark.usefixtures("devkit")
@pytest.mark.parametrize("route", list_routes(), ids=lambda route: route.name)
def test_every_call_has_a_form_with_its_parameters_and_an_example(look: Look, route: object) -> None:
    found = next(known for known in list_routes() if known is route)
    tree = look(f"/developer?call={found.name}")
    form = tree.css_first("#call-form")
    assert form is not None
    assert [node.attributes["data-query"] for node in form.css("[data-query]")] == list(found.parameters)
    body = form.css_first("#call-body")
    assert (json.loads(body.text()) if body else {}) == found.body


@pytest.mark.usefixtures("devkit")
def test_the_debug_panel_shows_what_the_routes_answer(look: Look, app: App, said: Callable[..., SessionId]) -> None:
    session_id = said(text_message(Role.USER, "hello"), title="A <b>title</b>")
    memory = app.memories.add("I like tea", "preference", [], source="test")
    text = _main_text(look("/developer/debug"))
    for expected in (session_id, "A <b>title</b>", memory.id, "I like tea", "read_file"):
        assert expected in text


@pytest.mark.usefixtures("devkit")
def test_devkit_md_takes_the_place_of_our_own_manual(look: Look, home: DataDirectory) -> None:
    assert "POST /api/cli/chat" in _main_text(look("/developer/docs"))
    home.devkit_page.write_text("# Mine\n\n<script>alert(1)</script>", encoding="utf-8")
    tree = look("/developer/docs")
    assert "Mine" in _main_text(tree)
    assert tree.css("main script") == []


@pytest.mark.parametrize(
    ("values", "status"),
    [({"name": "tools"}, 404), ({"name": "nothing"}, 404)],
)
def test_a_call_that_is_not_offered_is_refused(page: TestClient, values: dict[str, str], status: int) -> None:
    assert page.post("/ui/developer/call", data=values).status_code == status


@pytest.mark.usefixtures("devkit")
@pytest.mark.parametrize("values", [{"body": "{"}, {"query": "["}])
def test_a_body_that_is_no_json_is_refused_with_the_reason(page: TestClient, values: dict[str, str]) -> None:
    answer = page.post("/ui/developer/call", data={"name": "add-memory", **values})
    assert answer.status_code == 400
    assert "not valid JSON" in answer.json()["error"]


def _main_text(tree: HTMLParser) -> str:
    main = tree.css_first("main")
    assert main is not None
    return main.text()
