"""What the small stores share: the JSON objects of one folder, and a change that survives a broken file.

Knows nothing of what the objects mean. Spec: data-directory.md, "Write rules".
"""

import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Generic, TypeVar

from msgspec import Struct

from skales.core.errors import BrokenDocumentError, NotFoundError, StorageError
from skales.core.json import JsonObject, JsonValue, as_list
from skales.data.document import (
    ABSENT,
    Stamp,
    lock_for,
    read_stamped,
    stamp_of,
    storage_errors,
    update_object,
)
from skales.data.quarantine import Quarantine

Thing = TypeVar("Thing")

# The year 9999; later ones cannot be shown, and infinity cannot be counted with.
_LAST_MOMENT_MS = 253_402_300_800_000


class KeptObject:
    """One small object that is asked for again and again: its file is read anew only when it changed. Thread-safe."""

    def __init__(self, path: Path, quarantine: Quarantine) -> None:
        self._path = path
        self._quarantine = quarantine
        self._kept: tuple[Stamp, JsonObject] | None = None
        self._lock = threading.Lock()

    def read(self) -> JsonObject:
        """The object as it is now, empty while there is no usable file. Raises StorageError."""
        with storage_errors(self._path, "read"):
            stamp = stamp_of(self._path)
        with self._lock:
            if self._kept is None or self._kept[0] != stamp:
                self._kept = self._load(stamp)
            return self._kept[1]

    def forget(self) -> None:
        """To be called after a write: two of one moment leave files of one state."""
        with self._lock:
            self._kept = None

    def _load(self, stamp: Stamp) -> tuple[Stamp, JsonObject]:
        try:
            raw, stamp = read_stamped(self._path, self._quarantine)
        except (NotFoundError, BrokenDocumentError):
            return stamp, {}
        return stamp, raw


class Source(Struct, frozen=True):
    """One file as it was read. `value` is shared between readers; nobody changes it."""

    path: Path
    value: JsonObject
    stamp: Stamp


class Folder(Generic[Thing]):
    """Every `*.json` of a folder as a thing; names that start with `_` or `.` are bookkeeping. Thread-safe.

    `parse` raises ValueError with a reason for people when an object is not such a thing; `misfit` then deals with
    the file. Files are looked at on every call and read only when they changed.
    """

    def __init__(
        self,
        path: Path,
        quarantine: Quarantine,
        parse: Callable[[Source], Thing],
        misfit: Callable[[Path, str], object],
    ) -> None:
        self._path = path
        self._quarantine = quarantine
        self._parse = parse
        self._misfit = misfit
        self._known: dict[str, tuple[Stamp, Thing | None]] = {}
        self._lock = threading.Lock()

    def read(self) -> list[Thing]:
        """All of them in the order of file names. A bad file costs itself alone and is in the quarantine's notices."""
        with self._lock:
            stamps = _list_files(self._path)
            self._known = {name: self._known[name] for name in stamps if name in self._known}
            looked_at = [self._look_at(name, stamps[name]) for name in sorted(stamps)]
            return [thing for thing in looked_at if thing is not None]

    def _look_at(self, name: str, stamp: Stamp) -> Thing | None:
        known = self._known.get(name)
        if known is not None and known[0] == stamp:
            return known[1]
        path = self._path / name
        try:
            value, stamp = read_stamped(path, self._quarantine)
            thing = self._parse(Source(path, value, stamp))
        except NotFoundError:  # deleted between looking and reading
            return None
        except BrokenDocumentError:
            thing = None
        except StorageError as error:
            self._quarantine.report(path, str(error))
            return None
        except ValueError as error:
            self._misfit(path, str(error))
            thing = None
        self._known[name] = (stamp, thing)
        return thing


def remove_file(path: Path) -> bool:
    """Delete a file; True for exactly one of several racing callers. Raises StorageError."""
    with lock_for(path), storage_errors(path, "deleted"):
        try:
            path.unlink()
        except FileNotFoundError:
            return False
        return True


def update_or_start_over(
    path: Path,
    quarantine: Quarantine,
    change: Callable[[dict[str, JsonValue]], None],
    *,
    missing: Mapping[str, JsonValue],
) -> dict[str, JsonValue]:
    """Like `update_object`, and when the file is broken and could be set aside, change a fresh one instead."""
    try:
        return update_object(path, quarantine, change, missing=missing)
    except BrokenDocumentError:
        return update_object(path, quarantine, change, missing=missing)


def texts_of(value: JsonValue) -> tuple[str, ...]:
    """The strings of an array; nothing when it is none."""
    return tuple(item for item in as_list(value) if isinstance(item, str))


def moment_ms(value: JsonValue, *, default: int = 0) -> int:
    """A moment of a file in milliseconds since 1970; what cannot be one counts as `default`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < _LAST_MOMENT_MS:
        return default
    return int(value)


def _list_files(folder: Path) -> dict[str, Stamp]:
    with storage_errors(folder, "listed"):
        try:
            names = [entry.name for entry in os.scandir(folder) if not entry.is_dir()]
        except FileNotFoundError:
            return {}
        stamps = {
            name: stamp_of(folder / name)
            for name in names
            if name.endswith(".json") and not name.startswith(("_", "."))
        }
    return {name: stamp for name, stamp in stamps.items() if stamp != ABSENT}
