"""Orders messages for formats in which user and model take turns: system words apart, neighbours of one side together.

Pure, and stable for the same history, so that prompt caches fit. Spec: orchestrator.md, "Tool-call hardening".
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from msgspec import Struct

from skales.core.message import ContentPart, FilePart, ImagePart, Message, Role, TextPart, text_message

# What stands for an answer without words; the model's side may hold no pictures.
NO_WORDS = "(A picture.)"
_OPENING = text_message(Role.USER, "(Earlier messages are left out.)")
_CLOSING = text_message(Role.USER, "(Continue.)")


class Turn(Struct, frozen=True):
    """Messages of one side that follow each other. Tool results belong to the user's side and stand first."""

    is_model: bool
    messages: tuple[Message, ...]


def spell_files(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages with each file that goes as text as such; the same objects where there is none."""
    return [_spell_message(message) for message in messages]


def spell_file(part: FilePart) -> str:
    """An attached file as a model reads it: name, kind, size, place, then the text between marks."""
    facts = [f"name={json.dumps(part.name, ensure_ascii=False)}", f"size_bytes={part.size_bytes}"]
    if part.media_type:
        facts.insert(1, f"type={json.dumps(part.media_type)}")
    if part.path:
        facts.append(f"path={json.dumps(part.path, ensure_ascii=False)}")
    head = f"<attached_file {' '.join(facts)}"
    # A blank line keeps neighbours apart in formats that join all text.
    return f"{head}>\n{part.text}\n</attached_file>\n\n" if part.text else f"{head} />\n\n"


def _spell_message(message: Message) -> Message:
    if not any(map(_goes_as_text, message.content)):
        return message
    return replace(message, content=tuple(map(_spell_part, message.content)))


def _goes_as_text(part: ContentPart) -> bool:
    return isinstance(part, FilePart) and not part.data_base64


def _spell_part(part: ContentPart) -> ContentPart:
    return TextPart(spell_file(part)) if isinstance(part, FilePart) and not part.data_base64 else part


def spell_data(part: ImagePart | FilePart) -> str:
    """The bytes of a part as an address that holds them."""
    return f"data:{part.media_type};base64,{part.data_base64}"


def split_system(messages: Sequence[Message]) -> tuple[str, Sequence[Message]]:
    """The words of the system messages at the start, and the rest."""
    count = next((index for index, message in enumerate(messages) if message.role is not Role.SYSTEM), len(messages))
    words = [message.text for message in messages[:count] if message.text.strip()]
    return "\n\n".join(words), messages[count:]


def place_roles(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages with system words only at the start, and the user's words first after them and last.

    Chat completions name no such rule, but many who speak them hold to one: Mistral, chat templates, routers.
    """
    count = next((index for index, message in enumerate(messages) if message.role is not Role.SYSTEM), len(messages))
    told = [
        replace(message, role=Role.USER) if message.role is Role.SYSTEM else message for message in messages[count:]
    ]
    if told and told[0].role is Role.ASSISTANT:
        told.insert(0, _OPENING)
    if told and told[-1].role is Role.ASSISTANT:
        told.append(_CLOSING)
    return (*messages[:count], *told)


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
    has_attachment = any(isinstance(part, ImagePart | FilePart) for part in message.content)
    return bool(message.role is Role.TOOL or message.tool_calls or has_attachment or message.text.strip())
