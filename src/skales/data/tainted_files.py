"""tainted.json: files and kept notes that hold text of others, and whose. Remembered, so that reading them counts.

A file is known by its path, and when it was moved or copied by other means by its inode or its content. An entry
without sources says the opposite: the program made this file itself from nothing foreign.
Spec: security.md, "Untrusted content".
"""

import hashlib
import os
import stat
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, structs

from skales.core.clock import Clock
from skales.core.errors import BrokenDocumentError, NotFoundError
from skales.core.json import JsonObject, JsonValue, as_int, as_list, as_object, as_text
from skales.data.document import ABSENT, Stamp, read_stamped, stamp_of
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import moment_ms, texts_of, update_or_start_over

MOST_ENTRIES = 5_000
_HASHED_BYTES = 4 * 1024 * 1024
_SOURCES_KEPT = 20


class TaintedFile(Struct, frozen=True, kw_only=True):
    """One file, or with `is_folder` everything below a folder."""

    path: str
    sources: tuple[str, ...]
    inode: int = 0
    mtime_ns: int = 0
    size_bytes: int = -1
    digest: str = ""
    is_folder: bool = False
    noted_ms: int = 0


class TaintedNote(Struct, frozen=True):
    """Something kept elsewhere than in a file of the person: a memory, a skill, a task. `token` is its id or name."""

    kind: str
    token: str
    sources: tuple[str, ...]


class _Known(Struct, frozen=True):
    stamp: Stamp
    files: Mapping[str, TaintedFile]
    by_size: Mapping[int, Sequence[TaintedFile]]
    notes: Sequence[TaintedNote]


class TaintedFiles:
    """The entries of one data directory; read again only when the file changed. May be used from several threads."""

    def __init__(self, directory: DataDirectory, quarantine: Quarantine, clock: Clock) -> None:
        self._path = directory.tainted
        self._quarantine = quarantine
        self._clock = clock
        self._lock = threading.Lock()
        self._known = _Known(ABSENT, {}, {}, ())

    def sources_of(self, path: Path) -> tuple[str, ...]:
        """Whose text a file holds; nothing for one that is not known."""
        found = self._find(path)
        return found.sources if found else ()

    def is_own(self, path: Path) -> bool:
        """Whether the program made this file itself from nothing foreign."""
        found = self._find(path)
        return found is not None and not found.sources

    def below(self, folder: Path) -> Sequence[TaintedFile]:
        """The files known within a folder."""
        prefix = f"{str(folder).rstrip(os.sep)}{os.sep}"
        return [
            entry
            for entry in self._load().files.values()
            if entry.sources and f"{entry.path}{os.sep}".startswith(prefix)
        ]

    def add(self, paths: Iterable[Path], sources: Sequence[str]) -> None:
        """Remember whose text these files hold from now on; without sources, that it is nobody else's."""
        made = [found for path in paths if (found := self._describe(path, sources)) is not None]
        if made:
            self._change(lambda files, _notes: [*files, *made])

    def follow(self, source: Path, target: Path) -> None:
        """What was known of a file or folder, and of all below it, holds for where it was copied or moved."""
        known = self._load().files
        below = f"{source}{os.sep}"
        made: list[TaintedFile] = []
        for entry in known.values():
            if entry.path == str(source) or entry.path.startswith(below):
                place = Path(f"{target}{entry.path[len(str(source)) :]}")
                made += [found] if (found := self._describe(place, entry.sources)) else []
        if made:
            self._change(lambda files, _notes: [*files, *made])

    def forget(self, paths: Iterable[Path]) -> None:
        """These files were written anew from nothing foreign."""
        gone = {str(path) for path in paths} & self._load().files.keys()
        if gone:
            self._change(lambda files, _notes: [entry for entry in files if entry.path not in gone])

    def note(self, kind: str, token: str, sources: Sequence[str]) -> None:
        """Remember whose text went into something that is kept."""
        made = TaintedNote(kind, token, tuple(sources)[:_SOURCES_KEPT])

        def add(files: list[TaintedFile], notes: list[TaintedNote]) -> list[TaintedFile]:
            notes[:] = [old for old in notes if (old.kind, old.token) != (kind, token)][-MOST_ENTRIES + 1 :]
            notes.append(made)
            return files

        self._change(add)

    def noted_in(self, kind: str, text: str) -> tuple[str, ...]:
        """Whose text went into what this text names or shows."""
        notes = self._load().notes
        return _union(note.sources for note in notes if note.kind == kind and note.token and note.token in text)

    def _find(self, path: Path) -> TaintedFile | None:
        known = self._load()
        if not known.files:
            return None
        for place in (path, *path.parents):
            found = known.files.get(str(place))
            if found is not None and (place == path or found.is_folder):
                return found
        try:
            seen = path.stat()
        except OSError:
            return None
        for entry in known.by_size.get(seen.st_size, ()):
            if (entry.inode, entry.mtime_ns) == (seen.st_ino, seen.st_mtime_ns) or (
                entry.digest and entry.digest == _digest(path, seen)
            ):
                return entry
        return None

    def _describe(self, path: Path, sources: Sequence[str]) -> TaintedFile | None:
        try:
            seen = path.stat()
        except OSError:
            return None
        entry = TaintedFile(
            path=str(path),
            sources=tuple(sources)[:_SOURCES_KEPT],
            inode=seen.st_ino,
            is_folder=stat.S_ISDIR(seen.st_mode),
            noted_ms=self._clock.now_ms(),
        )
        if entry.is_folder:
            return entry
        return structs.replace(entry, mtime_ns=seen.st_mtime_ns, size_bytes=seen.st_size, digest=_digest(path, seen))

    def _load(self) -> _Known:
        with self._lock:
            stamp = stamp_of(self._path)
            if stamp != self._known.stamp:
                try:
                    raw, stamp = read_stamped(self._path, self._quarantine)
                except (NotFoundError, BrokenDocumentError):
                    raw, stamp = {}, ABSENT
                self._known = _index(stamp, raw)
            return self._known

    def _change(self, alter: Callable[[list[TaintedFile], list[TaintedNote]], list[TaintedFile]]) -> None:
        def change(raw: dict[str, JsonValue]) -> None:
            known = _index(ABSENT, raw)
            notes = list(known.notes)
            # The newest word about a path counts.
            files = {entry.path: entry for entry in alter(list(known.files.values()), notes)}
            raw["files"] = [_file_json(entry) for entry in _prune(list(files.values()))]
            raw["notes"] = [{"kind": note.kind, "token": note.token, "sources": list(note.sources)} for note in notes]

        update_or_start_over(self._path, self._quarantine, change, missing={})


def _index(stamp: Stamp, raw: JsonObject) -> _Known:
    files = {entry.path: entry for entry in map(_file_of, as_list(raw.get("files"))) if entry.path}
    by_size: dict[int, list[TaintedFile]] = {}
    for entry in files.values():
        # An empty file is like every other one and says nothing.
        if entry.size_bytes > 0:
            by_size.setdefault(entry.size_bytes, []).append(entry)
    return _Known(stamp, files, by_size, [_note_of(entry) for entry in as_list(raw.get("notes"))])


def _prune(entries: list[TaintedFile]) -> list[TaintedFile]:
    """At most so many: those whose file is gone leave first, then the oldest."""
    if len(entries) <= MOST_ENTRIES:
        return entries
    there = [entry for entry in entries if os.path.lexists(entry.path)]
    return sorted(there, key=lambda entry: entry.noted_ms)[-MOST_ENTRIES:]


def _digest(path: Path, seen: os.stat_result) -> str:
    if not stat.S_ISREG(seen.st_mode) or not 0 < seen.st_size <= _HASHED_BYTES:
        return ""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _file_of(value: JsonValue) -> TaintedFile:
    entry = as_object(value)
    return TaintedFile(
        path=as_text(entry.get("path")),
        sources=texts_of(entry.get("sources")),
        inode=as_int(entry.get("inode")),
        mtime_ns=as_int(entry.get("mtimeNs")),
        size_bytes=as_int(entry.get("size")),
        digest=as_text(entry.get("sha256")),
        is_folder=entry.get("folder") is True,
        noted_ms=moment_ms(entry.get("at")),
    )


def _file_json(entry: TaintedFile) -> JsonObject:
    value: dict[str, JsonValue] = {"path": entry.path, "sources": list(entry.sources), "at": entry.noted_ms}
    if entry.is_folder:
        return {**value, "inode": entry.inode, "folder": True}
    return {
        **value,
        "inode": entry.inode,
        "mtimeNs": entry.mtime_ns,
        "size": entry.size_bytes,
        "sha256": entry.digest,
    }


def _note_of(value: JsonValue) -> TaintedNote:
    entry = as_object(value)
    return TaintedNote(as_text(entry.get("kind")), as_text(entry.get("token")), texts_of(entry.get("sources")))


def _union(groups: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(source for group in groups for source in group))
