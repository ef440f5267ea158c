"""Looks through folders for the undo timeline: fast where nothing changed since the last look, and bounded.

A file whose number, size and times are as they were is not read again, unless it changed within the last moments before
that look, when a second change could leave the same times. What is passed over is counted and named.
"""

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct, field

from skales.data.undo_files import CAN_WALK, FOLDER_FLAGS, Keep, at, hold_parent, is_link, state_of
from skales.data.undo_shape import State

# More is not looked at; the note says so.
ENTRIES_MOST = 20_000
# Larger files are seen, but their content is not kept by a look at a whole folder.
FILE_BYTES_MOST = 32 * 1024 * 1024
_DEPTH = 64
_UNKNOWN = (0, 0)
_TYPE, _FOLDER = 0o170000, 0o040000
Mark = tuple[int, int, int, int, int]
# File systems write times in steps of a few milliseconds; two changes within one look alike.
_RACY_NS = 50_000_000
# Folders that programs fill and can fill again.
REBUILT = frozenset({
    "node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache",
    ".cache", ".gradle", ".terraform", ".next", ".nuxt", "bower_components",
})  # fmt: skip


class Seen(Struct, frozen=True):
    """An entry at one look. `mark` is what tells that it was not touched since; None for what must be read again."""

    state: State
    mark: Mark | None


class Look(Struct):
    """What one look found, by path, and what it passed over, with its identity where that is known."""

    found: dict[str, Seen] = field(default_factory=dict[str, Seen])
    left_out: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    is_cut: bool = False
    kept_bytes: int = 0


class Scan(Struct, frozen=True, kw_only=True):
    """How to look. `is_open` says of a name and a path whether it may be read; `passes_over` are folders not entered.

    `now_ns` is the file system's own time. `room_bytes` is what may be kept of contents that are not known yet.
    """

    keep: Keep
    is_open: Callable[[str, str, os.stat_result], bool]
    passes_over: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()
    known: Mapping[str, Seen] = field(default_factory=dict[str, Seen])
    now_ns: int = 0
    entries_most: int = ENTRIES_MOST
    file_bytes_most: int = FILE_BYTES_MOST
    room_bytes: int = 1 << 62


def scan_tree(root: Path, scan: Scan, look: Look) -> None:
    """Add what is at a path and below it. A folder that cannot be listed is named and passed over."""
    try:
        with hold_parent(root) as descriptor:
            name = at(root, descriptor)
            found = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            _take(str(root), name, descriptor, found, scan, look, _DEPTH)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError:
        look.left_out[str(root)] = _UNKNOWN


def _take(  # noqa: PLR0913 - one entry of the walk, which is hot: no object is made for it
    path: str, name: str, descriptor: int | None, found: os.stat_result, scan: Scan, look: Look, depth: int
) -> None:
    if path in scan.skipped:
        return
    if not scan.is_open(name, path, found):
        look.left_out[path] = (found.st_dev, found.st_ino)
        return
    if len(look.found) >= scan.entries_most:
        look.is_cut = True
        return
    mark = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_mode)
    known = scan.known.get(path)
    if known is not None and known.mark == mark:
        look.found[path] = known
    else:
        seen = _read(name, descriptor, found, scan, look.kept_bytes, mark)
        # The same object again, so that what did not change is known at a glance.
        look.found[path] = known if known == seen and known is not None else seen
        look.kept_bytes += seen.state.size_bytes if seen.state.is_kept else 0
    if (found.st_mode & _TYPE) != _FOLDER or is_link(found):
        return
    if depth == 0 or os.path.basename(path) in scan.passes_over:  # noqa: PTH119 - hot
        look.left_out[path] = (found.st_dev, found.st_ino)
        return
    try:
        folder = os.open(name, FOLDER_FLAGS, dir_fd=descriptor) if CAN_WALK else None
    except OSError:
        look.left_out[path] = (found.st_dev, found.st_ino)
        return
    _enter(path, folder, scan, look, depth)


def _read(  # noqa: PLR0913 - as above
    name: str, descriptor: int | None, found: os.stat_result, scan: Scan, kept_bytes: int, mark: Mark
) -> Seen:
    limit_bytes = min(scan.file_bytes_most, scan.room_bytes - kept_bytes)
    state = state_of(name, descriptor, found, scan.keep, limit_bytes)
    is_racy = stat.S_ISREG(found.st_mode) and found.st_ctime_ns > scan.now_ns - _RACY_NS
    return Seen(state, None if is_racy else mark)


def _enter(path: str, folder: int | None, scan: Scan, look: Look, depth: int) -> None:
    try:
        with os.scandir(path if folder is None else folder) as entries:
            for entry in entries:
                inner = f"{path}{os.sep}{entry.name}"
                try:
                    found = entry.stat(follow_symlinks=False)
                    _take(inner, entry.name if folder is not None else inner, folder, found, scan, look, depth - 1)
                except FileNotFoundError:
                    continue  # gone while the folder was read
                except OSError:
                    look.left_out[inner] = _UNKNOWN
    finally:
        if folder is not None:
            os.close(folder)
