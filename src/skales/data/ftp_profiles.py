"""ftp-profiles.json: servers to publish to. Passwords are sealed, and come out for a connection only.

The file is closed to tools. Connecting is not its business. Spec: data-directory.md, "Other shapes".
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from skales.core.clock import Clock
from skales.core.errors import BrokenDocumentError, ConflictError, InputError, NotFoundError
from skales.core.ids import IdSource
from skales.core.json import JsonObject, JsonValue, as_int, as_list, as_object, as_text
from skales.data.key_store import GRACE_S, PATIENCE_S
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import moment_ms
from skales.data.secret_places import FTP_PROFILES, SecretDocument
from skales.data.vault import Vault
from skales.data.vault_text import usable

# Line ends in a user name, password or path would be further commands to an FTP server.
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ALIAS = re.compile(r"[^\W_][\w .-]{0,63}")
_HOST = re.compile(r"[^\s/@\\]{1,253}")
_MASK = "•"


class FtpProtocol(StrEnum):
    """How a server is spoken to; implicit means TLS from the first byte."""

    FTP = "ftp"
    FTPS = "ftps"
    FTPS_IMPLICIT = "ftps-implicit"
    SFTP = "sftp"


_PORTS: Mapping[FtpProtocol, int] = {
    FtpProtocol.FTP: 21,
    FtpProtocol.FTPS: 21,
    FtpProtocol.FTPS_IMPLICIT: 990,
    FtpProtocol.SFTP: 22,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FtpProfile:
    """One server and a place on it.

    `pin` is the fingerprint of the host key (SFTP) or certificate (FTPS) it showed first; empty before that. `key_file`
    is a private key for SFTP, whose passphrase is then `password`. `remote_path` is empty for where the login leads.
    """

    id: str
    alias: str
    host: str
    port: int
    username: str
    protocol: FtpProtocol
    password: str = field(default="", repr=False)
    remote_path: str = ""
    key_file: str = ""
    enabled: bool = True
    pin: str = ""
    saved_ms: int = 0

    @property
    def place(self) -> tuple[str, int, str, FtpProtocol]:
        """Who the password and the pin belong to."""
        return self.host.casefold(), self.port, self.username, self.protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class FtpProfileDraft:
    """What a person enters. Port 0 means the protocol's own; a password of None keeps the one there is."""

    alias: str
    host: str
    username: str
    protocol: FtpProtocol = FtpProtocol.SFTP
    port: int = 0
    password: str | None = field(default=None, repr=False)
    remote_path: str = ""
    key_file: str = ""
    enabled: bool = True


class FtpProfiles:
    """The profiles of one data directory, read from disk on every call. Thread-safe."""

    def __init__(
        self,
        directory: DataDirectory,
        quarantine: Quarantine,
        clock: Clock,
        ids: IdSource,
        vault: Vault | None = None,
    ) -> None:
        self._document = SecretDocument(FTP_PROFILES, directory, quarantine, vault or Vault(directory, quarantine))
        self._clock = clock
        self._ids = ids

    def list(self) -> Sequence[FtpProfile]:
        """All of them in the order they were added. Raises StorageError when the file cannot be read.

        A password that does not open now is empty.
        """
        return self._list(GRACE_S)

    def has_any(self) -> bool:
        """Whether there is one; no password is opened for it."""
        return any(_parse(as_object(entry)) for entry in as_list(self._document.peek().get("profiles")))

    def _list(self, wait_s: float) -> Sequence[FtpProfile]:
        try:
            entries = as_list(self._document.read(wait_s).get("profiles"))
        except (NotFoundError, BrokenDocumentError):
            return []
        found = [profile for entry in entries if (profile := _parse(as_object(entry))) is not None]
        return [replace(profile, password=usable(profile.password)) for profile in found]

    def find(self, name: str) -> FtpProfile:
        """The profile of this id or alias; the alias in any case. Raises NotFoundError."""
        profiles = self._list(PATIENCE_S)
        for profile in profiles:
            if name == profile.id or name.casefold() == profile.alias.casefold():
                return profile
        known = ", ".join(profile.alias for profile in profiles)
        raise NotFoundError(
            f"There is no FTP profile {name!r}",
            hint=f"There are: {known}" if known else "Add one with `skales ftp add`",
        )

    def save(self, draft: FtpProfileDraft) -> FtpProfile:
        """Add a profile, or replace the one of the same alias. Raises InputError.

        A password and a pin stay with the place they are for: another host, port, user or protocol needs its own.
        """
        checked = _checked(draft)
        saved: list[FtpProfile] = []

        def change(raw: dict[str, JsonValue]) -> None:
            entries = list(_entries(raw))
            at, old = _look_up(entries, checked.alias)
            profile = self._profile(checked, old)
            entry = {**(as_object(entries[at]) if old else {}), **_entry(profile)}
            entries[at : at + 1] = [entry]
            raw["profiles"] = entries
            saved[:] = [profile]

        self._document.update(change)
        return saved[0]

    def remove(self, name: str) -> FtpProfile:
        """Forget a profile with its password. Raises NotFoundError."""
        profile = self.find(name)

        def change(raw: dict[str, JsonValue]) -> None:
            raw["profiles"] = [entry for entry in _entries(raw) if as_object(entry).get("id") != profile.id]

        self._document.update(change)
        return profile

    def pin(self, profile_id: str, fingerprint: str) -> None:
        """Keep the key a server showed; an empty text forgets it. Raises NotFoundError."""

        def change(raw: dict[str, JsonValue]) -> None:
            entries = list(_entries(raw))
            for at, entry in enumerate(entries):
                if as_object(entry).get("id") == profile_id:
                    entries[at] = {**as_object(entry), "hostKey": fingerprint}
                    raw["profiles"] = entries
                    return
            raise NotFoundError(f"There is no FTP profile {profile_id!r}")

        self._document.update(change)

    def _profile(self, draft: FtpProfileDraft, old: FtpProfile | None) -> FtpProfile:
        profile = FtpProfile(
            id=old.id if old else f"ftp_{self._ids.token(12)}",
            alias=draft.alias,
            host=draft.host,
            port=draft.port or _PORTS[draft.protocol],
            username=draft.username,
            protocol=draft.protocol,
            password=draft.password or "",
            remote_path=draft.remote_path,
            key_file=draft.key_file,
            enabled=draft.enabled,
            saved_ms=self._clock.now_ms(),
        )
        if old is None or old.place != profile.place:
            return profile
        kept = old.password if draft.password is None else draft.password
        return replace(profile, password=kept, pin=old.pin)


def profile_json(profile: FtpProfile) -> JsonObject:
    """A profile for showing: whether there is a password, never the password."""
    shown = {name: value for name, value in _entry(profile).items() if name != "password"}
    return {**shown, "protocol": profile.protocol.value, "hasPassword": bool(profile.password)}


def _checked(draft: FtpProfileDraft) -> FtpProfileDraft:
    """The draft without blanks around its words. Raises InputError, which never repeats a password."""
    alias, host = draft.alias.strip(), draft.host.strip().strip("[]")
    if not _ALIAS.fullmatch(alias):
        raise InputError(
            f"{alias[:80]!r} is not a name for a profile", hint="Use letters, digits, blanks, dots and dashes"
        )
    if not _HOST.fullmatch(host):
        raise InputError(f"{host[:80]!r} is not a host", hint="Write a name or an IP address, without ftp://")
    if not 0 <= draft.port < 65_536:
        raise InputError(f"{draft.port} is not a port", hint="Use a number from 1 to 65535")
    if _MASK in (draft.password or ""):
        raise InputError("This is the masked form of a password", hint="Enter the password itself", code="masked_key")
    texts = (draft.username, draft.password or "", draft.remote_path, draft.key_file)
    if any(_CONTROL.search(text) for text in texts):
        raise InputError("User name, password and path are one line each", hint="Enter them again")
    if not draft.username.strip():
        raise InputError("A profile needs a user name", hint="Use anonymous where the server takes everyone")
    return replace(
        draft, alias=alias, host=host, username=draft.username.strip(), remote_path=draft.remote_path.strip()
    )


def _look_up(entries: Sequence[JsonValue], alias: str) -> tuple[int, FtpProfile | None]:
    """Where the profile of an alias stands; behind the last when there is none."""
    for at, entry in enumerate(entries):
        profile = _parse(as_object(entry))
        if profile is not None and profile.alias.casefold() == alias.casefold():
            return at, profile
    return len(entries), None


def _entries(raw: JsonObject) -> Sequence[JsonValue]:
    entries = raw.get("profiles", [])
    if not isinstance(entries, list):
        raise ConflictError("'profiles' in ftp-profiles.json is not a list", hint="Correct or remove it in the file")
    return entries


def _parse(entry: JsonObject) -> FtpProfile | None:
    """One profile; None for what names no server."""
    profile_id, host = as_text(entry.get("id")), as_text(entry.get("host"))
    protocol = _protocol(entry)
    if not profile_id or not host or protocol is None:
        return None
    port = as_int(entry.get("port"))
    return FtpProfile(
        id=profile_id,
        alias=as_text(entry.get("alias")) or profile_id,
        host=host,
        port=port if 0 < port < 65_536 else _PORTS[protocol],
        username=as_text(entry.get("username")),
        protocol=protocol,
        password=as_text(entry.get("password")),
        remote_path=as_text(entry.get("remotePath")),
        key_file=as_text(entry.get("keyFile")),
        enabled=entry.get("enabled", True) is not False,
        pin=as_text(entry.get("hostKey")),
        saved_ms=moment_ms(entry.get("savedAt")),
    )


def _protocol(entry: JsonObject) -> FtpProtocol | None:
    """Other programs know three protocols; the fourth is FTPS with a mark."""
    word = as_text(entry.get("protocol")) or FtpProtocol.FTP
    if word == FtpProtocol.FTPS and entry.get("implicit") is True:
        return FtpProtocol.FTPS_IMPLICIT
    return FtpProtocol(word) if word in list(FtpProtocol) else None


def _entry(profile: FtpProfile) -> dict[str, JsonValue]:
    implicit = profile.protocol is FtpProtocol.FTPS_IMPLICIT
    return {
        "id": profile.id,
        "alias": profile.alias,
        "host": profile.host,
        "port": profile.port,
        "username": profile.username,
        "password": profile.password,
        "protocol": FtpProtocol.FTPS.value if implicit else profile.protocol.value,
        "implicit": implicit,
        "remotePath": profile.remote_path,
        "keyFile": profile.key_file,
        "enabled": profile.enabled,
        "hostKey": profile.pin,
        "savedAt": profile.saved_ms,
    }
