import json
from dataclasses import replace
from typing import Any

import pytest

from skales.core.json import JsonObject
from skales.core.message import FilePart, ImagePart, Message, Role, TextPart, text_message
from skales.core.ports import ChatRequest
from skales.core.tool import Safety, ToolCall, ToolSpec
from skales.providers.catalog import find_entry
from skales.providers.formats.anthropic_request import build_body, concede
from skales.providers.history import repair_history
from skales.providers.toolnames import to_wire_name
from tests.conftest import CASES
from tests.providers.sessions import read_session

USER = text_message(Role.USER, "Hello")
PNG = ImagePart("image/png", "AAAA", "a.png")
MARK = {"type": "ephemeral"}
HI = {"type": "text", "text": "Hello"}
FILE = FilePart('no"tes.md', "text/markdown", 9, "buy milk", "/data/1-notes.md")
SPELLED = (
    '<attached_file name="no\\"tes.md" type="text/markdown" size_bytes=9 path="/data/1-notes.md">\n'
    "buy milk\n</attached_file>\n\n"
)


def body_of(*messages: Message, conceded: frozenset[str] = frozenset(), **fields: Any) -> dict[str, Any]:
    request = ChatRequest(**{"model": "claude-opus-4-8", "messages": messages, **fields})
    built = json.loads(json.dumps(build_body(find_entry("anthropic"), request, conceded)))
    assert isinstance(built, dict)
    return built


def messages_of(*messages: Message) -> list[dict[str, Any]]:
    """Messages without the markers for the cache."""
    built: list[dict[str, Any]] = body_of(*messages)["messages"]
    for message in built:
        for block in message["content"]:
            block.pop("cache_control", None)
    return built


def spec(name: str, parameters: JsonObject | None = None) -> ToolSpec:
    return ToolSpec(name=name, description=f"Do {name}", parameters=parameters or {}, category="c", safety=Safety.AUTO)


def answer(text: str = "", *calls: ToolCall, **fields: Any) -> Message:
    return Message(role=Role.ASSISTANT, content=(TextPart(text),) if text else (), tool_calls=calls, **fields)


def result(call_id: str, *parts: TextPart | ImagePart, is_error: bool = False) -> Message:
    return Message(role=Role.TOOL, content=parts, tool_call_id=call_id, is_error=is_error)


def test_each_role_has_its_shape() -> None:
    built = messages_of(
        text_message(Role.SYSTEM, "Be brief."),
        USER,
        answer("Reading.", ToolCall("c1", "read_file", {"path": "ä"}), reasoning="Hm"),
        result("c1", TextPart("done")),
        answer("Done."),
        text_message(Role.USER, "Thanks"),
    )
    assert built == [
        {"role": "user", "content": [HI]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Reading."},
                {"type": "tool_use", "id": "c1", "name": "read_file", "input": {"path": "ä"}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "done"}]}],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
        {"role": "user", "content": [{"type": "text", "text": "Thanks"}]},
    ]


def test_a_session_cancelled_between_two_results_goes_on() -> None:
    folder = CASES / "history"
    session = json.loads((folder / "HIS-01-cancelled-turn.session.json").read_text(encoding="utf-8"))
    wanted = json.loads((folder / "HIS-01-cancelled-turn.expected.json").read_text(encoding="utf-8"))["anthropic"]

    built = messages_of(*repair_history(read_session(session)))

    assert [message["role"] for message in built] == wanted["roles"]
    last = built[-1]["content"]
    assert [block["type"] for block in last] == wanted["last_user_content_types"]
    assert [block["id"] for block in built[1]["content"]] == wanted["tool_use_ids"]
    assert [block["tool_use_id"] for block in last[:2]] == wanted["tool_use_ids"]
    assert last[1]["is_error"] is wanted["c2_is_error"]
    assert "is_error" not in last[0]


def test_ids_of_other_vendors_are_spelled_legally_and_stay_apart() -> None:
    ids = ["functions.read:0", "functions.read:1", "functions_read_0", "x" * 80]
    calls = [ToolCall(call_id, "a") for call_id in ids]
    built = messages_of(USER, answer("", *calls), *(result(call_id, TextPart("r")) for call_id in ids))
    sent = [block["id"] for block in built[1]["content"]]
    assert len(set(sent)) == 4
    assert sent[2] == "functions_read_0"
    assert sent == [block["tool_use_id"] for block in built[2]["content"]] == [to_wire_name(call_id) for call_id in ids]


def test_a_session_of_other_vendors_keeps_its_ids() -> None:
    text = (CASES / "history" / "HIS-02-to-mistral.session.json").read_text(encoding="utf-8")
    built = messages_of(*repair_history(read_session(json.loads(text))))
    roles = [message["role"] for message in built]
    assert roles == ["user", "assistant", "user", "assistant", "user", "assistant", "user"]
    assert [block["type"] for block in built[2]["content"]] == ["tool_result", "tool_result", "text"]
    uses = [block["id"] for message in built for block in message["content"] if block["type"] == "tool_use"]
    results = [block["tool_use_id"] for message in built for block in message["content"] if "tool_use_id" in block]
    assert uses == results


@pytest.mark.parametrize(
    ("messages", "roles"),
    [
        ((), ["user"]),
        ((text_message(Role.SYSTEM, "s"),), ["user"]),
        ((answer("a"),), ["user", "assistant", "user"]),
        ((answer("a"), USER), ["user", "assistant", "user"]),
        ((USER, USER, answer("a"), answer("b"), USER, text_message(Role.SYSTEM, "s")), ["user", "assistant", "user"]),
        ((USER, text_message(Role.USER, " \n"), answer("a"), USER), ["user", "assistant", "user"]),
    ],
)
def test_sides_alternate_and_the_user_is_first_and_last(messages: tuple[Message, ...], roles: list[str]) -> None:
    built = messages_of(*messages)
    assert [message["role"] for message in built] == roles
    assert all(message["content"] for message in built)


def test_blank_text_is_never_sent() -> None:
    message = Message(role=Role.USER, content=(TextPart(" "), PNG, TextPart("")))
    (built,) = messages_of(message)
    assert [block["type"] for block in built["content"]] == ["image"]


def test_pictures_go_where_they_belong() -> None:
    tiff = ImagePart("image/tiff", "AAAA")
    built = messages_of(
        Message(role=Role.USER, content=(TextPart("Look"), PNG, tiff)),
        answer("", ToolCall("c1", "a"), ToolCall("c2", "a")),
        result("c1", PNG, is_error=True),
        result("c2"),
        Message(role=Role.ASSISTANT, content=(PNG,)),
    )
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    assert built[0]["content"][1] == image
    assert "image/tiff" in built[0]["content"][2]["text"]
    assert built[2]["content"][0]["content"] == [image]
    assert built[2]["content"][0]["is_error"] is True
    assert built[2]["content"][1]["content"] == [{"type": "text", "text": "(no output)"}]
    assert built[3]["content"] == [{"type": "text", "text": "(A picture.)"}]


# --- blocks that go back ---

BLOCKS: list[JsonObject] = [
    {"type": "thinking", "thinking": "", "signature": "c2ln"},
    {"type": "text", "text": "Look."},
    {"type": "tool_use", "id": "c1", "name": "read_file", "input": {"path": "x"}},
]
CALL = ToolCall("c1", "read_file", {"path": "x"})


def test_blocks_of_this_format_go_back_unchanged() -> None:
    native = {"format": "anthropic", "blocks": BLOCKS}
    built = messages_of(USER, answer("Look.", CALL, native=native), result("c1"))
    assert built[1]["content"] == BLOCKS


def test_a_call_that_got_another_id_has_it_in_its_block_too() -> None:
    native = {"format": "anthropic", "blocks": BLOCKS}
    call = ToolCall("c1_2", "read_file", {"path": "x"})
    built = messages_of(USER, answer("Look.", call, native=native), result("c1_2"))
    assert built[1]["content"] == [*BLOCKS[:2], {**BLOCKS[2], "id": "c1_2"}]


@pytest.mark.parametrize(
    "native",
    [{"format": "google", "blocks": BLOCKS}, {"format": "anthropic", "blocks": BLOCKS[:2]}, {"format": "anthropic"}],
    ids=["another format", "another number of calls", "no blocks"],
)
def test_blocks_that_do_not_fit_are_left_out(native: JsonObject) -> None:
    built = messages_of(USER, answer("Look.", CALL, native=native), result("c1"))
    assert built[1]["content"] == [BLOCKS[1], BLOCKS[2]]


UNREADABLE = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to another conversation"


@pytest.mark.parametrize(
    ("blocks", "left"),
    [
        (BLOCKS, BLOCKS[1:]),
        ([{"type": "redacted_thinking", "data": "eA=="}, *BLOCKS[1:]], BLOCKS[1:]),
    ],
)
def test_thinking_that_is_valid_no_more_is_left_out_of_that_conversation_only(
    blocks: list[JsonObject], left: list[JsonObject]
) -> None:
    history = (USER, answer("Look.", CALL, native={"format": "anthropic", "blocks": blocks}), result("c1"))
    wish = concede(body_of(*history), UNREADABLE)
    conceded = frozenset({wish})
    again = body_of(*history, conceded=conceded)
    assert again["messages"][1]["content"] == left
    assert concede(again, UNREADABLE) == ""
    other = [{"type": "thinking", "thinking": "", "signature": "b3RoZXI="}, *BLOCKS[1:]]
    elsewhere = (USER, answer("Look.", CALL, native={"format": "anthropic", "blocks": other}), result("c1"))
    assert body_of(*elsewhere, conceded=conceded)["messages"][1]["content"] == other


def test_a_turn_of_nothing_but_invalid_thinking_does_not_become_empty() -> None:
    native = {"format": "anthropic", "blocks": BLOCKS[:1]}
    built = body_of(USER, answer("Look.", native=native), USER, conceded=frozenset({"seal c2ln"}))
    assert built["messages"][1]["content"] == [{"type": "text", "text": "(No answer.)"}]


# --- fields ---


def test_the_stable_beginning_is_marked_for_the_cache() -> None:
    built = body_of(text_message(Role.SYSTEM, "s"), USER, answer("a"), USER, answer("b"), USER, tools=(spec("a"),))
    assert built["system"] == [{"type": "text", "text": "s", "cache_control": MARK}]
    marked = [message["content"][-1].get("cache_control") for message in built["messages"]]
    assert marked == [None, None, MARK, None, MARK]
    assert "cache_control" not in built["tools"][0]


def test_tools_are_marked_when_there_are_no_system_words() -> None:
    built = body_of(USER, tools=(spec("a"), spec("b")))
    assert "system" not in built
    assert [tool.get("cache_control") for tool in built["tools"]] == [None, MARK]


def test_the_beginning_stays_the_same_while_a_conversation_grows() -> None:
    turn = [text_message(Role.SYSTEM, "s"), USER, answer("", CALL), result("c1", TextPart("r"))]
    assert messages_of(*turn, answer("a"), USER)[:3] == messages_of(*turn)


@pytest.mark.parametrize(
    ("model", "wish", "conceded", "limit"),
    [
        ("claude-opus-4-8", 0, "", 128_000),
        ("claude-haiku-4-5", 0, "", 64_000),
        ("claude-haiku-4-5", 100, "", 100),
        ("claude-2", 0, "", 32_000),
        ("claude-2", 0, "max_tokens claude-2 4096", 4096),
        ("claude-2", 100, "max_tokens claude-2 4096", 100),
        ("claude-opus-4-8", 0, "max_tokens claude-2 4096", 128_000),
    ],
)
def test_every_request_has_an_output_limit(model: str, wish: int, conceded: str, limit: int) -> None:
    built = body_of(USER, model=model, max_output_tokens=wish, conceded=frozenset({conceded}))
    assert built["max_tokens"] == limit


def test_only_models_that_think_unasked_are_asked_to_tell() -> None:
    assert body_of(USER, model="claude-fable-5")["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert "thinking" not in body_of(USER)
    assert "thinking" not in body_of(USER, model="claude-fable-5", conceded=frozenset({"thinking"}))


def test_the_temperature_is_sent_within_this_vendors_range() -> None:
    assert body_of(USER, temperature=0.5)["temperature"] == 0.5
    assert body_of(USER, temperature=1.7)["temperature"] == 1.0
    assert "temperature" not in body_of(USER)
    assert "temperature" not in body_of(USER, temperature=0.5, conceded=frozenset({"temperature"}))


def test_tools_keep_their_schema_and_the_first_of_equal_names_counts() -> None:
    schema: JsonObject = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    tools = (spec("files.read", schema), spec("b"), spec("b", schema))
    built = body_of(USER, text_message(Role.SYSTEM, ""), tools=tools)["tools"]
    assert [tool["name"] for tool in built] == [to_wire_name("files.read"), "b"]
    assert built[0]["input_schema"] == schema
    assert built[1]["input_schema"] == {"type": "object", "properties": {}}
    assert built[0]["description"] == "Do files.read"


def test_no_union_stands_at_the_top_of_a_tool() -> None:
    one: JsonObject = {"properties": {"a": {"type": "string"}}, "required": ["a", "id"]}
    two: JsonObject = {"$ref": "#/$defs/Two"}
    schema: JsonObject = {
        "anyOf": [one, two],
        "properties": {"id": {"type": "integer"}},
        "$defs": {"Two": {"properties": {"b": {"type": "string"}}, "required": ["id"]}},
    }
    before = json.dumps(schema)
    (built,) = body_of(USER, tools=(spec("a", schema),))["tools"]
    assert "anyOf" not in built["input_schema"]
    assert built["input_schema"]["type"] == "object"
    assert set(built["input_schema"]["properties"]) == {"id", "a", "b"}
    assert built["input_schema"]["required"] == ["id"]
    assert json.dumps(schema) == before


def test_calls_in_the_history_have_their_tools_defined_when_none_is_offered() -> None:
    built = body_of(USER, answer("", CALL), result("c1"))
    assert [tool["name"] for tool in built["tools"]] == ["read_file"]
    assert built["tool_choice"] == {"type": "none"}
    assert "tool_choice" not in body_of(USER, answer("", CALL), result("c1"), tools=(spec("read_file"),))
    assert "tools" not in body_of(USER)


# --- answers of a given shape ---


def test_an_answer_is_held_to_what_the_vendor_enforces() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 1, "description": "Count."}},
    }
    built = body_of(USER, answer_schema=schema)
    assert built["output_config"]["format"] == {
        "type": "json_schema",
        "schema": {
            "type": "object",
            "properties": {"n": {"type": "integer", "description": "Count. At least 1."}},
            "additionalProperties": False,
        },
    }
    assert "system" not in built


@pytest.mark.parametrize(
    ("schema", "conceded"),
    [
        ({"type": "object", "additionalProperties": {"type": "string"}}, ""),
        ({"type": "object", "properties": {"n": {"type": "integer"}}}, "output_config"),
    ],
    ids=["names of any kind", "refused before"],
)
def test_what_the_vendor_cannot_enforce_is_asked_for_in_words(schema: JsonObject, conceded: str) -> None:
    built = body_of(text_message(Role.SYSTEM, "s"), USER, answer_schema=schema, conceded=frozenset({conceded}))
    assert "output_config" not in built
    assert built["system"][0]["text"].startswith("s\n\nAnswer with nothing but one JSON object")
    assert json.dumps(schema) in built["system"][0]["text"]


@pytest.mark.parametrize(
    ("refusal", "wish"),
    [
        ("`temperature` is deprecated for this model.", "temperature"),
        ("thinking: adaptive thinking is not supported on this model", "thinking"),
        ("output_config.format: Extra inputs are not permitted", "output_config"),
        ("Schema is too complex for compilation", "output_config"),
        ("max_tokens: 128000 > 8192, which is the maximum allowed number of output tokens", "max_tokens m 8192"),
        ("max_tokens: 128000 > 128000, which is odd", ""),
        ("messages: text content blocks must be non-empty", ""),
        ("tools: this model does not support tools", ""),
    ],
)
def test_a_refusal_names_what_can_be_left_out(refusal: str, wish: str) -> None:
    body: JsonObject = {"model": "m", "max_tokens": 128_000, "temperature": 1, "thinking": {}, "output_config": {}}
    assert concede(body, refusal) == wish
    assert concede({"model": "m", "max_tokens": 1}, refusal) == ""


def test_a_text_file_goes_as_a_document_of_text_before_the_words() -> None:
    sent = messages_of(Message(role=Role.USER, content=(FILE, PNG, TextPart("Sum it up"))))
    assert [block["type"] for block in sent[0]["content"]] == ["document", "image", "text"]
    assert {**sent[0]["content"][0], "cache_control": None} == {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": "buy milk"},
        "title": 'no"tes.md',
        "context": '<attached_file name="no\\"tes.md" type="text/markdown" size_bytes=9 path="/data/1-notes.md" />',
        "cache_control": None,
    }


@pytest.mark.parametrize("media_type", ["application/json", "application/pdf", "application/octet-stream"])
def test_a_message_that_is_only_a_file_of_another_kind_is_sent_as_text(media_type: str) -> None:
    sent = messages_of(Message(role=Role.USER, content=(replace(FILE, media_type=media_type),)))
    (block,) = sent[0]["content"]
    assert block["text"] == SPELLED.replace("text/markdown", media_type)
