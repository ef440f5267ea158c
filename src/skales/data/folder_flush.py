"""Makes renames outlast a power cut: folders are flushed to the disk a moment after something in them was replaced.

Beside the work, since a flush takes as long as writing the file did, and one covers all that changed meanwhile. Until
then a power cut leaves the file as it was before. Windows cannot open folders, and some file systems refuse: not worth
failing for.
"""

import atexit
import contextlib
import os
import threading
import time
from os import fsync

# Within this a power cut may undo a rename; a conversation's step takes about as long.
_PAUSE_S = 0.02


class FolderFlusher:
    """Flushes folders in a thread of its own. Thread-safe."""

    def __init__(self, pause_s: float = _PAUSE_S) -> None:
        self._pause_s = pause_s
        self._waiting: set[str] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._called = threading.Event()

    def flush_soon(self, folder: str) -> None:
        """Flush a folder in a moment."""
        with self._lock:
            self._waiting.add(folder)
            # A program that was forked off has the object without the thread.
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="folder flush", daemon=True)
                self._thread.start()
        self._called.set()

    def flush_now(self) -> None:
        """Flush what waits."""
        with self._lock:
            folders, self._waiting = self._waiting, set()
        for folder in folders:
            _flush(folder)

    def _run(self) -> None:
        while True:
            self._called.wait()
            time.sleep(self._pause_s)
            self._called.clear()
            self.flush_now()


def _flush(folder: str) -> None:
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            fsync(descriptor)
        finally:
            os.close(descriptor)


_flusher = FolderFlusher()
atexit.register(_flusher.flush_now)
flush_soon = _flusher.flush_soon
