"""Pictures in a history that goes to a model which does not see: each becomes a sentence that says what is missing.

The history on disk keeps them, so that a model that sees gets them again. Pure.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from skales.core.message import ContentPart, ImagePart, Message, TextPart


def leave_out_pictures(history: Sequence[Message], sees: Callable[[], bool]) -> Sequence[Message]:
    """The history as a model can take it. `sees` is asked only when there is a picture."""
    if not any(map(_has_picture, history)) or sees():
        return history
    return [_without_pictures(message) if _has_picture(message) else message for message in history]


def _has_picture(message: Message) -> bool:
    return any(isinstance(part, ImagePart) for part in message.content)


def _without_pictures(message: Message) -> Message:
    return replace(message, content=tuple(map(_describe, message.content)))


def _describe(part: ContentPart) -> ContentPart:
    if not isinstance(part, ImagePart):
        return part
    named = f" named {part.name!r}" if part.name else ""
    # Line ends keep it apart from the words around it, which some formats join.
    return TextPart(f"\n[A picture{named} ({part.media_type}) is left out here: this model cannot see pictures.]\n\n")
