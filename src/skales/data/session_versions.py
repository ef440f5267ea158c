"""Other tails of a conversation: what an edit or a new answer replaced stays in the same file; pure, on raw sessions.

`versions` of a file is a flat list. A stored tail is `{"at", "cutAt", "messages", "id"}`, `at` counting messages as
`Session.messages` does. Where the tail that is shown has its place in the order, but is not the newest, stands
`{"at", "present": true}`. An entry made within a stored tail names that tail in `in`, and is hidden with it: a nested
form would grow deeper with every change until no document could hold it. Entries that are neither are kept unread.
"""

from collections.abc import Sequence

from msgspec import Struct

from skales.core.errors import InputError, NotFoundError
from skales.core.json import JsonObject, JsonValue, as_list, as_object
from skales.core.message import Role
from skales.data.session_spelling import role_of

_CUTTABLE = (Role.USER, Role.ASSISTANT)
_NOBODY = -1
_PAIR = 2  # the present tail and one other


class VersionMark(Struct, frozen=True):
    """From message `at` on there are `count` tails, in order of creation; number `current` is the one in `messages`."""

    at: int
    count: int
    current: int


def read_marks(versions: JsonValue) -> tuple[VersionMark, ...]:
    """The places where the present tail has others beside it, first place first."""
    entries = as_list(versions)
    marks: list[VersionMark] = []
    for at in sorted({at for entry in entries if (at := _place(entry)) is not None}):
        siblings = _siblings(entries, at)
        if len(siblings.places) > 1:
            marks.append(VersionMark(at, len(siblings.places), siblings.current))
    return tuple(marks)


def rewind(raw: JsonObject, index: int, now_ms: int) -> dict[str, JsonValue]:
    """The session without the messages from `index` on, which become a version.

    Raises NotFoundError when there is no such message, InputError when it is neither a person's nor an answer.
    """
    messages = as_list(raw.get("messages"))
    cut = _position(messages, index)
    if role_of(messages[cut]) not in _CUTTABLE:
        raise InputError(
            f"Message {index} is part of an answer that used a tool", hint="Choose the message or the answer around it"
        )
    entries = list(as_list(raw.get("versions")))
    siblings = _siblings(entries, index)
    tail = _store(entries, index, messages[cut:], now_ms)
    if siblings.is_marked:
        entries[siblings.places[siblings.current]] = tail
    else:
        entries.append(tail)
    return _assemble(raw, messages[:cut], entries) | {"updatedAt": now_ms}


def switch(raw: JsonObject, at: int, number: int, now_ms: int) -> dict[str, JsonValue]:
    """The session with another tail from `at` on; the present one keeps its number.

    A present tail without any message, left by a rewind after which nothing was said, is not kept.
    Raises NotFoundError when there is no such version.
    """
    messages, entries = as_list(raw.get("messages")), list(as_list(raw.get("versions")))
    siblings = _siblings(entries, at)
    if not 0 <= number < len(siblings.places) or len(siblings.places) < _PAIR:
        raise NotFoundError(f"There is no version {number + 1} of message {at}")
    cut = _position_or_end(messages, at)
    if number == siblings.current:
        return dict(raw)
    here, there = siblings.places[siblings.current], siblings.places[number]
    chosen = as_object(entries[there])
    tail = _store(entries, at, messages[cut:], now_ms)
    entries[there] = {"at": at, "present": True}
    entries[here : here + 1] = [tail] if tail["messages"] else []
    if len(siblings.places) == _PAIR and not tail["messages"]:
        entries.remove({"at": at, "present": True})
    entries = [_without_owner(entry) if _owner(entry) == chosen.get("id", _NOBODY) else entry for entry in entries]
    return _assemble(raw, [*messages[:cut], *as_list(chosen.get("messages"))], entries)


def first_entries(raw: JsonObject, until_index: int) -> list[JsonValue]:
    """The entries of the file up to and with one message. Raises NotFoundError when there is no such message."""
    messages = as_list(raw.get("messages"))
    return list(messages[: _position(messages, until_index) + 1])


def entries_from(raw: JsonObject, index: int) -> Sequence[JsonValue]:
    """The entries of the file from one message on; none when `index` is the number of messages."""
    messages = as_list(raw.get("messages"))
    return messages[_position_or_end(messages, index) :]


class _Siblings(Struct, frozen=True):
    """Where the tails of one place stand in `versions`, in order; without a mark the present one is beyond its end."""

    places: Sequence[int]
    current: int
    is_marked: bool


def _siblings(entries: Sequence[JsonValue], at: int) -> _Siblings:
    places: list[int] = []
    current: int | None = None
    for position, entry in enumerate(entries):
        if _place(entry) == at:
            if _is_mark(entry):
                if current is not None:  # two of them make no sense; the first counts
                    continue
                current = len(places)
            places.append(position)
    if current is None:
        return _Siblings([*places, len(entries)], len(places), is_marked=False)
    return _Siblings(places, current, is_marked=True)


def _place(entry: JsonValue) -> int | None:
    """The message an entry belongs to, None when it is not one of the present tail."""
    found = as_object(entry)
    at = found.get("at")
    is_version = _is_mark(entry) or isinstance(found.get("messages"), list)
    return at if type(at) is int and at >= 0 and is_version and "in" not in found else None


def _is_mark(entry: JsonValue) -> bool:
    return as_object(entry).get("present") is True


def _store(entries: list[JsonValue], at: int, tail: Sequence[JsonValue], now_ms: int) -> dict[str, JsonValue]:
    """The tail as an entry; entries that were made within it go with it."""
    taken = [number for entry in entries if type(number := as_object(entry).get("id")) is int]
    number = max(taken, default=0) + 1
    for position, entry in enumerate(entries):
        place = _place(entry)
        if place is not None and place > at:
            entries[position] = dict(as_object(entry)) | {"in": number}
    return {"at": at, "cutAt": now_ms, "messages": list(tail), "id": number}


def _owner(entry: JsonValue) -> JsonValue:
    return as_object(entry).get("in")


def _without_owner(entry: JsonValue) -> JsonValue:
    return {key: value for key, value in as_object(entry).items() if key != "in"}


def _assemble(raw: JsonObject, messages: Sequence[JsonValue], versions: Sequence[JsonValue]) -> dict[str, JsonValue]:
    changed = dict(raw) | {"messages": list(messages)}
    if versions:
        changed["versions"] = list(versions)
    else:
        changed.pop("versions", None)
    return changed


def _position_or_end(messages: Sequence[JsonValue], index: int) -> int:
    is_end = index == sum(role_of(entry) is not None for entry in messages)
    return len(messages) if is_end else _position(messages, index)


def _position(messages: Sequence[JsonValue], index: int) -> int:
    """Where the message lies among the entries, some of which may be no messages."""
    places = [position for position, entry in enumerate(messages) if role_of(entry) is not None]
    if not 0 <= index < len(places):
        raise NotFoundError(f"There is no message {index} in this conversation")
    return places[index]
