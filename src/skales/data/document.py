"""One JSON object in one file: read it safely, replace it in one step, change it without losing anybody's edit.

Every document of the data directory goes through here. A crash leaves the old file or the new one, never a mixture; a
power cut does too, though of what was written in its last fiftieth of a second it may leave the old one. A file that
cannot be read is set aside, never overwritten. Spec: data-directory.md, "Write rules".
"""

import contextlib
import copy
import errno
import json
import os
import re
import secrets
import stat
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import NamedTuple, TypeVar, cast

from skales.core.errors import BrokenDocumentError, ConflictError, InputError, NotFoundError, StorageError
from skales.core.json import JsonValue, parse_json
from skales.data.folder_flush import flush_soon
from skales.data.quarantine import BrokenFile, Quarantine

Result = TypeVar("Result")

# Far beyond what any document needs, far below what exhausts the stack while writing.
MAX_DEPTH = 200

_FOLDER_MODE = 0o700
_FILE_MODE = 0o600
_FRESH_MS = 1000  # an editor may still be saving a file this young
_REREADS = 3
_REREAD_PAUSE_S = 0.05
_UPDATE_RETRIES = 4
_SHARING_ATTEMPTS = 10
_SHARING_PAUSE_S = 0.02
_SHARING_WINERRORS = (5, 32)  # ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION: a scanner or reader has the file open
_READ_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_LEAVES = frozenset((str, int, float, bool, type(None)))  # asked first: nearly everything in a document is one of them
# How a list of objects stands in a file.
LIST_START, NEXT_LINE, LIST_END = b"[\n    ", b",\n    ", b"\n  ]"
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{12}\.tmp")
_SURROGATE = re.compile("[\ud800-\udfff]")

_REFUSALS = {
    errno.ENOSPC: ("disk_full", "the disk is full", "Free some space, then try again"),
    errno.EDQUOT: ("disk_full", "the disk quota is used up", "Free some space, then try again"),
    errno.EROFS: ("read_only", "the disk is read-only", "Make the disk writable, or move the data directory"),
    errno.EACCES: ("no_permission", "permission is missing", "Check who owns the file and its folder"),
    errno.EPERM: ("no_permission", "permission is missing", "Check who owns the file and its folder"),
}


class Stamp(NamedTuple):
    """What tells one state of a file from the next."""

    mtime_ns: int
    size_bytes: int


ABSENT = Stamp(-1, -1)


class ChangedOnDiskError(ConflictError):
    """The file is no longer the one that was read; nothing was written."""


def read_object(
    path: Path, quarantine: Quarantine, *, pause: Callable[[float], None] = time.sleep
) -> dict[str, JsonValue]:
    """The object in a UTF-8 file, a byte order mark tolerated.

    Raises:
        NotFoundError: There is no such file.
        BrokenDocumentError: It holds something else; it was set aside.
        StorageError: It could not be read, and was left alone.
    """
    return read_stamped(path, quarantine, pause=pause)[0]


def read_stamped(
    path: Path,
    quarantine: Quarantine,
    *,
    check: Callable[[Mapping[str, JsonValue]], None] = lambda _: None,
    pause: Callable[[float], None] = time.sleep,
) -> tuple[dict[str, JsonValue], Stamp]:
    """Like `read_object`, with the state of the file that was read.

    `check` raises ValueError with the reason when the object is not what the file should hold; the file then counts
    as broken.
    """

    def parse(data: bytes) -> dict[str, JsonValue]:
        value = _parse(data)
        check(value)
        return value

    for _ in range(_REREADS):
        data, stamp = read_bytes(path)
        try:
            return parse(data), stamp
        except ValueError:
            age_ms = quarantine.clock.now_ms() - stamp.mtime_ns // 1_000_000
            if abs(age_ms) >= _FRESH_MS:
                break
            pause(_REREAD_PAUSE_S)
    # Under the lock none of our own writers can put a good file in place between this read and the move.
    with lock_for(path):
        data, stamp = read_bytes(path)
        try:
            return parse(data), stamp
        except ValueError as error:
            raise _broken(quarantine.set_aside(path, str(error))) from error


def write_object(path: Path, value: Mapping[str, JsonValue]) -> None:
    """Replace the file in one step, mode 0600, in a folder that is made when missing (0700).

    Raises StorageError with code `disk_full`, `read_only`, `no_permission` or `storage`; the old file is then whole.
    """
    write_stamped(path, value)


def write_stamped(path: Path, value: Mapping[str, JsonValue], *, expected: Stamp | None = None) -> Stamp:
    """Like `write_object`, and says what state the file has now.

    With `expected` (`ABSENT` for no file) it raises ChangedOnDiskError when the file is in another state.
    """
    return write_bytes(path, dump_object(value), expected=expected)


def create_object(path: Path, value: Mapping[str, JsonValue]) -> Stamp:
    """Write a new file. Raises ConflictError when the name is taken, by whomever."""
    data = dump_object(value)
    with lock_for(path), storage_errors(path, "written"), _temporary(path, data) as (temporary, stamp):
        try:
            os.link(temporary, path)  # unlike a rename it never replaces
        except FileExistsError as error:
            raise ConflictError(f"{path.name!r} exists already") from error
        except OSError:  # a file system without hard links
            _require(path, ABSENT)
            temporary.replace(path)
    return stamp


def update_object(
    path: Path,
    quarantine: Quarantine,
    change: Callable[[dict[str, JsonValue]], None],
    *,
    missing: Mapping[str, JsonValue] | None,
) -> dict[str, JsonValue]:
    """Read, change, write under the file's lock; the object as written.

    `change` alters the object in place and runs again when somebody else saved the file meanwhile; when it raises,
    nothing is written. Without a file it gets a copy of `missing`; with `missing=None` NotFoundError is raised.
    """

    def attempt() -> dict[str, JsonValue]:
        value, stamp = _read_or_start(path, quarantine, missing)
        change(value)
        write_stamped(path, value, expected=stamp)
        return value

    with lock_for(path):
        return again_when_changed(attempt)


def again_when_changed(attempt: Callable[[], Result]) -> Result:
    """Run a read-change-write; from its start again, at most five times, when the file was saved in between."""
    for _ in range(_UPDATE_RETRIES):
        with contextlib.suppress(ChangedOnDiskError):
            return attempt()
    return attempt()


def write_bytes(
    path: Path, data: bytes, *, expected: Stamp | None = None, pause: Callable[[float], None] = time.sleep
) -> Stamp:
    """Replace any kind of file with the promises of `write_stamped`."""
    with lock_for(path), storage_errors(path, "written"), _temporary(path, data) as (temporary, stamp):
        _require(path, expected)
        _replace(temporary, path, pause)
    return stamp


def temporary_beside(path: Path) -> Path:
    """A new hidden name in the same folder, for what is written first and then moved into its place."""
    return path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")


def is_temporary(name: str) -> bool:
    """Whether a file's name is one that `temporary_beside` gives."""
    # Cheap first: all but a few names end otherwise.
    return name.endswith(".tmp") and _TEMPORARY.fullmatch(name) is not None


_locks: weakref.WeakValueDictionary[str, threading.RLock] = weakref.WeakValueDictionary()
_locks_guard = threading.Lock()


def lock_for(path: Path) -> threading.RLock:
    """The one lock of a file within this process; hold it across read and write, and wait for nothing meanwhile."""
    key = os.path.normcase(os.path.abspath(path))  # noqa: PTH100 - resolve() would touch the disk and follow links
    with _locks_guard:
        return _locks.setdefault(key, threading.RLock())


def stamp_of(path: Path) -> Stamp:
    """The state of a file now, `ABSENT` when there is none."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return ABSENT
    return Stamp(found.st_mtime_ns, found.st_size)


def storage_errors(path: Path, deed: str) -> AbstractContextManager[None]:
    """Turn the system's refusals into StorageError; `deed` is a participle such as `written` or `moved`."""

    def tell(error: OSError) -> StorageError:
        code, words, hint = _REFUSALS.get(error.errno or 0, ("storage", error.strerror or str(error), ""))
        return StorageError(f"{path.name!r} cannot be {deed}: {words}", hint=hint, code=code)

    return _Refused(tell)


class _Refused:
    """A class, because a generator costs four times as much, and every look at a file passes here."""

    def __init__(self, tell: Callable[[OSError], StorageError]) -> None:
        self._tell = tell

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if isinstance(error, OSError):
            raise self._tell(error) from error


def read_bytes(path: Path) -> tuple[bytes, Stamp]:
    """What a file holds, and its state. Raises NotFoundError, StorageError."""
    with storage_errors(path, "read"):
        try:
            _refuse_special(path)
            with os.fdopen(os.open(path, _READ_FLAGS), "rb") as file:
                found = os.fstat(file.fileno())
                return file.read(), Stamp(found.st_mtime_ns, found.st_size)
        except FileNotFoundError as error:
            raise NotFoundError(f"{path.name!r} does not exist") from error


def _refuse_special(path: Path) -> None:
    """Links could lead out of the data directory, pipes would block; neither is ours to read or to replace."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise StorageError(
            f"{path.name!r} is not a plain file",
            hint=f"Move away what lies at {str(path)!r}",
            code="not_a_file",
        )


def _parse(data: bytes) -> dict[str, JsonValue]:
    """Raises ValueError whose text is the reason for people."""
    if not data.strip(b"\0 \t\r\n"):
        raise ValueError("the file holds only NUL bytes" if b"\0" in data else "the file is empty")
    try:
        value = parse_json(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"the text is not UTF-8 at line {line}, byte {error.start}") from error
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
        raise ValueError(f"{reason} at line {error.lineno}, column {error.colno}") from error
    if not isinstance(value, dict):
        raise ValueError("the file holds JSON, but not an object")  # noqa: TRY004 - one kind for every reason
    if _is_too_deep(value):
        raise ValueError(f"the JSON is nested more than {MAX_DEPTH} levels deep")
    return value


def _broken(broken: BrokenFile) -> BrokenDocumentError:
    left = broken.kept_at == broken.path
    where = "It was left in place" if left else f"It is kept unchanged as {str(broken.kept_at)!r}"
    return BrokenDocumentError(f"{broken.path.name!r} cannot be read: {broken.reason}", hint=where)


def _read_or_start(
    path: Path, quarantine: Quarantine, missing: Mapping[str, JsonValue] | None
) -> tuple[dict[str, JsonValue], Stamp]:
    try:
        return read_stamped(path, quarantine)
    except NotFoundError:
        if missing is None:
            raise
        return copy.deepcopy(dict(missing)), ABSENT


def dump_object(
    value: Mapping[str, JsonValue], lines: Mapping[str, Sequence[bytes | memoryview]] = MappingProxyType({})
) -> bytes:
    """The text of a document. `lines` has the text of some lists, in pieces; those are not looked at again.

    Raises InputError when the value is nested too deeply.
    """
    if _is_too_deep({key: member for key, member in value.items() if key not in lines}):
        raise _too_deep()
    pieces: list[bytes | memoryview] = []
    text = "{"
    for key, member in value.items():
        text += f"\n  {_COMPACT.encode(key)}: "
        if key in lines:
            pieces += (_encode(text), LIST_START, *lines[key], LIST_END)
            text = ","
        else:
            text += f"{_dump_member(member)},"
    last = text.removesuffix(",") if value else "{\n"
    return b"".join((*pieces, _encode(f"{last}\n}}\n")))


def dump_lines(entries: Sequence[JsonValue]) -> bytes:
    """The text of a list of objects within a document, one line for each. Raises InputError like `dump_object`."""
    if _is_too_deep([entries]):  # as deep as in the document
        raise _too_deep()
    return _encode(_lines(entries))


def _too_deep() -> InputError:
    return InputError(f"The document is nested more than {MAX_DEPTH} levels deep")


def _encode(text: str) -> bytes:
    """UTF-8 has no form for half a surrogate pair; JSON has one, and reading it gives the half back."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub(lambda half: f"\\u{ord(half.group()):04x}", text).encode()


def _dump_member(value: JsonValue) -> str:
    """One key's value: a list of objects gets a line for each, anything else is indented to be edited by hand.

    A conversation is such a list: the indenting encoder is Python and takes eight times as long as the compact one,
    which is C.
    """
    if type(value) in _LEAVES or not value:
        return _COMPACT.encode(value)
    if isinstance(value, (list, tuple)) and are_objects(value):
        return f"{LIST_START.decode()}{_lines(value)}{LIST_END.decode()}"
    text = json.dumps(value, ensure_ascii=False, indent=2, default=_plain)
    return text.replace("\n", "\n  ")


def are_objects(entries: Iterable[JsonValue]) -> bool:
    """Whether a list of these is written with a line for each."""
    return all(isinstance(entry, Mapping) for entry in entries)


def _lines(entries: Iterable[JsonValue]) -> str:
    return NEXT_LINE.decode().join(map(_COMPACT.encode, entries))


def _plain(value: object) -> dict[str, JsonValue] | list[JsonValue]:
    """Read-only mappings and sequences, which the encoder does not know."""
    match value:
        case Mapping():
            return dict(cast("Mapping[str, JsonValue]", value))
        case Sequence():
            return list(cast("Sequence[JsonValue]", value))
        case _:
            raise TypeError(f"{type(value).__name__} is not JSON")


# `json.dumps` makes a new one each time.
_COMPACT = json.JSONEncoder(ensure_ascii=False, default=_plain)


def _is_too_deep(value: object) -> bool:
    """Level by level, because recursion is what must not run out."""
    level: list[object] = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for item in level
            for child in (item.values() if isinstance(item, Mapping) else cast("Sequence[object]", item))
            if type(child) not in _LEAVES and isinstance(child, (dict, list, tuple))
        ]
        if not level:
            return False
    return True


@contextlib.contextmanager
def _temporary(path: Path, data: bytes) -> Generator[tuple[Path, Stamp]]:
    """The data on disk beside `path`, gone again at the end unless it was moved into place."""
    with contextlib.suppress(FileNotFoundError):
        _refuse_special(path)
    temporary = temporary_beside(path)
    try:
        with os.fdopen(open_new(temporary), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield temporary, stamp_of(temporary)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108 - the method raises and catches the same twice, at every write
    flush_soon(os.path.dirname(path))  # noqa: PTH120 - text is enough


def open_new(path: Path) -> int:
    """The descriptor of a new file, mode 0600, in a folder that is made when it is missing (0700). Raises OSError."""
    try:
        return os.open(path, _CREATE_FLAGS, _FILE_MODE)
    except FileNotFoundError:
        path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        return os.open(path, _CREATE_FLAGS, _FILE_MODE)


def _require(path: Path, expected: Stamp | None) -> None:
    if expected is not None and stamp_of(path) != expected:
        raise ChangedOnDiskError(f"{path.name!r} was changed by another program", hint="Try again")


def _replace(source: Path, target: Path, pause: Callable[[float], None]) -> None:
    for _ in range(_SHARING_ATTEMPTS):
        try:
            source.replace(target)
        except PermissionError as error:
            if getattr(error, "winerror", None) not in _SHARING_WINERRORS:
                raise
            pause(_SHARING_PAUSE_S)
        else:
            return
    source.replace(target)
