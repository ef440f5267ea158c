import itertools
import json
import re
from typing import Any

import pytest

from skales.core.json import JsonObject, JsonValue, parse_json
from skales.core.message import FilePart, ImagePart, Message, Role, TextPart, text_message
from skales.core.ports import ChatRequest
from skales.core.tool import Safety, ToolCall, ToolSpec
from skales.providers.catalog import ProviderEntry, find_entry
from skales.providers.formats.openai_request import build_body, concede
from skales.providers.history import repair_history
from tests.conftest import CASES
from tests.providers.conftest import entry_with
from tests.providers.sessions import read_session

USER = text_message(Role.USER, "Hello")
PNG = ImagePart("image/png", "AAAA", "a.png")
FILE = FilePart('no"tes.md', "text/markdown", 9, "buy milk", "/data/1-notes.md")
SPELLED = (
    '<attached_file name="no\\"tes.md" type="text/markdown" size_bytes=9 path="/data/1-notes.md">\n'
    "buy milk\n</attached_file>\n\n"
)


def messages_of(*messages: Message, entry: ProviderEntry | None = None) -> list[dict[str, Any]]:
    body = build_body(entry or find_entry("custom"), ChatRequest(model="m", messages=messages), frozenset())
    built = json.loads(json.dumps(body["messages"]))
    assert isinstance(built, list)
    return built


def spec(name: str, parameters: JsonObject | None = None) -> ToolSpec:
    return ToolSpec(name=name, description=f"Do {name}", parameters=parameters or {}, category="c", safety=Safety.AUTO)


def test_each_role_has_its_shape() -> None:
    call = ToolCall("c1", "read_file", {"path": "ä"}, raw='{"path": "ä"}')
    built = messages_of(
        text_message(Role.SYSTEM, "Be brief."),
        USER,
        Message(role=Role.ASSISTANT, content=(TextPart("Reading."),), tool_calls=(call,), reasoning="Hm"),
        Message(role=Role.TOOL, content=(TextPart("done"),), tool_call_id="c1", name="read_file"),
        text_message(Role.ASSISTANT, "Done."),
    )
    assert built == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
        {
            "role": "assistant",
            "content": "Reading.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "ä"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "(Continue.)"},
    ]


@pytest.mark.parametrize("provider_id", ["custom", "openai", "mistral", "openrouter", "ollama"])
def test_the_users_side_speaks_first_and_last_and_system_words_come_first(provider_id: str) -> None:
    """Mistral refuses it otherwise (error 3230), as do chat templates and models without prefilled answers."""
    system, answer = text_message(Role.SYSTEM, "Be brief."), text_message(Role.ASSISTANT, "Hi.")
    built = messages_of(system, answer, USER, system, answer, entry=find_entry(provider_id))
    assert [(message["role"], message["content"]) for message in built] == [
        ("system", "Be brief."),
        ("user", "(Earlier messages are left out.)"),
        ("assistant", "Hi."),
        ("user", "Hello"),
        ("user", "Be brief."),
        ("assistant", "Hi."),
        ("user", "(Continue.)"),
    ]


def test_an_answer_of_pictures_alone_says_so() -> None:
    built = messages_of(USER, Message(role=Role.ASSISTANT, content=(PNG,)), USER)
    assert built[1] == {"role": "assistant", "content": "(A picture.)"}


def test_an_answer_of_calls_alone_has_no_content() -> None:
    answer = Message(role=Role.ASSISTANT, tool_calls=(ToolCall("c1", "a"),))
    assert messages_of(USER, answer)[1]["content"] is None


def test_pictures_go_inline_in_their_place() -> None:
    message = Message(role=Role.USER, content=(TextPart("See"), PNG, TextPart("there")))
    (built,) = messages_of(message)
    assert built["content"] == [
        {"type": "text", "text": "See"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "text", "text": "there"},
    ]


def test_pictures_of_results_follow_after_the_last_result() -> None:
    results = [
        Message(role=Role.TOOL, content=(TextPart("a"), PNG), tool_call_id="c1", name="screenshot"),
        Message(role=Role.TOOL, content=(PNG,), tool_call_id="c2"),
    ]
    built = messages_of(*results, USER)
    assert [message["role"] for message in built] == ["tool", "tool", "user", "user"]
    assert built[1]["content"] == "(no output)"
    assert built[2]["content"] == [
        {"type": "text", "text": "Pictures from the result of screenshot:"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "text", "text": "Pictures from the result of c2:"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]
    assert [message["role"] for message in messages_of(*results)] == ["tool", "tool", "user"]


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("no such file", "Error: no such file"),
        ("Error: no such file", "Error: no such file"),
        ("", "Error: (no output)"),
    ],
)
def test_a_failed_call_says_so(text: str, sent: str) -> None:
    content = (TextPart(text),) if text else ()
    (built,) = messages_of(Message(role=Role.TOOL, content=content, tool_call_id="c1", is_error=True))
    assert built["content"] == sent


@pytest.mark.parametrize(
    ("raw", "sent"),
    [('{"a":  1}', '{"a":  1}'), ("{'a': 1}", '{"a": 1}'), ("", '{"a": 1}'), ('["a"]', '{"a": 1}')],
    ids=["as written", "not JSON", "unknown", "no object"],
)
def test_arguments_go_back_as_written_when_they_are_an_object(raw: str, sent: str) -> None:
    call = ToolCall("c1", "x", {"a": 1}, raw=raw)
    built = messages_of(USER, Message(role=Role.ASSISTANT, tool_calls=(call,)))
    assert built[1]["tool_calls"] == [{"id": "c1", "type": "function", "function": {"name": "x", "arguments": sent}}]


# --- thinking ---

SESSION = read_session(
    parse_json((CASES / "history/HIS-03-deepseek-thinking.session.json").read_text(encoding="utf-8"))
)
EXPECTED = json.loads((CASES / "history/HIS-03-deepseek-thinking.expected.json").read_text(encoding="utf-8"))


def test_thinking_of_turns_with_tools_goes_back_where_it_is_demanded() -> None:
    built = messages_of(*repair_history(SESSION), entry=find_entry("deepseek"))
    wanted = {row["index"]: row["reasoning_content"] for row in EXPECTED["assistant_messages"]}
    assert built[1]["reasoning_content"] == wanted[1]
    assert built[3]["reasoning_content"] == wanted[3]
    assert "reasoning_content" not in built[5]
    assert all(EXPECTED["content_never_contains"] not in str(message["content"]) for message in built)


@pytest.mark.parametrize("provider_id", ["openai", "mistral", "groq", "custom", "ollama"])
def test_thinking_goes_nowhere_else(provider_id: str) -> None:
    built = messages_of(*SESSION, entry=find_entry(provider_id))
    assert all("reasoning_content" not in message for message in built)
    assert "Need the hours." not in json.dumps(built)


def test_thinking_that_was_never_there_is_sent_as_empty() -> None:
    call = Message(role=Role.ASSISTANT, tool_calls=(ToolCall("c1", "x"),))
    result = Message(role=Role.TOOL, tool_call_id="c1")
    built = messages_of(USER, call, result, entry=find_entry("moonshot"))
    assert built[1]["reasoning_content"] == ""


def test_a_picture_that_a_tool_made_does_not_end_its_turn() -> None:
    call = Message(role=Role.ASSISTANT, tool_calls=(ToolCall("c1", "x"),), reasoning="Look.")
    result = Message(role=Role.TOOL, content=(PNG,), tool_call_id="c1")
    answer = Message(role=Role.ASSISTANT, content=(TextPart("A cat."),), reasoning="It purrs.")
    built = messages_of(USER, call, result, answer, USER, answer, entry=find_entry("deepseek"))
    assert [message.get("reasoning_content") for message in built] == [
        None,
        "Look.",
        None,
        None,
        "It purrs.",
        None,
        None,
        None,
    ]


# --- Mistral ---


def test_a_conversation_can_move_to_mistral() -> None:
    folder = CASES / "history"
    session = read_session(parse_json((folder / "HIS-02-to-mistral.session.json").read_text(encoding="utf-8")))
    expected = json.loads((folder / "HIS-02-to-mistral.expected.json").read_text(encoding="utf-8"))

    built = messages_of(*repair_history(session), entry=find_entry("mistral"))

    called = [call["id"] for message in built for call in message.get("tool_calls", [])]
    answered = [message["tool_call_id"] for message in built if message["role"] == "tool"]
    assert called == answered
    assert all(re.fullmatch(expected["every_id_matches"], call_id) for call_id in called)
    assert len(set(called)) == expected["distinct_ids"]
    assert called[2] == expected["id_kept_as_is"]
    assert called == [
        call["id"]
        for message in messages_of(*session[:9], entry=find_entry("mistral"))
        for call in message.get("tool_calls", [])
    ]
    roles = [message["role"] for message in built]
    assert ("tool", "user") not in set(itertools.pairwise(roles))
    assert session[1].tool_calls[0].id == "toolu_01ABCDEFGHJK1"


@pytest.mark.parametrize("provider_id", ["openai", "custom", "ollama"])
def test_other_providers_get_ids_and_order_as_they_are(provider_id: str) -> None:
    result = Message(role=Role.TOOL, content=(TextPart("done"),), tool_call_id="toolu_1")
    built = messages_of(result, USER, entry=find_entry(provider_id))
    assert [message["role"] for message in built] == ["tool", "user"]
    assert built[0]["tool_call_id"] == "toolu_1"


# --- tools and fields ---


def body_of(
    entry: ProviderEntry | None = None, *, conceded: frozenset[str] = frozenset(), **fields: object
) -> JsonObject:
    request = ChatRequest(model="m", messages=(USER,), **fields)  # type: ignore[arg-type]
    return build_body(entry or find_entry("custom"), request, conceded)


def test_tools_are_functions_with_legal_and_distinct_names() -> None:
    schema: JsonObject = {"type": "object", "properties": {"path": {"type": "string", "format": "path"}}}
    body = body_of(tools=(spec("read_file", schema), spec("mcp.files.read"), spec("read_file")))
    assert body["tools"] == [
        {"type": "function", "function": {"name": "read_file", "description": "Do read_file", "parameters": schema}},
        {
            "type": "function",
            "function": {
                "name": "mcp_files_read_daac1590",
                "description": "Do mcp.files.read",
                "parameters": {"type": "object", "properties": {}},
            },
        },
    ]


def test_nothing_optional_is_sent_unasked() -> None:
    assert set(body_of()) == {"model", "messages", "stream", "stream_options"}
    assert set(body_of(find_entry("mistral"))) == {"model", "messages", "stream"}


@pytest.mark.parametrize(
    ("provider_id", "conceded", "field"),
    [
        ("custom", frozenset[str](), "max_tokens"),
        ("openai", frozenset[str](), "max_completion_tokens"),
        ("custom", frozenset({"max_tokens"}), "max_completion_tokens"),
        ("openai", frozenset({"max_completion_tokens"}), "max_tokens"),
        ("custom", frozenset({"max_tokens", "max_completion_tokens"}), None),
    ],
)
def test_the_output_limit_has_the_name_the_endpoint_knows(
    provider_id: str, conceded: frozenset[str], field: str | None
) -> None:
    body = body_of(find_entry(provider_id), conceded=conceded, max_output_tokens=7)
    limits = {name: value for name, value in body.items() if name.startswith("max_")}
    assert limits == ({field: 7} if field else {})


def test_a_temperature_of_zero_is_sent_unless_refused() -> None:
    assert body_of(temperature=0.0)["temperature"] == 0.0
    assert "temperature" not in body_of(temperature=0.0, conceded=frozenset({"temperature"}))


CLOSED: JsonObject = {
    "type": "object",
    "properties": {
        "tags": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
        "inner": {"type": "object", "properties": {}, "additionalProperties": False},
    },
    "required": ["tags", "inner"],
    "additionalProperties": False,
}
LOOSE: dict[str, JsonObject] = {
    "open": {**CLOSED, "additionalProperties": True},
    "optional property": {**CLOSED, "required": ["tags"]},
    "open inside": {
        **CLOSED,
        "properties": {"tags": {"type": "array", "items": {"type": "object", "properties": {}}}},
        "required": ["tags"],
    },
    "open by reference": {"anyOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "object"}}},
}


def test_a_closed_schema_is_enforced() -> None:
    wanted = body_of(answer_schema=CLOSED)["response_format"]
    assert wanted == {"type": "json_schema", "json_schema": {"name": "answer", "schema": CLOSED, "strict": True}}


@pytest.mark.parametrize("name", LOOSE)
def test_a_schema_beyond_the_enforceable_subset_is_asked_for_loosely(name: str) -> None:
    wanted = json.loads(json.dumps(body_of(answer_schema=LOOSE[name])["response_format"]))
    assert wanted["json_schema"]["strict"] is False


@pytest.mark.parametrize("system", [True, False])
def test_an_endpoint_without_schemas_hears_of_it_in_words(system: bool) -> None:
    messages = (text_message(Role.SYSTEM, "Be brief."), USER) if system else (USER,)
    request = ChatRequest(model="m", messages=messages, answer_schema=CLOSED)
    body = json.loads(json.dumps(build_body(find_entry("deepseek"), request, frozenset())))
    assert body["response_format"] == {"type": "json_object"}
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert json.dumps(CLOSED) in body["messages"][0]["content"]
    assert body["messages"][0]["content"].startswith("Be brief." if system else "Answer with")


def test_an_endpoint_without_any_such_format_hears_of_it_in_words_alone() -> None:
    body = body_of(answer_schema=CLOSED, conceded=frozenset({"response_format"}))
    assert "response_format" not in body
    assert "JSON Schema" in json.dumps(body["messages"])


@pytest.mark.parametrize(
    ("refusal", "field"),
    [
        ("Unsupported parameter: 'max_tokens' is not supported with this model", "max_tokens"),
        ('{"type":"extra_forbidden","loc":["body","stream_options"]}', "stream_options"),
        ("invalid temperature: only 1 is allowed for this model", "temperature"),
        ("This response_format type is unavailable now", "response_format"),
        ("max_tokens is too large: 99999", ""),
        ("Unsupported parameter: 'store'", ""),
        ("", ""),
    ],
)
def test_only_a_refused_optional_field_is_given_up(refusal: str, field: str) -> None:
    body = body_of(temperature=0.2, max_output_tokens=9, answer_schema=CLOSED)
    assert concede(body, refusal) == field


def test_an_entry_may_combine_every_quirk() -> None:
    entry = entry_with(
        reasoning_back=True, asks_usage=False, answer_schema="object", output_limit="max_completion_tokens"
    )
    body: dict[str, JsonValue] = dict(body_of(entry, max_output_tokens=3, answer_schema=CLOSED))
    assert set(body) == {"model", "messages", "stream", "max_completion_tokens", "response_format"}


def test_a_file_goes_as_text_that_names_it_before_the_words() -> None:
    sent = messages_of(Message(role=Role.USER, content=(FILE, TextPart("Sum it up"))))
    assert sent == [{"role": "user", "content": f"{SPELLED}Sum it up"}]


def test_a_file_beside_a_picture_is_a_part_of_its_own() -> None:
    sent = messages_of(Message(role=Role.USER, content=(FILE, ImagePart("image/png", "AAAA"))))
    assert sent[0]["content"][0] == {"type": "text", "text": SPELLED}
    assert sent[0]["content"][1]["type"] == "image_url"
