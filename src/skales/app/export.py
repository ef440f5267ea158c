"""Conversations as files to take away: what goes into one, what it is called, and its JSON form.

Every format is made from `prepare_session`, so that none can forget to mask a secret. The forms to read are
`export_markdown`, `export_pdf` and, because it shares the page's renderer, `server.export_html`.
Spec: ui-surfaces.md, "History".
"""

import json
import re
from dataclasses import replace
from enum import StrEnum

from msgspec import Struct, structs

from skales.core.clock import to_datetime
from skales.core.json import JsonValue
from skales.core.message import ContentPart, FilePart, Message, Role
from skales.data.session_codec import Session, Waiting, new_session_to_disk
from skales.data.session_spelling import FIELDS
from skales.security.veil import Veil
from skales.security.veiled_messages import veil_message, veil_part

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


class ExportOptions(Struct, frozen=True):
    """What goes along beside the words: tool steps, thoughts, and the receipts (model, tokens, time)."""

    steps: bool = True
    thoughts: bool = False
    receipts: bool = True


def prepare_session(session: Session, options: ExportOptions, veil: Veil | None = None) -> Session:
    """The conversation as it may leave: secrets masked, and without what the options leave out.

    `veil` knows the person's own stored secrets as well.
    """
    veil = veil or Veil()
    kept = (message for message in session.messages if options.steps or message.role is not Role.TOOL)
    return structs.replace(
        session,
        title=veil.text(session.title),
        messages=tuple(_prepare_message(message, options, veil) for message in kept),
        queued=tuple(_prepare_waiting(waiting, veil) for waiting in session.queued),
        extra=veil.fields(session.extra),
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


def _prepare_message(message: Message, options: ExportOptions, veil: Veil) -> Message:
    # The raw form of keys that we know would bring back what was left out or masked.
    extra = {key: value for key, value in message.extra.items() if key not in FIELDS}
    # Signed thinking in a provider's own form; masked or not, nobody else can use it.
    bare = replace(message, native={}, extra=extra)
    if not options.steps:
        bare = replace(bare, tool_calls=())
    if not options.thoughts:
        bare = replace(bare, reasoning="")
    prepared = veil_message(veil, bare)
    prepared = replace(prepared, content=tuple(map(_without_place, prepared.content)))
    if options.receipts:
        return prepared
    return replace(prepared, provider="", model="", usage=None, duration_ms=0)


def _prepare_waiting(waiting: Waiting, veil: Veil) -> Waiting:
    parts = tuple(_without_place(veil_part(veil, part)) for part in waiting.attachments)
    return structs.replace(waiting, text=veil.text(waiting.text), attachments=parts)


def _without_place(part: ContentPart) -> ContentPart:
    """Where a file lies on this computer is nobody else's business."""
    return replace(part, path="") if isinstance(part, FilePart) else part
