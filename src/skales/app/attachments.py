"""Attached files on their way into a message: what each is, its text, and the parts that a turn takes.

The content decides what a file is, never its name or what the browser says of it. Pictures go as they are, documents as
text; anything else stays a file whose place the model is told.
"""

import base64
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct, structs

from skales.core.errors import InputError, SkalesError, ToolError
from skales.core.ids import SessionId
from skales.core.message import ContentPart, FilePart, ImagePart
from skales.data.attachments import AttachmentStore, Staged, safe_name
from skales.data.document import storage_errors
from skales.tools.documents.coding import detect_coding
from skales.tools.documents.kinds import Family, Kind, detect_kind, detect_text_kind, kind_by_name
from skales.tools.documents.lines import decode_pieces
from skales.tools.documents.readers import open_kind

MAX_FILES = 20
MAX_FILE_BYTES = 50 * 1024 * 1024
MAX_PICTURE_BYTES = 20 * 1024 * 1024
# About 30,000 tokens: most documents whole, and still several of them in a usual window.
MAX_TEXT_CHARACTERS = 120_000
_SAMPLE_BYTES = 256 * 1024
_HEAD_BYTES = 16 * 1024
# What the vendors take, by its first bytes.
_PICTURES = (
    (b"\x89PNG\r\n\x1a\n", b"", "image/png"),
    (b"\xff\xd8\xff", b"", "image/jpeg"),
    (b"GIF87a", b"", "image/gif"),
    (b"GIF89a", b"", "image/gif"),
    (b"RIFF", b"WEBP", "image/webp"),
)
_BINARY = "application/octet-stream"


class Claimed(Struct, frozen=True):
    """Files that go with a message. They stay staged as well until `settle` says that the message was taken."""

    parts: tuple[ContentPart, ...] = ()
    staged: tuple[str, ...] = ()
    kept: tuple[Path, ...] = ()


class _Reading(Struct, frozen=True):
    text: str = ""
    notice: str = ""
    is_cut: bool = False


class Attachments:
    """Takes files in, shows what is known of them, and turns them into parts. May be used from several threads."""

    def __init__(self, store: AttachmentStore) -> None:
        self._store = store

    @contextmanager
    def receive(self) -> Generator["Incoming"]:
        """A place for the bytes of one file; unless `finish` keeps it, nothing of it stays. Raises StorageError."""
        staged_id, path = self._store.begin()
        incoming = Incoming(self._store, staged_id, path)
        try:
            yield incoming
        finally:
            if not incoming.is_kept:
                self._store.discard(staged_id)

    def find(self, staged_id: str) -> Staged:
        """A file that waits for its message. Raises NotFoundError."""
        return self._store.find(staged_id)

    def content_path(self, staged_id: str) -> Path:
        """Where its bytes are, for showing a picture. Raises NotFoundError."""
        return self._store.content_path(self._store.find(staged_id).id)

    def discard(self, staged_id: str) -> None:
        """Forget a file that waits."""
        self._store.discard(staged_id)

    def sweep(self) -> None:
        """Remove what nobody waits for any more."""
        self._store.sweep()

    def claim(self, session_id: SessionId, staged_ids: Sequence[str]) -> Claimed:
        """Files as parts of a message, kept under its conversation. Raises InputError, NotFoundError, StorageError."""
        wanted = tuple(dict.fromkeys(staged_ids))
        if len(wanted) > MAX_FILES:
            raise InputError(
                f"{len(wanted)} files are too many for one message",
                hint=f"Send at most {MAX_FILES} at a time",
                code="too_many_files",
            )
        found = [self._store.find(staged_id) for staged_id in wanted]
        kept: list[Path] = []
        parts: list[ContentPart] = []
        try:
            for staged in found:
                kept.append(self._store.keep(session_id, staged))
                parts.append(self._build_part(staged, kept[-1]))
        except SkalesError:
            self.release(Claimed(kept=tuple(kept)))
            raise
        return Claimed(tuple(parts), wanted, tuple(kept))

    def settle(self, claimed: Claimed) -> None:
        """The message was taken: its files wait no more."""
        for staged_id in claimed.staged:
            self._store.discard(staged_id)

    def release(self, claimed: Claimed) -> None:
        """The message was not taken: its files wait on."""
        for path in claimed.kept:
            self._store.forget(path)

    def _build_part(self, staged: Staged, path: Path) -> ContentPart:
        if staged.kind == "picture":
            with storage_errors(path, "read"):
                data = path.read_bytes()
            return ImagePart(staged.media_type, base64.b64encode(data).decode(), staged.name)
        text = self._store.read_text(staged.id)
        if staged.is_cut:
            text += f"\n[Cut here after {len(text):,} characters; read_file shows the rest of {path}]"
        elif not text:
            text = f"[{staged.notice or 'No text'}. The file lies at {path}; tools may open it there.]"
        return FilePart(staged.name, staged.media_type, staged.size_bytes, text, str(path))


class Incoming:
    """One file while its bytes arrive at `path`."""

    def __init__(self, store: AttachmentStore, staged_id: str, path: Path) -> None:
        self._store = store
        self._id = staged_id
        self.path = path
        self.is_kept = False

    def finish(self, name: str) -> Staged:
        """Look at what came and keep it. Raises InputError that says why it cannot be attached, StorageError."""
        with storage_errors(self.path, "read"), self.path.open("rb") as stream:
            size_bytes = stream.seek(0, 2)
            plain = safe_name(name)
            if size_bytes == 0:
                raise InputError(f"{plain!r} is empty", hint="Choose a file with content", code="empty_file")
            if size_bytes > MAX_FILE_BYTES:
                raise too_large(plain)
            staged, reading = _examine(
                stream, Staged(id=self._id, name=plain, media_type="", size_bytes=size_bytes, kind="file")
            )
        self._store.stage(staged, reading.text)
        self.is_kept = True
        return staged


def too_large(name: str, limit_bytes: int = MAX_FILE_BYTES) -> InputError:
    """Why a file of this size is not taken."""
    return InputError(
        f"{name!r} is larger than {limit_bytes // 1024 // 1024} MB",
        hint="Put it into the workspace; tools can read parts of it there",
        code="file_too_large",
    )


def _examine(stream: BinaryIO, staged: Staged) -> tuple[Staged, _Reading]:
    stream.seek(0)
    head = stream.read(16)
    for start, mark, media_type in _PICTURES:
        if head.startswith(start) and head.startswith(mark, 8):
            if staged.size_bytes > MAX_PICTURE_BYTES:
                raise too_large(staged.name, MAX_PICTURE_BYTES)
            return structs.replace(staged, kind="picture", media_type=media_type), _Reading()
    kind = detect_kind(stream)
    if kind is not None and kind.family is Family.PICTURE:
        raise InputError(
            f"{staged.name!r} is {kind.words}, which no model can look at",
            hint="Save it as PNG, JPEG, GIF or WebP and attach that",
            code="picture_kind",
        )
    reading = _read(stream, kind, staged)
    return structs.replace(
        staged,
        kind="document" if reading.text else "file",
        media_type=_media_type(kind, staged.name, is_text=bool(reading.text)),
        notice=reading.notice,
        is_cut=reading.is_cut,
    ), reading


def _media_type(kind: Kind | None, name: str, *, is_text: bool) -> str:
    """The content's own; the name only tells one kind of text from another."""
    if kind is not None:
        return kind.media_type or _BINARY
    named = kind_by_name(Path(name))
    if not is_text:
        return _BINARY
    return named if named.startswith("text/") or named in {"application/json", "image/svg+xml"} else "text/plain"


def _read(stream: BinaryIO, kind: Kind | None, staged: Staged) -> _Reading:
    """The text as far as it goes; a file that has none stays a file. Raises InputError for a bomb."""
    try:
        pieces = _open(stream, kind, staged)
        return _cut(pieces) if pieces is not None else _Reading(notice=f"It is {_words(kind)}, not text")
    except ToolError as error:
        if error.code == "too_large":
            raise InputError(
                f"{staged.name!r} is not taken. {error.message}", hint=error.hint, code=error.code
            ) from error
        return _Reading(notice=error.message)


def _words(kind: Kind | None) -> str:
    return kind.words if kind else "data of no known kind"


def _open(stream: BinaryIO, kind: Kind | None, staged: Staged) -> Iterable[str] | None:
    if kind is None:
        return _open_text(stream, staged)
    # The names in an archive say little about what is attached.
    return None if kind.family is Family.ARCHIVE else open_kind(kind, stream, "")


def _open_text(stream: BinaryIO, staged: Staged) -> Iterator[str] | None:
    stream.seek(0)
    sample = stream.read(_SAMPLE_BYTES)
    coding = detect_coding(sample, is_whole=len(sample) == staged.size_bytes)
    if coding is None:
        return None
    kind = detect_text_kind(sample[:_HEAD_BYTES].decode(coding.codec, "replace"), staged.name)
    # A table and a notebook are sent as they are stored: that is what the person attached.
    if kind is not None and kind.family in {Family.MAIL, Family.RICH_TEXT}:
        return open_kind(kind, stream, "")
    return decode_pieces(stream, coding)


def _cut(pieces: Iterable[str]) -> _Reading:
    kept: list[str] = []
    room = MAX_TEXT_CHARACTERS
    for piece in pieces:
        if len(piece) > room:
            kept.append(piece[:room])
            return _Reading("".join(kept), f"Only the first {MAX_TEXT_CHARACTERS:,} characters are sent", is_cut=True)
        kept.append(piece)
        room -= len(piece)
    text = "".join(kept)
    return _Reading(text) if text.strip() else _Reading(notice="It holds no text")
