"""Commands of the message field, with and without scripts."""

import json
from collections.abc import Callable

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from starlette.testclient import TestClient

from skales import __version__
from skales.app.app import App
from skales.core.errors import InputError
from skales.core.ids import SessionId
from skales.data.paths import DataDirectory
from skales.server.ui.slash import COMMANDS, parse_command, unescape
from skales.server.ui.slash_actions import _ACTIONS
from tests.scripted import Hang, ScriptedProvider
from tests.server.ui.conftest import Look

JSON = {"accept": "application/json"}


def send(page: TestClient, text: str, session_id: str = "") -> dict[str, object]:
    answered = page.post("/ui/chat/send", data={"text": text, "session_id": session_id}, headers=JSON)
    assert answered.status_code == 200, answered.text
    told = answered.json()
    assert isinstance(told, dict)
    return told


def test_every_command_of_the_table_does_something_and_nothing_else_does() -> None:
    assert {command.name.removeprefix("/") for command in COMMANDS} == {*_ACTIONS, "tool", "why"}


@pytest.mark.parametrize(
    ("text", "name", "rest"),
    [
        ("/new", "new", ""),
        ("/NEW ", "new", ""),
        ("/model gpt-4o", "model", "gpt-4o"),
        ("/search two\nlines ", "search", "two\nlines"),
        ("/tool read_file path=a", "", "/tool read_file path=a"),
        (" /new", "", " /new"),
        ("//new", "", "//new"),
        ("/", "", "/"),
        ("/etc/hosts", "", "/etc/hosts"),
        ("/etc/hosts says", "", "/etc/hosts says"),
        ("/2 of it", "", "/2 of it"),
        ("say /new", "", "say /new"),
    ],
)
def test_only_a_word_at_the_start_is_a_command(text: str, name: str, rest: str) -> None:
    assert parse_command(text) == (name, rest)


@pytest.mark.parametrize(("word", "near"), [("/modle", "/model"), ("/setings", "/settings"), ("/sotp", "/stop")])
def test_an_unknown_command_names_the_nearest(word: str, near: str) -> None:
    with pytest.raises(InputError, match=f"no command {word}") as caught:
        parse_command(word)
    assert near in caught.value.hint
    assert "blank" in caught.value.hint


def test_an_unknown_command_is_refused_and_never_sent(page: TestClient, app: App) -> None:
    refused = page.post("/ui/chat/send", data={"text": "/xyzzy now"}, headers=JSON)
    assert (refused.status_code, refused.json()["error"]) == (400, "There is no command /xyzzy")
    assert app.sessions.count() == 0


@pytest.mark.parametrize(("text", "said"), [("//xyzzy now", " /xyzzy now"), (" /xyzzy now", " /xyzzy now")])
def test_a_blank_or_a_second_slash_sends_it_as_text(
    page: TestClient, app: App, finish: Callable[[str], None], text: str, said: str
) -> None:
    session_id = str(send(page, text)["go"]).removeprefix("/chat/")
    finish(session_id)
    assert app.sessions.load(SessionId(session_id)).messages[0].text == said


def test_two_slashes_keep_a_tool_from_running() -> None:
    assert not unescape("//tool read_file").startswith("/tool")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("/new", "/chat"),
        ("/clear", "/chat"),
        ("/tools", "/tools"),
        ("/settings", "/settings"),
        ("/provider", "/settings#providers"),
    ],
)
def test_commands_that_lead_somewhere_do_so_with_and_without_scripts(page: TestClient, text: str, address: str) -> None:
    assert send(page, text) == {"go": address}
    answered = page.post("/ui/chat/send", data={"text": text}, follow_redirects=False)
    assert (answered.status_code, answered.headers["location"]) == (303, address)


def test_searching_goes_to_the_list_without_scripts(page: TestClient) -> None:
    assert send(page, "/search red & green")["query"] == "red & green"
    answered = page.post("/ui/chat/send", data={"text": "/search red & green"}, follow_redirects=False)
    assert answered.headers["location"] == "/chat?q=red%20%26%20green"


@pytest.mark.parametrize("command", ["/help", "/status", "/version", "/theme", "/language", "/stop", "/kill", "/model"])
def test_what_a_command_says_is_a_page_without_scripts(page: TestClient, command: str) -> None:
    lines = send(page, command)["tell"]
    assert isinstance(lines, list)
    answered = page.post("/ui/chat/send", data={"text": command})
    tree = HTMLParser(answered.text)
    assert answered.status_code == 200
    said = [" ".join(node.text().split()) for node in tree.css("[data-told] p")]
    assert [" ".join(str(line).split()) for line in lines] == said[: len(lines)]
    assert tree.css_first('main a[href="/chat"]') is not None


def test_help_lists_every_command(page: TestClient) -> None:
    told = send(page, "/help")
    assert told["do"] == "help"
    assert isinstance(told["tell"], list)
    assert [str(line).split()[0] for line in told["tell"]] == [command.name for command in COMMANDS]


def test_the_version_is_said(page: TestClient) -> None:
    assert send(page, "/version")["tell"] == [f"Skales {__version__}"]


def test_theme_and_language_are_set_at_once(page: TestClient, app: App, look: Look) -> None:
    assert send(page, "/theme dark") == {"go": "/chat"}
    assert app.settings.load().theme == "dark"
    assert "light" in str(send(page, "/theme purple")["tell"])
    assert app.settings.load().theme == "dark"
    assert send(page, "/language de") == {"go": "/chat"}
    html = look("/chat").css_first("html")
    assert html is not None
    assert (html.attributes["lang"], html.attributes["data-theme"]) == ("de", "dark")


def test_stop_ends_the_answer_here_and_kill_everywhere(
    page: TestClient, app: App, provider: ScriptedProvider, finish: Callable[[str], None]
) -> None:
    provider.steps = [[Hang()]]
    first, second = (str(send(page, "go")["go"]).removeprefix("/chat/") for _ in range(2))
    assert send(page, "/stop", first)["tell"] == ["Stopped"]
    finish(first)
    assert app.turns.running(SessionId(second))
    assert "An answer is on its way." in str(send(page, "/status", second)["tell"])
    stopped = str(send(page, "/killswitch", first)["tell"])
    assert "Conversations: 1, tools: 0, programs in the background: 0" in stopped
    finish(second)
    assert send(page, "/kill")["tell"] == ["Nothing runs"]
    assert send(page, "/stop", first)["tell"] == ["Nothing runs in this conversation"]


def test_resume_goes_on_where_the_conversation_stands(
    page: TestClient, app: App, provider: ScriptedProvider, finish: Callable[[str], None]
) -> None:
    session_id = str(send(page, "go")["go"]).removeprefix("/chat/")
    finish(session_id)
    app.sessions.queue(SessionId(session_id), "and then")
    assert send(page, "/resume", session_id)["go"] == f"/chat/{session_id}"
    assert "nothing to go on" in str(send(page, "/resume")["tell"])


def test_export_needs_a_conversation(page: TestClient, app: App) -> None:
    assert "nothing to save" in str(send(page, "/export")["tell"])
    session_id = app.sessions.create(title="Plan").id
    told = send(page, "/export", session_id)
    assert told["do"] == "export"
    assert page.get(str(told["go"])).status_code == 200


def test_a_command_of_a_conversation_that_is_gone_says_so(page: TestClient) -> None:
    refused = page.post("/ui/chat/send", data={"text": "/model", "session_id": "session_1"}, headers=JSON)
    assert refused.status_code == 404


def configure(home: DataDirectory) -> None:
    providers = {
        "openai": {"enabled": True, "apiKey": "sk-1", "model": "shared"},
        "anthropic": {"enabled": True, "apiKey": "sk-2", "model": "shared"},
        "groq": {"enabled": True, "apiKey": "sk-3", "model": "only-here"},
    }
    content = {"activeProvider": "openai", "providers": providers}
    home.settings.write_text(json.dumps(content), encoding="utf-8")


def test_a_model_that_one_provider_serves_is_set(page: TestClient, app: App, home: DataDirectory) -> None:
    configure(home)
    session_id = app.sessions.create().id
    told = send(page, "/model Only-Here", session_id)
    assert (told["do"], told["provider"], told["model"]) == ("chosen", "groq", "only-here")
    session = app.sessions.load(session_id)
    assert (session.provider, session.model) == ("groq", "only-here")


def test_a_model_that_several_serve_is_asked_about_and_nothing_changes(
    page: TestClient, app: App, home: DataDirectory
) -> None:
    configure(home)
    session_id = app.sessions.create().id
    told = send(page, "/model shared", session_id)
    assert (told["do"], told["query"]) == ("model", "shared")
    assert {"/model openai/shared", "/model anthropic/shared"} <= set(map(str, told["tell"]))  # type: ignore[call-overload]
    assert app.sessions.load(session_id).provider == ""
    assert send(page, "/model anthropic/shared", session_id)["do"] == "chosen"
    assert app.sessions.load(session_id).provider == "anthropic"


def test_a_model_that_nobody_lists_changes_nothing(page: TestClient, app: App, home: DataDirectory) -> None:
    configure(home)
    session_id = app.sessions.create(provider="openai", model="shared").id
    told = send(page, "/model what-is-this", session_id)
    assert (told["do"], told["query"]) == ("model", "what-is-this")
    assert app.sessions.load(session_id).model == "shared"


def test_in_a_new_chat_the_page_keeps_the_choice(page: TestClient, app: App, home: DataDirectory) -> None:
    configure(home)
    told = send(page, "/model only-here")
    assert (told["do"], told["provider"]) == ("chosen", "groq")
    assert app.sessions.count() == 0


def test_the_page_shows_the_table(look: Look) -> None:
    shown = [node.text() for node in look("/chat").css("[data-commands] dt")]
    assert [word.strip() for word in shown] == [command.name for command in COMMANDS]
