"""Copies files and folders, moves them across disks, and puts them into the trash; built on `changes`."""

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct, field

from skales.core.errors import ToolError, ToolRefusedError
from skales.core.ids import IdSource
from skales.tools.file.changes import (
    fresh_file,
    make_folder,
    make_link,
    new_file,
    new_folder,
    remove_entry,
    rename_entry,
    set_mode,
)
from skales.tools.file.disk_errors import disk_errors
from skales.tools.file.safe_open import Entry, EntryKind, find_entry, hold_parent, open_file, read_link, walk_folder

_CHUNK_BYTES = 1024 * 1024


class Copied(Struct):
    """What a copy holds, and the names it leaves out because they are closed to tools or no files."""

    files: int = 0
    size_bytes: int = 0
    left_out: list[str] = field(default_factory=list[str])


def copy_entry(
    source: Entry, destination: Path, ids: IdSource, *, overwrite: bool, is_open: Callable[[Entry], bool]
) -> Copied:
    """Copy a file, a link itself, or a folder; links inside are copied as links. Raises ToolError.

    Args:
        source: What to copy.
        destination: A resolved path, which the copy becomes.
        ids: Names temporary files.
        overwrite: Replace an existing file; a folder is never replaced.
        is_open: Whether an entry below a folder may be read.
    """
    copied = Copied()
    match source.kind:
        case EntryKind.FILE:
            with (
                open_file(source.path) as old,
                new_file(destination, ids, overwrite=overwrite, mode=source.mode & 0o777) as new,
            ):
                shutil.copyfileobj(old, new, _CHUNK_BYTES)
                copied.size_bytes = new.tell()
                _keep_time(new, source)
            copied.files = 1
        case EntryKind.FOLDER:
            with new_folder(destination, ids) as staging:
                _copy_tree(source, staging, copied, is_open)
        case EntryKind.LINK:
            make_link(destination, read_link(source.path))
            copied.files = 1
        case EntryKind.OTHER:
            raise ToolError(f"{str(source.path)!r} is a device, pipe or socket, not a file", hint="Name a regular file")
    return copied


def move_entry(source: Entry, destination: Path, ids: IdSource, *, overwrite: bool) -> None:
    """Give an entry another place, across disks too. Raises ToolError; the entry is then where it was."""
    if rename_entry(source.path, destination, overwrite=overwrite):
        return
    copied = copy_entry(source, destination, ids, overwrite=overwrite, is_open=lambda _entry: True)
    if copied.left_out:
        remove_entry(destination)
        raise ToolError(
            f"{str(source.path)!r} holds what cannot be moved to another disk: {copied.left_out[0]!r}",
            hint="Copy the files one by one",
        )
    remove_entry(source.path)


def trash_entry(entry: Entry, own_trash: Path, ids: IdSource) -> Path | None:
    """Put a file or folder into the system's trash; where there is none, into our own and return its new place."""
    if _to_system_trash(entry.path):
        return None
    kept = own_trash / ids.token(12) / entry.path.name
    move_entry(entry, kept, ids, overwrite=False)
    return kept


def _copy_tree(source: Entry, staging: Path, copied: Copied, is_open: Callable[[Entry], bool]) -> None:
    folders = [(staging, source.mode)]
    for entry in walk_folder(source.path, enter=is_open):
        inner = entry.path.relative_to(source.path)
        target = staging / inner
        if entry.kind is EntryKind.OTHER or not is_open(entry):
            copied.left_out.append(inner.as_posix())
        elif entry.kind is EntryKind.FOLDER:
            make_folder(target)
            folders.append((target, entry.mode))
        elif entry.kind is EntryKind.LINK:
            make_link(target, read_link(entry.path))
            copied.files += 1
        else:
            _copy_fresh(entry, target, copied)
    # Permissions come last and from the inside out: a folder that may not be written can still be filled. A copy
    # never runs as somebody else: set-id bits stay behind.
    for folder, mode in reversed(folders):
        set_mode(folder, mode & 0o777)


def _copy_fresh(entry: Entry, target: Path, copied: Copied) -> None:
    with open_file(entry.path) as old, fresh_file(target, mode=entry.mode & 0o777) as new:
        shutil.copyfileobj(old, new, _CHUNK_BYTES)
        copied.files += 1
        copied.size_bytes += new.tell()
        _keep_time(new, entry)


def _keep_time(stream: BinaryIO, entry: Entry) -> None:
    # What is still in the buffer would be written later and set the time anew.
    stream.flush()
    if os.utime in os.supports_fd:
        moment_ns = entry.modified_ms * 1_000_000
        os.utime(stream.fileno(), ns=(moment_ns, moment_ns))


def _to_system_trash(path: Path) -> bool:
    """Whether the system's trash took it. It knows paths only, so the path is compared once more right before."""
    from send2trash import send2trash

    with disk_errors("deleted", path), hold_parent(path) as parent:
        found = os.stat(parent.at(path.name), dir_fd=parent.descriptor, follow_symlinks=False)
        is_there = os.path.realpath(path.parent) == str(path.parent) and os.path.samestat(found, os.lstat(path))
        if not is_there:
            raise ToolRefusedError(f"{str(path)!r} was exchanged while the tool ran", hint="Look at the folder again")
        # No trash on this system or disk, or no right to use it.
        with suppress(OSError):
            send2trash(str(path))
        return find_entry(path, may_be_link=True) is None
