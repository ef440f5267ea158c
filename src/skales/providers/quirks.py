"""What single vendors demand of a history, as named functions that fields of the catalogue switch on.

All work on copies; the stored session keeps its own ids and messages. Spec: providers.md, "Quirks".
"""

import hashlib
import re
import string
from collections.abc import Sequence
from dataclasses import replace

from skales.core.message import Message, Role, text_message

_SHORT_ID = re.compile(r"[A-Za-z0-9]{9}")
_DIGITS = string.digits + string.ascii_letters
_BRIDGE = "(The turn ended here.)"


def shorten_call_ids(messages: Sequence[Message]) -> tuple[Message, ...]:
    """`short_call_ids`: ids of exactly nine letters and digits, the same for a call and its result, every time."""
    return tuple(
        replace(
            message,
            tool_calls=tuple(replace(call, id=_short_id(call.id)) for call in message.tool_calls),
            tool_call_id=_short_id(message.tool_call_id) if message.role is Role.TOOL else message.tool_call_id,
        )
        for message in messages
    )


def bridge_results(messages: Sequence[Message]) -> tuple[Message, ...]:
    """`bridges_results`: a user message may not follow a result, so a few words of the assistant stand between."""
    bridged: list[Message] = []
    for message in messages:
        if message.role is Role.USER and bridged and bridged[-1].role is Role.TOOL:
            bridged.append(text_message(Role.ASSISTANT, _BRIDGE))
        bridged.append(message)
    return tuple(bridged)


def find_tool_turns(messages: Sequence[Message]) -> frozenset[int]:
    """`reasoning_back`: indexes of the assistant messages of every turn that used tools.

    A user message begins a turn, except right after a result, where it may be a picture that a tool made. Thinking
    that is sent without need is ignored; thinking that is missing costs the request.
    """
    found: set[int] = set()
    turn: list[int] = []
    used_tools = False
    before = Role.SYSTEM
    for index, message in enumerate(messages):
        if message.role is Role.USER and before is not Role.TOOL:
            turn, used_tools = [], False
        elif message.role is Role.ASSISTANT:
            turn.append(index)
            used_tools = used_tools or bool(message.tool_calls)
        if used_tools:
            found.update(turn)
        before = message.role
    return frozenset(found)


def _short_id(call_id: str) -> str:
    """The id when it fits, else one made of its hash: cutting would make ids equal that differ at the end."""
    if _SHORT_ID.fullmatch(call_id):
        return call_id
    number = int.from_bytes(hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    digits: list[str] = []
    for _ in range(9):
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "".join(digits)
