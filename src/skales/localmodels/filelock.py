"""A lock between programs on one file. The system's own: it ends with its holder, however that ends."""

import os
import sys
from pathlib import Path

from skales.data.document import storage_errors

if sys.platform == "win32":  # pragma: no cover - the other half is what runs here
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


class FileLock:
    """Held from a successful `try_acquire` to `release` or the end of the program. The file itself stays."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def try_acquire(self) -> bool:
        """False when another holder is at it. Raises StorageError."""
        with storage_errors(self._path, "opened"):
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        if not _try_lock(descriptor):
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Let others in; the second time is harmless."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
