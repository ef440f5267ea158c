"""What we send, judged by the vendors' own descriptions of a request and by the rules of order that these leave out."""

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from skales.core.json import JsonObject
from skales.core.ports import ChatRequest
from skales.core.tool import Safety, ToolSpec
from skales.providers.catalog import ProviderEntry, find_entry, load_catalog
from skales.providers.formats.anthropic import AnthropicFormat
from skales.providers.formats.google import GoogleFormat
from skales.providers.formats.openai import OpenAIFormat
from skales.providers.formats.openai_responses import ResponsesFormat
from skales.providers.formats.wire import WireFormat
from skales.providers.history import repair_history
from skales.tools.index import load_index
from tests.contract.vendor_histories import HISTORIES, user
from tests.contract.vendor_schemas import find_fault
from tests.contract.vendor_tools import ANSWERS, TOOLS

Body = dict[str, Any]

WRITERS: Mapping[str, WireFormat] = {
    "openai": OpenAIFormat(),
    "openai_responses": ResponsesFormat(),
    "anthropic": AnthropicFormat(),
    "google": GoogleFormat(),
}
# Every way in which entries of the catalogue differ in what they send.
PROVIDERS = ("openai", "mistral", "deepseek", "moonshot", "custom", "openai_oauth", "anthropic", "google")
BUILT_IN = tuple(entry.spec for entry in load_index())

every_provider = pytest.mark.parametrize("provider", PROVIDERS)
every_history = pytest.mark.parametrize("name", HISTORIES)


def write(provider: str, request: ChatRequest, *conceded: str) -> Body:
    """The body as its bytes arrive, read again."""
    entry = find_entry(provider)
    body = WRITERS[entry.format].build_body(entry, request, frozenset(conceded))
    sent: Body = json.loads(json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace"))
    return sent


def ask(name: str, **facts: Any) -> ChatRequest:
    return ChatRequest(model="demo", messages=repair_history(HISTORIES[name]), **facts)


def offer(*schemas: JsonObject) -> tuple[ToolSpec, ...]:
    """Tools of strangers, such as servers of MCP."""
    return tuple(
        ToolSpec(name=f"tool_{index}", description="Does it.", parameters=schema, category="web", safety=Safety.AUTO)
        for index, schema in enumerate(schemas)
    )


def fault_in(provider: str, body: Body) -> str:
    """What the vendor's description does not admit; what only this vendor knows is taken out before."""
    entry = find_entry(provider)
    messages: Sequence[Any] = body.get("messages", ())
    if entry.reasoning_back:
        body = {**body, "messages": [_without(message, "reasoning_content") for message in messages]}
    return find_fault(entry.format, body)


def _without(message: Mapping[str, Any], name: str) -> Body:
    return {key: value for key, value in message.items() if key != name}


# --- requests are of the shape that the vendor describes ---


@every_provider
@every_history
def test_a_history_is_a_request_of_the_vendors_shape(provider: str, name: str) -> None:
    """With tools on offer and without; the built-in ones are looked at on their own below."""
    assert fault_in(provider, write(provider, ask(name, tools=BUILT_IN[:1]))) == ""
    assert fault_in(provider, write(provider, ask(name))) == ""


@pytest.mark.parametrize("provider", load_catalog())
def test_every_provider_gets_the_built_in_tools(provider: str) -> None:
    body = write(provider, ask("parallel calls", tools=BUILT_IN, temperature=0.7, max_output_tokens=2000))
    assert fault_in(provider, body) == ""
    assert len(schemas_in(provider, body)) == len(BUILT_IN)


@every_provider
@pytest.mark.parametrize("tool", TOOLS)
def test_a_strangers_schema_costs_no_request(provider: str, tool: str) -> None:
    body = write(provider, ask("one question", tools=offer(TOOLS[tool])))
    assert fault_in(provider, body) == ""
    for schema in schemas_in(provider, body):
        Draft202012Validator.check_schema(schema)
        assert schema.get("type", "object") == "object"


@every_provider
def test_tools_of_every_name_are_offered_once(provider: str) -> None:
    names = [
        "n" * 70,
        "n" * 70 + "b",
        "files.read/now",
        "files_read/now",
        "9lives",
        "-x",
        "日本",
        "read_file",
        "read_file",
    ]
    tools = tuple(
        ToolSpec(name=name, description="", parameters={}, category="web", safety=Safety.AUTO) for name in names
    )
    body = write(provider, ask("one question", tools=tools))
    assert fault_in(provider, body) == ""
    sent = names_in(provider, body)
    assert len(sent) == len(set(sent)) == len(set(names))
    assert all(len(name) <= 64 and name.replace("_", "").replace("-", "").isalnum() for name in sent)


@every_provider
@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("conceded", [(), ("response_format", "output_config", "responseJsonSchema")])
def test_an_answer_of_a_given_shape_is_asked_for(provider: str, answer: str, conceded: Sequence[str]) -> None:
    body = write(provider, ask("system words", answer_schema=ANSWERS[answer]), *conceded)
    assert fault_in(provider, body) == ""


@every_provider
def test_settings_stay_within_the_vendors_bounds(provider: str) -> None:
    assert fault_in(provider, write(provider, ask("one question", temperature=2.0, max_output_tokens=1))) == ""


def schemas_in(provider: str, body: Body) -> list[Body]:
    match find_entry(provider).format:
        case "openai_responses":
            return [tool["parameters"] for tool in body["tools"]]
        case "openai":
            return [tool["function"]["parameters"] for tool in body["tools"]]
        case "anthropic":
            return [tool["input_schema"] for tool in body["tools"]]
        case _:
            return [tool.get("parameters", {}) for tool in body["tools"][0]["functionDeclarations"]]


def names_in(provider: str, body: Body) -> list[str]:
    match find_entry(provider).format:
        case "openai_responses":
            return [tool["name"] for tool in body["tools"]]
        case "openai":
            return [tool["function"]["name"] for tool in body["tools"]]
        case "anthropic":
            return [tool["name"] for tool in body["tools"]]
        case _:
            return [tool["name"] for tool in body["tools"][0]["functionDeclarations"]]


# --- rules of order, which the descriptions do not hold ---


@pytest.mark.parametrize("provider", [name for name in PROVIDERS if find_entry(name).format == "openai"])
@every_history
def test_each_call_of_a_chat_completion_is_answered_at_once(provider: str, name: str) -> None:
    """https://platform.openai.com/docs/guides/function-calling."""
    messages = write(provider, ask(name, tools=BUILT_IN))["messages"]
    seen: set[str] = set()
    for index, message in enumerate(messages):
        ids = [made["id"] for made in message.get("tool_calls", ())]
        after = [later["tool_call_id"] for later in messages[index + 1 : index + 1 + len(ids)]]
        assert (ids, len(ids)) == (after, len(set(ids)))
        assert not seen.intersection(ids)
        seen.update(ids)
    assert sum(message["role"] == "tool" for message in messages) == len(seen)


# https://github.com/mistralai/mistral-common, `_validate_message_order`.
_MAY_FOLLOW = {
    "system": {"user", "assistant", "system"},
    "user": {"assistant", "system", "user"},
    "assistant": {"assistant", "user", "tool"},
    "tool": {"assistant", "tool"},
}


@every_history
def test_mistrals_rules_hold(name: str) -> None:
    messages = write("mistral", ask(name, tools=BUILT_IN))["messages"]
    roles = [message["role"] for message in messages]
    assert all(role in _MAY_FOLLOW[before] for before, role in pairwise(roles)), roles
    assert roles[0] in ("system", "user")
    assert roles[-1] != "assistant"
    for message in messages:
        assert message["role"] != "assistant" or message.get("content") or message.get("tool_calls")
        for made in message.get("tool_calls", ()):
            assert (len(made["id"]), made["id"].isascii(), made["id"].isalnum()) == (9, True, True)


@every_history
def test_anthropics_rules_hold(name: str) -> None:
    """https://platform.claude.com/docs/en/api/messages and .../agents-and-tools/tool-use."""
    body = write("anthropic", ask(name, tools=BUILT_IN))
    messages = body["messages"]
    roles = [message["role"] for message in messages]
    assert roles == (["user", "assistant"] * len(roles))[: len(roles)]
    assert roles[-1] == "user"
    open_ids: list[str] = []
    for message in messages:
        kinds = [block["type"] for block in message["content"]]
        results = [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]
        assert results == open_ids
        assert kinds[: len(results)] == ["tool_result"] * len(results)
        assert kinds
        open_ids = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
        assert not (message["role"] == "assistant" and {"image", "tool_result"} & set(kinds))
        assert all(block["text"].strip() for block in message["content"] if block["type"] == "text")
    assert json.dumps(body).count('"cache_control"') <= 4


@every_history
def test_googles_rules_hold(name: str) -> None:
    """https://ai.google.dev/gemini-api/docs/function-calling and .../thought-signatures."""
    contents = write("google", ask(name, tools=BUILT_IN))["contents"]
    roles = [content["role"] for content in contents]
    assert roles == (["user", "model"] * len(roles))[: len(roles)]
    assert roles[-1] == "user"
    asked: list[tuple[str, str]] = []
    for content in contents:
        answered = [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]
        assert [(made["name"], made.get("id", "")) for made in answered] == asked
        calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
        asked = [(made["name"], made.get("id", "")) for made in calls]
        assert content["parts"]
        assert all(part.get("text") or set(part) - {"text"} for part in content["parts"])


@every_history
def test_each_call_of_a_response_is_answered_and_thinking_is_followed(name: str) -> None:
    """https://platform.openai.com/docs/guides/reasoning and .../guides/function-calling."""
    body = write("openai_oauth", ask(name, tools=BUILT_IN))
    items = body["input"]
    called = [item["call_id"] for item in items if item["type"] == "function_call"]
    answered = [item["call_id"] for item in items if item["type"] == "function_call_output"]
    assert sorted(called) == sorted(answered)
    assert len(called) == len(set(called))
    for item in items:
        if item["type"] == "function_call_output":
            before = items[: items.index(item)]
            assert item["call_id"] in [made["call_id"] for made in before if made["type"] == "function_call"]
    for item, after in pairwise([*items, {"type": "end"}]):
        assert item["type"] != "reasoning" or after["type"] in ("message", "function_call")
    assert items[0]["role"] == "user"
    assert body["store"] is False
    assert all(item["content"] for item in items if item["type"] == "message")


@pytest.mark.parametrize("name", [name for name in HISTORIES if ", then " in name])
def test_signed_thinking_goes_back_to_its_own_vendor_and_to_no_other(name: str) -> None:
    first, second = name.removesuffix(", cut in its calls").split(", then ")
    for provider in PROVIDERS:
        text = json.dumps(write(provider, ask(name, tools=BUILT_IN)))
        assert ("c2lnLW9uZQ==" in text) is (provider == "anthropic" and "anthropic" in (first, second))
        assert ("U0lHLUE=" in text) is (provider == "google" and "google" in (first, second))
        sealed = provider == "openai_oauth" and "openai_responses" in (first, second)
        assert ("Z0FBQQ==" in text) is sealed


def test_an_entry_that_differs_in_what_it_sends_is_among_those_that_are_checked() -> None:
    def traits(entry: ProviderEntry) -> tuple[object, ...]:
        return entry.format, entry.short_call_ids, entry.bridges_results, entry.reasoning_back

    checked = {traits(find_entry(name)) for name in PROVIDERS}
    assert {traits(entry) for entry in load_catalog().values()} == checked


def test_the_judge_refuses_what_the_vendors_refuse() -> None:
    hello = ChatRequest(model="demo", messages=(user("Hello"),))
    assert "colour" in find_fault("openai", {**write("openai", hello), "colour": 1})
    assert "colour" in find_fault("anthropic", {**write("anthropic", hello), "colour": 1})
    assert "colour" in find_fault("google", {**write("google", hello), "colour": 1})
    assert find_fault("openai", {"model": "demo", "messages": [{"role": "tool", "content": "x"}]})
    assert "colour" in find_fault("openai_responses", {**write("openai_oauth", hello), "colour": 1})
    assert find_fault("openai_responses", {"model": "demo", "input": [{"type": "function_call", "name": "x"}]})
    assert find_fault("google", {"contents": [{"role": "user", "parts": [{"text": 3}]}]})
    blank = {"role": "user", "content": [{"type": "text", "text": ""}]}
    assert find_fault("anthropic", {"model": "demo", "max_tokens": 1, "messages": [blank]})
