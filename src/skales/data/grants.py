"""grants.json: what the person allowed for good, everywhere or in one conversation, until revoked or expired.

An entry that cannot be read in full grants nothing and stays in the file. Whether a call is covered is the agent's to
judge. Spec: orchestrator.md, "Approvals".
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct, field, structs

from skales.core.clock import Clock
from skales.core.errors import BrokenDocumentError, ConflictError, InputError, NotFoundError
from skales.core.ids import IdSource
from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text
from skales.data.document import Stamp, read_object, stamp_of, storage_errors
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import moment_ms, texts_of, update_or_start_over

# Revoked grants that can be given back.
_KEPT_REVOKED = 20


class ReachKind(StrEnum):
    """By what a grant covers calls: a command's beginning, folders and hosts, one exact call, or the tool as a whole.

    The last one is no longer given; such grants of earlier versions still count.
    """

    COMMAND = "command"
    PLACES = "places"
    CALL = "call"
    TOOL = "tool"


class FolderReach(Struct, frozen=True):
    """An argument must lie in this folder; `whole` says that the folder itself counts, too."""

    argument: str
    folder: str
    whole: bool = False


class Reach(Struct, frozen=True, kw_only=True):
    """Which calls of a tool a grant covers.

    `fixed` are arguments that must be the same, `origins` the argument that must lead to one `scheme://host:port`.
    `digest` is that of all arguments of one exact call.
    """

    kind: ReachKind
    prefix: str = ""
    folders: tuple[FolderReach, ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict[str, str])
    fixed: JsonObject = field(default_factory=dict[str, JsonValue])
    digest: str = ""


class Grant(Struct, frozen=True, kw_only=True):
    """One lasting yes. An empty `session_id` means everywhere; `expires_ms` is 0 for until revoked.

    `about` is the call it was given for, in words; `surface` and `given_in` say where. `sources` are those whose text
    the conversation had read when it was given: it holds in spite of these.
    """

    id: str
    tool: str
    session_id: str
    reach: Reach
    about: str = ""
    surface: str = ""
    given_in: str = ""
    created_ms: int = 0
    expires_ms: int = 0
    sources: tuple[str, ...] = ()


class GrantStore:
    """The grants of one data directory. Read from disk each time, so that revoking by hand counts at once.

    `changed` hears of each change made here: the id, and the entry before and after.
    """

    def __init__(self, directory: DataDirectory, quarantine: Quarantine, clock: Clock, ids: IdSource) -> None:
        self._path = directory.grants
        self._quarantine = quarantine
        self._clock = clock
        self._ids = ids
        self._kept: tuple[Stamp, Sequence[Grant]] | None = None
        self.changed: Callable[[str, JsonObject | None, JsonObject | None], None] = _nobody

    def add(self, draft: Grant) -> Grant:
        """Keep a grant from now on; id and moment are given here.

        One that covers the same already is returned instead of a copy, and lasts as long as the longer of both.
        """
        assert draft.tool, "a grant names its tool"
        now_ms = self._clock.now_ms()
        grant = structs.replace(draft, id=f"grant_{self._ids.token(16)}", created_ms=now_ms)
        present = [grant]

        def change(raw: dict[str, JsonValue]) -> None:
            entries = [entry for entry in _entries(raw) if not _is_over(entry, now_ms)]
            same = next((old for old in _parse(entries) if _scope(old) == _scope(grant)), None)
            if same is None:
                raw["grants"] = [*entries, _entry(grant)]
                return
            present[0] = structs.replace(same, expires_ms=_longer(same.expires_ms, grant.expires_ms))
            raw["grants"] = [_entry(present[0]) if _id_of(entry) == same.id else entry for entry in entries]

        self._update(change)
        if present[0] is grant:
            self.changed(grant.id, None, _entry(grant))
        return present[0]

    def entry(self, grant_id: str) -> JsonObject | None:
        """A grant as it stands in the file, None when there is none."""
        return next((_entry(grant) for grant in self.list() if grant.id == grant_id), None)

    def put_back(self, entry: JsonObject) -> None:
        """Allow again what was revoked, under the same id. Raises InputError for what is no grant."""
        if not _parse_entry(entry):
            raise InputError("This is no grant")

        def change(raw: dict[str, JsonValue]) -> None:
            entries = _entries(raw)
            if all(as_object(old).get("id") != entry.get("id") for old in entries):
                raw["grants"] = [*entries, entry]

        self._update(change)
        self.changed(str(entry.get("id")), None, entry)

    def list(self) -> Sequence[Grant]:
        """Those that count, in the order they were given; none while the file is missing or broken."""
        now_ms = self._clock.now_ms()
        return [grant for grant in self._parsed() if not 0 < grant.expires_ms <= now_ms]

    def _parsed(self) -> Sequence[Grant]:
        """Those of the file, read anew only when it changed: they are asked for at every call."""
        with storage_errors(self._path, "read"):
            stamp = stamp_of(self._path)
        kept = self._kept
        if kept is None or kept[0] != stamp:
            kept = self._kept = (stamp, tuple(_parse(self._read("grants"))))
        return kept[1]

    def _update(self, change: Callable[[dict[str, JsonValue]], None]) -> None:
        try:
            update_or_start_over(self._path, self._quarantine, change, missing={})
        finally:
            self._kept = None

    def revoke(self, grant_id: str) -> Grant | None:
        """Take a grant back; None for an entry that granted nothing. Raises NotFoundError."""
        taken: list[JsonValue] = []

        def change(raw: dict[str, JsonValue]) -> None:
            entries = _entries(raw)
            taken[:] = [entry for entry in entries if _id_of(entry) == grant_id]
            if not taken:
                raise NotFoundError(f"There is no grant {grant_id!r}", hint="`skales grants list` shows them")
            raw["grants"] = [entry for entry in entries if _id_of(entry) != grant_id]
            raw["revoked"] = [*as_list(raw.get("revoked")), *taken][-_KEPT_REVOKED:]

        self._update(change)
        revoked = next(iter(_parse(taken)), None)
        if revoked is not None:
            self.changed(grant_id, _entry(revoked), None)
        return revoked

    def restore(self, grant_id: str) -> Grant:
        """Undo `revoke`. Raises NotFoundError when the grant was not revoked lately."""
        given: list[Grant] = []

        def change(raw: dict[str, JsonValue]) -> None:
            revoked = as_list(raw.get("revoked"))
            back = [entry for entry in revoked if _id_of(entry) == grant_id]
            given[:] = _parse(back)
            if not given:
                raise NotFoundError(f"There is no revoked grant {grant_id!r}")
            raw["grants"] = [*_entries(raw), *back]
            raw["revoked"] = [entry for entry in revoked if _id_of(entry) != grant_id]

        self._update(change)
        self.changed(grant_id, None, _entry(given[0]))
        return given[0]

    def matching(self, tool: str, session_id: str) -> Sequence[Grant]:
        """Grants of a tool that count in a conversation: its own and those for everywhere."""
        return [grant for grant in self.list() if grant.tool == tool and grant.session_id in ("", session_id)]

    def _read(self, name: str) -> Sequence[JsonValue]:
        try:
            return as_list(read_object(self._path, self._quarantine).get(name))
        except (NotFoundError, BrokenDocumentError):
            return []


def reach_json(reach: Reach) -> JsonObject:
    """A reach as it stands in the file."""
    return {
        "kind": reach.kind.value,
        "prefix": reach.prefix,
        "folders": [{"argument": at.argument, "folder": at.folder, "whole": at.whole} for at in reach.folders],
        "origins": dict(reach.origins),
        "fixed": reach.fixed,
        "digest": reach.digest,
    }


def _longer(one_ms: int, other_ms: int) -> int:
    return 0 if 0 in (one_ms, other_ms) else max(one_ms, other_ms)


def _id_of(entry: JsonValue) -> JsonValue:
    return as_object(entry).get("id")


def _is_over(entry: JsonValue, now_ms: int) -> bool:
    return 0 < moment_ms(as_object(entry).get("expiresAt")) <= now_ms


def _nobody(_grant_id: str, _before: JsonObject | None, _after: JsonObject | None) -> None:
    """Nobody listens."""


def _entries(raw: JsonObject) -> Sequence[JsonValue]:
    """Raises ConflictError when somebody put something else there, which is not ours to replace."""
    entries = raw.get("grants", [])
    if not isinstance(entries, list):
        raise ConflictError("'grants' in grants.json is not a list", hint="Correct or remove it in the file")
    return entries


def _parse(entries: Sequence[JsonValue]) -> list[Grant]:
    return [grant for entry in entries for grant in _parse_entry(as_object(entry))]


def _parse_entry(entry: JsonObject) -> list[Grant]:
    """One grant, or none: a missing `session` must not read as everywhere, nor a missing reach as any call."""
    match entry:
        case {"id": str(grant_id), "tool": str(tool), "session": str(session)} if tool and grant_id:
            reach = _parse_reach(entry)
        case _:
            return []
    expires_at = entry.get("expiresAt", 0)
    if reach is None or (expires_at != 0 and not moment_ms(expires_at)):
        return []
    grant = Grant(
        id=grant_id,
        tool=tool,
        session_id=session,
        reach=reach,
        about=as_text(entry.get("about")),
        surface=as_text(entry.get("surface")),
        given_in=as_text(entry.get("givenIn")),
        created_ms=moment_ms(entry.get("createdAt")),
        expires_ms=moment_ms(expires_at),
        sources=texts_of(entry.get("sources")),
    )
    return [grant]


def _parse_reach(entry: JsonObject) -> Reach | None:
    if "reach" not in entry:
        # Entries of earlier versions: a command's beginning, or any call of a tool that runs no commands.
        prefix = entry.get("prefix")
        kind = ReachKind.COMMAND if prefix else ReachKind.TOOL
        return Reach(kind=kind, prefix=prefix) if isinstance(prefix, str) else None
    match entry["reach"]:
        case {
            "kind": "command" | "places" | "call" as name,
            "prefix": str(prefix),
            "folders": list(folders),
            "origins": dict(origins),
            "fixed": dict(fixed),
            "digest": str(digest),
        }:
            pass
        case _:
            return None
    read = [at for folder in folders for at in _parse_folder(folder)]
    hosts = {name: origin for name, origin in origins.items() if isinstance(origin, str)}
    if len(read) != len(folders) or len(hosts) != len(origins):
        return None
    reach = Reach(kind=ReachKind(name), prefix=prefix, folders=tuple(read), origins=hosts, fixed=fixed, digest=digest)
    return reach if _is_bound(reach) else None


def _is_bound(reach: Reach) -> bool:
    """Whether it names what it is about, so that nothing missing reads as everything."""
    match reach.kind:
        case ReachKind.COMMAND:
            return bool(reach.prefix and reach.folders)
        case ReachKind.PLACES:
            return bool(reach.folders or reach.origins)
        case ReachKind.CALL | ReachKind.TOOL:
            return bool(reach.digest)


def _parse_folder(value: JsonValue) -> list[FolderReach]:
    match value:
        case {"argument": str(argument), "folder": str(folder), "whole": bool(whole)} if folder:
            return [FolderReach(argument, folder, whole)]
        case _:
            return []


def _entry(grant: Grant) -> JsonObject:
    return {
        "id": grant.id,
        "tool": grant.tool,
        "session": grant.session_id,
        "reach": reach_json(grant.reach),
        "about": grant.about,
        "surface": grant.surface,
        "givenIn": grant.given_in,
        "createdAt": grant.created_ms,
        "expiresAt": grant.expires_ms,
        **({"sources": list(grant.sources)} if grant.sources else {}),
    }


def _scope(grant: Grant) -> tuple[str, str, Reach, tuple[str, ...]]:
    return grant.tool, grant.session_id, grant.reach, grant.sources
