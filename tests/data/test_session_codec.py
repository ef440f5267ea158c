import json
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from skales.core.ids import SessionId
from skales.core.json import JsonObject, JsonValue, as_list, as_object
from skales.core.message import FilePart, ImagePart, Message, Role, TextPart, Usage, text_message
from skales.core.tool import ToolCall
from skales.data.session_codec import (
    Session,
    Waiting,
    check_session,
    default_title,
    message_from_disk,
    message_to_disk,
    messages_from_disk,
    new_session_to_disk,
    session_from_disk,
)
from skales.data.session_spelling import read_moment
from tests.conftest import CASES

HISTORY = sorted((CASES / "history").glob("*.session.json"))
MTIME_MS = 1_940_000_000_000


def load(raw: JsonValue) -> Message:
    message = message_from_disk(raw)
    assert message is not None
    return message


def exact(value: JsonValue) -> str:
    """Equal texts mean equal values of equal types: 1, 1.0 and true differ."""
    return json.dumps(value, sort_keys=True)


def call(arguments: JsonValue) -> JsonObject:
    return {"id": "c1", "type": "function", "function": {"name": "f", "arguments": arguments}}


# --- nothing is lost ---------------------------------------------------------------------------------------------

ENTRIES: dict[str, JsonObject] = {
    "text": {"role": "user", "content": "Hi", "timestamp": 1_755_800_000_000},
    "empty text": {"role": "assistant", "content": ""},
    "no content": {"role": "assistant", "content": None, "tool_calls": [call("{}")]},
    "odd content": {"role": "user", "content": 7},
    "parts": {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
    "one part": {"role": "user", "content": [{"type": "text", "text": "a"}]},
    "an empty part": {"role": "user", "content": [{"type": "text", "text": ""}]},
    "no parts": {"role": "user", "content": []},
    "part with more": {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"x": 1}}]},
    "unknown part": {"role": "user", "content": [{"type": "audio", "data": "AA=="}, {"type": "text", "text": "a"}]},
    "odd parts": {"role": "user", "content": ["loose", None, {"text": "no type"}, {"type": ["text"]}, 3]},
    "our picture": {
        "role": "user",
        "content": [{"type": "image", "media_type": "image/png", "data": "AA==", "name": "a.png"}],
    },
    "nameless picture": {"role": "user", "content": [{"type": "image", "media_type": "image/png", "data": "AA=="}]},
    "openai picture": {
        "role": "user",
        "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA==", "detail": "low"}}],
    },
    "remote picture": {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a.b/c.png"}}]},
    "anthropic picture": {
        "role": "user",
        "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": "AA=="}}],
    },
    "empty picture": {"role": "user", "content": [{"type": "image", "media_type": "", "data": ""}]},
    "call": {"role": "assistant", "content": "", "tool_calls": [call('{"a":  1}'), call("{}")]},
    "call without type": {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": {"name": "f"}}]},
    "call with object": {"role": "assistant", "content": "", "tool_calls": [call({"a": 1})]},
    "call with signature": {
        "role": "assistant",
        "content": "",
        "tool_calls": [{**call("{}"), "extra_content": {"s": 1}}],
    },
    "torn call": {"role": "assistant", "content": "", "tool_calls": [call('{"a": ')]},
    "call with list": {"role": "assistant", "content": "", "tool_calls": [call("[1]")]},
    "call with blank": {"role": "assistant", "content": "", "tool_calls": [call(" ")]},
    "odd calls": {"role": "assistant", "content": "x", "tool_calls": [None, {}, {"function": {"name": 3}}, "f()"]},
    "call of an odd function": {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f"}}],
    },
    "call with an odd id": {"role": "assistant", "content": "", "tool_calls": [{**call("{}"), "id": 7}]},
    "native": {
        "role": "assistant",
        "content": "a",
        "native": {"format": "anthropic", "blocks": [{"type": "thinking"}]},
    },
    "odd native": {"role": "assistant", "content": "a", "native": [1]},
    "empty native": {"role": "assistant", "content": "a", "native": {}},
    "late time": {"role": "user", "content": "a", "timestamp": 8_640_000_000_000_000},
    "too late a time": {"role": "user", "content": "a", "timestamp": 8_640_000_000_000_001},
    "negative duration": {"role": "assistant", "content": "a", "duration_ms": -5},
    "usage in another order": {
        "role": "assistant",
        "content": "a",
        "usage": {"output_tokens": 2, "input_tokens": 3, "cached_tokens": 1},
    },
    "usage with a point": {
        "role": "assistant",
        "content": "a",
        "usage": {"input_tokens": 3.0, "output_tokens": True, "cached_tokens": 1},
    },
    "null calls": {"role": "assistant", "content": "x", "tool_calls": None},
    "result": {"role": "tool", "tool_call_id": "c1", "name": "f", "content": "done", "is_error": True},
    "good result": {"role": "tool", "tool_call_id": "c1", "name": "f", "content": "done", "is_error": False},
    "odd result": {"role": "tool", "tool_call_id": 5, "name": None, "content": "done", "is_error": "yes"},
    "flag as number": {"role": "tool", "content": "done", "is_error": 1},
    "reasoning": {"role": "assistant", "content": "a", "reasoning_content": "because"},
    "other reasoning": {"role": "assistant", "content": "a", "reasoning": "because"},
    "both reasonings": {"role": "assistant", "content": "a", "reasoning_content": "x", "reasoning": "y"},
    "same reasonings": {"role": "assistant", "content": "a", "reasoning_content": "x", "reasoning": "x"},
    "empty reasoning": {"role": "assistant", "content": "a", "reasoning_content": ""},
    "reasoning object": {"role": "assistant", "content": "a", "reasoning": {"effort": "low"}},
    "reasoning and object": {"role": "assistant", "content": "a", "reasoning": {"e": 1}, "reasoning_content": "x"},
    "writer": {"role": "assistant", "content": "a", "provider": "openai", "model": "m", "incomplete": "stopped"},
    "usage": {
        "role": "assistant",
        "content": "a",
        "usage": {"input_tokens": 3, "output_tokens": 2, "cached_tokens": 1},
        "duration_ms": 1200,
    },
    "part of usage": {"role": "assistant", "content": "a", "usage": {"input_tokens": 3, "cost": 0.1}},
    "empty usage": {"role": "assistant", "content": "a", "usage": {}},
    "odd usage": {"role": "assistant", "content": "a", "usage": [1]},
    "null usage": {"role": "assistant", "content": "a", "usage": None, "duration_ms": None},
    "iso time": {"role": "user", "content": "a", "timestamp": "2026-08-21T10:00:00Z"},
    "time with a point": {"role": "user", "content": "a", "timestamp": 1_755_800_000_000.0},
    "no time": {"role": "user", "content": "a", "timestamp": 0},
    "odd time": {"role": "user", "content": "a", "timestamp": "yesterday"},
    "endless time": {"role": "user", "content": "a", "timestamp": float("inf"), "duration_ms": float("inf")},
    "huge time": {"role": "user", "content": "a", "timestamp": 10**30},
    "true time": {"role": "user", "content": "a", "timestamp": True},
    "unknown keys": {"role": "user", "content": "a", "source": "telegram", "display_message": "b", "x": {"y": [1]}},
    "system": {"role": "system", "content": "Be brief"},
}


@pytest.mark.parametrize("raw", ENTRIES.values(), ids=ENTRIES.keys())
def test_an_entry_that_is_read_and_written_keeps_every_key_and_value(raw: JsonObject) -> None:
    assert exact(message_to_disk(load(raw))) == exact(raw)


@pytest.mark.parametrize("raw", ENTRIES.values(), ids=ENTRIES.keys())
def test_a_change_beside_an_oddity_leaves_the_oddity(raw: JsonObject) -> None:
    changed = message_to_disk(replace(load(raw), incomplete="cut"))
    assert exact(changed) == exact({**raw, "incomplete": "cut"})


@pytest.mark.parametrize("path", HISTORY, ids=lambda path: path.name)
def test_known_histories_are_read_whole_and_written_unchanged(path: object) -> None:
    raw = json.loads((CASES / "history" / str(path)).read_text(encoding="utf-8"))
    session = session_from_disk(SessionId(raw["id"]), raw, mtime_ms=MTIME_MS)
    assert exact([message_to_disk(message) for message in session.messages]) == exact(raw["messages"])
    assert [message.role.value for message in session.messages] == [entry["role"] for entry in raw["messages"]]
    assert (session.title, session.provider, session.created_ms) == (raw["title"], raw["provider"], raw["createdAt"])
    assert session.extra == {}


def test_an_entry_without_content_is_written_with_an_empty_one() -> None:
    assert message_to_disk(load({"role": "assistant"})) == {"role": "assistant", "content": ""}


# --- a raw form lives only as long as it is true -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "changes", "written"),
    [
        ({"role": "user", "content": None}, {"content": (TextPart("new"),)}, {"content": "new"}),
        ({"role": "user", "content": [{"type": "audio"}]}, {"content": (TextPart("new"),)}, {"content": "new"}),
        ({"role": "user", "content": "a", "timestamp": "2026-08-21T10:00:00Z"}, {"timestamp_ms": 5}, {"timestamp": 5}),
        ({"role": "assistant", "content": "a", "reasoning": "old"}, {"reasoning": "new"}, {"reasoning_content": "new"}),
        (
            {"role": "assistant", "content": "a", "usage": None},
            {"usage": Usage(1, 2)},
            {"usage": {"input_tokens": 1, "output_tokens": 2, "cached_tokens": 0}},
        ),
        (
            {"role": "assistant", "content": "a", "tool_calls": [None]},
            {"tool_calls": (ToolCall("c1", "f"),)},
            {"tool_calls": [call("{}")]},
        ),
    ],
)
def test_a_changed_field_is_written_as_it_is_now(raw: JsonObject, changes: dict[str, Any], written: JsonObject) -> None:
    message = replace(load(raw), **changes)
    assert message_to_disk(message) == {"role": raw["role"], "content": raw["content"], **written}


def test_a_raw_text_that_says_something_else_is_not_written() -> None:
    message = Message(role=Role.USER, content=(TextPart("new"),), extra={"content": "old"})
    assert message_to_disk(message)["content"] == "new"


# --- what entries mean -------------------------------------------------------------------------------------------


def test_every_field_of_a_message_has_its_key() -> None:
    message = Message(
        role=Role.ASSISTANT,
        content=(TextPart("Look:"), ImagePart("image/png", "AA==", "a.png"), ImagePart("image/gif", "BB==")),
        timestamp_ms=5,
        tool_calls=(ToolCall("c1", "read_file", {"path": "ä"}),),
        tool_call_id="c0",
        name="n",
        is_error=True,
        reasoning="because",
        provider="openai",
        model="m",
        incomplete="stopped",
        usage=Usage(1, 2, 3),
        duration_ms=7,
        extra={"source": "cli"},
    )
    assert message_to_disk(message) == {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Look:"},
            {"type": "image", "media_type": "image/png", "data": "AA==", "name": "a.png"},
            {"type": "image", "media_type": "image/gif", "data": "BB=="},
        ],
        "timestamp": 5,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "ä"}'}}
        ],
        "tool_call_id": "c0",
        "name": "n",
        "is_error": True,
        "reasoning_content": "because",
        "provider": "openai",
        "model": "m",
        "incomplete": "stopped",
        "usage": {"input_tokens": 1, "output_tokens": 2, "cached_tokens": 3},
        "duration_ms": 7,
        "source": "cli",
    }
    back = load(message_to_disk(message))
    assert back == replace(message, tool_calls=(replace(message.tool_calls[0], raw='{"path": "ä"}'),))


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("a", (TextPart("a"),)),
        ("", ()),
        (None, ()),
        (
            [{"type": "text", "text": "a"}, {"type": "audio"}, {"type": "text", "text": "b"}],
            (TextPart("a"), TextPart("b")),
        ),
        ([{"type": "image", "media_type": "image/png", "data": "AA=="}], (ImagePart("image/png", "AA=="),)),
        (
            [{"type": "image_url", "image_url": {"url": "data:image/svg+xml;base64,AA=="}}],
            (ImagePart("image/svg+xml", "AA=="),),
        ),
        ([{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}], ()),
        (
            [{"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": "AA=="}}],
            (ImagePart("image/gif", "AA=="),),
        ),
        ([{"type": "image", "media_type": "image/png"}], ()),
    ],
)
def test_content_becomes_parts(content: JsonValue, parts: tuple[object, ...]) -> None:
    assert load({"role": "user", "content": content}).content == parts


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"a": [1]}', ToolCall("c1", "f", {"a": [1]}, raw='{"a": [1]}')),
        ("", ToolCall("c1", "f")),
        (None, ToolCall("c1", "f")),
        ({"a": 1}, ToolCall("c1", "f", {"a": 1})),
        ("[1]", ToolCall("c1", "f", problem="The arguments are not a JSON object", raw="[1]")),
    ],
)
def test_a_call_is_read_with_its_arguments(arguments: JsonValue, expected: ToolCall) -> None:
    assert load({"role": "assistant", "tool_calls": [call(arguments)]}).tool_calls == (expected,)


@pytest.mark.parametrize("torn", ['{"a": ', "x", '{"a":' * 100_000])
def test_unreadable_arguments_are_a_problem_told_in_words(torn: str) -> None:
    (found,) = load({"role": "assistant", "tool_calls": [call(torn)]}).tool_calls
    assert found.arguments == {}
    assert found.problem.startswith("The arguments are not valid JSON: ")
    assert found.raw == torn


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (ToolCall("c1", "f", {"a": 1}, raw='{ "a":1 }'), '{ "a":1 }'),
        (ToolCall("c1", "f", {"a": 1}, raw='Sure: {"a": 1}'), '{"a": 1}'),
        (ToolCall("c1", "f", {"a": 2}, raw='{"a": 1}'), '{"a": 2}'),
        (ToolCall("c1", "f", problem="torn", raw='{"a": '), '{"a": '),
        (ToolCall("c1", "f"), "{}"),
    ],
    ids=["own spelling", "dug out of prose", "changed", "unusable", "none"],
)
def test_arguments_are_written_as_the_model_wrote_them_where_that_says_the_same(written: ToolCall, text: str) -> None:
    raw = message_to_disk(Message(role=Role.ASSISTANT, tool_calls=(written,)))
    assert raw["tool_calls"] == [call(text)]


def test_a_call_beside_unreadable_ones_is_kept() -> None:
    message = load({"role": "assistant", "tool_calls": [None, call("{}"), {"id": "c2"}]})
    assert [found.id for found in message.tool_calls] == ["c1"]


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_reasoning_is_never_content(key: str) -> None:
    message = load({"role": "assistant", "content": "Rye.", key: "Any bread will do."})
    assert (message.text, message.reasoning) == ("Rye.", "Any bread will do.")


ODD: list[JsonValue] = [
    None,
    "text",
    7,
    [],
    {},
    {"content": "no role"},
    {"role": "developer", "content": "x"},
    {"role": None},
    {"role": ["user"]},
    {"role": "User"},
]


@pytest.mark.parametrize("odd", ODD)
def test_what_is_no_message_is_passed_over(odd: JsonValue) -> None:
    assert message_from_disk(odd) is None
    good = {"role": "user", "content": "a"}
    assert messages_from_disk([good, odd, good]) == (text_message(Role.USER, "a"),) * 2


# --- moments -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "moment_ms"),
    [
        (1_755_800_000_000, 1_755_800_000_000),
        (1_755_800_000_000.75, 1_755_800_000_000),
        ("1755800000000", 1_755_800_000_000),
        ("2025-08-21T18:13:20Z", 1_755_800_000_000),
        ("2025-08-21T18:13:20.123456+00:00", 1_755_800_000_123),
        ("2025-08-21T20:13:20+02:00", 1_755_800_000_000),
        ("2025-08-21 18:13:20", 1_755_800_000_000),
        ("2025-08-21", 1_755_734_400_000),
        (8_640_000_000_000_000, 8_640_000_000_000_000),
        (8_640_000_000_000_001, 0),
        ("9" * 5000, 0),
        (10**400, 0),
        (0, 0),
        (-5, 0),
        (True, 0),
        (float("inf"), 0),
        (float("nan"), 0),
        ("0001-01-01T00:00:00+14:00", 0),
        ("1969-12-31T23:59:59Z", 0),
        ("soon", 0),
        ("", 0),
        (None, 0),
        ([1], 0),
        ({}, 0),
    ],
)
def test_a_moment_is_read_from_what_files_hold(raw: JsonValue, moment_ms: int) -> None:
    assert read_moment(raw) == moment_ms


# --- sessions ----------------------------------------------------------------------------------------------------


def decode(raw: JsonObject, session_id: str = "s") -> Session:
    return session_from_disk(SessionId(session_id), raw, mtime_ms=MTIME_MS)


def test_a_session_is_read_with_all_its_keys() -> None:
    raw: JsonObject = {
        "id": "another",
        "title": "Calendar",
        "provider": "anthropic",
        "model": "claude",
        "agentId": "researcher",
        "createdAt": 5,
        "updatedAt": 6,
        "messages": [{"role": "user", "content": "Hi"}, "odd"],
        "queued": ["next", 7, "and next"],
        "x_plugin": {"keep": "me"},
    }
    assert decode(raw, "session_1") == Session(
        id=SessionId("session_1"),
        title="Calendar",
        provider="anthropic",
        model="claude",
        agent_id="researcher",
        created_ms=5,
        updated_ms=6,
        messages=(text_message(Role.USER, "Hi"),),
        queued=(Waiting("next"), Waiting("and next")),
        extra={"x_plugin": {"keep": "me"}},
    )


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"title": None, "provider": 3, "model": [], "agentId": {}, "messages": None, "queued": "text"},
        {"createdAt": "soon", "updatedAt": {}, "messages": [], "queued": None},
    ],
)
def test_a_session_that_says_nothing_is_an_empty_one(raw: JsonObject) -> None:
    check_session(raw)
    session = decode(raw)
    assert session == structs.replace(decode({}), extra=session.extra)
    assert (session.title, session.messages, session.queued) == ("", (), ())


@pytest.mark.parametrize("messages", ["text", 7, {"0": {}}, True])
def test_messages_that_are_no_list_make_no_session(messages: JsonValue) -> None:
    with pytest.raises(ValueError, match="`messages` is not a list"):
        check_session({"messages": messages})


MESSAGES: list[JsonValue] = [
    {"role": "user", "content": "a"},
    {"role": "assistant", "content": "b", "timestamp": 70},
    {"role": "user", "content": "c", "timestamp": "1970-01-01T00:00:00.090Z"},
    {"role": "assistant", "content": "d"},
]


@pytest.mark.parametrize(
    ("session_id", "raw", "times"),
    [
        ("s", {"createdAt": 3, "updatedAt": "1970-01-01T00:00:00.004Z", "messages": MESSAGES}, (3, 4)),
        ("s", {"messages": MESSAGES}, (70, 90)),
        ("session_1755800000000", {"messages": MESSAGES}, (70, 90)),
        ("session_1755800000000", {}, (1_755_800_000_000, MTIME_MS)),
        ("session_x", {}, (MTIME_MS, MTIME_MS)),
        ("session_001", {"messages": MESSAGES[:1]}, (MTIME_MS, MTIME_MS)),
    ],
)
def test_missing_times_come_from_the_next_best_place(session_id: str, raw: JsonObject, times: tuple[int, int]) -> None:
    session = decode(raw, session_id)
    assert (session.created_ms, session.updated_ms) == times


def test_a_new_session_is_written_so_that_it_reads_the_same() -> None:
    session = decode({"title": "T", "provider": "p", "model": "m", "createdAt": 5, "updatedAt": 6}, "session_1")
    assert list(new_session_to_disk(session)) == [
        "id",
        "title",
        "provider",
        "model",
        "createdAt",
        "updatedAt",
        "messages",
    ]
    full = structs.replace(
        session,
        agent_id="researcher",
        queued=(Waiting("next"),),
        messages=messages_from_disk(MESSAGES),
        pinned=True,
        folder="Garden",
        extra={"x": 1},
    )
    raw = new_session_to_disk(full)
    assert decode(raw, "session_1") == full
    assert as_list(raw["messages"]) == MESSAGES
    assert as_object(raw)["agentId"] == "researcher"


WORD_60 = "x" * 60


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("What is on today?", "What is on today?"),
        ("  \n\n  What  is\ton \n today?", "What is on"),
        (WORD_60, WORD_60),
        (WORD_60 + "y", "x" * 59 + "…"),
        ("x" * 59 + " yz", "x" * 59 + "…"),
        ("x" * 58 + " yz", "x" * 58 + "…"),
        (
            "Tell me about the garden, the house, and then, finally, about all the rest",
            "Tell me about the garden, the house, and then, finally…",
        ),
        ("日" * 61, "日" * 59 + "…"),
    ],
)
def test_the_default_title_is_the_first_line_cut_at_a_word(text: str, title: str) -> None:
    assert default_title((text_message(Role.USER, text),)) == title
    assert len(title) <= 60


def test_the_default_title_is_the_first_thing_the_user_wrote() -> None:
    picture = Message(role=Role.USER, content=(ImagePart("image/png", "AA=="),))
    history = (
        text_message(Role.SYSTEM, "Be brief"),
        text_message(Role.ASSISTANT, "Hello"),
        picture,
        text_message(Role.USER, " \n"),
        text_message(Role.USER, "First"),
        text_message(Role.USER, "Second"),
    )
    assert default_title(history) == "First"
    assert default_title(history[:3]) == ""
    assert decode({"title": " ", "messages": [message_to_disk(message) for message in history]}).title == "First"


# --- files ---------------------------------------------------------------------------------------------------------


def test_a_file_with_its_text_survives_the_way_to_disk_and_back() -> None:
    message = Message(
        role=Role.USER,
        content=(FilePart("notes.md", "text/markdown", 8, "buy milk", "/data/1-notes.md"), TextPart("Sum it up")),
    )
    raw = message_to_disk(message)
    assert raw["content"] == [
        {
            "type": "file",
            "name": "notes.md",
            "media_type": "text/markdown",
            "size_bytes": 8,
            "text": "buy milk",
            "path": "/data/1-notes.md",
        },
        {"type": "text", "text": "Sum it up"},
    ]
    assert load(raw) == message
    assert message.text == "Sum it up"


@pytest.mark.parametrize(
    "part",
    [
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"}},
        {"type": "file", "name": "a.pdf"},
        {"type": "file", "name": "", "text": "x"},
        {"type": "file", "name": "a", "text": 1},
    ],
)
def test_a_file_part_of_another_program_is_kept_as_it_is(part: JsonObject) -> None:
    raw: JsonObject = {"role": "user", "content": [part, {"type": "text", "text": "Hi"}]}
    message = load(raw)
    assert message.content == (TextPart("Hi"),)
    assert message_to_disk(message) == raw


def test_more_keys_of_a_file_part_survive() -> None:
    part: JsonObject = {"type": "file", "name": "a", "media_type": "text/plain", "size_bytes": 1, "text": "b", "x": 1}
    raw: JsonObject = {"role": "user", "content": [part]}
    message = load(raw)
    assert message.content == (FilePart("a", "text/plain", 1, "b"),)
    assert message_to_disk(message) == raw


def test_a_waiting_message_is_its_text_or_an_object_with_its_files() -> None:
    picture = ImagePart("image/png", "AAAA", "cat.png")
    session = decode(
        {
            "queued": [
                "first",
                {
                    "text": "",
                    "attachments": [{"type": "image", "media_type": "image/png", "data": "AAAA", "name": "cat.png"}],
                },
                {"text": "", "attachments": []},
                7,
            ]
        },
        "session_1",
    )
    assert session.queued == (Waiting("first"), Waiting("", (picture,)))
    assert new_session_to_disk(session)["queued"] == [
        "first",
        {"text": "", "attachments": [{"type": "image", "media_type": "image/png", "data": "AAAA", "name": "cat.png"}]},
    ]


def test_a_conversation_that_begins_with_a_file_is_named_after_it() -> None:
    message = Message(role=Role.USER, content=(FilePart("Plan 2031.pdf", "application/pdf", 1, "text"),))
    assert default_title([message]) == "Plan 2031.pdf"
