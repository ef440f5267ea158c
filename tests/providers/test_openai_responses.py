"""The Responses format behind a sign-in: addresses, account, requests, refusals, and thinking that goes back."""

import base64
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from skales.core.json import JsonObject, parse_json
from skales.core.message import Message, Role, TextPart, text_message
from skales.core.ports import ChatRequest
from skales.core.tool import ToolCall
from skales.data.session_codec import message_from_disk, message_to_disk
from skales.providers.catalog import find_entry
from skales.providers.endpoint import Endpoint
from skales.providers.formats.openai_responses import ResponsesFormat, read_claim
from skales.providers.provider import ResponsesProvider
from tests.providers.conftest import MakeProvider, ask
from tests.providers.outcome import Outcome, collect
from tests.servers.raw_sse import RawServer, Reply
from tests.wire.player import load_cases

CASES = load_cases("openai_responses")
END = b'data: {"type":"response.completed","response":{"status":"completed","output":[]}}\n\n'
USER = text_message(Role.USER, "Hello")
ENTRY = find_entry("openai_oauth")
SIGN_IN = ENTRY.sign_in


def token(payload: object) -> str:
    middle = base64.urlsafe_b64encode(json.dumps(payload).encode()).decode().rstrip("=")
    return f"e30.{middle}.c2ln"


def body_of(*messages: Message, conceded: Sequence[str] = (), **fields: Any) -> dict[str, Any]:
    request = ChatRequest(**{"model": "gpt-5.5", "messages": messages, **fields})
    built: dict[str, Any] = json.loads(json.dumps(ResponsesFormat().build_body(ENTRY, request, frozenset(conceded))))
    return built


def concede(body: JsonObject, refusal: str) -> str:
    return ResponsesFormat().concede(body, refusal)


def stored(outcome: Outcome) -> Message:
    """The answer as the next turn reads it from the disk."""
    native = outcome.native[0]
    answer = Message(
        role=Role.ASSISTANT,
        content=(TextPart(outcome.text),) if outcome.text else (),
        tool_calls=tuple(outcome.calls),
        native={"format": native.format, "blocks": native.blocks},
    )
    read = message_from_disk(parse_json(json.dumps(message_to_disk(answer))))
    assert read is not None
    return read


def test_the_vendors_own_place_has_a_path_of_its_own_and_another_server_the_formats() -> None:
    def paths(base_url: str) -> tuple[str, str]:
        endpoint = Endpoint(entry=ENTRY, provider_id="openai_oauth", base_url=base_url)
        wire = ResponsesProvider(endpoint, lambda **_: None)._format  # type: ignore[arg-type]
        return wire.chat_path("m"), wire.models_path

    assert paths("") == paths("https://chatgpt.com/backend-api/") == ("/codex/responses", "/codex/models")
    assert paths("https://example.com/v1") == ("/responses", "/models")


def test_the_account_in_the_token_is_named_beside_it() -> None:
    assert SIGN_IN is not None
    wire = ResponsesFormat(account_header=SIGN_IN.account_header, account_claim=SIGN_IN.account_claim)
    key = token({"https://api.openai.com/auth": {"chatgpt_account_id": "acc-1"}})
    assert wire.headers(key) == {"Authorization": f"Bearer {key}", "chatgpt-account-id": "acc-1"}
    assert wire.headers("sk-1") == {"Authorization": "Bearer sk-1"}
    assert wire.headers("") == {}


@pytest.mark.parametrize(
    "key",
    ["", "a", "a.b", "a.b.c", "a.%%%.c", "a.e30.c", token([]), token({"x": 1}), token({"x": {"y": "a\r\nb"}}), "a.ÿ.c"],
)
def test_a_token_of_another_kind_names_no_account(key: str) -> None:
    assert read_claim(key, ("x", "y")) == ""


def test_a_request_stores_nothing_and_asks_for_sealed_thinking() -> None:
    body = body_of(text_message(Role.SYSTEM, "Be brief."), USER, temperature=0.5, max_output_tokens=900)
    assert body == {
        "model": "gpt-5.5",
        "stream": True,
        "store": False,
        "instructions": "Be brief.",
        "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]}],
        "temperature": 0.5,
        "max_output_tokens": 900,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"summary": "auto"},
    }
    assert body_of(USER)["instructions"]


def test_calls_and_results_are_items() -> None:
    call = ToolCall("functions.read:0", "files.read/now", {"path": "ä"}, raw='{"path": "ä"}')
    result = Message(role=Role.TOOL, content=(TextPart("no"),), tool_call_id=call.id, is_error=True)
    said, made, output = body_of(USER, replace(text_message(Role.ASSISTANT, "Hm"), tool_calls=(call,)), result)[
        "input"
    ][1:]
    assert said == {"type": "message", "role": "assistant", "content": "Hm"}
    assert (made["type"], made["arguments"]) == ("function_call", '{"path": "ä"}')
    assert made["call_id"] == output["call_id"]
    assert output["output"] == "Error: no"


@pytest.mark.parametrize(
    ("refusal", "conceded"),
    [
        ('{"detail":"Unsupported parameter: max_output_tokens"}', "max_output_tokens"),
        ("Unsupported parameter: 'temperature' is not supported with this model.", "temperature"),
        ("Unsupported parameter: 'reasoning.summary' is not supported with this model.", "reasoning"),
        ("Encrypted content is not supported with this model.", "include"),
        ("Invalid parameter: text.format is unsupported", "text"),
        ("The model is overloaded", ""),
        ("Your input exceeds the context window of this model.", ""),
    ],
)
def test_an_optional_field_that_is_refused_is_left_out(refusal: str, conceded: str) -> None:
    asked: dict[str, Any] = {"temperature": 0.5, "max_output_tokens": 900, "answer_schema": {"type": "object"}}
    assert concede(body_of(USER, **asked), refusal) == conceded
    assert conceded not in body_of(USER, conceded=[conceded], **asked)


def test_a_shape_that_cannot_be_demanded_is_asked_for_in_words() -> None:
    body = body_of(USER, answer_schema={"type": "object"}, conceded=["text"])
    assert "JSON Schema" in body["instructions"]


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["call", "thinking_and_text", "text_only_at_the_end"])
async def test_thinking_goes_back_sealed_at_its_place_and_only_here(
    name: str, server: RawServer, make_provider: MakeProvider
) -> None:
    provider = make_provider("openai_oauth", key="t")
    server.replies.append(Reply(CASES[name]["answer"].encode()))
    answer = stored(await collect(provider.stream(ask())))
    results = [Message(role=Role.TOOL, content=(TextPart("x"),), tool_call_id=call.id) for call in answer.tool_calls]
    history = (USER, answer, *results, USER)
    sent = body_of(*history)["input"]
    assert [item["type"] for item in sent[1:3]] == ["reasoning", "function_call" if results else "message"]
    assert sent[1]["encrypted_content"] == "gAAAAAencrypted"
    assert [item.get("call_id") for item in sent if item["type"] == "function_call"] == ["call_a"] * len(results)
    for other in ("openai", "anthropic", "google"):
        server.replies.append(Reply(b"{}", content_type="application/json"))
        await collect(make_provider(other, key="k").stream(ChatRequest(model="m", messages=history)))
        assert "gAAAAA" not in json.dumps(server.requests[-1].json)


@pytest.mark.anyio
async def test_thinking_that_cannot_be_read_any_more_is_given_up_in_that_conversation(
    server: RawServer, make_provider: MakeProvider
) -> None:
    provider = make_provider("openai_oauth", key="t")
    server.replies.append(Reply(CASES["thinking_and_text"]["answer"].encode()))
    history = (USER, stored(await collect(provider.stream(ask()))), USER)
    refusal = b'{"error":{"code":"invalid_encrypted_content","message":"The encrypted content could not be verified."}}'
    server.replies += [Reply(refusal, 400, "application/json"), Reply(END)]
    outcome = await collect(provider.stream(ChatRequest(model="m", messages=history)))
    assert outcome.error is None
    *_, first, second = server.requests
    assert "gAAAAA" in json.dumps(first.json)
    assert "gAAAAA" not in json.dumps(second.json)
    assert "Done." in json.dumps(second.json)
