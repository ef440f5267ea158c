"""Makes a stored history one that every wire format accepts: each call has exactly one result, right after it.

Pure: the stored session is not changed, and a repaired history comes back as it is. Nothing that was cancelled is run.
Spec: orchestrator.md, "Tool-call hardening".
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from msgspec import Struct

from skales.core.message import ImagePart, Message, Role, TextPart
from skales.core.tool import ToolCall

NOT_RUN = "Cancelled, not run: the turn ended before this call had a result."


class _Slot(Struct):
    """A call of an assistant message and the first result that came for it."""

    call: ToolCall
    result: Message | None = None


def repair_history(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages in an order that is valid to send.

    - Results stand directly after their assistant message, in the order of its calls; of several the first counts.
    - A call without a result gets an error result that says it was cancelled.
    - Results without a call before them, and assistant messages without text and calls, are left out.
    - Call ids that occur twice or are empty get a number, together with their results.

    Consecutive user messages stay separate.
    """
    slots = _assign_results(messages)
    ids = _UniqueIds(messages)
    repaired: list[Message] = []
    for index, message in enumerate(messages):
        if message.role is Role.ASSISTANT:
            repaired.extend(_repair_answer(message, slots.get(index, ()), ids))
        elif message.role is not Role.TOOL:
            repaired.append(message)
    return tuple(repaired)


def _assign_results(messages: Sequence[Message]) -> Mapping[int, Sequence[_Slot]]:
    """Slots by the index of their message. A result belongs to the nearest message before it that calls its id."""
    slots: dict[int, list[_Slot]] = {}
    callers: dict[str, list[_Slot]] = {}
    for index, message in enumerate(messages):
        if message.role is Role.TOOL:
            open_slots = (slot for slot in callers.get(message.tool_call_id, ()) if slot.result is None)
            slot = next(open_slots, None)
            if slot is not None:
                slot.result = message
        elif message.tool_calls:
            slots[index] = [_Slot(call) for call in message.tool_calls]
            callers.update(_by_id(slots[index]))
    return slots


def _by_id(slots: Iterable[_Slot]) -> Mapping[str, list[_Slot]]:
    groups: dict[str, list[_Slot]] = {}
    for slot in slots:
        groups.setdefault(slot.call.id, []).append(slot)
    return groups


def _repair_answer(message: Message, slots: Sequence[_Slot], ids: "_UniqueIds") -> Iterator[Message]:
    if not slots:
        if _says_something(message):
            yield message
        return
    names = [ids.take(slot.call.id) for slot in slots]
    if names == [slot.call.id for slot in slots]:
        yield message
    else:
        calls = tuple(replace(slot.call, id=name) for slot, name in zip(slots, names, strict=True))
        yield replace(message, tool_calls=calls)
    for slot, name in zip(slots, names, strict=True):
        yield _result(message, slot, name)


def _result(message: Message, slot: _Slot, call_id: str) -> Message:
    result = slot.result
    if result is None:
        return Message(
            role=Role.TOOL,
            content=(TextPart(NOT_RUN),),
            timestamp_ms=message.timestamp_ms,
            tool_call_id=call_id,
            name=slot.call.name,
            is_error=True,
        )
    return result if result.tool_call_id == call_id else replace(result, tool_call_id=call_id)


def _says_something(message: Message) -> bool:
    return bool(message.text.strip()) or any(isinstance(part, ImagePart) for part in message.content)


class _UniqueIds:
    """Hands out call ids so that none occurs twice and none takes a spelling that another call has."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._reserved = {call.id for message in messages for call in message.tool_calls}
        self._taken: set[str] = set()

    def take(self, wanted: str) -> str:
        """The id itself the first time, afterwards with a number; deterministic for the same history."""
        name = wanted
        number = 1
        while not name or name in self._taken or (name != wanted and name in self._reserved):
            number += 1
            name = f"{wanted or 'call'}_{number}"
        self._taken.add(name)
        return name
