"""Puts streamed tool calls together when index, id and name cannot all be trusted.

Identity, from the surest: a known id continues its call; a new id with a name opens one; without an id the index
decides, and without that the call opened last. A name after finished arguments opens a call in any case.
"""

import json
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct, field

from skales.core.json import JsonObject, JsonValue, as_object, as_text
from skales.providers.lenient_json import read_strict

_MANY_DIGITS = 10
# Some endpoints spell a missing id this way.
_NO_ID = frozenset({"null", "none"})


class AssembledCall(Struct, frozen=True):
    """A call as the model wrote it; `id` and `name` may be empty."""

    id: str
    name: str
    arguments: str


class _Delta(Struct, frozen=True):
    """One entry of `tool_calls` of one chunk."""

    index: int | None
    id: str
    name: str
    arguments: str


class _OpenCall(Struct):
    """A call while it streams."""

    chunk: int
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)

    @property
    def has_arguments(self) -> bool:
        return any(piece.strip() for piece in self.pieces)

    @property
    def is_whole(self) -> bool:
        return is_whole_object("".join(self.pieces))


class CallAssembler:
    """Feed it the `tool_calls` of each chunk. `known_names` are the tools that were offered."""

    def __init__(self, known_names: frozenset[str]) -> None:
        self._known_names = known_names
        self._calls: list[_OpenCall] = []
        self._by_id: dict[str, _OpenCall] = {}
        self._by_index: dict[int, _OpenCall] = {}
        self._chunk = 0

    def feed(self, items: Sequence[JsonValue]) -> None:
        """Add what one chunk brings."""
        self._chunk += 1
        for item in items:
            delta = _read_delta(as_object(item))
            if delta.id or delta.name or delta.arguments or delta.index is not None:
                self._add(delta)

    def finish(self) -> list[AssembledCall]:
        """All calls in the order they were opened, without empty shells."""
        return [
            AssembledCall(call.id, call.name, _join(call.pieces))
            for call in self._calls
            if call.name or call.has_arguments
        ]

    def _add(self, delta: _Delta) -> None:
        call = self._find(delta)
        if call is None:
            if self._is_repeated(delta):
                return
            call = _OpenCall(self._chunk)
            self._calls.append(call)
        if delta.id and not call.id:
            call.id = delta.id
            self._by_id[delta.id] = call
        if delta.index is not None:
            self._by_index[delta.index] = call
        if delta.name and delta.name != call.name:
            call.name += delta.name
        if delta.arguments:
            call.pieces.append(delta.arguments)

    def _find(self, delta: _Delta) -> _OpenCall | None:
        """The call that the delta continues, None when it opens one."""
        known = self._by_id.get(delta.id)
        if delta.id and known is None:
            return self._find_nameless(delta)
        call = known or self._at(delta.index)
        if call is None and not delta.id and not delta.name and self._calls:
            # An index out of nowhere with nothing but arguments: the opener had none.
            return self._calls[-1]
        if call is None or not delta.name or not self._opens_call(call, delta):
            return call
        return None

    def _find_nameless(self, delta: _Delta) -> _OpenCall | None:
        """A new id without a name is no call of its own while the one at its place is unfinished.

        Some endpoints make up an id for every chunk, or send the id after the name.
        """
        call = self._at(delta.index)
        return call if call is not None and not delta.name and not call.is_whole else None

    def _at(self, index: int | None) -> _OpenCall | None:
        if index is None:
            return self._calls[-1] if self._calls else None
        return self._by_index.get(index)

    def _opens_call(self, call: _OpenCall, delta: _Delta) -> bool:
        """Whether a named delta at the place of a call is another one: names are repeated, cut in pieces, or new."""
        if not call.name:
            return False
        if not delta.id and call.chunk == self._chunk:
            return True
        if delta.name == call.name:
            return bool(delta.arguments.strip()) and call.is_whole
        if not call.has_arguments and call.name + delta.name in self._known_names:
            return False
        return call.has_arguments or call.name in self._known_names or delta.name in self._known_names

    def _is_repeated(self, delta: _Delta) -> bool:
        """Whether a finished call is sent once more under its own id."""
        known = self._by_id.get(delta.id)
        return (
            known is not None and known.name == delta.name and "".join(known.pieces).strip() == delta.arguments.strip()
        )


def is_whole_object(text: str) -> bool:
    """Whether a text is one JSON object by the standard."""
    if not text.rstrip().endswith("}"):
        return False
    try:
        return isinstance(read_strict(text), dict)
    except ValueError:
        return False


def _read_delta(item: JsonObject) -> _Delta:
    function = as_object(item.get("function")) or item
    identity = as_text(item.get("id")).strip()
    return _Delta(
        index=_read_index(item.get("index")),
        id="" if identity.lower() in _NO_ID else identity,
        name=as_text(function.get("name")).strip(),
        arguments=_arguments_text(function.get("arguments")),
    )


def _read_index(value: JsonValue) -> int | None:
    """The index, which some endpoints send as a string; None for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < _MANY_DIGITS:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _arguments_text(value: JsonValue) -> str:
    """Arguments as text; some endpoints send the object itself."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _join(pieces: Sequence[str]) -> str:
    """The arguments out of their pieces.

    Some endpoints send everything so far each time, or everything once more at the end. Only pieces that make no
    object together are read that way.
    """
    whole = "".join(pieces)
    if len(pieces) < 2 or is_whole_object(whole):
        return whole
    last = pieces[-1]
    grows = all(later.startswith(earlier) for earlier, later in pairwise(pieces))
    return last if is_whole_object(last) and (grows or last == "".join(pieces[:-1])) else whole
