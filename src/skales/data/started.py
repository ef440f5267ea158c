"""Marks of calls that were let run, so that after a crash nobody says "not run" of a call that may have run.

One empty file per call, made before it runs and removed once its result is on disk.
"""

import hashlib
from pathlib import Path

from skales.core.errors import StorageError
from skales.core.ids import SessionId
from skales.data.paths import DataDirectory


class StartedCalls:
    """The marks of one data directory."""

    def __init__(self, directory: DataDirectory) -> None:
        self._folder = directory.root / "run" / "started"

    def mark(self, session_id: SessionId, call_id: str) -> None:
        """Note that the call runs from now on. Raises StorageError; the call must not run then."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file(session_id, call_id).touch(mode=0o600)
        except OSError as error:
            raise StorageError(f"The call cannot be noted down before it runs: {error.strerror}") from error

    def is_marked(self, session_id: SessionId, call_id: str) -> bool:
        """Whether the call was let run and its result never reached the disk."""
        return self._file(session_id, call_id).exists()

    def clear(self, session_id: SessionId, call_id: str) -> None:
        """The result is on disk."""
        self._file(session_id, call_id).unlink(missing_ok=True)

    def _file(self, session_id: SessionId, call_id: str) -> Path:
        # Call ids come from models and may hold anything.
        return self._folder / hashlib.sha256(f"{session_id}\n{call_id}".encode()).hexdigest()[:32]
