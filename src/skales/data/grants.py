"""grants.json: what the person allowed for good, everywhere or in one conversation, until revoked.

An entry that cannot be read in full grants nothing and stays in the file. Whether a command is covered by a prefix is
security's to judge. Spec: orchestrator.md, "Approvals".
"""

from collections.abc import Sequence
from dataclasses import dataclass

from skales.core.clock import Clock
from skales.core.errors import BrokenDocumentError, ConflictError, NotFoundError
from skales.core.ids import IdSource
from skales.core.json import JsonObject, JsonValue, as_list, as_object
from skales.data.document import read_object
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import moment_ms, texts_of, update_or_start_over


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """One lasting yes. An empty `session_id` means everywhere; `prefix` narrows a shell tool to such commands.

    `sources` are those whose text the conversation had read when it was given: it holds in spite of these.
    """

    id: str
    tool: str
    session_id: str
    prefix: str
    created_ms: int = 0
    sources: tuple[str, ...] = ()


class GrantStore:
    """The grants of one data directory. Read from disk each time, so that revoking by hand counts at once."""

    def __init__(self, directory: DataDirectory, quarantine: Quarantine, clock: Clock, ids: IdSource) -> None:
        self._path = directory.grants
        self._quarantine = quarantine
        self._clock = clock
        self._ids = ids

    def add(self, tool: str, session_id: str, prefix: str = "", *, sources: Sequence[str] = ()) -> Grant:
        """Allow a tool from now on; the grant that says the same already is returned instead of a copy."""
        assert tool, "a grant names its tool"
        grant = Grant(
            id=f"grant_{self._ids.token(16)}",
            tool=tool,
            session_id=session_id,
            prefix=prefix,
            created_ms=self._clock.now_ms(),
            sources=tuple(sorted(sources)),
        )
        present = [grant]

        def change(raw: dict[str, JsonValue]) -> None:
            entries = _entries(raw)
            same = [old for old in _parse(entries) if _reach(old) == _reach(grant)]
            present[:] = same or [grant]
            if not same:
                raw["grants"] = [*entries, _entry(grant)]

        update_or_start_over(self._path, self._quarantine, change, missing={})
        return present[0]

    def list(self) -> Sequence[Grant]:
        """All of them in the order they were given; none while the file is missing or broken."""
        try:
            return _parse(as_list(read_object(self._path, self._quarantine).get("grants")))
        except (NotFoundError, BrokenDocumentError):
            return []

    def revoke(self, grant_id: str) -> None:
        """Take a grant back. Raises NotFoundError."""

        def change(raw: dict[str, JsonValue]) -> None:
            entries = _entries(raw)
            kept = [entry for entry in entries if as_object(entry).get("id") != grant_id]
            if len(kept) == len(entries):
                raise NotFoundError(f"There is no grant {grant_id!r}")
            raw["grants"] = kept

        update_or_start_over(self._path, self._quarantine, change, missing={})

    def matching(self, tool: str, session_id: str) -> Sequence[Grant]:
        """Grants of a tool that count in a conversation: its own and those for everywhere."""
        return [grant for grant in self.list() if grant.tool == tool and grant.session_id in ("", session_id)]


def _entries(raw: JsonObject) -> Sequence[JsonValue]:
    """Raises ConflictError when somebody put something else there, which is not ours to replace."""
    entries = raw.get("grants", [])
    if not isinstance(entries, list):
        raise ConflictError("'grants' in grants.json is not a list", hint="Correct or remove it in the file")
    return entries


def _parse(entries: Sequence[JsonValue]) -> list[Grant]:
    return [grant for entry in entries for grant in _parse_entry(as_object(entry))]


def _parse_entry(entry: JsonObject) -> list[Grant]:
    """One grant, or none: a missing `session` must not read as everywhere, nor a missing `prefix` as any command."""
    match entry:
        case {"id": str(grant_id), "tool": str(tool), "session": str(session), "prefix": str(prefix)} if tool:
            created_ms = moment_ms(entry.get("createdAt"))
            sources = texts_of(entry.get("sources"))
            return [
                Grant(id=grant_id, tool=tool, session_id=session, prefix=prefix, created_ms=created_ms, sources=sources)
            ]
        case _:
            return []


def _entry(grant: Grant) -> JsonObject:
    return {
        "id": grant.id,
        "tool": grant.tool,
        "session": grant.session_id,
        "prefix": grant.prefix,
        "createdAt": grant.created_ms,
        **({"sources": list(grant.sources)} if grant.sources else {}),
    }


def _reach(grant: Grant) -> tuple[str, str, str, tuple[str, ...]]:
    return grant.tool, grant.session_id, grant.prefix, grant.sources
