"""One conversation message, as every room sees it. Disk and wire spellings live at those edges."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from skales.core.json import JsonValue
from skales.core.tool import ToolCall


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class TextPart:
    """Plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class ImagePart:
    """A picture, carried inline."""

    media_type: str
    data_base64: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class FilePart:
    """A file, carried as the text that a model reads of it. `path` is where it lies, empty when it is kept nowhere.

    `data_base64` is the file itself, for a model that takes it so: filled for one request, never written to a session.
    """

    name: str
    media_type: str
    size_bytes: int
    text: str
    path: str = ""
    data_base64: str = ""


ContentPart = TextPart | ImagePart | FilePart


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counted them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    def plus(self, other: "Usage") -> "Usage":
        """Both together."""
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class Message:
    """One entry of a session's history.

    `tool_calls` only on assistant messages; `tool_call_id`, `name` and `is_error` only on tool messages.
    `incomplete` is empty for a finished answer, else why it ends early: `stopped`, `cut` or `failed`.
    `provider` and `model` name who wrote an assistant message. `native` keeps what its format wants back as it was,
    such as signed thinking: `{"format": "anthropic", "blocks": […]}`. `extra` holds keys that we do not know.
    """

    role: Role
    content: tuple[ContentPart, ...] = ()
    timestamp_ms: int = 0
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    name: str = ""
    is_error: bool = False
    reasoning: str = ""
    provider: str = ""
    model: str = ""
    incomplete: str = ""
    usage: Usage | None = None
    duration_ms: int = 0
    native: Mapping[str, JsonValue] = field(default_factory=dict)
    extra: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All text parts joined; what attached files say is not the speaker's own and stays out."""
        return "".join(part.text for part in self.content if isinstance(part, TextPart))


def text_message(role: Role, text: str, *, timestamp_ms: int = 0) -> Message:
    """A message of one text part; empty text makes an empty message."""
    return Message(role=role, content=(TextPart(text),) if text else (), timestamp_ms=timestamp_ms)
