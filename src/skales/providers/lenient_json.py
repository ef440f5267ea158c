"""Reads one JSON object the way models write it, and says where it stops making sense.

Only spellings with exactly one meaning are accepted: trailing commas, single quotes, Python's literals, bare keys, line
breaks inside strings. Values are never completed or repaired. Spec: orchestrator.md, "Tool-call hardening".
"""

import json
import math
import re
from collections.abc import Callable

from msgspec import Struct

from skales.core.json import JsonObject, JsonValue

_MAX_DEPTH = 64
_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
_PLAIN = {'"': re.compile(r'[^"\\]*'), "'": re.compile(r"[^'\\]*")}
_LITERALS: dict[str, JsonValue] = {
    "true": True,
    "false": False,
    "null": None,
    "True": True,
    "False": False,
    "None": None,
}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\", "/": "/"}
_HEX4 = re.compile(r"[0-9A-Fa-f]{4}")


class JsonFaultError(ValueError):
    """The text cannot be read. `position` counts characters from 0; `is_cut` means the text just ends."""

    def __init__(self, reason: str, position: int, *, is_cut: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position
        self.is_cut = is_cut


def read_strict(text: str) -> JsonValue:
    """One JSON value by the standard, without NaN and Infinity. Raises ValueError."""
    try:
        value: JsonValue = json.loads(text, parse_constant=_refuse_constant, parse_float=_read_float)
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error
    return value


def read_object(text: str, start: int) -> tuple[JsonObject, int]:
    """The object whose `{` stands at `start`, and where it ends. Raises JsonFaultError.

    An object that lacks nothing but closing brackets at the end of the text is closed; one that ends inside or right
    after anything that could have gone on (a string, a number, a comma) is not.
    """
    reader = _Reader(text, start)
    value = reader.read_object(1)
    return value, reader.position


def _refuse_constant(name: str) -> JsonValue:
    raise ValueError(f"{name} is not a JSON number")


def _read_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"the number {text[:20]} is too large")
    return value


class _Reader(Struct):
    """A position in a text; each method reads one thing and moves on."""

    text: str
    position: int

    def read_object(self, depth: int) -> JsonObject:
        found: dict[str, JsonValue] = {}

        def read_member() -> None:
            key = self._read_key()
            self._expect(":", "after the name " + repr(key))
            found[key] = self._read_value(depth)

        self._read_items("}", depth, read_member)
        return found

    def _read_array(self, depth: int) -> list[JsonValue]:
        found: list[JsonValue] = []
        self._read_items("]", depth, lambda: found.append(self._read_value(depth)))
        return found

    def _read_items(self, closer: str, depth: int, read_item: Callable[[], None]) -> None:
        """Everything from an opening bracket to its closer, with or without a comma before it."""
        if depth > _MAX_DEPTH:
            raise JsonFaultError(f"more than {_MAX_DEPTH} levels of nesting", self.position)
        self.position += 1
        if self._peek("a value or '" + closer + "'") == closer:
            self.position += 1
            return
        while True:
            read_item()
            # The last item is whole; nothing but closers is missing.
            if self._at_end():
                return
            if self._peek("") == ",":
                self.position += 1
                if self._peek(f"what follows ',' or '{closer}'") != closer:
                    continue
            self._expect(closer, "or ','")
            return

    def _read_key(self) -> str:
        if self._peek("a name") in _PLAIN:
            return self._read_string()
        word = _WORD.match(self.text, self.position)
        if word is None:
            raise JsonFaultError("expected a name in quotes", self.position)
        self.position = word.end()
        return word.group()

    def _read_value(self, depth: int) -> JsonValue:
        match self._peek("a value"):
            case "{":
                return self.read_object(depth + 1)
            case "[":
                return self._read_array(depth + 1)
            case '"' | "'":
                return self._read_string()
            case character if character in "-0123456789":
                return self._read_number()
            case _:
                return self._read_literal()

    def _read_number(self) -> JsonValue:
        number = _NUMBER.match(self.text, self.position)
        start = self.position
        if number is None:
            raise JsonFaultError("this is not a JSON number", start)
        if number.end() == len(self.text):
            raise JsonFaultError("the text ends at a number that may go on", start, is_cut=True)
        self.position = number.end()
        digits = number.group()
        try:
            return int(digits) if digits.lstrip("-").isdigit() else _read_float(digits)
        except ValueError as error:
            raise JsonFaultError(f"the number {digits[:20]} is too large", start) from error

    def _read_literal(self) -> JsonValue:
        word = _WORD.match(self.text, self.position)
        if word is None:
            raise JsonFaultError("expected a value", self.position)
        if word.group() in _LITERALS:
            self.position = word.end()
            return _LITERALS[word.group()]
        if word.end() == len(self.text) and any(literal.startswith(word.group()) for literal in _LITERALS):
            raise JsonFaultError("the text ends inside a value", self.position, is_cut=True)
        raise JsonFaultError(f"{word.group()[:20]} is not a JSON value; text needs quotes", self.position)

    def _read_string(self) -> str:
        start = self.position
        quote = self.text[start]
        self.position += 1
        parts: list[str] = []
        while True:
            plain = _PLAIN[quote].match(self.text, self.position)
            assert plain is not None
            parts.append(plain.group())
            self.position = plain.end()
            if self.position >= len(self.text):
                raise JsonFaultError("the text ends inside a string", start, is_cut=True)
            if self.text[self.position] == quote:
                self.position += 1
                return "".join(parts)
            parts.append(self._read_escape())

    def _read_escape(self) -> str:
        start = self.position
        letter = self.text[start + 1 : start + 2]
        if not letter:
            raise JsonFaultError("the text ends inside a string", start, is_cut=True)
        if letter in _ESCAPES:
            self.position = start + 2
            return _ESCAPES[letter]
        if letter != "u":
            raise JsonFaultError(rf"\{letter} is no escape; write \\{letter} for a backslash", start)
        first = self._read_unicode(start)
        if not 0xD800 <= first <= 0xDBFF:
            return chr(first)
        second = self._read_unicode(self.position) if self.text.startswith("\\u", self.position) else 0
        if not 0xDC00 <= second <= 0xDFFF:
            raise JsonFaultError(rf"\u{first:04x} is half of a character", start)
        return chr(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))

    def _read_unicode(self, start: int) -> int:
        digits = _HEX4.match(self.text, start + 2)
        if digits is None:
            raise JsonFaultError(r"\u needs four hexadecimal digits", start)
        self.position = digits.end()
        return int(digits.group(), 16)

    def _expect(self, character: str, also: str) -> None:
        if self._peek(f"'{character}'") != character:
            raise JsonFaultError(f"expected '{character}' {also}", self.position)
        self.position += 1

    def _peek(self, wanted: str) -> str:
        """The next character that is no space, without reading it."""
        if self._at_end():
            raise JsonFaultError(f"the text ends where {wanted} should stand", self.position, is_cut=True)
        return self.text[self.position]

    def _at_end(self) -> bool:
        space = _SPACE.match(self.text, self.position)
        assert space is not None
        self.position = space.end()
        return self.position >= len(self.text)
