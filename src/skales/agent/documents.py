"""Documents in a history that goes to a model which takes them as they are: each gets its bytes for one request.

The oldest come first: what was sent once is sent again the same way, so that the prefix of the request stays as it was.
What is gone, or no longer fits, goes as its text, which says so. Spec: issue "All 26 providers", 1.
"""

import base64
import re
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import replace

from msgspec import Struct, field

from skales.core.errors import NotFoundError, StorageError
from skales.core.message import ContentPart, FilePart, ImagePart, Message
from skales.core.ports import DocumentLimits
from skales.data.attachments import KeptFile, find_kept
from skales.data.paths import DataDirectory

# What the reader of PDF documents writes at the start; one that it could not open is not sent to a vendor either.
_PAGES = re.compile(r"--- page \d+ of (\d+) ---\n|\[None of its (\d+) pages holds text")
# Steps of one turn send the same documents again; together they are kept up to this size.
_KEPT_CHARACTERS = 64 * 1024 * 1024


def count_pages(part: FilePart) -> int:
    """How many pages a document has by what was read of it; 0 for what has none or could not be opened."""
    found = _PAGES.match(part.text)
    return int(found[1] or found[2]) if found else 0


class _Room(Struct):
    """What is taken of a request so far."""

    limits: DocumentLimits
    characters: int = 0
    pages: int = 0

    def take(self, characters: int, pages: int = 0) -> bool:
        """Whether that much more fits; then it is taken."""
        most_bytes, most_pages = self.limits.max_bytes, self.limits.max_pages
        if (most_bytes and self.characters + characters > most_bytes) or (
            most_pages and self.pages + pages > most_pages
        ):
            return False
        self.characters += characters
        self.pages += pages
        return True


class DocumentShelf(Struct):
    """Reads documents, and keeps the newest of them in the form in which they are sent."""

    directory: DataDirectory
    _kept: OrderedDict[KeptFile, str] = field(default_factory=OrderedDict[KeptFile, str])

    def fill(self, history: Sequence[Message], limits: DocumentLimits | None) -> Sequence[Message]:
        """The history with the bytes of the documents that a model takes; the same objects where there are none."""
        if limits is None or not any(is_native(part, limits.kinds) for said in history for part in said.content):
            return history
        room = _Room(limits)
        return [self._fill_message(message, room) for message in history]

    def _fill_message(self, message: Message, room: _Room) -> Message:
        content = tuple(self._fill_part(part, room) for part in message.content)
        is_same = all(new is old for new, old in zip(content, message.content, strict=True))
        return message if is_same else replace(message, content=content)

    def _fill_part(self, part: ContentPart, room: _Room) -> ContentPart:
        if isinstance(part, ImagePart):
            room.characters += len(part.data_base64)
        if not isinstance(part, FilePart) or not is_native(part, room.limits.kinds):
            return part
        try:
            kept = find_kept(self.directory, part.path)
            if not room.take(-(-kept.size_bytes // 3) * 4, count_pages(part)):
                return _as_text(part, "It does not fit into this request as a document")
            return replace(part, data_base64=self._load(kept))
        except NotFoundError:
            return _as_text(part, "The document itself is not here any more")
        except StorageError:
            return _as_text(part, "The document itself cannot be read")

    def _load(self, kept: KeptFile) -> str:
        """The bytes in base64. Raises NotFoundError, StorageError."""
        data = self._kept.pop(kept, None) or base64.b64encode(kept.read()).decode()
        self._kept[kept] = data
        while sum(map(len, self._kept.values())) > _KEPT_CHARACTERS and len(self._kept) > 1:
            self._kept.popitem(last=False)
        return data


def is_native(part: ContentPart, kinds: Collection[str]) -> bool:
    """Whether a part is a document of these kinds that was kept and could be opened."""
    return isinstance(part, FilePart) and part.media_type in kinds and bool(part.path) and count_pages(part) > 0


def _as_text(part: FilePart, reason: str) -> FilePart:
    return replace(part, text=f"[{reason}; this is its text.]\n{part.text}")
