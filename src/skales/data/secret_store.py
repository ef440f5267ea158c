"""secrets.json: secrets that a person named, sealed, for tools to use without a model seeing them.

A secret may be bound to hosts and tools; judging a call by that is not its business. Spec: security.md, "Secrets".
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from skales.core.clock import Clock
from skales.core.errors import BrokenDocumentError, ConflictError, InputError, NotFoundError
from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text
from skales.data.document import read_object
from skales.data.key_store import PATIENCE_S
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import moment_ms, texts_of
from skales.data.secret_places import SECRETS, SecretDocument
from skales.data.vault import Vault
from skales.data.vault_text import is_mask, is_sealed

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_HOST = re.compile(r"(?:\*\.)?[a-z0-9_]+(?:[.-]+[a-z0-9_]+)*|\[?[0-9a-f:.]+\]?")
_TOOL = re.compile(r"[a-z][a-z0-9_]{0,63}")
_LEAST, _MOST = 6, 65_536
_MOST_SECRETS = 500


class NamedSecret(Struct, frozen=True, kw_only=True):
    """A secret without its value. Empty `hosts` and `tools` bind it to none in particular."""

    name: str
    hosts: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    saved_ms: int = 0


class SecretStore:
    """The named secrets of one data directory, read from disk on every call. Thread-safe."""

    def __init__(self, directory: DataDirectory, quarantine: Quarantine, clock: Clock, vault: Vault) -> None:
        self._document = SecretDocument(SECRETS, directory, quarantine, vault)
        self._quarantine = quarantine
        self._clock = clock

    def list(self) -> Sequence[NamedSecret]:
        """All of them by name; nothing is opened for it. Raises StorageError when the file cannot be read."""
        try:
            raw = read_object(self._document.path, self._quarantine)
        except (NotFoundError, BrokenDocumentError):
            return []
        found = [secret for entry in as_list(raw.get("secrets")) if (secret := _parse(as_object(entry))) is not None]
        return sorted(found, key=lambda secret: secret.name)

    def find(self, name: str) -> NamedSecret:
        """The secret of a name in any case. Raises NotFoundError that lists what there is."""
        known = self.list()
        for secret in known:
            if secret.name == name.strip().lower():
                return secret
        names = ", ".join(secret.name for secret in known)
        raise NotFoundError(
            f"There is no secret {name[:64]!r}",
            hint=f"There are: {names}" if names else "`skales vault set NAME` keeps one",
        )

    def value(self, name: str) -> str:
        """What is kept under a name. Raises NotFoundError, and ConflictError when it does not open."""
        found = self.find(name)
        for entry in as_list(self._document.read(PATIENCE_S).get("secrets")):
            row = as_object(entry)
            text = as_text(row.get("value"))
            if as_text(row.get("name")) == found.name and text and not is_sealed(text):
                return text
        raise ConflictError(
            f"The secret {found.name!r} does not open now", hint="`skales vault status` says why", code="secret_sealed"
        )

    def save(
        self, name: str, value: str, *, hosts: Sequence[str] | None = None, tools: Sequence[str] | None = None
    ) -> NamedSecret:
        """Keep a secret, or another value for one; without hosts or tools those it has stay.

        Raises InputError, which never repeats the value.
        """
        checked = check_name(name)
        kept = check_value(value)
        bound: dict[str, JsonValue] = {}
        if hosts is not None:
            bound["hosts"] = [*check_hosts(hosts)]
        if tools is not None:
            bound["tools"] = [*check_tools(tools)]

        def change(raw: dict[str, JsonValue]) -> None:
            entries = [*_entries(raw)]
            at = next((at for at, entry in enumerate(entries) if as_object(entry).get("name") == checked), len(entries))
            old = as_object(entries[at]) if at < len(entries) else {}
            _require_room(entries, at, checked)
            entry = {**old, "name": checked, "value": kept, **bound, "savedAt": self._clock.now_ms()}
            entries[at : at + 1] = [entry]
            raw["secrets"] = entries

        self._document.update(change)
        return self.find(checked)

    def delete(self, name: str) -> NamedSecret:
        """Forget a secret. Raises NotFoundError."""
        secret = self.find(name)

        def change(raw: dict[str, JsonValue]) -> None:
            raw["secrets"] = [entry for entry in _entries(raw) if as_object(entry).get("name") != secret.name]

        self._document.update(change)
        return secret


def environment_name(name: str) -> str:
    """What a command finds a secret under."""
    return f"SKALES_SECRET_{name.upper().replace('-', '_')}"


def check_name(name: str) -> str:
    """A name in its one spelling. Raises InputError."""
    bare = name.strip().lower()
    if not _NAME.fullmatch(bare):
        raise InputError(
            f"{name[:64]!r} cannot name a secret", hint="Use letters, digits, - and _, such as github or shop-ftp"
        )
    return bare


def check_value(value: str) -> str:
    """A secret without line ends around it. Raises InputError, which never repeats it."""
    bare = value.strip("\r\n")
    if is_mask(bare):
        raise InputError(
            "This is the masked form of a secret, not the secret itself",
            hint="Enter the whole secret",
            code="masked_key",
        )
    if is_sealed(bare) or "\0" in bare or not _LEAST <= len(bare) <= _MOST:
        raise InputError(
            f"A secret has {_LEAST} to {_MOST} characters", hint="Shorter ones cannot be kept out of texts"
        )
    return bare


def check_hosts(hosts: Sequence[str]) -> tuple[str, ...]:
    """Hosts that a secret may go to; `*.example.org` is every one below. Raises InputError."""
    bare = tuple(dict.fromkeys(host.strip().lower().rstrip(".") for host in hosts if host.strip()))
    if wrong := next((host for host in bare if not _HOST.fullmatch(host)), ""):
        raise InputError(f"{wrong[:80]!r} is not a host", hint="Write it like api.example.org or *.example.org")
    return bare


def check_tools(tools: Sequence[str]) -> tuple[str, ...]:
    """Names of tools that a secret is for. Raises InputError."""
    bare = tuple(dict.fromkeys(tool.strip() for tool in tools if tool.strip()))
    if wrong := next((tool for tool in bare if not _TOOL.fullmatch(tool)), ""):
        raise InputError(f"{wrong[:80]!r} is not the name of a tool", hint="`skales tools` lists them")
    return bare


def _require_room(entries: Sequence[JsonValue], at: int, name: str) -> None:
    if at == len(entries) and at >= _MOST_SECRETS:
        raise ConflictError(f"There are {_MOST_SECRETS} secrets already", hint="Delete one first")
    names = {as_text(as_object(entry).get("name")) for entry in entries} - {name}
    if twin := next((other for other in names if environment_name(other) == environment_name(name)), ""):
        raise ConflictError(f"Commands could not tell {name!r} from {twin!r}", hint="Choose another name")


def _entries(raw: JsonObject) -> Sequence[JsonValue]:
    entries = raw.get("secrets", [])
    if not isinstance(entries, list):
        raise ConflictError("'secrets' in secrets.json is not a list", hint="Correct or remove it in the file")
    return entries


def _parse(entry: JsonObject) -> NamedSecret | None:
    name = as_text(entry.get("name"))
    if not _NAME.fullmatch(name):
        return None
    return NamedSecret(
        name=name,
        hosts=texts_of(entry.get("hosts")),
        tools=texts_of(entry.get("tools")),
        saved_ms=moment_ms(entry.get("savedAt")),
    )
