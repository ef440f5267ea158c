"""Reads files, folders and links as the undo timeline keeps them, and puts them back as they were.

Every part of a path is opened from the one before without following links, so that nothing is read or written beyond
the place that was recorded. Where a system lacks such calls (Windows), the path is compared with its real path first.
Whether a place may be touched at all is judged by the caller.
"""

import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from skales.core.errors import ConflictError, StorageError
from skales.data.document import storage_errors
from skales.data.undo_blobs import CHUNK_BYTES, BlobStore
from skales.data.undo_shape import ABSENT, Kind, State

Keep = Callable[[BinaryIO], str]

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_BINARY = getattr(os, "O_BINARY", 0)
FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW | _CLOEXEC
_PASS = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW | _CLOEXEC
_READ = os.O_RDONLY | _NOFOLLOW | _CLOEXEC | getattr(os, "O_NONBLOCK", 0) | _BINARY
_FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _CLOEXEC | _BINARY
_OWNER_MAY_WRITE = 0o700
_TEMPORARY = ".skales-undo-"
CAN_WALK = bool(_NOFOLLOW) and os.open in os.supports_dir_fd


def digest_of(stream: BinaryIO) -> str:
    """The hash alone, for a state that is only compared."""
    hashed = hashlib.sha256()
    while chunk := stream.read(CHUNK_BYTES):
        hashed.update(chunk)
    return hashed.hexdigest()


def look(path: Path, keep: Keep = digest_of, *, limit_bytes: int | None = None) -> State:
    """What is at a place now. Raises StorageError when the way there cannot be walked.

    Args:
        path: Absolute, without links in its folders.
        keep: Gets the content of a file and returns its hash; `BlobStore.keep` also copies it.
        limit_bytes: A larger file is not read.
    """
    try:
        with hold_parent(path) as descriptor:
            name = at(path, descriptor)
            found = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            return state_of(name, descriptor, found, keep, limit_bytes)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except OSError as error:
        if error.errno == errno.ELOOP:
            return ABSENT  # what lies behind a link is not at this place
        with storage_errors(path, "read"):
            raise


def state_of(
    name: str, descriptor: int | None, found: os.stat_result, keep: Keep, limit_bytes: int | None = None
) -> State:
    """The state of an entry that was looked at without following links. A file that cannot be read has no hash."""
    mode = stat.S_IMODE(found.st_mode)
    if is_link(found):
        return State(Kind.LINK, text=os.readlink(name, dir_fd=descriptor))
    if stat.S_ISDIR(found.st_mode):
        return State(Kind.FOLDER, mode)
    if not stat.S_ISREG(found.st_mode):
        return State(Kind.OTHER)
    unread = State(Kind.FILE, mode, found.st_mtime_ns, found.st_size)
    if limit_bytes is not None and found.st_size > limit_bytes:
        return unread
    try:
        opened = os.open(name, _READ, dir_fd=descriptor)
    except PermissionError:
        return unread
    with os.fdopen(opened, "rb") as stream:
        now = os.fstat(opened)
        if not stat.S_ISREG(now.st_mode):
            return State(Kind.OTHER)
        digest = keep(stream)
    return State(Kind.FILE, mode, now.st_mtime_ns, now.st_size, digest, is_kept=keep is not digest_of)


def put_back(path: Path, state: State, blobs: BlobStore) -> None:
    """Make a place what a state says, in steps that can be repeated after a crash. Folders get their mode last.

    Raises:
        ConflictError: A folder that should go holds something.
        StorageError: The disk refused, or the content is gone.
    """
    with storage_errors(path, "put back"):
        try:
            with hold_parent(path) as descriptor:
                _put(path, descriptor, state, blobs)
        except NotADirectoryError as error:
            raise ConflictError(f"{str(path.parent)!r} is no folder any more") from error


def set_folder_mode(path: Path, state: State) -> None:
    """Give a folder the permissions of its state, once everything in it is in place."""
    with storage_errors(path, "put back"), hold_parent(path) as descriptor:
        name = at(path, descriptor)
        if not stat.S_ISDIR(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode):
            return
        if descriptor is None:
            os.chmod(name, state.mode)  # noqa: PTH101 - the same call in both branches
            return
        inner = os.open(name, FOLDER_FLAGS, dir_fd=descriptor)
        try:
            os.fchmod(inner, state.mode)
        finally:
            os.close(inner)


def sweep_rest(folder: Path) -> None:
    """Remove what a crash left half put back in a folder."""
    with suppress(OSError):
        for path in folder.glob(f"{_TEMPORARY}*.tmp"):
            with hold_parent(path) as descriptor:
                os.unlink(at(path, descriptor), dir_fd=descriptor)


@contextmanager
def hold_parent(path: Path) -> Generator[int | None]:
    """The folder a path is in, held open; None where the system cannot. Raises OSError, ELOOP for a link on the way."""
    if not CAN_WALK:
        if os.path.normcase(os.path.realpath(path.parent)) != os.path.normcase(path.parent):
            raise OSError(errno.ELOOP, "A part of the path is a link")
        yield None
        return
    descriptor = os.open(path.anchor, _PASS)
    try:
        for part in path.parent.parts[1:]:
            inner = _step(part, descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def at(path: Path, descriptor: int | None) -> str:
    """The name for a system call that also gets the descriptor."""
    return path.name if descriptor is not None else str(path)


def is_link(found: os.stat_result) -> bool:
    """Whether a look that did not follow links found one; a Windows junction is one."""
    return stat.S_ISLNK(found.st_mode) or getattr(found, "st_reparse_tag", 0) == 0xA0000003


def _step(part: str, descriptor: int) -> int:
    try:
        return os.open(part, _PASS, dir_fd=descriptor)
    except NotADirectoryError:
        # Linux says so of a link as well; the link itself decides.
        if stat.S_ISLNK(os.stat(part, dir_fd=descriptor, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, "A part of the path is a link") from None
        raise


def _put(path: Path, descriptor: int | None, state: State, blobs: BlobStore) -> None:
    name = at(path, descriptor)
    there = _kind_at(name, descriptor)
    match state.kind:
        case Kind.ABSENT:
            _remove(path, name, descriptor, there)
        case Kind.FOLDER:
            if there is not Kind.FOLDER:
                _remove(path, name, descriptor, there)
                os.mkdir(name, dir_fd=descriptor)
            set_folder_mode(path, State(Kind.FOLDER, state.mode | _OWNER_MAY_WRITE))
        case Kind.LINK | Kind.FILE:
            if there is Kind.FOLDER:
                _remove(path, name, descriptor, there)
            _replace(path, descriptor, state, blobs)
        case Kind.VALUE | Kind.OTHER:
            raise StorageError(f"{str(path)!r} cannot be put back: it was no file, folder or link")


def _replace(path: Path, descriptor: int | None, state: State, blobs: BlobStore) -> None:
    fresh = path.with_name(f"{_TEMPORARY}{secrets.token_hex(6)}.tmp")
    temporary = at(fresh, descriptor)
    try:
        if state.kind is Kind.LINK:
            os.symlink(state.text, temporary, dir_fd=descriptor)
        else:
            opened = os.open(temporary, _FRESH, 0o600, dir_fd=descriptor)
            with os.fdopen(opened, "wb") as stream:
                blobs.copy(state.digest, stream)
                stream.flush()
                if CAN_WALK:
                    os.fchmod(opened, state.mode)
                    os.utime(opened, ns=(state.modified_ns, state.modified_ns))
        os.replace(temporary, at(path, descriptor), src_dir_fd=descriptor, dst_dir_fd=descriptor)
    except BaseException:  # half a file is left by nobody, also when interrupted
        with suppress(OSError):
            os.unlink(temporary, dir_fd=descriptor)
        raise


def _remove(path: Path, name: str, descriptor: int | None, there: Kind) -> None:
    match there:
        case Kind.ABSENT:
            return
        case Kind.FOLDER:
            try:
                os.rmdir(name, dir_fd=descriptor)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
                raise ConflictError(f"{str(path)!r} holds something that was put there since") from error
        case _:
            os.unlink(name, dir_fd=descriptor)


def _kind_at(name: str, descriptor: int | None) -> Kind:
    try:
        found = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
    except FileNotFoundError:
        return Kind.ABSENT
    if is_link(found):
        return Kind.LINK
    if stat.S_ISDIR(found.st_mode):
        return Kind.FOLDER
    return Kind.FILE if stat.S_ISREG(found.st_mode) else Kind.OTHER
