"""Which files of a folder are published: what tools may read, but no links, no caches, nothing with keys in it."""

from pathlib import Path

from msgspec import Struct, field

from skales.core.errors import ToolError
from skales.security.paths import PathPolicy
from skales.tools.file.reach import NOISE_FOLDERS, build_reach, require_allowed, require_entry
from skales.tools.file.safe_open import Entry, EntryKind, walk_folder
from skales.tools.file.secret_names import is_secret_name
from skales.tools.remote.place import TEMPORARY_START, is_plain_name

_MOST_FILES = 20_000
_NOISE_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini", ".git", ".gitmodules"})


class LocalFile(Struct, frozen=True):
    """One file to publish; `name` is its path below what is published, with slashes."""

    name: str
    path: Path
    size_bytes: int
    modified_ms: int


class Collected(Struct):
    """What is published of a folder, and what is left out of it and why, by name."""

    files: list[LocalFile] = field(default_factory=list[LocalFile])
    secrets: list[str] = field(default_factory=list[str])
    links: list[str] = field(default_factory=list[str])
    odd: list[str] = field(default_factory=list[str])
    closed: list[str] = field(default_factory=list[str])
    noise: list[str] = field(default_factory=list[str])


def collect_files(source: Path, policy: PathPolicy) -> Collected:
    """Look at a resolved folder, or at one file. Raises ToolError; the disk is only read."""
    entry = require_entry(require_allowed(source, policy), policy)
    found = Collected()
    if entry.kind is not EntryKind.FOLDER:
        _sort(entry, source.name, found)
        if found.secrets or not found.files:
            raise ToolError(
                f"{source.name!r} is not published: it looks like a file with keys or passwords, or is no plain file",
                hint="Publish other files",
                code="secret",
            )
        return found
    is_open = build_reach(policy)
    for inner in walk_folder(source, enter=lambda folder: is_open(folder) and not _is_noise(folder)):
        name = inner.path.relative_to(source).as_posix()
        if not is_open(inner):
            found.closed.append(name)
        elif _is_noise(inner):
            found.noise.append(name)
        elif inner.kind is not EntryKind.FOLDER:
            _sort(inner, name, found)
        if len(found.files) > _MOST_FILES:
            raise ToolError(f"There are more than {_MOST_FILES:,} files", hint="Publish a folder in it")
    return found


def _sort(entry: Entry, name: str, found: Collected) -> None:
    """Into what is published, or where it belongs."""
    if entry.kind is not EntryKind.FILE:
        found.links.append(name)
    elif is_secret_name(Path(name)):
        found.secrets.append(name)
    elif not all(is_plain_name(part) for part in name.split("/")) or entry.path.name.startswith(TEMPORARY_START):
        found.odd.append(name)
    else:
        found.files.append(LocalFile(name, entry.path, entry.size_bytes, entry.modified_ms))


def _is_noise(entry: Entry) -> bool:
    name = entry.path.name
    return name in NOISE_FOLDERS if entry.kind is EntryKind.FOLDER else name in _NOISE_FILES
