"""Files of messages: staged in `uploads/` while a message is written, kept in `attachments/<session>/` once it is sent.

A staged file is a folder: `content` as it came, `facts.json` written last, `text` when it could be read as such. What
was sent stays when its conversation goes to the trash, so that undo finds it; `sweep` removes it once the conversation
is nowhere any more. Spec: data-directory.md, "Tree".
"""

import os
import re
import shutil
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, structs

from skales.core.clock import Clock
from skales.core.errors import NotFoundError, StorageError
from skales.core.ids import IdSource, SessionId, is_safe_id
from skales.core.json import as_object, as_text, parse_json
from skales.data.document import lock_for, storage_errors, write_bytes, write_object
from skales.data.index import is_session_id
from skales.data.paths import DataDirectory

STAGED_FOR_MS = 24 * 60 * 60 * 1000
_LONGEST_NAME = 120  # characters; every file system takes twice that with the number in front
_FOLDER_MODE = 0o700
_ID_LENGTH = 24
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)
_NOT_IN_NAMES = re.compile(r'[<>:"/\\|?*]')


class Staged(Struct, frozen=True, kw_only=True):
    """A file that waits for its message. `kind` is `picture`, `document` or `file`; `notice` says what is missing.

    `is_cut` says that `text` holds only its beginning.
    """

    id: str
    name: str
    media_type: str
    size_bytes: int
    kind: str
    notice: str = ""
    is_cut: bool = False


class KeptFile(Struct, frozen=True):
    """A file that was sent with a message, as it lies on the disk; equal as long as nobody wrote to it."""

    path: Path
    size_bytes: int
    changed_ns: int

    def read(self) -> bytes:
        """Its content. Raises NotFoundError, StorageError."""
        with storage_errors(self.path, "read"):
            try:
                return self.path.read_bytes()
            except FileNotFoundError as error:
                raise _gone() from error


class AttachmentStore:
    """Stages, finds, keeps and sweeps files. May be used from several threads."""

    def __init__(self, directory: DataDirectory, clock: Clock, ids: IdSource) -> None:
        self._directory = directory
        self._clock = clock
        self._ids = ids

    def begin(self) -> tuple[str, Path]:
        """A new id, and where the bytes of its file are to be written. Raises StorageError."""
        staged_id = self._ids.token(_ID_LENGTH)
        folder = self._directory.uploads / staged_id
        with storage_errors(folder, "written"):
            folder.mkdir(mode=_FOLDER_MODE, parents=True)
        return staged_id, folder / "content"

    def stage(self, staged: Staged, text: str) -> None:
        """Keep what is known about a file whose bytes are written; from now on it can be found."""
        folder = self._folder(staged.id)
        write_bytes(folder / "text", text.encode("utf-8", "replace"))
        write_object(folder / "facts.json", structs.asdict(staged))

    def find(self, staged_id: str) -> Staged:
        """What is known about a staged file. Raises NotFoundError."""
        try:
            raw = as_object(parse_json((self._folder(staged_id) / "facts.json").read_text(encoding="utf-8")))
            return Staged(
                id=staged_id,
                name=as_text(raw["name"]),
                media_type=as_text(raw["media_type"]),
                size_bytes=int(str(raw["size_bytes"])),
                kind=as_text(raw["kind"]),
                notice=as_text(raw["notice"]),
                is_cut=raw["is_cut"] is True,
            )
        except (OSError, ValueError, KeyError) as error:
            raise _gone() from error

    def content_path(self, staged_id: str) -> Path:
        """Where the bytes of a staged file are."""
        return self._folder(staged_id) / "content"

    def read_text(self, staged_id: str) -> str:
        """The text of a staged document. Raises NotFoundError."""
        try:
            return (self._folder(staged_id) / "text").read_text(encoding="utf-8")
        except OSError as error:
            raise _gone() from error

    def keep(self, session_id: SessionId, staged: Staged) -> Path:
        """Put a staged file under its conversation as `<n>-<safe name>`, and leave the staged one; the path it got.

        Raises NotFoundError, StorageError.
        """
        assert is_session_id(session_id), "sessions are found before files are kept for them"
        folder = self._directory.attachments / session_id
        source = self.content_path(staged.id)
        with lock_for(folder), storage_errors(folder, "written"):
            folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
            path = folder / f"{_next_number(folder)}-{safe_name(staged.name)}"
            try:
                _copy(source, path)
            except FileNotFoundError as error:
                raise _gone() from error
        return path

    def forget(self, path: Path) -> None:
        """Take back what `keep` did, when the message was not taken after all."""
        assert path.is_relative_to(self._directory.attachments), "a path of `keep`"
        with suppress(OSError):
            path.unlink()
            path.parent.rmdir()  # only when it is empty

    def discard(self, staged_id: str) -> None:
        """Remove a staged file; nothing happens when there is none."""
        shutil.rmtree(self._folder(staged_id), ignore_errors=True)

    def sweep(self) -> None:
        """Remove files staged more than a day ago, and those of conversations that are in no folder any more."""
        horizon_ms = self._clock.now_ms() - STAGED_FOR_MS
        for folder in _folders(self._directory.uploads):
            with suppress(OSError):
                if folder.stat().st_mtime_ns // 1_000_000 < horizon_ms:
                    shutil.rmtree(folder, ignore_errors=True)
        kept = _folders(self._directory.attachments)
        if not kept:
            return
        with suppress(StorageError):
            known = self._known_sessions()
            for folder in kept:
                if folder.name not in known:
                    shutil.rmtree(folder, ignore_errors=True)

    def _known_sessions(self) -> set[str]:
        """Ids of conversations, also of those deleted or set aside. Raises StorageError."""
        names: set[str] = set()
        directory = self._directory
        for folder in (directory.sessions, directory.trash / "sessions", directory.quarantine):
            with storage_errors(folder, "read"), suppress(FileNotFoundError):
                # `<id>.json`, and `<id>.json.<moment>` for what lay in the way; an id may hold dots itself.
                names.update(name for path in folder.rglob("*") for name in _beginnings(path.name))
        return names

    def _folder(self, staged_id: str) -> Path:
        if not is_safe_id(staged_id):
            raise _gone()
        return self._directory.uploads / staged_id


def find_kept(directory: DataDirectory, path: str) -> KeptFile:
    """The file of a message by the path that its session names. Raises NotFoundError.

    A session may come from elsewhere and name any file of the person's; only what lies under `attachments/` is one.
    """
    try:
        place = Path(path).resolve(strict=True)
        facts = place.stat()
    except (OSError, ValueError, RuntimeError) as error:
        raise _gone() from error
    if not place.is_relative_to(directory.attachments.resolve()) or not stat.S_ISREG(facts.st_mode):
        raise _gone()
    return KeptFile(place, facts.st_size, facts.st_mtime_ns)


def safe_name(name: str) -> str:
    """A name that any file system takes and that shows as what it is: one line, no separators, no hidden direction."""
    text = unicodedata.normalize("NFC", name.replace("\\", "/").rpartition("/")[2])
    visible = "".join(_visible(character) for character in text)
    plain = " ".join(_NOT_IN_NAMES.sub("_", visible).split()).strip(". ")
    if _RESERVED.match(plain):
        plain = f"_{plain}"
    return _shorten(plain) or "file"


def _visible(character: str) -> str:
    """Line ends and tabs part words; marks of direction, controls and halves of characters show nothing and go."""
    if character.isspace():
        return " "
    return "" if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn"} else character


def _shorten(name: str) -> str:
    """At most so many bytes, with the ending kept, since programs tell files by it."""
    if len(name.encode()) <= _LONGEST_NAME:
        return name
    stem, dot, ending = name.rpartition(".")
    tail = f".{ending}" if dot and len(ending.encode()) <= 12 else ""  # no known ending is longer
    head = (stem if tail else name).encode()[: _LONGEST_NAME - len(tail.encode())].decode(errors="ignore")
    return head.rstrip(". ") + tail


def _next_number(folder: Path) -> int:
    taken = (path.name.partition("-")[0] for path in folder.iterdir())
    return max((int(number) for number in taken if number.isdecimal() and number.isascii()), default=0) + 1


def _copy(source: Path, target: Path) -> None:
    """A second name for the same bytes where the file system can, since nobody writes to them again."""
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:
        partial = target.with_name(f".{target.name}.part")
        shutil.copyfile(source, partial)
        partial.replace(target)


def _folders(parent: Path) -> list[Path]:
    with suppress(OSError):
        return [path for path in parent.iterdir() if path.is_dir() and not path.is_symlink()]
    return []


def _beginnings(name: str) -> Iterator[str]:
    return (name[:place] for place, character in enumerate(name) if character == ".")


def _gone() -> NotFoundError:
    return NotFoundError("This file is not here any more", hint="Attach it again", code="attachment_gone")
