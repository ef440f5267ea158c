"""Anthropic and Google behind the same door as everyone else: addresses, keys, refusals, model lists, tool loops."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from skales.core.errors import ProviderError, ProviderFault
from skales.core.json import JsonObject, parse_json
from skales.core.message import Message, Role, TextPart, Usage, text_message
from skales.core.ports import ChatRequest, FinishReason
from skales.core.tool import Safety, ToolSpec
from skales.data.session_codec import message_from_disk, message_to_disk
from tests.conftest import CASES
from tests.providers.conftest import MakeProvider, ask
from tests.providers.outcome import Outcome, collect
from tests.servers.raw_sse import RawServer, Reply, json_reply

pytestmark = pytest.mark.anyio

FOLDER = CASES / "providers"
BODIES = {path.stem: path.read_bytes() for path in FOLDER.glob("PRV-0[67]*.sse")}
THINKING = json.loads((FOLDER / "PRV-07-anthropic-thinking.expected.json").read_text(encoding="utf-8"))
SIGNATURES = json.loads((FOLDER / "PRV-06.expected.json").read_text(encoding="utf-8"))

HELLO = {
    "anthropic": b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}\n\n'
    b'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\ndata: {"type":"message_stop"}\n\n',
    "google": b'data: {"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}\n\n',
}
QUESTION = text_message(Role.USER, "When?")


def after(outcome: Outcome, results: Sequence[str], provider: str) -> list[Message]:
    """The history of the next request, with the answer written to disk and read again."""
    (native,) = outcome.native
    answer = Message(
        role=Role.ASSISTANT,
        content=(TextPart(outcome.text),) if outcome.text else (),
        tool_calls=tuple(outcome.calls),
        reasoning=outcome.reasoning,
        provider=provider,
        native={"format": native.format, "blocks": native.blocks},
    )
    stored = message_from_disk(parse_json(json.dumps(message_to_disk(answer))))
    assert stored is not None
    told = [
        Message(role=Role.TOOL, content=(TextPart(text),), tool_call_id=call.id, name=call.name)
        for call, text in zip(outcome.calls, results, strict=True)
    ]
    return [QUESTION, stored, *told]


async def next_body(
    server: RawServer, make_provider: MakeProvider, provider: str, history: Sequence[Message]
) -> dict[str, Any]:
    server.replies.append(Reply(HELLO.get(provider, b"data: [DONE]\n\n")))
    await collect(make_provider(provider, key="sk-1").stream(ChatRequest(model="m", messages=tuple(history))))
    body: dict[str, Any] = server.requests[-1].json
    return body


# --- PRV-06, PRV-07 ---


@pytest.mark.parametrize("piece_bytes", [0, 1, 7])
async def test_thinking_blocks_go_back_one_by_one_as_they_came(
    piece_bytes: int, server: RawServer, make_provider: MakeProvider
) -> None:
    server.replies.append(Reply(BODIES["PRV-07-anthropic-thinking"], piece_bytes=piece_bytes))

    outcome = await collect(make_provider("anthropic", key="sk-1").stream(ask()))

    assert outcome.error is None
    assert outcome.text == THINKING["shown_text"]
    assert outcome.reasoning == "Compare 4 May with 11 May."
    assert [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in outcome.calls] == (
        THINKING["calls"]
    )
    assert outcome.finish is FinishReason.TOOL_CALLS
    assert outcome.usage == Usage(THINKING["usage"]["input"], THINKING["usage"]["output"])
    history = after(outcome, ["none"], "anthropic")
    body = await next_body(server, make_provider, "anthropic", history)
    assert body["messages"][1] == {"role": "assistant", "content": THINKING["next_request_assistant_content"]}
    for provider in ("google", "custom"):
        foreign = json.dumps(await next_body(server, make_provider, provider, history))
        assert not [secret for secret in ("c2lnLW9uZQ", "cmVkYWN0ZWQ", "c2lnLXR3bw", "Compare") if secret in foreign]


@pytest.mark.parametrize("piece_bytes", [0, 1, 7])
async def test_a_signature_stays_on_the_call_it_came_with(
    piece_bytes: int, server: RawServer, make_provider: MakeProvider
) -> None:
    case = SIGNATURES["a"]
    server.replies.append(Reply(BODIES["PRV-06a-gemini-parallel"], piece_bytes=piece_bytes))

    outcome = await collect(make_provider("google", key="sk-1").stream(ask()))

    assert (outcome.text, outcome.reasoning) == (case["shown_text"], case["thought_text"])
    assert [{"name": call.name, "arguments": call.arguments} for call in outcome.calls] == case["calls"]
    assert outcome.usage == Usage(50, 32)
    assert outcome.finish is FinishReason.TOOL_CALLS
    history = after(outcome, [json.dumps(result) for result in case["tool_results"]], "google")
    body = await next_body(server, make_provider, "google", history)
    assert body["contents"][-2:] == case["next_request_contents_tail"]
    for provider in ("anthropic", "custom"):
        assert "U0lHLUE" not in json.dumps(await next_body(server, make_provider, provider, history))


@pytest.mark.parametrize("piece_bytes", [0, 1, 7])
async def test_a_signature_in_an_empty_part_is_kept(
    piece_bytes: int, server: RawServer, make_provider: MakeProvider
) -> None:
    server.replies.append(Reply(BODIES["PRV-06b-gemini-signature-in-empty-part"], piece_bytes=piece_bytes))
    outcome = await collect(make_provider("google", key="sk-1").stream(ask()))
    assert outcome.text == SIGNATURES["b"]["shown_text"]
    assert outcome.calls == []
    history = [*after(outcome, [], "google"), QUESTION]
    body = await next_body(server, make_provider, "google", history)
    assert body["contents"][1]["parts"] == [{"text": "Tea: 4 packs."}, {"text": "", "thoughtSignature": "U0lHLUI="}]


# --- addresses and keys ---


@pytest.mark.parametrize(
    "address",
    [
        ("anthropic", "claude-opus-4-8", "/v1/messages", "x-api-key"),
        ("google", "gemini-3.6-flash", "/v1/models/gemini-3.6-flash:streamGenerateContent?alt=sse", "x-goog-api-key"),
        ("google", "models/a b", "/v1/models/a%20b:streamGenerateContent?alt=sse", "x-goog-api-key"),
        ("google", "tunedModels/x", "/v1/tunedModels/x:streamGenerateContent?alt=sse", "x-goog-api-key"),
    ],
)
async def test_the_key_goes_into_the_vendors_header_and_nowhere_else(
    address: tuple[str, str, str, str], server: RawServer, make_provider: MakeProvider
) -> None:
    provider, model, path, header = address
    server.replies.append(Reply(HELLO[provider]))
    outcome = await collect(make_provider(provider, key="sk-1").stream(ask(model=model)))
    (request,) = server.requests
    assert outcome.text == "Hi"
    assert request.path == path
    assert request.headers[header] == "sk-1"
    assert "authorization" not in request.headers
    assert request.headers.get("anthropic-version") == ("2023-06-01" if provider == "anthropic" else None)


@pytest.mark.parametrize(("provider", "header"), [("anthropic", "x-api-key"), ("google", "x-goog-api-key")])
async def test_a_relay_of_ones_own_needs_no_key(
    provider: str, header: str, server: RawServer, make_provider: MakeProvider
) -> None:
    server.replies.append(Reply(HELLO[provider]))
    assert (await collect(make_provider(provider).stream(ask()))).text == "Hi"
    assert header not in server.requests[0].headers


async def test_a_query_of_the_base_url_joins_that_of_the_path(server: RawServer, make_provider: MakeProvider) -> None:
    server.replies.append(Reply(HELLO["google"]))
    await collect(make_provider("google", base_url=f"{server.url}?team=a").stream(ask()))
    assert server.requests[0].path == "/v1/models/demo:streamGenerateContent?alt=sse&team=a"


# --- refusals and failures ---


async def test_an_output_limit_that_is_too_high_is_lowered_for_that_model(
    server: RawServer, make_provider: MakeProvider
) -> None:
    message = "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-old"
    refusal = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    server.replies.extend([json_reply(refusal, 400), Reply(HELLO["anthropic"]), Reply(HELLO["anthropic"])])
    provider = make_provider("anthropic", key="sk-1")
    assert (await collect(provider.stream(ask(model="claude-old")))).text == "Hi"
    assert (await collect(provider.stream(ask(model="claude-opus-4-8")))).text == "Hi"
    assert [request.json["max_tokens"] for request in server.requests] == [32_000, 8192, 128_000]


async def test_a_missing_signature_of_another_model_is_marked_as_such(
    server: RawServer, make_provider: MakeProvider
) -> None:
    message = "Function call is missing a thought_signature in functionCall parts."
    refusal = {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}
    server.replies.append(Reply(BODIES["PRV-07-anthropic-thinking"]))
    first = await collect(make_provider("anthropic", key="sk-1").stream(ask()))
    server.replies.extend([json_reply(refusal, 400), Reply(HELLO["google"])])
    history = tuple(after(first, ["none"], "anthropic"))
    outcome = await collect(make_provider("google", key="sk-1").stream(ChatRequest(model="m", messages=history)))
    assert outcome.text == "Hi"
    sent = [request.json["contents"][1]["parts"][1].get("thoughtSignature") for request in server.requests[1:]]
    assert sent == [None, "skip_thought_signature_validator"]


@pytest.mark.parametrize("provider", ["anthropic", "google"])
async def test_an_endpoint_that_refuses_everything_is_not_asked_forever(
    provider: str, server: RawServer, make_provider: MakeProvider
) -> None:
    words = "temperature, thinking, output_config, schema, system_instruction: not supported; max_tokens: 9 > 100"
    message = f"{words}; missing thought_signature" if provider == "google" else words
    server.replies.extend([json_reply({"error": {"message": message}}, 400)] * 9)
    request = ChatRequest(
        model="claude-fable-5",
        messages=(text_message(Role.SYSTEM, "s"), QUESTION),
        temperature=0.5,
        answer_schema={"type": "object", "properties": {"a": {"type": "string"}}},
    )
    outcome = await collect(make_provider(provider, key="sk-1").stream(request))
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.BAD_REQUEST
    assert 1 <= len(server.requests) <= 5


async def test_a_call_that_google_could_not_read_is_asked_for_again(
    server: RawServer, make_provider: MakeProvider
) -> None:
    broken = b'data: {"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL"}]}\n\n'
    server.replies.extend([Reply(broken), Reply(HELLO["google"])])
    outcome = await collect(make_provider("google", key="sk-1").stream(ask()))
    assert outcome.text == "Hi"
    assert len(outcome.retries) == 1


async def test_tools_come_back_under_their_own_names_and_types(server: RawServer, make_provider: MakeProvider) -> None:
    schema: JsonObject = {"type": "object", "properties": {"max-size": {"type": "integer", "enum": [1, 2]}}}
    tool = ToolSpec(name="3d.print", description="", parameters=schema, category="c", safety=Safety.AUTO)
    request = ChatRequest(model="m", messages=(QUESTION,), tools=(tool,))
    provider = make_provider("google", key="sk-1")
    server.replies.append(Reply(HELLO["google"]))
    await collect(provider.stream(request))
    (declared,) = server.requests[0].json["tools"][0]["functionDeclarations"]
    (argument,) = declared["parameters"]["properties"]
    call = {"functionCall": {"name": declared["name"], "args": {argument: "2"}}}
    answer = {"candidates": [{"content": {"parts": [call]}, "finishReason": "STOP"}]}
    server.replies.append(Reply(b"data: " + json.dumps(answer).encode() + b"\n\n"))
    (made,) = (await collect(provider.stream(request))).calls
    assert (made.name, made.arguments, made.problem) == ("3d.print", {"max-size": 2}, "")


# --- models ---


async def test_models_of_anthropic_are_listed_page_by_page(server: RawServer, make_provider: MakeProvider) -> None:
    first = {"data": [{"id": "a", "max_input_tokens": 5}, {"id": "b", "lifecycle": "retired"}, {"id": ""}]}
    second = {"data": [{"id": "c", "lifecycle": "active"}, {"id": "a"}], "has_more": False, "last_id": "c"}
    server.replies.extend([json_reply({**first, "has_more": True, "last_id": "b/&"}), json_reply(second)])
    provider = make_provider("anthropic", key="sk-1")
    assert await provider.list_models() == ["a", "c"]
    assert (provider.max_tokens("a"), provider.max_tokens("claude-haiku-4-5")) == (5, 200_000)
    paths = [request.path for request in server.requests]
    assert paths == ["/v1/models?limit=1000", "/v1/models?limit=1000&after_id=b%2F%26"]


async def test_models_of_google_are_those_that_chat(server: RawServer, make_provider: MakeProvider) -> None:
    first = {
        "models": [
            {"name": "models/a", "inputTokenLimit": 7, "supportedGenerationMethods": ["generateContent"]},
            {"name": "models/embed", "supportedGenerationMethods": ["embedContent"]},
            {"name": "models/b"},
            {"name": ""},
        ],
        "nextPageToken": "x=",
    }
    server.replies.extend([json_reply(first), json_reply({"models": [{"name": "models/c"}, {"name": "models/a"}]})])
    provider = make_provider("google", key="sk-1")
    assert await provider.list_models() == ["a", "b", "c"]
    assert provider.max_tokens("a") == 7
    paths = [request.path for request in server.requests]
    assert paths == ["/v1/models?pageSize=1000", "/v1/models?pageSize=1000&pageToken=x%3D"]
    assert server.requests[0].headers["x-goog-api-key"] == "sk-1"


async def test_a_list_without_an_end_is_given_up(server: RawServer, make_provider: MakeProvider) -> None:
    server.replies.extend([json_reply({"models": [{"name": "models/a"}], "nextPageToken": "again"})] * 30)
    assert await make_provider("google", key="sk-1").list_models() == ["a"]
    assert len(server.requests) == 20


async def test_a_list_that_is_refused_says_why(server: RawServer, make_provider: MakeProvider) -> None:
    error = {"code": 400, "message": "API key not valid. Please pass a valid API key.", "status": "INVALID_ARGUMENT"}
    server.replies.append(json_reply({"error": error}, 400))
    with pytest.raises(ProviderError) as caught:
        await make_provider("google", key="sk-1").list_models()
    assert caught.value.fault is ProviderFault.BAD_KEY
