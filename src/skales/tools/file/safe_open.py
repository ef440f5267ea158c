"""Opens files and folders so that a link swapped in after the check leads nowhere.

A path that was resolved holds no links. So every part of it is opened from the one before without following links:
whatever was exchanged since, the file reached is the file judged, or none. Where the platform lacks such calls
(Windows), the path is compared with its real path right before use; that leaves a gap of microseconds.

Every file tool reads through here and writes through `changes`, which is built on it. Spec: PTH-01.
"""

import os
import stat
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from skales.core.errors import ToolError, ToolRefusedError
from skales.tools.file.disk_errors import disk_errors

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_FOLDER = getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW | _CLOEXEC
# Passing through a folder needs no right to list it, where the platform can say so.
_PASS = getattr(os, "O_PATH", os.O_RDONLY) | _FOLDER
# A pipe must not hold the tool until someone writes to it.
_READ = os.O_RDONLY | _NOFOLLOW | _CLOEXEC | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
# Windows' tag of a junction, a folder link that is not called a link.
_JUNCTION = 0xA0000003


class EntryKind(StrEnum):
    """What a name in a folder stands for; a link is never followed."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"


class Entry(Struct, frozen=True):
    """One name in a folder. `size_bytes` is 0 for what is not a file; `identity` tells it under any other name."""

    path: Path
    kind: EntryKind
    size_bytes: int
    modified_ms: int
    mode: int
    identity: tuple[int, int] = (0, 0)


class Folder(Struct, frozen=True):
    """A folder held open. `at(name)` with `descriptor` as `dir_fd` names what is in it, wherever its path leads now."""

    path: Path
    descriptor: int | None

    def at(self, name: str) -> str:
        """The name for a system call that also gets `descriptor`."""
        return name if self.descriptor is not None else str(self.path / name)


@contextmanager
def hold_folder(path: Path, *, make: bool = False, listable: bool = False) -> Generator[Folder]:
    """Hold a resolved folder open. Raises OSError, or ToolRefusedError when a part of the path became a link.

    Args:
        path: Absolute, without links.
        make: Create what is missing of it.
        listable: Open it for listing, which needs the right to read it.
    """
    if not _can_walk():
        _check_unchanged(path)
        if make:
            path.mkdir(parents=True, exist_ok=True)
        yield Folder(path, None)
        return
    descriptor = _open_down(path, make=make)
    try:
        if listable:
            inner = os.open(".", os.O_RDONLY | _FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield Folder(path, descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def hold_parent(path: Path, *, make: bool = False) -> Generator[Folder]:
    """Hold the folder a path is in. Raises ToolError for a path that is in none, such as `/`."""
    if not path.name:
        raise ToolError(f"{str(path)!r} is the root of a disk", hint="Name a file or folder inside it")
    with hold_folder(path.parent, make=make) as folder:
        yield folder


def open_file(path: Path) -> BinaryIO:
    """Open a resolved regular file for reading. Raises ToolError for anything else, ToolRefusedError for a link."""
    with disk_errors("read", path), hold_parent(path) as parent:
        require_file(path, os.stat(parent.at(path.name), dir_fd=parent.descriptor, follow_symlinks=False))
        descriptor = os.open(parent.at(path.name), _READ, dir_fd=parent.descriptor)
        try:
            require_file(path, os.fstat(descriptor))
            return os.fdopen(descriptor, "rb")
        except BaseException:
            os.close(descriptor)
            raise


def find_entry(path: Path, *, may_be_link: bool = False) -> Entry | None:
    """What is at a resolved path, None when nothing is. Raises ToolError.

    Args:
        path: Where to look.
        may_be_link: Describe a link itself; else one must have been swapped in, and ToolRefusedError is raised.
    """
    if not path.name:
        return Entry(path, EntryKind.FOLDER, 0, 0, 0)
    with disk_errors("read", path):
        try:
            with hold_parent(path) as parent:
                found = os.stat(parent.at(path.name), dir_fd=parent.descriptor, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None
    entry = _entry(path, found)
    if entry.kind is EntryKind.LINK and not may_be_link:
        raise swapped_error(path)
    return entry


def read_link(path: Path) -> str:
    """Where a link points, as it is written in the link."""
    with disk_errors("read", path), hold_parent(path) as parent:
        return os.readlink(parent.at(path.name), dir_fd=parent.descriptor)


def list_folder(path: Path) -> list[Entry]:
    """What is in a resolved folder, by name. Raises ToolError."""
    entries: list[Entry] = []
    with (
        disk_errors("listed", path),
        hold_folder(path, listable=True) as folder,
        os.scandir(path if folder.descriptor is None else folder.descriptor) as found,
    ):
        for item in found:
            # What vanishes while the folder is read is not in it.
            with suppress(FileNotFoundError):
                entries.append(_entry(path / item.name, item.stat(follow_symlinks=False)))
    return sorted(entries, key=lambda entry: (entry.path.name.casefold(), entry.path.name))


def walk_folder(path: Path, enter: Callable[[Entry], bool], *, depth: int = 64) -> Iterator[Entry]:
    """Everything below a resolved folder, each folder before what is in it; links are named, never followed.

    Args:
        path: Where to begin; a folder in it that cannot be listed is named and passed over.
        enter: Asked for each folder whether to look into it.
        depth: How many levels to go down; 1 is the folder itself.
    """
    pending = [(entry, depth - 1) for entry in reversed(list_folder(path))]
    while pending:
        entry, deeper = pending.pop()
        yield entry
        if entry.kind is EntryKind.FOLDER and deeper > 0 and enter(entry):
            try:
                inner = list_folder(entry.path)
            except ToolError:
                continue
            pending.extend((child, deeper - 1) for child in reversed(inner))


def require_file(path: Path, found: os.stat_result) -> None:
    """Raise ToolError unless it is a regular file."""
    match kind_of(found):
        case EntryKind.FILE:
            return
        case EntryKind.FOLDER:
            raise ToolError(f"{str(path)!r} is a folder", hint="Use list_directory, or name a file inside it")
        case EntryKind.LINK:
            raise swapped_error(path)
        case EntryKind.OTHER:
            raise ToolError(f"{str(path)!r} is a device, pipe or socket, not a file", hint="Name a regular file")


def kind_of(found: os.stat_result) -> EntryKind:
    """What a name stands for, from a look that did not follow links."""
    if stat.S_ISLNK(found.st_mode) or getattr(found, "st_reparse_tag", 0) == _JUNCTION:
        return EntryKind.LINK
    if stat.S_ISDIR(found.st_mode):
        return EntryKind.FOLDER
    return EntryKind.FILE if stat.S_ISREG(found.st_mode) else EntryKind.OTHER


def swapped_error(path: Path) -> ToolRefusedError:
    """What to raise for a link where a resolved path had none."""
    return ToolRefusedError(
        f"A part of {str(path)!r} became a link while the tool ran",
        hint="Name the place the link leads to, if it may be used",
    )


def _can_walk() -> bool:
    return bool(_NOFOLLOW) and os.open in os.supports_dir_fd


def _open_down(path: Path, *, make: bool) -> int:
    descriptor = os.open(path.anchor, _PASS)
    try:
        for part in path.parts[1:]:
            inner = _open_step(descriptor, part, path, make=make)
            os.close(descriptor)
            descriptor = inner
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _open_step(descriptor: int, part: str, path: Path, *, make: bool) -> int:
    try:
        return os.open(part, _PASS, dir_fd=descriptor)
    except FileNotFoundError:
        if not make:
            raise
    except OSError:
        # Systems differ in what they call a link here; the link itself decides.
        if stat.S_ISLNK(os.stat(part, dir_fd=descriptor, follow_symlinks=False).st_mode):
            raise swapped_error(path) from None
        raise
    # Another call may make it first; what it is then, the next line finds out.
    with suppress(FileExistsError):
        os.mkdir(part, dir_fd=descriptor)
    return os.open(part, _PASS, dir_fd=descriptor)


def _check_unchanged(path: Path) -> None:
    if os.path.normcase(os.path.realpath(path)) != os.path.normcase(path):
        raise swapped_error(path)


def _entry(path: Path, found: os.stat_result) -> Entry:
    kind = kind_of(found)
    size_bytes = found.st_size if kind is EntryKind.FILE else 0
    return Entry(path, kind, size_bytes, found.st_mtime_ns // 1_000_000, found.st_mode, (found.st_dev, found.st_ino))
