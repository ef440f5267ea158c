"""Choosing who answers: what is offered, what is kept, what is refused."""

import json
from collections.abc import Callable

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from starlette.testclient import TestClient

from skales.app.app import App
from skales.core.ids import SessionId
from skales.data.paths import DataDirectory
from tests.scripted import ScriptedProvider
from tests.server.ui.conftest import Look

JSON = {"accept": "application/json"}
SETTINGS = {
    "activeProvider": "openai",
    "providers": {
        "openai": {"enabled": True, "apiKey": "sk-1", "model": "gpt-5.5"},
        "anthropic": {"enabled": True, "apiKey": "sk-2"},
        "groq": {"enabled": False},
    },
}


@pytest.fixture(autouse=True)
def configured(home: DataDirectory) -> None:
    home.settings.write_text(json.dumps(SETTINGS), encoding="utf-8")


def options(html: str) -> list[tuple[str, str]]:
    tree = HTMLParser(html)
    return [
        (node.attributes["data-provider"] or "", node.attributes["data-model"] or "")
        for node in tree.css("[role=option]:not(.by-hand)")
    ]


def test_providers_that_can_answer_are_offered_with_their_models_and_a_standard(page: TestClient) -> None:
    offered = options(page.get("/ui/models").text)
    assert offered[0] == ("", "")
    assert ("openai", "gpt-5.5") in offered
    assert {provider for provider, _ in offered} >= {"openai", "anthropic"}
    assert "groq" not in {provider for provider, _ in offered}


def test_every_provider_takes_a_name_typed_by_hand(page: TestClient) -> None:
    tree = HTMLParser(page.get("/ui/models").text)
    by_hand = {node.attributes["data-provider"] for node in tree.css(".by-hand")}
    assert by_hand == {provider for provider, _ in options(page.get("/ui/models").text) if provider}


def test_the_list_marks_the_present_choice_and_says_what_models_can(page: TestClient) -> None:
    tree = HTMLParser(page.get("/ui/models?provider=openai&model=gpt-5.5").text)
    marked = [node for node in tree.css("[role=option]") if node.css_first(".mark svg")]
    assert [node.attributes["data-model"] for node in marked] == ["gpt-5.5"]
    assert "sees" in [badge.text() for badge in marked[0].css(".badge")]
    assert marked[0].attributes["data-sees"] == "true"


def test_a_choice_counts_from_the_next_message_on(
    page: TestClient, app: App, provider: ScriptedProvider, look: Look, finish: Callable[[str], None]
) -> None:
    session_id = app.sessions.create().id
    data = {"provider": "anthropic", "model": "my-own-model"}
    told = page.post(f"/ui/chat/{session_id}/model", data=data, headers=JSON).json()
    assert (told["provider"], told["model"], told["label"]) == ("anthropic", "my-own-model", "my-own-model")
    page.post("/ui/chat/send", data={"text": "Hi", "session_id": session_id}, headers=JSON)
    finish(session_id)
    assert provider.requests[0].model == "my-own-model"
    chooser = look(f"/chat/{session_id}").css_first("#chooser")
    assert chooser is not None
    assert chooser.attributes["data-provider"] == "anthropic"
    assert "my-own-model" in chooser.text()


def test_the_standard_takes_the_choice_back(page: TestClient, app: App) -> None:
    session_id = app.sessions.create(provider="anthropic", model="x").id
    told = page.post(f"/ui/chat/{session_id}/model", data={"provider": "", "model": ""}, headers=JSON).json()
    assert (told["provider"], told["label"]) == ("", "gpt-5.5")
    session = app.sessions.load(session_id)
    assert (session.provider, session.model) == ("", "")


@pytest.mark.parametrize(
    "data",
    [
        {"provider": "groq", "model": "x"},
        {"provider": "nobody", "model": "x"},
        {"provider": "openai", "model": "a\nb"},
        {"provider": "openai", "model": "x" * 201},
    ],
)
def test_a_choice_that_cannot_answer_is_refused_and_nothing_changes(
    page: TestClient, app: App, data: dict[str, str]
) -> None:
    session_id = app.sessions.create().id
    refused = page.post(f"/ui/chat/{session_id}/model", data=data, headers=JSON)
    assert refused.status_code == 400
    assert refused.json()["hint"]
    assert app.sessions.load(session_id).provider == ""
    refused = page.post("/ui/chat/send", data={"text": "Hi", **data}, headers=JSON)
    assert refused.status_code == 400
    assert app.sessions.count() == 1


def test_a_conversation_that_does_not_exist_cannot_be_set(page: TestClient) -> None:
    assert page.post("/ui/chat/session_1/model", data={"provider": "openai"}, headers=JSON).status_code == 404


def test_in_a_new_chat_the_choice_goes_with_the_first_message(
    page: TestClient, app: App, finish: Callable[[str], None]
) -> None:
    data = {"text": "Hi", "provider": "openai", "model": "gpt-5.4-mini"}
    told = page.post("/ui/chat/send", data=data, headers=JSON).json()
    session_id = SessionId(told["go"].removeprefix("/chat/"))
    finish(session_id)
    session = app.sessions.load(session_id)
    assert (session.provider, session.model) == ("openai", "gpt-5.4-mini")


def test_the_message_field_says_who_answers_and_whether_it_sees(look: Look) -> None:
    chooser = look("/chat").css_first("#chooser")
    assert chooser is not None
    assert " ".join(chooser.text(separator=" ").split()) == "Model: gpt-5.5"
    assert chooser.attributes["data-sees"] == "true"
