"""Orders messages for formats in which user and model take turns: system words apart, neighbours of one side together.

Pure, and stable for the same history, so that prompt caches fit. Spec: orchestrator.md, "Tool-call hardening".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from skales.core.message import ImagePart, Message, Role, text_message

_OPENING = text_message(Role.USER, "(Earlier messages are left out.)")
_CLOSING = text_message(Role.USER, "(Continue.)")


@dataclass(frozen=True, slots=True)
class Turn:
    """Messages of one side that follow each other. Tool results belong to the user's side and stand first."""

    is_model: bool
    messages: tuple[Message, ...]


def split_system(messages: Sequence[Message]) -> tuple[str, Sequence[Message]]:
    """The words of the system messages at the start, and the rest."""
    count = next((index for index, message in enumerate(messages) if message.role is not Role.SYSTEM), len(messages))
    words = [message.text for message in messages[:count] if message.text.strip()]
    return "\n\n".join(words), messages[count:]


def build_turns(messages: Sequence[Message]) -> list[Turn]:
    """Turns that alternate, the user's first and last. Messages that say nothing are left out.

    A system message later on is taken for the user's, since these formats know none there.
    """
    told = [message for message in messages if says_something(message)]
    if not told or told[0].role is Role.ASSISTANT:
        told.insert(0, _OPENING)
    if told[-1].role is Role.ASSISTANT:
        told.append(_CLOSING)
    return [
        Turn(is_model, tuple(sorted(group, key=lambda message: message.role is not Role.TOOL)))
        for is_model, group in groupby(told, key=lambda message: message.role is Role.ASSISTANT)
    ]


def says_something(message: Message) -> bool:
    """Whether a message holds more than blanks; results always count, since their call waits for them."""
    has_picture = any(isinstance(part, ImagePart) for part in message.content)
    return bool(message.role is Role.TOOL or message.tool_calls or has_picture or message.text.strip())
