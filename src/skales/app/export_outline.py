"""A conversation as the parts a reader sees, in order: the shape that all readable exports share."""

import json
from collections.abc import Callable, Mapping
from itertools import takewhile

from msgspec import Struct

from skales.core.clock import to_datetime
from skales.core.evidence import unconfirmed_of
from skales.core.message import FilePart, ImagePart, Message, Role, Usage
from skales.core.tool import ToolCall
from skales.data.session_codec import Session


class Labels(Struct, frozen=True):
    """The words of an export that are not the conversation's own. English; the page gives them in its language.

    `tell` does the same for what lower rooms said.
    """

    person: str = "You"
    assistant: str = "Skales"
    thoughts: str = "Thoughts"
    arguments: str = "Arguments"
    result: str = "Result"
    failed: str = "Not done"
    untitled: str = "New chat"
    picture: str = "Picture"
    file: str = "File: %(name)s"
    incomplete: str = "This answer ends early"
    tokens: str = "%(input)s tokens in, %(output)s out"
    begun: str = "Conversation of %(date)s"
    unconfirmed: str = "Not confirmed: %(sentence)s (%(reason)s)"
    missing_signs: str = "No font on this computer has these signs; a ? stands for each: %(signs)s"
    tell: Callable[[str], str] = str


class Spoken(Struct, frozen=True):
    """What the person said; `files` are the names of attached documents."""

    text: str
    pictures: tuple[ImagePart, ...]
    files: tuple[str, ...]
    when: str


class Answered(Struct, frozen=True):
    """What the model said; `receipt` is model, tokens and time in words, `thoughts` may be empty.

    `unconfirmed` has a line for each claim that no call bore out.
    """

    text: str
    thoughts: str
    receipt: str
    when: str
    is_incomplete: bool
    unconfirmed: tuple[str, ...] = ()


class Step(Struct, frozen=True):
    """A tool call; `arguments` is JSON to read, `result` is None when there is none."""

    tool: str
    arguments: str
    result: str | None
    is_error: bool


Part = Spoken | Answered | Step


def outline(prepared: Session, labels: Labels) -> tuple[Part, ...]:
    """The parts of a conversation that `prepare_session` made."""
    parts: list[Part] = []
    for place, message in enumerate(prepared.messages):
        match message.role:
            case Role.USER:
                pictures = tuple(part for part in message.content if isinstance(part, ImagePart))
                files = tuple(part.name for part in message.content if isinstance(part, FilePart))
                parts.append(Spoken(message.text, pictures, files, show_time(message.timestamp_ms)))
            case Role.ASSISTANT:
                if message.text or message.reasoning:
                    parts.append(_answered(message, labels))
                results = _results_after(prepared.messages, place)
                parts.extend(_step(call, results.get(call.id)) for call in message.tool_calls)
            case Role.SYSTEM | Role.TOOL:
                pass
    return tuple(parts)


def show_time(moment_ms: int) -> str:
    """`2026-11-30 14:05`, in this machine's zone; empty when nobody knows."""
    return f"{to_datetime(moment_ms):%Y-%m-%d %H:%M}" if moment_ms else ""


def _answered(message: Message, labels: Labels) -> Answered:
    facts = (message.model, _show_usage(message.usage, labels), _show_duration(message.duration_ms))
    return Answered(
        text=message.text,
        thoughts=message.reasoning.strip(),
        receipt=" · ".join(fact for fact in facts if fact),
        when=show_time(message.timestamp_ms),
        is_incomplete=bool(message.incomplete),
        unconfirmed=tuple(
            labels.unconfirmed % {"sentence": claim.sentence, "reason": labels.tell(claim.reason)}
            for claim in unconfirmed_of(message.extra)
        ),
    )


def _results_after(messages: tuple[Message, ...], place: int) -> Mapping[str, Message]:
    """By call id, up to the next thing said: models count their calls anew each turn."""
    following = takewhile(lambda message: message.role is Role.TOOL, messages[place + 1 :])
    return {message.tool_call_id: message for message in following}


def _step(call: ToolCall, found: Message | None) -> Step:
    shown = call.raw if call.problem else json.dumps(call.arguments, ensure_ascii=False, indent=2, default=str)
    if found is None:
        return Step(call.name, shown, None, is_error=False)
    return Step(call.name, shown, found.text, found.is_error)


def _show_usage(usage: Usage | None, labels: Labels) -> str:
    if usage is None or not (usage.input_tokens or usage.output_tokens):
        return ""
    return labels.tokens % {"input": f"{usage.input_tokens:,}", "output": f"{usage.output_tokens:,}"}


def _show_duration(duration_ms: int) -> str:
    return f"{duration_ms / 1000:.1f} s" if duration_ms > 0 else ""
