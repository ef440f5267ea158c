"""Finds secrets in what was written before they were held back, and masks them so that it can be taken back.

Looked at: conversations (deleted ones too), memories, results of tools and logs. The audit log is only looked at, since
its lines vouch for each other. What is rewritten lies as it was in `trash/secrets/<moment>/` until it is brought back
or forgotten. What a secret is, is not decided here.
"""

import contextlib
import hashlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct

from skales.core.errors import NotFoundError, SkalesError, StorageError
from skales.core.json import JsonValue, as_object, as_text, parse_json
from skales.data.document import dump_object, lock_for, read_bytes, storage_errors, write_bytes, write_object
from skales.data.paths import DataDirectory

_MANIFEST = "manifest.json"
# A log or result beyond this is not read at once.
_MAX_BYTES = 64 * 1024 * 1024


class Masks(Struct, frozen=True):
    """How secrets are masked in a text and in JSON, and how the markers are counted that stand for them."""

    text: Callable[[str], str]
    value: Callable[[JsonValue], JsonValue]
    markers: Callable[[str], Sequence[str]]


class SweptFile(Struct, frozen=True):
    """A file with secrets in it: what kind of place, its path below the data folder, and a marker for each secret."""

    place: str
    path: str
    markers: tuple[str, ...]
    is_masked: bool = False
    problem: str = ""


class Sweep(Struct, frozen=True, kw_only=True):
    """What a look found. `id` names the backup, empty when nothing was changed; `unread` could not be read."""

    looked_at: int = 0
    found: tuple[SweptFile, ...] = ()
    unread: tuple[str, ...] = ()
    id: str = ""

    @property
    def secrets(self) -> int:
        """How many secrets there are in all."""
        return sum(len(file.markers) for file in self.found)


class TakenBack(Struct, frozen=True):
    """What an undo did: files that are as they were, and those that changed meanwhile and stay masked."""

    restored: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


# Called with what is done and what there is; returns whether to go on.
Report = Callable[[int, int], bool]


@dataclass(frozen=True, slots=True)
class SecretSweep:
    """Looks through one data directory."""

    directory: DataDirectory
    masks: Masks
    _folder: Path = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_folder", self.directory.trash / "secrets")

    def look(self, report: Report) -> Sweep:
        """Find what is there and change nothing. Stops early when `report` says so."""
        return self._walk(report, "")

    def mask(self, moment_ms: int, report: Report) -> Sweep:
        """Mask what is there. Stopped early, what was masked until then stays so and can be taken back."""
        name = str(moment_ms)
        while (self._folder / name).exists():
            name += "-1"
        return self._walk(report, name)

    def drop_index(self) -> None:
        """Remove the search index, in which a masked text may still lie; it is made anew when it is next needed."""
        for ending in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):  # in use on Windows; the rows themselves are replaced anyway
                self.directory.index.with_name(self.directory.index.name + ending).unlink(missing_ok=True)

    def backups(self) -> Sequence[str]:
        """What can be taken back, newest first."""
        try:
            names = [entry.name for entry in os.scandir(self._folder) if (Path(entry.path) / _MANIFEST).is_file()]
        except FileNotFoundError:
            return []
        return sorted(names, reverse=True)

    def undo(self, backup: str) -> TakenBack:
        """Bring back what a masking changed, but no file that changed since. Raises NotFoundError, StorageError."""
        folder = self._backup(backup)
        restored: list[str] = []
        kept: list[str] = []
        for name, digest in self._manifest(folder).items():
            target = self.directory.root / name
            with lock_for(target):
                if _digest_of(target) == digest:
                    write_bytes(target, read_bytes(folder / name)[0])
                    restored.append(name)
                else:
                    kept.append(name)
        if not kept:
            self.forget(backup)
        return TakenBack(tuple(restored), tuple(kept))

    def forget(self, backup: str) -> None:
        """Delete what a masking kept, secrets and all. Raises NotFoundError, StorageError."""
        folder = self._backup(backup)
        with storage_errors(folder, "deleted"):
            shutil.rmtree(folder)

    def _walk(self, report: Report, backup: str) -> Sweep:
        files = list(self._files())
        found: list[SweptFile] = []
        unread: list[str] = []
        digests: dict[str, JsonValue] = {}
        done = 0
        for place, path in files:
            if not report(done, len(files)):
                break
            name = path.relative_to(self.directory.root).as_posix()
            try:
                swept = self._sweep(place, path, name, self._folder / backup if backup else None, digests)
            except (SkalesError, ValueError, RecursionError):
                unread.append(name)
            else:
                found += [swept] if swept else []
            done += 1
        report(done, len(files))
        return Sweep(looked_at=done, found=tuple(found), unread=tuple(unread), id=backup if digests else "")

    def _sweep(
        self, place: str, path: Path, name: str, backup: Path | None, digests: dict[str, JsonValue]
    ) -> SweptFile | None:
        with lock_for(path):
            data, stamp = read_bytes(path)
            if len(data) > _MAX_BYTES:
                raise StorageError(f"{name!r} is too large to be looked through")
            text = data.decode("utf-8-sig")
            shown = self._mask(path, text)
            markers = tuple((Counter(self.masks.markers(shown)) - Counter(self.masks.markers(text))).elements())
            if not markers:
                return None
            if backup is None or place == "audit":
                return SweptFile(place, name, markers)
            masked = shown.encode("utf-8", "surrogatepass")
            write_bytes(backup / name, data)
            # Before the change, so that a crash between the two leaves something to bring back.
            digests[name] = hashlib.sha256(masked).hexdigest()
            write_object(backup / _MANIFEST, {"files": digests})
            try:
                write_bytes(path, masked, expected=stamp)
            except SkalesError as error:
                return SweptFile(place, name, markers, problem=error.message)
            return SweptFile(place, name, markers, is_masked=True)

    def _mask(self, path: Path, text: str) -> str:
        """What the file should hold. JSON is masked by its names as well, and stays JSON."""
        if ".json" not in path.name:
            return self.masks.text(text)
        if ".jsonl" in path.name:
            return "".join(map(self._mask_line, text.splitlines(keepends=True)))
        value = parse_json(text)
        masked = self.masks.value(value)
        if masked == value:
            return text
        return dump_object(as_object(masked)).decode() if isinstance(masked, Mapping) else json.dumps(masked)

    def _mask_line(self, line: str) -> str:
        try:
            value = parse_json(line)
        except ValueError:
            return self.masks.text(line)
        masked = self.masks.value(value)
        return line if masked == value else json.dumps(masked, ensure_ascii=False) + "\n"

    def _files(self) -> Iterator[tuple[str, Path]]:
        """Every file to look at, with its kind of place."""
        home = self.directory
        places = (
            ("conversation", home.sessions),
            ("deleted conversation", home.trash / "sessions"),
            ("memory", home.memories),
            ("result", home.results),
            ("log", home.logs),
        )
        for place, top in places:
            for folder, _folders, names in os.walk(top):
                for name in sorted(names):
                    path = Path(folder, name)
                    if path.is_file() and not path.is_symlink():
                        yield ("audit" if place == "log" and name.startswith("audit") else place), path

    def _backup(self, backup: str) -> Path:
        if backup not in self.backups():
            raise NotFoundError("There is no such masking to take back", hint="It may have been taken back already")
        return self._folder / backup

    def _manifest(self, folder: Path) -> Mapping[str, str]:
        files = as_object(as_object(parse_json(read_bytes(folder / _MANIFEST)[0].decode())).get("files"))
        # Written by us, but a hand may have been there: nothing outside of the data folder is touched.
        return {name: as_text(digest) for name, digest in files.items() if self._is_inside(name)}

    def _is_inside(self, name: str) -> bool:
        return ".." not in Path(name).parts and not Path(name).is_absolute()


def _digest_of(path: Path) -> str:
    try:
        return hashlib.sha256(read_bytes(path)[0]).hexdigest()
    except SkalesError:
        return ""
