"""Attached files that go as documents and not as text, and how they become text where an endpoint refuses them.

A refusal seldom says which document it is about, so the whole conversation, known by its first one, goes on as text.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from skales.core.message import ContentPart, FilePart, Message, TextPart
from skales.providers.formats.turns import spell_file

_REFUSED = re.compile(r"\bpdfs?\b|\bdocuments?\b|\bfiles?\b|input_file|file_data|mime.?type", re.IGNORECASE)
_NOTE = "[The endpoint did not take the document itself; this is its text.]"


def settle_documents(
    messages: Sequence[Message], conceded: frozenset[str], *, with_texts: bool = False
) -> Sequence[Message]:
    """The messages, with text in place of documents when this endpoint refused them in this conversation.

    `with_texts` is for formats that take text files as documents too.
    """
    parts = (part for message in messages for part in message.content if isinstance(part, FilePart))
    sent = (part.data_base64 or (part.text if with_texts and is_text_file(part) else "") for part in parts)
    if (refused := _name(sent)) and refused in conceded:
        return [_without_documents(message) for message in messages]
    return messages


def is_text_file(part: FilePart) -> bool:
    """Whether a file is text by its own kind, so that its text is all of it."""
    return part.media_type.startswith("text/") and bool(part.text.strip())


def describe_file(part: FilePart) -> str:
    """Name, kind, size and place of a document that goes as it is, for the words before it."""
    return spell_file(replace(part, text=""))


def concede_documents(sent: Iterable[str], refusal: str) -> str:
    """What to concede when a refusal may be about the documents that were sent; empty when it is not."""
    return _name(sent) if _REFUSED.search(refusal) else ""


def _name(sent: Iterable[str]) -> str:
    first = next(filter(None, sent), "")
    return f"documents {hashlib.sha256(first.encode('utf-8', 'replace')).hexdigest()[:32]}" if first else ""


def _without_documents(message: Message) -> Message:
    if not any(isinstance(part, FilePart) for part in message.content):
        return message
    return replace(message, content=tuple(map(_to_text, message.content)))


def _to_text(part: ContentPart) -> ContentPart:
    if not isinstance(part, FilePart):
        return part
    return TextPart(spell_file(replace(part, text=f"{_NOTE}\n{part.text}") if part.data_base64 else part))
