"""logs/incidents/: a note in Markdown for each use of the kill switch, for people to read."""

from pathlib import Path

from msgspec import Struct

from skales.core.clock import Clock, to_datetime
from skales.core.errors import NotFoundError
from skales.data.document import ABSENT, read_bytes, stamp_of, storage_errors, write_bytes
from skales.data.paths import DataDirectory

_MOST = 200


class Incident(Struct, frozen=True):
    """A note; `id` is its file's name without the ending."""

    id: str
    when_ms: int
    text: str


class IncidentStore:
    """The notes of one data directory."""

    def __init__(self, directory: DataDirectory, clock: Clock) -> None:
        self._folder = directory.incidents
        self._clock = clock

    def write(self, text: str) -> Incident:
        """Keep a note. Raises StorageError."""
        now_ms = self._clock.now_ms()
        begin = f"{to_datetime(now_ms):%Y-%m-%d-%H%M%S}"
        names = (begin, *(f"{begin}-{number}" for number in range(2, _MOST)))
        name = next(name for name in names if stamp_of(self._folder / f"{name}.md") == ABSENT)
        write_bytes(self._folder / f"{name}.md", text.encode())
        return Incident(name, now_ms, text)

    def list(self, limit: int) -> list[Incident]:
        """So many, newest first. Raises StorageError."""
        with storage_errors(self._folder, "listed"):
            paths = sorted(self._folder.glob("*.md"), key=lambda path: path.stem, reverse=True)[:limit]
        return [Incident(path.stem, *_read(path)) for path in paths]


def _read(path: Path) -> tuple[int, str]:
    try:
        data, stamp = read_bytes(path)
    except NotFoundError:  # removed between listing and reading
        return 0, ""
    return stamp.mtime_ns // 1_000_000, data.decode("utf-8", "replace")
