"""What the sessions folder holds now, and whether somebody else than this program changed it.

The folder's own time changes with every name that comes, goes or is replaced, but not when a file is written in place:
it says cheaply that something happened, never that nothing did.
"""

import contextlib
import os
import stat
import threading
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from pathlib import Path

from skales.core.ids import is_safe_id
from skales.data.document import Stamp, storage_errors

_SUFFIX = ".json"
_STRETCH = 500  # entries looked at between two pauses


def is_session_id(text: str) -> bool:
    """Whether a session's file may have this stem: safe as a name, and not `_…`, which marks bookkeeping."""
    return is_safe_id(text) and not text.startswith("_")


class SessionFolder:
    """The files of the sessions, by the stems of their names. May be used from several threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._seen_ns: int | None = None  # the folder's time when its names were last known
        self._writers = 0
        self._is_calm = False  # nobody else had changed the folder when the first of `_writers` began

    def names(self) -> set[str]:
        """The stems of all names that a session's file could have, from one listing. Raises StorageError.

        Which of them are safe and belong to plain files is left to be asked of those that are new.
        """
        seen_ns = self._time_ns()
        with storage_errors(self._folder, "listed"), contextlib.suppress(FileNotFoundError):
            found = {name[: -len(_SUFFIX)] for name in os.listdir(self._folder) if name.endswith(_SUFFIX)}  # noqa: PTH208 - names are all that is needed, and ten times as quick
            with self._lock:
                self._seen_ns = seen_ns
            return found
        return set()

    def scan(
        self, known: Collection[str], pause: Callable[[], object], at_most: int | None = None
    ) -> dict[str, Stamp] | None:
        """The state of every session's file; None when there are more than `at_most`. Raises StorageError."""
        seen_ns = self._time_ns()
        found: dict[str, Stamp] = {}
        for number, (name, entry) in enumerate(self._entries(known), 1):
            if at_most is not None and number > at_most:
                return None
            with contextlib.suppress(FileNotFoundError):  # deleted since the folder was read
                status = entry.stat(follow_symlinks=False)
                found[name] = Stamp(status.st_mtime_ns, status.st_size)
            if number % _STRETCH == 0:
                pause()
        with self._lock:
            self._seen_ns = seen_ns
        return found

    def stamps(self, names: Iterable[str]) -> dict[str, Stamp]:
        """The state of these sessions' files, without those that are gone. Raises StorageError."""
        found: dict[str, Stamp] = {}
        root = os.path.join(self._folder, "")  # noqa: PTH118 - a Path for each name takes longer than asking about it
        with storage_errors(self._folder, "read"):
            for name in names:
                with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                    status = os.lstat(f"{root}{name}{_SUFFIX}")
                    if stat.S_ISREG(status.st_mode):
                        found[name] = Stamp(status.st_mtime_ns, status.st_size)
        return found

    def is_changed(self) -> bool:
        """Whether names came, went or were replaced since the last listing, other than by `own_change`."""
        with self._lock:
            if self._writers:
                return not self._is_calm
            return self._seen_ns != self._time_ns()

    @contextlib.contextmanager
    def own_change(self) -> Generator[None]:
        """What happens to the folder meanwhile is told to the index by whoever does it."""
        with self._lock:
            if not self._writers:
                self._is_calm = self._seen_ns == self._time_ns()
            self._writers += 1
        try:
            yield
        finally:
            with self._lock:
                self._writers -= 1
                if not self._writers and self._is_calm:
                    self._seen_ns = self._time_ns()

    def _time_ns(self) -> int:
        try:
            return self._folder.stat().st_mtime_ns
        except OSError:  # listing it says what is wrong
            return 0

    def _entries(self, known: Collection[str]) -> Iterator[tuple[str, os.DirEntry[str]]]:
        with storage_errors(self._folder, "listed"):
            try:
                with os.scandir(self._folder) as entries:
                    for entry in entries:
                        name = entry.name.removesuffix(_SUFFIX)
                        is_named = name != entry.name and (name in known or is_session_id(name))
                        if is_named and entry.is_file(follow_symlinks=False):
                            yield name, entry
            except FileNotFoundError:
                return
