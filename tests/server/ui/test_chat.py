"""The conversation's routes against the real app."""

import json
from collections.abc import Callable

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from selectolax.lexbor import LexborNode
from starlette.testclient import TestClient

from skales.app.app import App
from skales.core.ids import SessionId
from skales.core.message import ImagePart, Message, Role, TextPart, text_message
from skales.data.paths import DataDirectory
from skales.server.conversation_views import ModelFacts
from skales.server.ui.assets import asset_address
from skales.server.ui.conversation import build_examples
from skales.server.views import Trouble
from tests.scripted import Hang, ScriptedProvider
from tests.server.ui.conftest import Look

Said = Callable[..., SessionId]
JSON = {"accept": "application/json"}


def user(text: str) -> Message:
    return text_message(Role.USER, text)


def answer(text: str) -> Message:
    return Message(role=Role.ASSISTANT, content=(TextPart(text),), model="demo")


def find(tree: HTMLParser, selector: str) -> LexborNode:
    """The first of these; there must be one."""
    found = tree.css_first(selector)
    assert found is not None, selector
    return found


def words(tree: HTMLParser) -> str:
    return " ".join(tree.body.text().split()) if tree.body else ""


def test_opening_the_page_sets_a_cookie_that_scripts_cannot_read(client: TestClient) -> None:
    cookie = client.get("/chat", headers={"accept": "text/html"}).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/ui/sessions"),
        ("GET", "/ui/chat/session_1/transcript"),
        ("GET", "/ui/chat/session_1/events"),
        ("GET", "/ui/tools/names"),
        ("POST", "/ui/chat/send"),
        ("POST", "/ui/chat/session_1/stop"),
        ("POST", "/ui/sessions/session_1/title"),
        ("DELETE", "/ui/sessions/session_1"),
        ("POST", "/ui/chat/session_1/messages/0/edit"),
        ("POST", "/ui/chat/session_1/messages/0/again"),
        ("POST", "/ui/chat/session_1/messages/0/branch"),
        ("POST", "/ui/chat/session_1/messages/0/version"),
        ("POST", "/ui/chat/session_1/queue/0/edit"),
        ("POST", "/ui/chat/session_1/queue/0/remove"),
        ("POST", "/ui/tools/read_file/run"),
        ("POST", "/tools/read_file"),
        ("POST", "/ui/local/fetch"),
    ],
)
def test_everything_but_opening_a_page_needs_the_cookie(client: TestClient, method: str, path: str) -> None:
    assert client.request(method, path, headers={"accept": "*/*"}).status_code == 401


def test_every_page_carries_the_content_rules_and_loads_only_own_files(look: Look, page: TestClient) -> None:
    rules = page.get("/chat").headers["content-security-policy"]
    assert "script-src 'self'" in rules
    for node in look("/chat").css("script[src], link, img, use"):
        address = node.attributes.get("src") or node.attributes.get("href") or ""
        assert address.startswith(asset_address("favicon.svg").rsplit("/", 1)[0])


def test_the_first_page_says_who_answers_and_how_to_fill_an_empty_folder(look: Look, home: DataDirectory) -> None:
    tree = look("/chat")
    assert len(tree.css("[data-example]")) == 3
    assert str(home.workspace) in words(tree)
    assert tree.css_first('.answerer a[href^="/settings"]') is not None


def test_what_to_try_fits_the_persons_own_folder(look: Look, home: DataDirectory) -> None:
    for name in ("picture.png", "letter to the landlord.md", ".hidden.txt"):
        (home.workspace / name).write_text("x", encoding="utf-8")
    tree = look("/chat")
    examples = [str(node.attributes["data-example"]) for node in tree.css("[data-example]")]
    assert "Summarise letter to the landlord.md in five sentences" in examples
    assert str(home.workspace) not in words(tree)


def test_without_a_model_the_examples_are_tools() -> None:
    model = ModelFacts("OpenAI", "", "openai", is_starter=False, ready=False, trouble=Trouble("No key"))
    assert [example.text for example in build_examples(model, ["picture.png", "a b.txt"])] == [
        "/tool list_directory path=.",
        '/tool read_file path="a b.txt"',
    ]
    assert [example.is_command for example in build_examples(model, [])] == [True]


def test_a_message_starts_a_conversation_and_its_answer_is_there(
    page: TestClient, look: Look, finish: Callable[[str], None]
) -> None:
    told = page.post("/ui/chat/send", data={"text": "Hi <b>there</b>"}, headers=JSON).json()
    finish(told["go"].removeprefix("/chat/"))
    tree = look(told["go"])
    assert [node.attributes["id"] for node in tree.css("article")] == ["m-0", "m-1"]
    assert "Hi <b>there</b>" in words(tree)
    assert "Hello there." in words(tree)


def test_without_scripts_a_form_does_the_same(page: TestClient, finish: Callable[[str], None]) -> None:
    answered = page.post("/ui/chat/send", data={"text": "Hi"}, follow_redirects=False)
    assert answered.status_code == 303
    finish(answered.headers["location"].removeprefix("/chat/"))
    assert "Hello there." in page.get(answered.headers["location"]).text


def test_an_empty_message_is_refused_with_words_and_makes_no_conversation(page: TestClient, app: App) -> None:
    refused = page.post("/ui/chat/send", data={"text": "  "}, headers=JSON)
    assert (refused.status_code, refused.json()["error"]) == (400, "The message is empty")
    assert app.sessions.count() == 0


def test_new_leads_to_a_new_chat(page: TestClient) -> None:
    assert page.post("/ui/chat/send", data={"text": "/new"}, headers=JSON).json() == {"go": "/chat"}


def test_a_tool_runs_from_the_message_field_without_a_model(
    page: TestClient, look: Look, home: DataDirectory, finish: Callable[[str], None]
) -> None:
    (home.workspace / "notes.txt").write_text("buy milk", encoding="utf-8")
    told = page.post("/ui/chat/send", data={"text": "/tool read_file path=notes.txt"}, headers=JSON).json()
    finish(told["go"].removeprefix("/chat/"))
    tree = look(told["go"])
    step = tree.css_first(".step")
    assert step is not None
    assert step.attributes["data-state"] == "done"
    assert "buy milk" in step.text()
    assert tree.css_first(".outcome") is None


def test_the_step_of_an_edit_shows_what_changed_also_after_a_restart(
    page: TestClient, look: Look, home: DataDirectory, finish: Callable[[str], None]
) -> None:
    (home.workspace / "app.ini").write_text("port = 80\nhost = <b>\n", encoding="utf-8")
    command = "/tool edit_file path=app.ini 'old_text=port = 80' 'new_text=port = 8080'"
    told = page.post("/ui/chat/send", data={"text": command}, headers=JSON).json()
    session = told["go"].removeprefix("/chat/")
    finish(session)
    assert '"diff": "--- app.ini' in (home.sessions / f"{session}.json").read_text(encoding="utf-8")
    shown = find(look(told["go"]), ".step .output.diff")
    assert shown.attributes["aria-label"] == "What changes"
    assert [(line.attributes.get("class"), line.text()) for line in shown.css("span")] == [
        ("line-place", "--- app.ini"),
        ("line-place", "+++ app.ini"),
        ("line-place", "@@ -1,2 +1,2 @@"),
        ("line-removed", "-port = 80"),
        ("line-added", "+port = 8080"),
        (None, " host = <b>"),
    ]


def test_a_conversation_that_does_not_exist_gets_a_page_with_a_way_on(page: TestClient) -> None:
    answered = page.get("/chat/session_1")
    assert answered.status_code == 404
    assert "This conversation does not exist" in answered.text
    assert HTMLParser(answered.text).css_first('.error-page a[href="/chat"]') is not None


def test_a_broken_conversation_is_set_aside_and_the_page_says_where(page: TestClient, home: DataDirectory) -> None:
    home.sessions.mkdir(exist_ok=True)
    (home.sessions / "session_1930000000001.json").write_text('{"messages": 7', encoding="utf-8")
    answered = page.get("/chat/session_1930000000001")
    assert answered.status_code == 404
    assert "cannot be read" in answered.text
    assert "session_1930000000001" in page.get("/settings").text


def test_long_conversations_come_in_stretches_without_gaps(page: TestClient, look: Look, said: Said) -> None:
    session_id = said(*(message for number in range(100) for message in (user(f"q{number}"), answer(f"a{number}"))))
    tree = look(f"/chat/{session_id}")
    found = [str(node.attributes["id"]) for node in tree.css("article[id]")]
    while marker := tree.css_first("[data-older]"):
        tree = look(f"/ui/chat/{session_id}/older?before={marker.attributes['data-older']}")
        found = [str(node.attributes["id"]) for node in tree.css("article[id]")] + found
    assert found == [f"m-{number}" for number in range(200)]


def test_a_stretch_never_begins_with_results_whose_call_is_above(page: TestClient, said: Said) -> None:
    from skales.core.tool import ToolCall

    calls = tuple(ToolCall(f"c{number}", "read_file", {"path": "a"}) for number in range(70))
    results = [Message(role=Role.TOOL, content=(TextPart("ok"),), tool_call_id=call.id) for call in calls]
    session_id = said(user("go"), Message(role=Role.ASSISTANT, tool_calls=calls), *results)
    tree = HTMLParser(page.get(f"/chat/{session_id}").text)
    assert [node.attributes["data-state"] for node in tree.css(".step")] == ["done"] * 70


def test_an_answers_own_text_can_be_copied(page: TestClient, said: Said) -> None:
    session_id = said(user("go"), answer("**bold** <script>"))
    copied = page.get(f"/ui/chat/{session_id}/messages/1")
    assert copied.text == "**bold** <script>"
    assert copied.headers["content-type"].startswith("text/plain")
    assert page.get(f"/ui/chat/{session_id}/messages/9").status_code == 404


def test_a_page_shows_text_with_half_a_character(page: TestClient, home: DataDirectory) -> None:
    home.sessions.mkdir(exist_ok=True)
    text = json.dumps(
        {
            "id": "session_1930000000002",
            "messages": [{"role": "user", "content": "a\ud83d"}, {"role": "assistant", "content": "b\ud83d"}],
        }
    )
    (home.sessions / "session_1930000000002.json").write_text(text, encoding="utf-8")
    assert page.get("/chat/session_1930000000002").status_code == 200


# --- versions, branches, the queue ---


def ids(tree: HTMLParser) -> list[str]:
    return [str(node.attributes["id"]) for node in tree.css("article[id]")]


def test_an_edited_message_is_answered_anew_and_nothing_is_lost(
    page: TestClient, look: Look, said: Said, finish: Callable[[str], None]
) -> None:
    session_id = said(user("first"), answer("one"), user("secnd"), answer("two"))
    assert page.post(f"/ui/chat/{session_id}/messages/2/edit", data={"text": "second"}, headers=JSON).status_code == 200
    finish(session_id)
    tree = look(f"/chat/{session_id}")
    assert ids(tree) == ["m-0", "m-1", "m-2", "m-3"]
    assert "secnd" not in words(tree)
    assert find(tree, "#m-2 .versions .count").text() == "2/2"
    assert page.post(f"/ui/chat/{session_id}/messages/2/version", data={"number": 0}).status_code == 204
    before = look(f"/chat/{session_id}")
    assert "secnd" in words(before)
    assert "two" in words(before)
    assert find(before, "#m-2 .versions .count").text() == "1/2"


def test_an_answer_is_written_again_beside_the_first(
    page: TestClient, look: Look, said: Said, finish: Callable[[str], None]
) -> None:
    session_id = said(user("first"), answer("one"))
    again = find(look(f"/chat/{session_id}"), "#m-1 [data-again]")
    assert again.attributes["data-again"] == "1"
    assert page.post(f"/ui/chat/{session_id}/messages/1/again", headers=JSON).status_code == 200
    finish(session_id)
    tree = look(f"/chat/{session_id}")
    assert "Hello there." in words(tree)
    assert find(tree, "#m-1 .versions .count").text() == "2/2"
    assert find(tree, "#m-1 .versions").attributes["aria-label"] == "Versions of this answer"


def test_attachments_stay_with_an_edited_message(
    page: TestClient, app: App, said: Said, finish: Callable[[str], None]
) -> None:
    picture = ImagePart("image/png", "AA==", "dot.png")
    session_id = said(Message(role=Role.USER, content=(TextPart("what"), picture)), answer("one"))
    page.post(f"/ui/chat/{session_id}/messages/0/edit", data={"text": "what is it"}, headers=JSON)
    finish(session_id)
    content = app.sessions.load(session_id).messages[0].content
    assert TextPart("what is it") in content
    assert picture in content


@pytest.mark.parametrize(
    ("edit", "status"),
    [((0, "  "), 400), ((1, "not mine"), 400), ((9, "nowhere"), 404), ((-1, "nowhere"), 404)],
)
def test_an_edit_that_makes_no_sense_is_refused(
    page: TestClient, app: App, said: Said, edit: tuple[int, str], status: int
) -> None:
    session_id = said(user("first"), answer("one"))
    index, text = edit
    refused = page.post(f"/ui/chat/{session_id}/messages/{index}/edit", data={"text": text}, headers=JSON)
    assert refused.status_code == status
    assert [message.text for message in app.sessions.load(session_id).messages] == ["first", "one"]


def test_a_branch_is_a_new_conversation_up_to_the_message(page: TestClient, look: Look, said: Said) -> None:
    session_id = said(user("first"), answer("one"), user("second"), answer("two"))
    told = page.post(f"/ui/chat/{session_id}/messages/1/branch", headers=JSON).json()
    assert told["go"] != f"/chat/{session_id}"
    assert ids(look(told["go"])) == ["m-0", "m-1"]
    assert ids(look(f"/chat/{session_id}")) == ["m-0", "m-1", "m-2", "m-3"]


def test_nothing_is_rewritten_while_a_turn_runs(page: TestClient, provider: ScriptedProvider, said: Said) -> None:
    provider.steps = [[Hang()]]
    session_id = said(user("first"), answer("one"))
    page.post("/ui/chat/send", data={"text": "go", "session_id": session_id}, headers=JSON)
    address = f"/ui/chat/{session_id}/messages"
    for what, data in (("0/edit", {"text": "x"}), ("1/again", {}), ("1/branch", {}), ("1/version", {"number": "0"})):
        refused = page.post(f"{address}/{what}", data=data, headers=JSON)
        assert (refused.status_code, refused.json()["error"]) == (409, "A turn runs in this conversation"), what
    page.post(f"/ui/chat/{session_id}/stop")


def test_waiting_messages_are_changed_and_taken_back(
    page: TestClient, provider: ScriptedProvider, look: Look, said: Said
) -> None:
    provider.steps = [[Hang()]]
    session_id = said(user("first"), answer("one"))
    for text in ("go", "wait a", "wait b", "wait c"):
        page.post("/ui/chat/send", data={"text": text, "session_id": session_id}, headers=JSON)

    def change(number: int, what: str, **data: str) -> int:
        return page.post(f"/ui/chat/{session_id}/queue/{number}/{what}", data=data, headers=JSON).status_code

    assert change(1, "edit", text="wait B", before="wait b") == 204
    assert change(0, "remove", before="wait a") == 204
    # Their places moved: what was meant is not what stands there.
    assert change(0, "remove", before="wait c") == 409
    assert change(7, "edit", text="x", before="wait c") == 409
    assert change(1, "edit", text=" ", before="wait c") == 400
    waiting = [node.text() for node in look(f"/chat/{session_id}").css(".queued .words")]
    assert waiting == ["wait B", "wait c"]
    page.post(f"/ui/chat/{session_id}/stop")


# --- the middle of a long conversation ---


def test_a_jump_shows_the_messages_around_and_goes_on_in_both_directions(look: Look, said: Said) -> None:
    session_id = said(*(message for number in range(100) for message in (user(f"q{number}"), answer(f"a{number}"))))
    tree = look(f"/chat/{session_id}?at=90")
    found = ids(tree)
    assert "m-90" in found
    older = find(tree, "[data-older]").attributes["data-older"]
    assert look(f"/ui/chat/{session_id}/older?before={older}").css_first(f"#m-{int(str(older)) - 1}") is not None
    while marker := tree.css_first("[data-newer]"):
        assert tree.css_first("[data-arrived]") is None
        tree = look(f"/ui/chat/{session_id}/newer?start={marker.attributes['data-newer']}")
        assert tree.css_first("[data-older]") is None
        found += ids(tree)
    assert found == [f"m-{number}" for number in range(int(found[0][2:]), 200)]
    assert tree.css_first("[data-arrived]") is not None


def test_a_jump_to_what_is_near_the_end_comes_with_the_end(look: Look, said: Said) -> None:
    session_id = said(*(user(f"q{number}") for number in range(100)))
    tree = look(f"/chat/{session_id}?at=95")
    assert tree.css_first("[data-newer]") is None
    assert ids(tree)[-1] == "m-99"


# --- the list of conversations ---


def test_conversations_are_listed_found_renamed_deleted_and_brought_back(
    page: TestClient, look: Look, said: Said
) -> None:
    first, second = said(user("Holiday photos")), said(user("Tax letter"))

    def titles(address: str = "/ui/sessions") -> list[str]:
        return [node.text().strip() for node in look(address).css(".session > a")]

    assert set(titles()) == {"Holiday photos", "Tax letter"}
    assert [title[:14] for title in titles("/ui/sessions?q=holiday")] == ["Holiday photos"]
    renamed = page.post(f"/ui/sessions/{first}/title", data={"title": "  Summer \n 2026 "})
    assert renamed.json() == {"title": "Summer 2026"}
    assert set(titles()) == {"Summer 2026", "Tax letter"}
    assert page.delete(f"/ui/sessions/{second}").status_code == 204
    assert titles() == ["Summer 2026"]
    assert page.post(f"/ui/sessions/{second}/restore").status_code == 204
    assert set(titles()) == {"Summer 2026", "Tax letter"}


def test_a_long_list_goes_on_below_without_repeating(page: TestClient, look: Look, said: Said) -> None:
    made = {said(user(f"number {number}"), title=f"number {number}") for number in range(130)}
    tree = look("/ui/sessions")
    found = [str(node.attributes["href"]) for node in tree.css(".session > a")]
    while more := tree.css_first("button[hx-vals]"):
        values = json.loads(str(more.attributes["hx-vals"]))
        tree = HTMLParser(page.get("/ui/sessions", params=values).text)
        found += [str(node.attributes["href"]) for node in tree.css(".session > a")]
    assert len(found) == 130
    assert set(found) == {f"/chat/{session_id}" for session_id in made}


def test_after_deleting_the_open_conversation_the_page_offers_it_back(look: Look) -> None:
    assert look("/chat?deleted=session_7").css_first("[data-undo=session_7]") is not None
    assert look("/chat?deleted=%3Cscript%3E").css_first("[data-undo]") is None


@pytest.mark.parametrize("cursor", ["", "x", "12", "12~../x", "~session_1"])
def test_an_unreadable_place_in_the_list_means_its_start(page: TestClient, said: Said, cursor: str) -> None:
    said(user("one"))
    assert page.get("/ui/sessions", params={"before": cursor}).status_code == 200
