"""Reads a constrained answer while it arrives: the text of a reply piece by piece, a call once it is whole.

Endpoints without grammar support may send prose or a fenced block instead; both are understood. Escapes and surrogate
pairs may be torn apart by chunks.
"""

import re
from enum import Enum, auto

from msgspec import Struct

from skales.core.json import JsonObject, as_object, as_text, parse_json
from skales.providers.weak.choice import REPLY

_REPLY_HEAD = re.compile(r'\s*\{\s*"tool"\s*:\s*"' + REPLY + r'"\s*,\s*"text"\s*:\s*"')
_CALL_HEAD = re.compile(r'\s*\{\s*"tool"\s*:\s*"([^"\\]+)"')
_FENCE = re.compile(r"\s*```(?:json)?\s*(.*?)\s*(?:```\s*)?", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_UNIT = re.compile(r"\\u([0-9a-fA-F]{4})")


class Call(Struct, frozen=True):
    """The model wants this tool. `problem` says why the arguments are unusable, empty when they are fine."""

    tool: str
    arguments: JsonObject
    raw: str
    problem: str = ""


class Reply(Struct, frozen=True):
    """The model answered in words; `text` is what was not yet given out."""

    text: str


class Unreadable:
    """Neither a call nor words could be made of it."""


Outcome = Call | Reply | Unreadable


class _State(Enum):
    OPENING = auto()
    REPLY = auto()
    PROSE = auto()


class ChoiceReader:
    """Takes the answer chunk by chunk; one reader per answer."""

    def __init__(self) -> None:
        self._state = _State.OPENING
        self._raw = ""
        self._text = JsonTextReader()

    def feed(self, chunk: str) -> str:
        """The reply text that this chunk completes, empty while the answer may still become a call."""
        match self._state:
            case _State.REPLY:
                return self._text.feed(chunk)
            case _State.PROSE:
                return chunk
            case _State.OPENING:
                self._raw += chunk
                return self._open()

    def finish(self) -> Outcome:
        """What the answer is, once the model stopped."""
        if self._state is not _State.OPENING:
            return Reply("")
        body = self._raw
        if fenced := _FENCE.fullmatch(body):
            body = fenced.group(1)
        try:
            answer = as_object(parse_json(body))
        except ValueError:
            return _cut_off(body)
        return _outcome(answer, body)

    def _open(self) -> str:
        if head := _REPLY_HEAD.match(self._raw):
            self._state = _State.REPLY
            return self._text.feed(self._raw[head.end() :])
        if (start := self._raw.lstrip()) and start[0] not in "{`":
            self._state = _State.PROSE
            return self._raw
        return ""


class JsonTextReader:
    """The characters of one JSON string, given without its opening quote, as far as they are certain."""

    def __init__(self) -> None:
        self._pending = ""
        self._closed = False

    def feed(self, chunk: str) -> str:
        """The text this chunk completes; nothing after the closing quote."""
        source = self._pending + chunk
        self._pending = ""
        out: list[str] = []
        at = 0
        while at < len(source) and not self._closed:
            piece, length = _read_one(source, at)
            if length == 0:
                self._pending = source[at:]
                break
            self._closed = source[at] == '"'
            out.append(piece)
            at += length
        return "".join(out)


def _read_one(source: str, at: int) -> tuple[str, int]:
    """One character and how much of the source it takes; length 0 when more has to come first."""
    if source[at] == '"':
        return "", 1
    if source[at] != "\\":
        return source[at], 1
    if at + 1 == len(source):
        return "", 0
    if source[at + 1] != "u":
        return _ESCAPES.get(source[at + 1], source[at + 1]), 2
    return _read_unicode(source, at)


def _read_unicode(source: str, at: int) -> tuple[str, int]:
    unit = _UNIT.match(source, at)
    if unit is None:
        return ("", 0) if len(source) - at < 6 else ("\ufffd", 2)
    code = int(unit.group(1), 16)
    if not 0xD800 <= code <= 0xDFFF:
        return chr(code), 6
    rest = source[at + 6 :]
    if code < 0xDC00 and len(rest) < 6 and (rest == "" or rest.startswith("\\u") or rest == "\\"):
        return "", 0
    low = _UNIT.match(source, at + 6)
    low_code = int(low.group(1), 16) if low else 0
    if code < 0xDC00 <= low_code <= 0xDFFF:
        return chr(0x10000 + ((code - 0xD800) << 10) + (low_code - 0xDC00)), 12
    return "\ufffd", 6


def _outcome(answer: JsonObject, raw: str) -> Outcome:
    tool = as_text(answer.get("tool"))
    if tool == REPLY and (text := as_text(answer.get("text"))):
        return Reply(text)
    if not tool or tool == REPLY:
        return Unreadable()
    arguments = answer.get("arguments")
    problem = "" if isinstance(arguments, dict) or arguments is None else "The arguments are not an object"
    return Call(tool, as_object(arguments), raw, problem)


def _cut_off(raw: str) -> Outcome:
    head = _CALL_HEAD.match(raw)
    if head is None or head.group(1) == REPLY:
        return Unreadable()
    return Call(head.group(1), {}, raw, "The call was cut off before its arguments were complete")
