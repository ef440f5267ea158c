"""grant-uses.json: how often each grant was used, and when last. Losing it changes no decision."""

from collections.abc import Mapping

from msgspec import Struct

from skales.core.clock import Clock
from skales.core.errors import BrokenDocumentError, NotFoundError
from skales.core.json import JsonValue, as_int, as_object
from skales.data.document import read_object
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import moment_ms, update_or_start_over

# Grants that are remembered; those of long revoked ones go first.
_KEPT = 500


class GrantUse(Struct, frozen=True):
    """What became of one grant."""

    count: int = 0
    last_ms: int = 0


class GrantUses:
    """The counts of one data directory."""

    def __init__(self, directory: DataDirectory, quarantine: Quarantine, clock: Clock) -> None:
        self._path = directory.grant_uses
        self._quarantine = quarantine
        self._clock = clock

    def note(self, grant_id: str) -> None:
        """One more use, now. Raises StorageError."""

        def change(raw: dict[str, JsonValue]) -> None:
            count = as_int(as_object(raw.pop(grant_id, None)).get("count")) + 1
            raw[grant_id] = {"count": count, "lastAt": self._clock.now_ms()}
            for old in list(raw)[:-_KEPT]:
                del raw[old]

        update_or_start_over(self._path, self._quarantine, change, missing={})

    def all(self) -> Mapping[str, GrantUse]:
        """Every known count by the grant's id."""
        try:
            raw = read_object(self._path, self._quarantine)
        except (NotFoundError, BrokenDocumentError):
            return {}
        entries = {grant_id: as_object(entry) for grant_id, entry in raw.items()}
        return {
            grant_id: GrantUse(as_int(entry.get("count")), moment_ms(entry.get("lastAt")))
            for grant_id, entry in entries.items()
        }
