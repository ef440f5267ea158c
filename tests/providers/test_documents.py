"""Documents and pictures in each wire format: where they stand, what stands for them, what a refusal changes."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from skales.core.message import FilePart, ImagePart, Message, Role, TextPart, text_message
from skales.core.ports import ChatRequest
from skales.core.tool import ToolCall
from skales.providers.catalog import find_entry
from skales.providers.formats.anthropic import AnthropicFormat
from skales.providers.formats.google import GoogleFormat
from skales.providers.formats.openai import OpenAIFormat
from skales.providers.formats.openai_responses import ResponsesFormat
from skales.providers.formats.wire import WireFormat
from tests.providers.conftest import MakeProvider
from tests.providers.outcome import collect
from tests.servers.raw_sse import RawServer, Reply

FORMATS: dict[str, WireFormat] = {
    "openai": OpenAIFormat(),
    "openai_oauth": ResponsesFormat(),
    "anthropic": AnthropicFormat(),
    "google": GoogleFormat(),
}
REPORT = FilePart(
    "report.pdf", "application/pdf", 9, "--- page 1 of 1 ---\nAll is well\n", "/a/1-report.pdf", "JVBERg=="
)
HEAD = '<attached_file name="report.pdf" type="application/pdf" size_bytes=9 path="/a/1-report.pdf" />\n\n'
ASKED = Message(role=Role.USER, content=(REPORT, TextPart("Sum it up")))
PICTURE = ImagePart("image/png", "iVBORw0KGgo=", "page.png")
SHOWN = (
    text_message(Role.USER, "Show me"),
    Message(role=Role.ASSISTANT, tool_calls=(ToolCall("c1", "take_picture"), ToolCall("c2", "read_file"))),
    Message(role=Role.TOOL, content=(TextPart("Here"), PICTURE), tool_call_id="c1", name="take_picture"),
    Message(role=Role.TOOL, content=(TextPart("text"),), tool_call_id="c2", name="read_file"),
)


def body_of(provider: str, messages: Sequence[Message], *conceded: str) -> dict[str, Any]:
    request = ChatRequest(model="demo", messages=tuple(messages))
    body = FORMATS[provider].build_body(find_entry(provider), request, frozenset(conceded))
    built: dict[str, Any] = json.loads(json.dumps(body))
    return built


def test_anthropic_gets_a_document_block() -> None:
    head, document, words = body_of("anthropic", [ASKED])["messages"][0]["content"]
    assert head == {"type": "text", "text": HEAD}
    assert document == {
        "type": "document",
        "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="},
        "title": "report.pdf",
    }
    assert words["text"] == "Sum it up"


def test_google_gets_inline_data() -> None:
    assert body_of("google", [ASKED])["contents"][0]["parts"] == [
        {"text": HEAD},
        {"inlineData": {"mimeType": "application/pdf", "data": "JVBERg=="}},
        {"text": "Sum it up"},
    ]


def test_openai_gets_a_file_part() -> None:
    assert body_of("openai", [ASKED])["messages"][0]["content"] == [
        {"type": "text", "text": HEAD},
        {"type": "file", "file": {"filename": "report.pdf", "file_data": "data:application/pdf;base64,JVBERg=="}},
        {"type": "text", "text": "Sum it up"},
    ]


def test_responses_get_an_input_file() -> None:
    assert body_of("openai_oauth", [ASKED])["input"][0]["content"] == [
        {"type": "input_text", "text": HEAD},
        {"type": "input_file", "filename": "report.pdf", "file_data": "data:application/pdf;base64,JVBERg=="},
        {"type": "input_text", "text": "Sum it up"},
    ]


@pytest.mark.parametrize("provider", FORMATS)
def test_a_later_turn_begins_with_the_same_bytes(provider: str) -> None:
    first = [ASKED]
    second = [*first, text_message(Role.ASSISTANT, "All is well."), text_message(Role.USER, "Sure?")]
    told = [
        json.dumps(body_of(provider, history)).replace(', "cache_control": {"type": "ephemeral"}', "")
        for history in (first, second)
    ]
    start = told[0].index("JVBERg==") + 8
    assert told[0][:start] == told[1][:start]


REFUSALS = {
    "anthropic": "messages.0.content.1.document.source.base64.data: The PDF specified was not valid.",
    "google": "Unable to process input: the document has no pages.",
    "openai_oauth": "Invalid value: 'input_file'. Supported values are: 'input_text' and 'input_image'.",
    "openai": "Invalid 'messages[0].content[1]'. File inputs are not taken by this model.",
}
HELLO = {
    "openai": b"data: [DONE]\n\n",
    "openai_oauth": b'data: {"type":"response.completed","response":{"status":"completed","output":[]}}\n\n',
    "anthropic": b'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\n'
    b'data: {"type":"message_stop"}\n\n',
    "google": b'data: {"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}\n\n',
}


@pytest.mark.anyio
@pytest.mark.parametrize("provider", FORMATS)
async def test_a_refused_document_goes_as_its_text_from_then_on(
    provider: str, server: RawServer, make_provider: MakeProvider
) -> None:
    refusal = json.dumps({"error": {"message": REFUSALS[provider]}}).encode()
    server.replies += [Reply(refusal, 400, "application/json"), Reply(HELLO[provider]), Reply(HELLO[provider])]
    built = make_provider(provider, key="sk-1")
    request = ChatRequest(model="demo", messages=(ASKED,))
    assert (await collect(built.stream(request))).error is None
    assert (await collect(built.stream(request))).error is None
    first, *others = [json.dumps(sent.json) for sent in server.requests]
    assert "JVBERg==" in first
    assert len(others) == 2
    for text in others:
        assert "JVBERg==" not in text
        assert "The endpoint did not take the document itself; this is its text." in text
        assert "All is well" in text
    other = FilePart("other.pdf", "application/pdf", 3, "--- page 1 of 1 ---\nx\n", "/a/2-other.pdf", "JVBERi0=")
    server.replies.append(Reply(HELLO[provider]))
    await collect(built.stream(ChatRequest(model="demo", messages=(Message(role=Role.USER, content=(other,)),))))
    assert "JVBERi0=" in json.dumps(server.requests[-1].json)


@pytest.mark.parametrize("provider", FORMATS)
def test_a_refusal_of_something_else_costs_no_document(provider: str) -> None:
    body = body_of(provider, [ASKED])
    assert FORMATS[provider].concede(body, "prompt is too long: 250000 tokens > 200000 maximum") == ""
    assert FORMATS[provider].concede(body_of(provider, [text_message(Role.USER, "Hi")]), REFUSALS[provider]) == ""


# --- pictures that tools made ---


def test_a_picture_of_a_tool_stands_in_its_result_for_anthropic() -> None:
    first, second = body_of("anthropic", SHOWN)["messages"][2]["content"]
    assert first["content"] == [
        {"type": "text", "text": "Here"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
    ]
    assert [block["type"] for block in second["content"]] == ["text"]


def test_a_picture_of_a_tool_follows_the_results_for_google() -> None:
    assert body_of("google", SHOWN)["contents"][2]["parts"][2:] == [
        {"text": "Pictures from the result of take_picture:"},
        {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
    ]


def test_a_picture_of_a_tool_follows_the_results_as_the_users_for_openai() -> None:
    *_, first, second, picture = body_of("openai", SHOWN)["messages"]
    assert (first["role"], first["content"], second["role"]) == ("tool", "Here", "tool")
    assert picture == {
        "role": "user",
        "content": [
            {"type": "text", "text": "Pictures from the result of take_picture:"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
        ],
    }


def test_a_picture_of_a_tool_stands_in_its_output_for_responses() -> None:
    first, second = body_of("openai_oauth", SHOWN)["input"][-2:]
    assert first["output"] == [
        {"type": "input_text", "text": "Here"},
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=", "detail": "auto"},
    ]
    assert second["output"] == "text"
