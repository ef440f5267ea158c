"""Every change the file tools make to the disk. Nothing else in this package writes.

A file appears whole or not at all: it is written beside its place under a temporary name and put there in one step.
What fails leaves the old file as it was. All names are looked up in folders held open (`safe_open`), so that a link
put there in between leads nowhere.
"""

import errno
import os
import shutil
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from skales.core.errors import ToolError
from skales.core.ids import IdSource
from skales.tools.file.disk_errors import disk_errors
from skales.tools.file.safe_open import EntryKind, Folder, hold_folder, hold_parent, kind_of, list_folder, require_file

_SAFE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE
_APPEND = os.O_WRONLY | os.O_APPEND | _SAFE
# Opening a pipe for writing must not wait for a reader.
_PROBE = os.O_WRONLY | getattr(os, "O_NONBLOCK", 0) | _SAFE
# The start of temporary names; a crash may leave one behind.
_TEMPORARY = ".skales-"


class Stamp(Struct, frozen=True):
    """A file's state when it was read, to notice that another program changed it since."""

    inode: int
    size_bytes: int
    modified_ns: int


def stamp_of(stream: BinaryIO) -> Stamp:
    """The state of an open file."""
    return _stamp(os.fstat(stream.fileno()))


@contextmanager
def new_file(
    path: Path, ids: IdSource, *, overwrite: bool = True, mode: int = 0o666, expected: Stamp | None = None
) -> Generator[BinaryIO]:
    """Yield a stream whose content becomes the file when the block ends well; folders on the way are made.

    Args:
        path: A resolved path.
        ids: Names the temporary file.
        overwrite: Replace an existing file, keeping its permissions and owner; else raise ToolError.
        mode: Permissions of a new file, before the umask.
        expected: Refuse when the file is no longer in this state.
    """
    with disk_errors("written", path), hold_parent(path, make=True) as parent:
        old = _look(parent, path.name)
        if old is not None:
            _require_replaceable(path, parent, overwrite=overwrite)
        temporary = f"{_TEMPORARY}{ids.token(12)}.tmp"
        descriptor = os.open(parent.at(temporary), _FRESH, mode if old is None else 0o600, dir_fd=parent.descriptor)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                yield stream
                stream.flush()
                if old is not None:
                    _take_over(stream.fileno(), old)
                os.fsync(stream.fileno())
            _require_unchanged(path, parent, expected)
            _put(parent, temporary, path.name, overwrite=old is not None)
        except BaseException:  # the caller's block may raise or be interrupted; half a file is left by nobody
            with suppress(OSError):
                os.unlink(parent.at(temporary), dir_fd=parent.descriptor)
            raise
        _sync_folder(parent)


@contextmanager
def new_folder(path: Path, ids: IdSource) -> Generator[Path]:
    """Yield a hidden folder beside `path` that becomes it when the block ends well, else vanishes with its content."""
    staging = path.with_name(f"{_TEMPORARY}{ids.token(12)}")
    with disk_errors("written", path), hold_parent(path, make=True) as parent:
        os.mkdir(parent.at(staging.name), dir_fd=parent.descriptor)
        try:
            yield staging
            _put(parent, staging.name, path.name, overwrite=False)
        except BaseException:
            with suppress(OSError):
                shutil.rmtree(parent.at(staging.name), dir_fd=parent.descriptor)
            raise
        _sync_folder(parent)


@contextmanager
def new_entries(folder: Path, ids: IdSource) -> Generator[Path]:
    """Yield a hidden folder whose entries move into `folder` when the block ends well; none may be there already.

    When one cannot be moved, those before it vanish again.
    """
    staging = folder / f"{_TEMPORARY}{ids.token(12)}"
    make_folder(staging)
    moved: list[Path] = []
    try:
        yield staging
        for entry in list_folder(staging):
            rename_entry(entry.path, folder / entry.path.name, overwrite=False)
            moved.append(folder / entry.path.name)
    except BaseException:
        for path in moved:
            remove_entry(path)
        raise
    finally:
        remove_entry(staging)


@contextmanager
def fresh_file(path: Path, *, mode: int = 0o666) -> Generator[BinaryIO]:
    """Yield a stream to a file that must not exist yet, for folders that appear as a whole."""
    with disk_errors("written", path):
        with hold_parent(path) as parent:
            descriptor = os.open(parent.at(path.name), _FRESH, mode, dir_fd=parent.descriptor)
        with os.fdopen(descriptor, "wb") as stream:
            yield stream


def make_folder(path: Path) -> None:
    """Create a folder and what is missing on the way; one that exists stays. Raises ToolError."""
    with disk_errors("created", path), hold_folder(path, make=True):
        return


def set_mode(path: Path, mode: int) -> None:
    """Set the permissions of a folder, where the system has them."""
    with disk_errors("written", path), hold_folder(path, listable=True) as folder:
        if folder.descriptor is not None:
            os.fchmod(folder.descriptor, mode)


def append_bytes(path: Path, content: bytes) -> None:
    """Add to the end of an existing file in place, which keeps its identity for programs that follow it.

    When the disk refuses halfway, what was added is taken away again.
    """
    with disk_errors("written", path), hold_parent(path) as parent:
        _require_writable(path, parent)
        descriptor = os.open(parent.at(path.name), _APPEND, dir_fd=parent.descriptor)
        try:
            require_file(path, os.fstat(descriptor))
            _append(descriptor, content)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def make_link(path: Path, target: str) -> None:
    """Create a link that must not exist yet."""
    with disk_errors("created", path), hold_parent(path) as parent:
        os.symlink(target, parent.at(path.name), dir_fd=parent.descriptor)


def rename_entry(source: Path, destination: Path, *, overwrite: bool) -> bool:
    """Give an entry another place; False, and nothing done, when that is on another disk.

    Args:
        source: A resolved path; a link itself is renamed, not what it leads to.
        destination: A resolved path; folders on the way are made.
        overwrite: Replace an existing file; a folder is never replaced.
    """
    with (
        disk_errors("moved", source),
        hold_parent(source) as old_parent,
        hold_parent(destination, make=True) as new_parent,
        disk_errors("written", destination),
    ):
        moved = os.stat(old_parent.at(source.name), dir_fd=old_parent.descriptor, follow_symlinks=False)
        there = _look(new_parent, destination.name)
        # Where case does not count, the new spelling of a name finds the old one.
        is_same = there is not None and os.path.samestat(moved, there)
        if there is not None and not is_same:
            _require_replaceable(destination, new_parent, overwrite=overwrite)
        try:
            _rename(
                (old_parent, source.name), (new_parent, destination.name), is_free=there is None, mode=moved.st_mode
            )
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            return False
        _sync_folder(new_parent)
        return True


def remove_entry(path: Path) -> None:
    """Remove a file, a link itself, or a folder with all that is in it, for good."""
    with disk_errors("deleted", path), hold_parent(path) as parent:
        found = os.stat(parent.at(path.name), dir_fd=parent.descriptor, follow_symlinks=False)
        if kind_of(found) is EntryKind.FOLDER:
            shutil.rmtree(parent.at(path.name), dir_fd=parent.descriptor)
        else:
            os.unlink(parent.at(path.name), dir_fd=parent.descriptor)


def _look(parent: Folder, name: str) -> os.stat_result | None:
    try:
        return os.stat(parent.at(name), dir_fd=parent.descriptor, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _require_replaceable(path: Path, parent: Folder, *, overwrite: bool) -> None:
    if not overwrite:
        raise FileExistsError(errno.EEXIST, "File exists", str(path))
    _require_writable(path, parent)


def _require_writable(path: Path, parent: Folder) -> None:
    """A file that its owner protected stays, although its folder would let it be exchanged."""
    found = os.stat(parent.at(path.name), dir_fd=parent.descriptor, follow_symlinks=False)
    require_file(path, found)
    if not found.st_mode & 0o222:
        raise ToolError(f"{str(path)!r} is write-protected", hint="Ask the person to lift the protection")
    os.close(os.open(parent.at(path.name), _PROBE, dir_fd=parent.descriptor))


def _require_unchanged(path: Path, parent: Folder, expected: Stamp | None) -> None:
    if expected is None:
        return
    found = _look(parent, path.name)
    if found is None or _stamp(found) != expected:
        raise ToolError(f"{str(path)!r} was changed by another program", hint="Read it again", code="conflict")


def _stamp(found: os.stat_result) -> Stamp:
    return Stamp(found.st_ino, found.st_size, found.st_mtime_ns)


def _take_over(descriptor: int, old: os.stat_result) -> None:
    """Give the new file the permissions of the old one, and its owner where that is allowed."""
    if os.name != "posix":
        return
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        with suppress(PermissionError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _put(parent: Folder, temporary: str, name: str, *, overwrite: bool) -> None:
    found = os.stat(parent.at(temporary), dir_fd=parent.descriptor, follow_symlinks=False)
    _rename((parent, temporary), (parent, name), is_free=not overwrite, mode=found.st_mode)


def _rename(source: tuple[Folder, str], destination: tuple[Folder, str], *, is_free: bool, mode: int) -> None:
    """Rename in one step. With `is_free` the new name must not exist: it is claimed first, as renaming replaces."""
    (old_parent, old_name), (new_parent, new_name) = source, destination
    old, new = old_parent.at(old_name), new_parent.at(new_name)
    if is_free and os.name == "posix":
        _claim(new_parent, new_name, is_folder=stat.S_ISDIR(mode))
    try:
        rename = os.rename if is_free else os.replace
        rename(old, new, src_dir_fd=old_parent.descriptor, dst_dir_fd=new_parent.descriptor)
    except OSError:
        if is_free and os.name == "posix":
            _unclaim(new_parent, new_name, is_folder=stat.S_ISDIR(mode))
        raise


def _claim(parent: Folder, name: str, *, is_folder: bool) -> None:
    if is_folder:
        os.mkdir(parent.at(name), dir_fd=parent.descriptor)
    else:
        os.close(os.open(parent.at(name), _FRESH, dir_fd=parent.descriptor))


def _unclaim(parent: Folder, name: str, *, is_folder: bool) -> None:
    with suppress(OSError):
        if is_folder:
            os.rmdir(parent.at(name), dir_fd=parent.descriptor)
        else:
            os.unlink(parent.at(name), dir_fd=parent.descriptor)


def _append(descriptor: int, content: bytes) -> None:
    size_bytes = os.fstat(descriptor).st_size
    written = 0
    try:
        while written < len(content):
            written += os.write(descriptor, content[written:])
    except OSError:
        # Only our own piece may go: if the file has grown otherwise, another program has written too.
        if os.fstat(descriptor).st_size == size_bytes + written:
            os.ftruncate(descriptor, size_bytes)
        raise


def _sync_folder(folder: Folder) -> None:
    """Make the new name survive a power cut; systems and disks that cannot do that are not asked twice."""
    if folder.descriptor is None:
        return
    with suppress(OSError):
        descriptor = os.open(".", os.O_RDONLY, dir_fd=folder.descriptor)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
