"""Conversations as files to take away: what goes into one, what it is called, and its JSON form.

Every format is made from `prepare_session`, so that none can forget to mask a secret. The forms to read are
`export_markdown`, `export_pdf` and, because it shares the page's renderer, `server.export_html`.
Spec: ui-surfaces.md, "History".
"""

import json
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import assert_never

from skales.core.clock import to_datetime
from skales.core.json import JsonValue, as_object
from skales.core.message import ContentPart, FilePart, ImagePart, Message, Role, TextPart
from skales.core.tool import ToolCall
from skales.data.session_codec import Session, Waiting, new_session_to_disk
from skales.data.session_spelling import FIELDS
from skales.security.redact import redact, redact_value

# What readers of the JSON form can rely on; counts up when its shape changes.
EXPORT_VERSION = 1

_LONGEST_NAME = 80
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]+')
# Names that Windows gives to devices, with any ending.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])", re.IGNORECASE)


class ExportFormat(StrEnum):
    """The forms a conversation can leave in; each value is also the file's ending."""

    MARKDOWN = "md"
    JSON = "json"
    HTML = "html"
    PDF = "pdf"


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What goes along beside the words: tool steps, thoughts, and the receipts (model, tokens, time)."""

    steps: bool = True
    thoughts: bool = False
    receipts: bool = True


def prepare_session(session: Session, options: ExportOptions) -> Session:
    """The conversation as it may leave: secrets masked, and without what the options leave out."""
    kept = (message for message in session.messages if options.steps or message.role is not Role.TOOL)
    return replace(
        session,
        title=redact(session.title),
        messages=tuple(_prepare_message(message, options) for message in kept),
        queued=tuple(_prepare_waiting(waiting) for waiting in session.queued),
        extra=as_object(redact_value(session.extra)),
    )


def export_json(prepared: Session) -> str:
    """The content of the session's own file, with the version of this form in front."""
    content: dict[str, JsonValue] = {"exportVersion": EXPORT_VERSION, **new_session_to_disk(prepared)}
    return json.dumps(content, ensure_ascii=False, indent=2).encode("utf-8", "replace").decode() + "\n"


def name_file(title: str, moment_ms: int, ending: str) -> str:
    """`2026-11-30 The title.md`: a name that every common file system takes, made of the title."""
    return f"{to_datetime(moment_ms):%Y-%m-%d} {safe_name(title)}.{ending}"


def safe_name(text: str) -> str:
    """A text as one part of a path: no separators, no device names, never empty, no dot or space at its ends."""
    cleaned = " ".join(_UNSAFE.sub(" ", text).split())[:_LONGEST_NAME].strip(". ")
    if not cleaned or _DEVICE.fullmatch(cleaned.partition(".")[0].strip()):
        return f"Conversation {cleaned}".strip()
    return cleaned


def _prepare_message(message: Message, options: ExportOptions) -> Message:
    prepared = replace(
        message,
        content=tuple(_prepare_part(part) for part in message.content),
        tool_calls=tuple(_prepare_call(call) for call in message.tool_calls) if options.steps else (),
        reasoning=redact(message.reasoning) if options.thoughts else "",
        # Signed thinking in a provider's own form; masked or not, nobody else can use it.
        native={},
        # The raw form of keys that we know would bring back what was left out or masked.
        extra=as_object(redact_value({key: value for key, value in message.extra.items() if key not in FIELDS})),
    )
    if options.receipts:
        return prepared
    return replace(prepared, provider="", model="", usage=None, duration_ms=0)


def _prepare_waiting(waiting: Waiting) -> Waiting:
    parts = tuple(_prepare_part(part) for part in waiting.attachments)
    return replace(waiting, text=redact(waiting.text), attachments=parts)


def _prepare_part(part: ContentPart) -> ContentPart:
    match part:
        case TextPart(text):
            return TextPart(redact(text))
        case ImagePart():
            return replace(part, name=redact(part.name))
        case FilePart():  # where it lies on this computer is nobody else's business
            return replace(part, name=redact(part.name), text=redact(part.text), path="")
        case _:
            assert_never(part)


def _prepare_call(call: ToolCall) -> ToolCall:
    return replace(call, arguments=as_object(redact_value(call.arguments)), raw=redact(call.raw))
