"""Histories as sessions hold them, with all that has ever made a vendor refuse one; for `test_vendor_requests`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from skales.core.json import JsonObject, JsonValue
from skales.core.message import FilePart, ImagePart, Message, Role, TextPart, text_message
from skales.core.tool import ToolCall

PICTURE = ImagePart("image/png", "iVBORw0KGgo=", "shot.png")
DRAWING = ImagePart("image/svg+xml", "PHN2Zy8+", "logo.svg")
FILE = FilePart("report.pdf", "application/pdf", 2048, "Page 1: all is well", "/home/ana/report.pdf")
DOCUMENT = replace(FILE, data_base64="JVBERi0xLjc=")
NOTES = FilePart("notes.md", "text/markdown", 9, "buy milk", "/home/ana/notes.md")
EMPTY_FILE = FilePart("empty.txt", "text/plain", 0, "")
SYSTEM = text_message(Role.SYSTEM, "You are helpful.")
FORMATS = ("openai", "openai_responses", "anthropic", "google")


def user(text: str, *parts: ImagePart | FilePart) -> Message:
    return Message(role=Role.USER, content=(*parts, *((TextPart(text),) if text else ())))


def says(text: str, *calls: ToolCall, **facts: str) -> Message:
    return Message(role=Role.ASSISTANT, content=(TextPart(text),) if text else (), tool_calls=calls, **facts)  # type: ignore[arg-type]


def result(call_id: str, text: str, *pictures: ImagePart, is_error: bool = False, name: str = "read_file") -> Message:
    content = (*((TextPart(text),) if text else ()), *pictures)
    return Message(role=Role.TOOL, content=content, tool_call_id=call_id, name=name, is_error=is_error)


def call(call_id: str, name: str = "read_file", **arguments: JsonValue) -> ToolCall:
    return ToolCall(call_id, name, arguments)


ASKED = user("Read both")
TWO_CALLS = (call("call_1", path="a"), call("call_2", path="b"))


def written_by(wire_format: str, number: int) -> Sequence[Message]:
    """A turn with thinking, text and two calls of one vendor's model, and how it ended."""
    ids = [f"{_ID_STYLES[wire_format]}{number}{letter}" for letter in "ab"]
    calls = tuple(call(name, path=f"{name}.txt") for name in ids)
    answer = replace(says("Looking.", *calls), reasoning="Two files.", native=_native(wire_format, calls))
    last = replace(says("Both are read."), reasoning="Easy.", native=_native_end(wire_format))
    results = [result(name, "text") for name in ids]
    return (user(f"Question {number}"), answer, *results, last)


# Ids as the vendors spell them; Google often gives none, and then ours stand in the session.
_ID_STYLES = {
    "openai": "call_AbCdEfGhIjKlMnOpQrStUv",
    "openai_responses": "call_ZyXwVuTsRqPoNmLkJiHgFe",
    "anthropic": "toolu_01A09q90qw90lq91781",
    "google": "call_x.y:",
}


def _native(wire_format: str, calls: Sequence[ToolCall]) -> Mapping[str, JsonValue]:
    blocks: list[JsonValue] = []
    match wire_format:
        case "anthropic":
            blocks = [
                {"type": "thinking", "thinking": "", "signature": "c2lnLW9uZQ=="},
                {"type": "redacted_thinking", "data": "cmVkYWN0ZWQ="},
                {"type": "text", "text": "Looking.", "citations": None},
                {"type": "thinking", "thinking": "Two files.", "signature": "c2lnLXR3bw=="},
                *(_tool_use(made) for made in calls),
            ]
        case "openai_responses":
            blocks = [
                _reasoning("rs_1", "Z0FBQQ=="),
                {"type": "message", "role": "assistant", "content": "Looking.", "phase": "commentary"},
                *({"type": "function_call", "name": made.name, "arguments": "{}"} for made in calls),
            ]
        case "google":
            parts = [_function_call(made) for made in calls]
            parts[0] = {**parts[0], "thoughtSignature": "U0lHLUE="}
            blocks = [{"text": "Two files.", "thought": True, "thoughtSignature": "U0lH"}, {"text": "Looking."}, *parts]
        case _:
            return {}
    return {"format": wire_format, "blocks": blocks}


def _tool_use(made: ToolCall) -> JsonObject:
    return {"type": "tool_use", "id": made.id, "name": made.name, "input": made.arguments, "caller": {"type": "direct"}}


def _function_call(made: ToolCall) -> JsonObject:
    return {"functionCall": {"id": made.id, "name": made.name, "args": made.arguments}}


def _reasoning(name: str, sealed: str) -> JsonObject:
    summary: list[JsonValue] = [{"type": "summary_text", "text": "Two files."}]
    return {"type": "reasoning", "id": name, "summary": summary, "encrypted_content": sealed}


def _native_end(wire_format: str) -> Mapping[str, JsonValue]:
    match wire_format:
        case "anthropic":
            blocks: list[JsonValue] = [
                {"type": "thinking", "thinking": "Easy.", "signature": "c2lnLWVuZA=="},
                {"type": "text", "text": "Both are read."},
            ]
        case "openai_responses":
            blocks = [
                _reasoning("rs_2", "Z0FBQg=="),
                {"type": "message", "role": "assistant", "content": "Both are read.", "phase": "final_answer"},
            ]
        case "google":
            blocks = [{"text": "Both are read."}, {"text": "", "thoughtSignature": "U0lHLUI="}]
        case _:
            return {}
    return {"format": wire_format, "blocks": blocks}


HISTORIES: Mapping[str, Sequence[Message]] = {
    "one question": [user("Hello")],
    "system words": [SYSTEM, user("Hello")],
    "only system words": [SYSTEM],
    "a system message later on": [SYSTEM, user("Hello"), says("Hi."), replace(SYSTEM, content=(TextPart("Note."),))],
    "a system message after results": [
        ASKED,
        says("", *TWO_CALLS),
        result("call_1", "x"),
        result("call_2", "y"),
        SYSTEM,
    ],
    "an answer first": [says("Welcome."), user("Hello")],
    "an answer last": [user("Hello"), says("The three steps are: first", incomplete="cut")],
    "a call first": [says("", call("call_1", path="a")), result("call_1", "x"), user("And now?")],
    "blank texts": [user(" \n"), says("\t"), user(""), says(""), user("Hello")],
    "nothing but blanks": [user(" ")],
    "a picture": [user("What is this?", PICTURE)],
    "a picture alone": [user("", PICTURE)],
    "a picture of a kind that nobody takes": [user("What is this?", DRAWING)],
    "an attached file": [user("Sum it up", FILE)],
    "files and pictures and no words": [user("", FILE, PICTURE, EMPTY_FILE)],
    "a document as it is": [user("Sum it up", DOCUMENT)],
    "a document without a name and words": [user("", replace(DOCUMENT, name=""))],
    "documents and a text file among turns": [user("", DOCUMENT, NOTES, PICTURE), says("Read."), user("And?", NOTES)],
    "an empty file alone": [user("", EMPTY_FILE)],
    "a picture from the model": [user("Draw"), replace(says(""), content=(PICTURE,)), user("Thanks")],
    "parallel calls": [ASKED, says("Looking.", *TWO_CALLS), result("call_1", "x"), result("call_2", "y")],
    "calls without a word": [ASKED, says("", *TWO_CALLS), result("call_1", "x"), result("call_2", "y")],
    "results out of order": [ASKED, says("", *TWO_CALLS), result("call_2", "y"), result("call_1", "x")],
    "a failed result": [ASKED, says("", call("call_1")), result("call_1", "No such file", is_error=True)],
    "an empty result": [ASKED, says("", call("call_1")), result("call_1", "")],
    "an empty failed result": [ASKED, says("", call("call_1")), result("call_1", "", is_error=True)],
    "a blank result": [ASKED, says("", call("call_1")), result("call_1", " \n")],
    "a result that is an object": [ASKED, says("", call("call_1")), result("call_1", '{"count": 4, "big": 1e400}')],
    "pictures in results": [
        ASKED,
        says("", *TWO_CALLS),
        result("call_1", "seen", PICTURE),
        result("call_2", "", PICTURE),
        says("Seen."),
        user("And?"),
    ],
    "a picture of a kind that nobody takes in a result": [
        ASKED,
        says("", call("call_1")),
        result("call_1", "", DRAWING),
    ],
    "a turn that was stopped between results": [
        ASKED,
        says("", *TWO_CALLS),
        result("call_1", "x"),
        user("Never mind"),
    ],
    "a turn that was stopped after its results": [
        ASKED,
        says("", *TWO_CALLS),
        result("call_1", "x"),
        result("call_2", "y"),
        user("Never mind"),
        user("Really"),
    ],
    "a turn that was stopped before its results": [ASKED, says("", *TWO_CALLS), user("Never mind")],
    "results nobody asked for": [result("call_9", "x"), user("Hello"), result("call_8", "y"), says("Hi."), user("So?")],
    "a result twice": [ASKED, says("", call("call_1")), result("call_1", "x"), result("call_1", "y"), user("So?")],
    "ids twice": [
        ASKED,
        says("", call("call_1"), call("call_1")),
        result("call_1", "x"),
        result("call_1", "y"),
        says("", call("call_1")),
        result("call_1", "z"),
    ],
    "no ids": [ASKED, says("", call(""), call("")), result("", "x"), result("", "y")],
    "odd ids": [
        ASKED,
        says("", call("functions.read:0"), call("Ünï cödé"), call("x" * 300)),
        result("functions.read:0", "x"),
        result("Ünï cödé", "y"),
        result("x" * 300, "z"),
    ],
    "names that no vendor takes": [
        ASKED,
        says(
            "", call("a", "n" * 70), call("b", "files.read/now"), call("c", "9lives"), call("d", "日本"), call("e", "")
        ),
        *(result(letter, "ok", name="") for letter in "abcde"),
    ],
    "arguments that could not be read": [
        ASKED,
        says("", ToolCall("a", "read_file", {}, "The arguments cannot be used", '{"path": "dra')),
        result("a", "The arguments cannot be used", is_error=True),
    ],
    "arguments of every kind": [
        ASKED,
        says("", call("a", text="ü", no=None, yes=True, many=[1, [2.5]], inner={"": {}}, big=2**70)),
        result("a", "ok"),
    ],
    "half a character": [
        user("\ud83d broken \udc00"),
        says("\ud83d", call("a", path="\ude00"), reasoning="\ud83d"),
        result("a", "\udfff"),
        user("😀 fine", replace(FILE, text="\ud83d", name="\udc80.txt")),
    ],
    "control characters": [user("a\x00b\x1b[31m\u2028\ufeff"), says("\x00"), user("\x07")],
    "thinking without native blocks": [user("Hello"), says("Hi.", reasoning="Hm."), user("And?")],
    "native blocks that do not fit the calls": [
        ASKED,
        replace(says("", call("call_1")), native=_native("anthropic", TWO_CALLS)),
        result("call_1", "x"),
        replace(says("", call("call_2")), native=_native("google", TWO_CALLS)),
        result("call_2", "x"),
    ],
    "native blocks of ids that were given anew": [*written_by("anthropic", 1), *written_by("anthropic", 1)],
    "native items of ids that were given anew": [
        *written_by("openai_responses", 1),
        *written_by("openai_responses", 1),
        user("So?"),
    ],
    "native parts of ids that were given anew": [*written_by("google", 1), *written_by("google", 1), user("So?")],
    **{
        f"{first}, then {second}": [
            SYSTEM,
            *written_by(first, 1),
            *written_by(second, 2),
            user("And now?"),
        ]
        for first in FORMATS
        for second in FORMATS
    },
    **{
        f"{first}, then {second}, cut in its calls": [*written_by(first, 1), *written_by(second, 2)[:3], user("Go on")]
        for first in FORMATS
        for second in FORMATS
    },
}
