import json
from typing import Any

import pytest

from skales.core.json import JsonObject
from skales.core.message import FilePart, ImagePart, Message, Role, TextPart, text_message
from skales.core.ports import ChatRequest
from skales.core.tool import Safety, ToolCall, ToolSpec
from skales.providers.formats.google_request import build_body, concede
from skales.providers.history import repair_history
from tests.conftest import CASES
from tests.providers.sessions import read_session

USER = text_message(Role.USER, "Hello")
PNG = ImagePart("image/png", "AAAA", "a.png")
IMAGE = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
SKIP = "skip_thought_signature_validator"
FILE = FilePart('no"tes.md', "text/markdown", 9, "buy milk", "/data/1-notes.md")
SPELLED = (
    '<attached_file name="no\\"tes.md" type="text/markdown" size_bytes=9 path="/data/1-notes.md">\n'
    "buy milk\n</attached_file>\n\n"
)


def body_of(*messages: Message, conceded: frozenset[str] = frozenset(), **fields: Any) -> dict[str, Any]:
    request = ChatRequest(**{"model": "gemini-3.6-flash", "messages": messages, **fields})
    built = json.loads(json.dumps(build_body(request, conceded)))
    assert isinstance(built, dict)
    return built


def contents_of(*messages: Message, conceded: frozenset[str] = frozenset()) -> list[dict[str, Any]]:
    contents: list[dict[str, Any]] = body_of(*messages, conceded=conceded)["contents"]
    return contents


def spec(name: str, parameters: JsonObject | None = None) -> ToolSpec:
    return ToolSpec(name=name, description=f"Do {name}", parameters=parameters or {}, category="c", safety=Safety.AUTO)


def answer(text: str = "", *calls: ToolCall, **fields: Any) -> Message:
    return Message(role=Role.ASSISTANT, content=(TextPart(text),) if text else (), tool_calls=calls, **fields)


def result(call_id: str, *parts: TextPart | ImagePart, is_error: bool = False, name: str = "") -> Message:
    return Message(role=Role.TOOL, content=parts, tool_call_id=call_id, is_error=is_error, name=name)


def test_each_role_has_its_shape() -> None:
    built = body_of(
        text_message(Role.SYSTEM, "Be brief."),
        text_message(Role.SYSTEM, "Be kind."),
        USER,
        answer("Reading.", ToolCall("c1", "read_file", {"path": "ä"}), reasoning="Hm"),
        result("c1", TextPart("done")),
        answer("Done."),
        text_message(Role.USER, "Thanks"),
    )
    assert built["systemInstruction"] == {"parts": [{"text": "Be brief.\n\nBe kind."}]}
    assert built["contents"] == [
        {"role": "user", "parts": [{"text": "Hello"}]},
        {
            "role": "model",
            "parts": [{"text": "Reading."}, {"functionCall": {"name": "read_file", "args": {"path": "ä"}}}],
        },
        {"role": "user", "parts": [{"functionResponse": {"name": "read_file", "response": {"output": "done"}}}]},
        {"role": "model", "parts": [{"text": "Done."}]},
        {"role": "user", "parts": [{"text": "Thanks"}]},
    ]


def test_a_session_cancelled_between_two_results_goes_on() -> None:
    folder = CASES / "history"
    session = json.loads((folder / "HIS-01-cancelled-turn.session.json").read_text(encoding="utf-8"))
    wanted = json.loads((folder / "HIS-01-cancelled-turn.expected.json").read_text(encoding="utf-8"))["gemini"]

    built = contents_of(*repair_history(read_session(session)))

    assert [content["role"] for content in built] == ["user", "model", "user"]
    results = built[2]["parts"][: wanted["function_responses_directly_after_calls"]]
    assert [part["functionResponse"]["name"] for part in results] == ["rename_file", "rename_file"]
    assert results[0]["functionResponse"]["response"] == {"output": "renamed"}
    assert "Cancelled, not run" in results[1]["functionResponse"]["response"]["error"]
    assert built[2]["parts"][2:] == [{"text": "Stop. What is 6 times 7?"}]


def test_a_session_of_other_vendors_alternates_with_results_first() -> None:
    text = (CASES / "history" / "HIS-02-to-mistral.session.json").read_text(encoding="utf-8")
    built = contents_of(*repair_history(read_session(json.loads(text))))
    roles = [content["role"] for content in built]
    assert roles == ["user", "model", "user", "model", "user", "model", "user"]
    assert [list(part) for part in built[2]["parts"]] == [["functionResponse"], ["functionResponse"], ["text"]]
    calls = [part["functionCall"]["name"] for part in built[3]["parts"]]
    assert calls == [part["functionResponse"]["name"] for part in built[4]["parts"]]


@pytest.mark.parametrize(
    ("text", "is_error", "response"),
    [
        ('{"count": 4}', False, {"count": 4}),
        ('{"a": [1, {"b": null}], "c": 1.5, "d": true}', False, {"a": [1, {"b": None}], "c": 1.5, "d": True}),
        ('{"id": 9007199254740993}', False, {"output": '{"id": 9007199254740993}'}),
        ('{"id": [9007199254740993]}', False, {"output": '{"id": [9007199254740993]}'}),
        ('{"n": NaN}', False, {"output": '{"n": NaN}'}),
        ("{oops", False, {"output": "{oops"}),
        ("[1]", False, {"output": "[1]"}),
        ("", False, {"output": "(no output)"}),
        ('{"count": 4}', True, {"error": '{"count": 4}'}),
    ],
)
def test_a_result_is_an_object(text: str, is_error: bool, response: object) -> None:
    built = contents_of(USER, answer("", ToolCall("c1", "a")), result("c1", TextPart(text), is_error=is_error))
    assert built[2]["parts"] == [{"functionResponse": {"name": "a", "response": response}}]


def test_a_result_without_a_call_still_names_its_tool() -> None:
    (built,) = contents_of(result("c9", TextPart("r"), name="a.b"))
    assert built["parts"][0]["functionResponse"]["name"].startswith("a_b_")


def test_pictures_go_into_the_users_side() -> None:
    built = contents_of(
        Message(role=Role.USER, content=(TextPart("Look"), PNG, TextPart(" "))),
        answer("", ToolCall("c1", "shoot")),
        result("c1", TextPart("ok"), PNG, name="shoot"),
        Message(role=Role.ASSISTANT, content=(PNG,)),
        USER,
    )
    assert built[0]["parts"] == [{"text": "Look"}, IMAGE]
    assert built[2]["parts"] == [
        {"functionResponse": {"name": "shoot", "response": {"output": "ok"}}},
        {"text": "Pictures from the result of shoot:"},
        IMAGE,
    ]
    assert built[3]["parts"] == [{"text": "(A picture.)"}]


# --- parts that go back ---

PARTS: list[JsonObject] = [
    {"functionCall": {"id": "g1", "name": "a", "args": {"x": "1"}}, "thoughtSignature": "c2ln"},
    {"functionCall": {"name": "a", "args": {}}},
]
CALLS = (ToolCall("c1", "a", {"x": 1}), ToolCall("c2", "a"))
RESULTS = (result("c1", TextPart("1")), result("c2", TextPart("2")))


def test_parts_of_this_format_go_back_unchanged_and_results_name_their_ids() -> None:
    native = {"format": "google", "blocks": PARTS}
    built = contents_of(USER, answer("", *CALLS, native=native), *RESULTS)
    assert built[1]["parts"] == PARTS
    assert built[2]["parts"] == [
        {"functionResponse": {"id": "g1", "name": "a", "response": {"output": "1"}}},
        {"functionResponse": {"name": "a", "response": {"output": "2"}}},
    ]


def test_a_call_that_named_no_tool_does_not_spoil_the_conversation() -> None:
    native = {"format": "google", "blocks": [{"functionCall": {"name": "", "args": {}}}]}
    built = contents_of(USER, answer("", ToolCall("c1", "unnamed_tool"), native=native), result("c1"))
    assert built[1]["parts"] == [{"functionCall": {"name": "unnamed_tool", "args": {}}}]
    assert built[2]["parts"][0]["functionResponse"]["name"] == "unnamed_tool"


@pytest.mark.parametrize(
    "native",
    [{"format": "anthropic", "blocks": PARTS}, {"format": "google", "blocks": PARTS[:1]}],
    ids=["another format", "another number of calls"],
)
def test_parts_that_do_not_fit_are_left_out(native: JsonObject) -> None:
    built = contents_of(USER, answer("", *CALLS, native=native), *RESULTS)
    assert built[1]["parts"] == [
        {"functionCall": {"name": "a", "args": {"x": 1}}},
        {"functionCall": {"name": "a", "args": {}}},
    ]


def test_calls_of_another_model_are_marked_only_when_a_signature_is_missed() -> None:
    signed = answer("", *CALLS, native={"format": "google", "blocks": PARTS})
    foreign = answer("Two.", ToolCall("c3", "a"), ToolCall("c4", "a"))
    history = (USER, signed, *RESULTS, foreign, result("c3"), result("c4"), answer("Done."), USER)
    plain, marked = contents_of(*history), contents_of(*history, conceded=frozenset({"thoughtSignature"}))
    assert SKIP not in json.dumps(plain)
    assert [part.get("thoughtSignature") for part in marked[3]["parts"]] == [None, SKIP, None]
    assert marked[1] == plain[1]
    assert json.dumps(marked).count(SKIP) == 1


# --- fields ---


def test_names_never_begin_with_a_digit() -> None:
    built = body_of(
        USER, answer("", ToolCall("c1", "3d_print")), result("c1"), tools=(spec("3d_print"), spec("3d_print"))
    )
    (tool,) = built["tools"][0]["functionDeclarations"]
    assert tool["name"].startswith("_")
    assert built["contents"][1]["parts"][0]["functionCall"]["name"] == tool["name"]
    assert built["contents"][2]["parts"][0]["functionResponse"]["name"] == tool["name"]
    assert "parameters" not in tool


def test_settings_are_sent_only_when_there_are_any() -> None:
    config = {"thinkingConfig": {"includeThoughts": True}}
    assert body_of(USER)["generationConfig"] == config
    assert "generationConfig" not in body_of(USER, conceded=frozenset({"thinkingConfig"}))
    full = body_of(USER, temperature=0.5, max_output_tokens=100)["generationConfig"]
    assert full == {**config, "temperature": 0.5, "maxOutputTokens": 100}
    assert "temperature" not in body_of(USER, temperature=0.5, conceded=frozenset({"temperature"}))["generationConfig"]


def test_system_words_move_to_the_user_where_they_have_no_place() -> None:
    built = body_of(text_message(Role.SYSTEM, "Be brief."), USER, conceded=frozenset({"systemInstruction"}))
    assert "systemInstruction" not in built
    assert built["contents"][0]["parts"] == [{"text": "Be brief."}, {"text": "Hello"}]


def test_an_answer_is_held_to_what_the_vendor_enforces() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 1, "multipleOf": 5}, "k": {"const": "x"}},
        "additionalProperties": {"type": "string"},
    }
    config = body_of(USER, answer_schema=schema)["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert config["responseJsonSchema"] == {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "minimum": 1, "description": "A multiple of 5."},
            "k": {"enum": ["x"]},
        },
        "additionalProperties": {"type": "string"},
    }


def test_an_answer_of_a_shape_is_asked_for_in_words_when_refused() -> None:
    built = body_of(USER, answer_schema={"type": "object"}, conceded=frozenset({"responseJsonSchema"}))
    assert set(built["generationConfig"]) == {"thinkingConfig"}
    assert "fits this JSON Schema" in built["systemInstruction"]["parts"][0]["text"]


@pytest.mark.parametrize(
    ("refusal", "wish"),
    [
        ("Developer instruction is not enabled for models/gemma-3-27b-it", "systemInstruction"),
        ("Unable to submit request because thinking is not supported by this model", "thinkingConfig"),
        ("Function calling with a response mime type: 'application/json' is unsupported", "responseJsonSchema"),
        ("Temperature is not supported", "temperature"),
        ("Function call is missing a thought_signature in functionCall parts.", "thoughtSignature"),
        ("function call `x` in the 5. content block is missing a `thought_signature`", "thoughtSignature"),
        ("Function calling is not enabled for models/gemma", ""),
        ("thinking about it", ""),
    ],
)
def test_a_refusal_names_what_can_be_left_out(refusal: str, wish: str) -> None:
    request = ChatRequest(
        model="m",
        messages=(text_message(Role.SYSTEM, "s"), USER, answer("", *CALLS), *RESULTS),
        answer_schema={"type": "object"},
        temperature=1,
    )
    assert concede(build_body(request, frozenset()), refusal) == wish
    assert concede(build_body(request, frozenset({wish})), refusal) == ""


def test_a_file_goes_as_text_that_names_it_before_the_words() -> None:
    picture = ImagePart("image/png", "AAAA")
    sent = contents_of(Message(role=Role.USER, content=(FILE, picture, TextPart("Sum it up"))))
    assert sent[0]["parts"] == [
        {"text": SPELLED},
        {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
        {"text": "Sum it up"},
    ]
