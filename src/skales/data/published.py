"""published/: what was last put where, one file for each place, so that only what changed is sent again.

Losing a file costs one full upload, nothing else. Sending is not its business.
"""

import hashlib
from collections.abc import Mapping

from msgspec import Struct

from skales.core.errors import BrokenDocumentError, NotFoundError
from skales.core.json import JsonValue, as_int, as_object, as_text
from skales.data.document import read_object, write_object
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine


class PublishedFile(Struct, frozen=True):
    """A file as it was sent: its time on this computer, and what it held."""

    size_bytes: int
    modified_ms: int
    sha256: str


class PublishedFiles:
    """The lists of one data directory. A place is any text that stays the same for it."""

    def __init__(self, directory: DataDirectory, quarantine: Quarantine) -> None:
        self._folder = directory.published
        self._quarantine = quarantine

    def load(self, place: str) -> Mapping[str, PublishedFile]:
        """Path with slashes → file; empty for a place nothing is known of. Raises StorageError."""
        try:
            raw = read_object(self._folder / _file_name(place), self._quarantine)
        except (NotFoundError, BrokenDocumentError):
            return {}
        if raw.get("place") != place:
            return {}
        return {
            path: PublishedFile(as_int(row.get("size")), as_int(row.get("modifiedMs")), as_text(row.get("sha256")))
            for path, value in as_object(raw.get("files")).items()
            if as_text((row := as_object(value)).get("sha256"))
        }

    def save(self, place: str, files: Mapping[str, PublishedFile]) -> None:
        """Replace what is known of a place. Raises StorageError."""
        rows: dict[str, JsonValue] = {
            path: {"size": file.size_bytes, "modifiedMs": file.modified_ms, "sha256": file.sha256}
            for path, file in sorted(files.items())
        }
        write_object(self._folder / _file_name(place), {"place": place, "files": rows})


def _file_name(place: str) -> str:
    return f"{hashlib.sha256(place.encode()).hexdigest()[:32]}.json"
