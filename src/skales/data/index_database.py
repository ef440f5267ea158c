"""The one connection of the session index: opened when first needed, given up and replaced when SQLite refuses.

A damaged file is deleted and made again, once; what a new file would not cure is answered from memory.
What the tables are is the business of `index_tables`, what goes into them that of `index`.
"""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from skales.core.errors import StorageError
from skales.data.document import Stamp
from skales.data.index_tables import connect, load_stamps

if TYPE_CHECKING:
    from sqlite3 import Connection, Error  # at run time loaded when the index is first used

Answer = TypeVar("Answer")

# What a new file cures: no code (ours), SQLITE_ERROR, _CORRUPT, _CONSTRAINT, _NOTADB. Other codes mean that the place
# is locked, full or read-only, where a new file would fail the same way.
_CURED_BY_REBUILDING = (0, 1, 11, 19, 26)


class IndexLostError(Exception):
    """The database had to be given up; the next one may be empty."""


class Database:
    """Runs operations one at a time. May be used from several threads.

    `stamps` are the files as they were when their rows were written; to be touched within `run` only. `opened` counts
    the connections made: another number means that whatever was known of the rows may be gone.
    """

    def __init__(self, path: Path, busy_timeout_s: float) -> None:
        self.stamps: dict[str, Stamp] = {}
        self.opened = 0
        self._path = path
        self._busy_timeout_s = busy_timeout_s
        self._connection: Connection | None = None
        self._in_memory = False
        self._rebuilt = False
        self._lock = threading.RLock()

    def run(self, operation: Callable[["Connection"], Answer]) -> Answer:
        """Raises IndexLostError when the database had to be given up, StorageError when memory too is none."""
        import sqlite3

        with self._lock:
            try:
                return operation(self._open())
            except sqlite3.Error as error:
                self._give_up(error)
                raise IndexLostError from error

    def close(self) -> None:
        """Give the file back; the next operation opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def notice_deletion(self) -> None:
        """Close the connection when its file was deleted; SQLite itself would go on with what nobody can see."""
        if not self._in_memory and not os.path.lexists(self._path):
            self.close()

    def _open(self) -> "Connection":
        if self._connection is None:
            self._connection = connect(None if self._in_memory else self._path, self._busy_timeout_s)
            self.opened += 1
            self.stamps = load_stamps(self._connection)
        return self._connection

    def _give_up(self, error: "Error") -> None:
        """Close, then choose: a new file, or memory when a new file was tried or would not help."""
        self.close()
        if self._in_memory:
            raise StorageError("The session index cannot be used", hint=str(error)) from error
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        curable = code in _CURED_BY_REBUILDING and not self._rebuilt
        self._rebuilt = True
        self._in_memory = not (curable and _delete_database(self._path))


def _delete_database(path: Path) -> bool:
    try:
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
    except OSError:
        return False
    return True
