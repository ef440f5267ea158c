"""Files inside messages that were sent or wait: how they show in the conversation."""

from collections.abc import Iterator, Sequence

from skales.core.message import ContentPart, FilePart, ImagePart, TextPart
from skales.server.conversation_views import SentFile
from skales.server.ui.phrases import show_size
from skales.server.words import _


def list_files(content: Sequence[ContentPart]) -> tuple[SentFile, ...]:
    """The files of a message; pictures show themselves."""
    return tuple(
        SentFile(part.name, show_ending(part.name), show_size(part.size_bytes))
        for part in content
        if isinstance(part, FilePart)
    )


def name_attached(content: Sequence[ContentPart]) -> str:
    """The names of everything that is attached."""
    return ", ".join(_names(content))


def show_ending(name: str) -> str:
    """The kind that a name's ending tells, in at most four letters; empty without one."""
    _stem, dot, ending = name.rpartition(".")
    return ending[:4].upper() if dot else ""


def _names(content: Sequence[ContentPart]) -> Iterator[str]:
    for part in content:
        match part:
            case TextPart():
                continue
            case ImagePart(name=name):
                yield name or _("a picture")
            case FilePart(name=name):
                yield name
