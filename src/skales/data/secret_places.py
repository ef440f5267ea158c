"""Where secrets stand in the files of the data directory, and how such a file is opened, changed and sealed again.

One table for the stores, for the change of keys and for what must be kept out of texts. Spec: security.md, "Secrets".
"""

import copy
import re
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from skales.core.errors import BrokenDocumentError, ConflictError, InputError, NotFoundError, SkalesError, StorageError
from skales.core.json import JsonObject, JsonValue, as_object, as_text
from skales.data.document import Stamp, read_stamped, stamp_of, storage_errors
from skales.data.key_store import GRACE_S
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import KeptObject, update_or_start_over
from skales.data.vault_text import is_mask, is_sealed

# Shorter texts are in every second word; they cannot be kept out of anything.
_LEAST_KNOWN = 6
# Seconds within which the files are not looked at again.
_FRESH_S = 0.2
_SECRET_NAME = re.compile(r"(key|token|secret|password|auth|authorization|cookie|credentials?)$", re.IGNORECASE)

Raw = dict[str, JsonValue]
Change = Callable[[Raw], None]
# A secret's text and its place, to what stands there afterwards.
Rewrite = Callable[[str, str], str]


class Sealer(Protocol):
    """What is needed of the vault."""

    def seal(self, text: str, place: str) -> str:
        """Seal for one place."""
        ...

    def open_or_keep(self, text: str, place: str, wait_s: float) -> tuple[str, SkalesError | None]:
        """Open, or say why not."""
        ...


class SecretFile(Struct, frozen=True):
    """A file and the paths to its secrets.

    `*` is every name of an object, `?` every one that secrets have, `[]` every entry of a list.
    """

    path_of: Callable[[DataDirectory], Path]
    paths: tuple[tuple[str, ...], ...]

    def rewrite(self, raw: Mapping[str, JsonValue], file_name: str, rewrite: Rewrite) -> Raw:
        """A copy with every secret put through `rewrite`."""
        value: JsonValue = dict(raw)
        for path in self.paths:
            value = _rewrite(value, path, f"{file_name}:", rewrite)
        return dict(as_object(value))


SETTINGS = SecretFile(
    lambda directory: directory.settings,
    (
        ("providers", "*", "apiKey"),
        ("searchEngines", "*", "apiKey"),
        ("tavilyApiKey",),
        ("cameras", "*", "password"),
    ),
)
CONNECTORS = SecretFile(
    lambda directory: directory.connectors,
    (("connectors", "[]", "auth", "secret"), ("connectors", "[]", "headers", "?")),
)
FTP_PROFILES = SecretFile(lambda directory: directory.ftp_profiles, (("profiles", "[]", "password"),))
SIGN_INS = SecretFile(lambda directory: directory.sign_ins, (("*", "accessToken"), ("*", "refreshToken")))
SECRETS = SecretFile(lambda directory: directory.secrets, (("secrets", "[]", "value"),))

SECRET_FILES = (SETTINGS, CONNECTORS, FTP_PROFILES, SIGN_INS, SECRETS)


def open_secrets(
    sealer: Sealer, file: SecretFile, path: Path, raw: Mapping[str, JsonValue], wait_s: float = GRACE_S
) -> tuple[Raw, Mapping[str, SkalesError]]:
    """A copy with the secrets open, and by place why some are not: those stay sealed in it."""
    troubles: dict[str, SkalesError] = {}

    def rewrite(text: str, place: str) -> str:
        opened, trouble = sealer.open_or_keep(text, place, wait_s)
        if trouble is not None:
            troubles[place] = trouble
        return opened

    return file.rewrite(raw, path.name, rewrite), troubles


def seal_secrets(sealer: Sealer, file: SecretFile, path: Path, opened: Mapping[str, JsonValue], before: Raw) -> Raw:
    """A copy of a changed object with its secrets sealed. `before` is how the file stands on the disk.

    A secret that nobody changed stays as it was sealed; a plain one that cannot be sealed now stays when it was there
    before. Raises KeyTroubleError for a new one, InputError for a mask in place of a secret.
    """
    stood: dict[str, str] = {}

    def note(text: str, place: str) -> str:
        stood[place] = text
        return text

    file.rewrite(before, path.name, note)

    def rewrite(text: str, place: str) -> str:
        old = stood.get(place, "")
        if not text or (text == old and (is_sealed(text) or is_mask(text))):
            return text
        was, _ = sealer.open_or_keep(old, place, GRACE_S)
        if text == was and is_sealed(old):
            return old
        if is_mask(text):
            raise InputError(
                "This is the masked form of a secret, not the secret itself",
                hint="Enter the whole secret",
                code="masked_key",
            )
        try:
            return sealer.seal(text, place)
        except (ConflictError, StorageError):
            if text == old:
                return text
            raise

    return file.rewrite(opened, path.name, rewrite)


class Vaulted(Sealer, Protocol):
    """What a change of a file needs of the vault."""

    def writing(self) -> AbstractContextManager[None]:
        """Nobody changes keys while the block runs."""
        ...


class SecretDocument:
    """One file with secrets in it, as its store sees it: open. Thread-safe."""

    def __init__(self, file: SecretFile, directory: DataDirectory, quarantine: Quarantine, vault: Vaulted) -> None:
        self.path = file.path_of(directory)
        self._file = file
        self._quarantine = quarantine
        self._vault = vault
        self._kept = KeptObject(self.path, quarantine)

    def read(self, wait_s: float = GRACE_S) -> Raw:
        """The object with its secrets open; one that does not open stays sealed, and a notice says why.

        Raises NotFoundError, BrokenDocumentError, StorageError like `read_object`.
        """
        return self.read_stamped(wait_s)[0]

    def read_stamped(self, wait_s: float = GRACE_S) -> tuple[Raw, Stamp]:
        """As `read`, with the state of the file that was read."""
        raw, stamp = read_stamped(self.path, self._quarantine)
        opened, troubles = open_secrets(self._vault, self._file, self.path, raw, wait_s)
        if troubles:
            place, trouble = next(iter(troubles.items()))
            name = place.partition(":")[2].removeprefix("/").replace("/", ".")
            self._quarantine.report(self.path, f"{name} does not open: {trouble}")
        return opened, stamp

    def peek(self) -> JsonObject:
        """The object as it lies there, its secrets sealed; for what needs none. Looks only when the file changed.

        Empty while there is no usable file. Raises StorageError.
        """
        return self._kept.read()

    def update(self, change: Change) -> None:
        """Let `change` alter the object with its secrets open, and write it with them sealed.

        Raises StorageError, KeyTroubleError when a new secret cannot be sealed, and InputError for a mask.
        """

        def change_sealed(raw: Raw) -> None:
            before = copy.deepcopy(raw)
            opened, _ = open_secrets(self._vault, self._file, self.path, raw)
            change(opened)
            sealed = seal_secrets(self._vault, self._file, self.path, opened, before)
            raw.clear()
            raw.update(sealed)

        with self._vault.writing():
            update_or_start_over(self.path, self._quarantine, change_sealed, missing={})


class KnownValues:
    """Every secret of a data directory that opens now; files are read again when they changed. Thread-safe.

    It is asked for every text. What another program writes counts a moment later, what this one writes at once.
    """

    def __init__(
        self, directory: DataDirectory, quarantine: Quarantine, monotonic_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._files = tuple((file, file.path_of(directory)) for file in SECRET_FILES)
        self._quarantine = quarantine
        self._monotonic_s = monotonic_s
        self._kept: tuple[tuple[object, ...], frozenset[str]] = ((), frozenset())
        self._fresh_until_s = 0.0
        self._lock = threading.Lock()

    def look_again(self) -> None:
        """Something was written."""
        self._fresh_until_s = 0.0

    def known(self, sealer: Sealer, changed: int) -> frozenset[str]:
        """All of them that are long enough to be told from words; the same object as long as they are the same."""
        now_s = self._monotonic_s()
        state, values = self._kept
        if now_s < self._fresh_until_s and state[0] == changed:
            return values
        self._fresh_until_s = now_s + _FRESH_S
        state = (changed, *(_state(path) for _, path in self._files))
        with self._lock:
            if self._kept[0] != state:
                found = frozenset[str]().union(*(self._read(sealer, file, path) for file, path in self._files))
                self._kept = (state, self._kept[1] if found == self._kept[1] else found)
            return self._kept[1]

    def _read(self, sealer: Sealer, file: SecretFile, path: Path) -> Collection[str]:
        try:
            raw, _ = read_stamped(path, self._quarantine)
        except (NotFoundError, BrokenDocumentError):
            return ()
        opened, _ = open_secrets(sealer, file, path, raw)
        found: set[str] = set()

        def note(text: str, _place: str) -> str:
            if len(text) >= _LEAST_KNOWN and not is_sealed(text):
                found.add(text)
            return text

        file.rewrite(opened, path.name, note)
        return found


def _state(path: Path) -> Stamp:
    with storage_errors(path, "read"):
        return stamp_of(path)


def _rewrite(value: JsonValue, path: Sequence[str], place: str, rewrite: Rewrite) -> JsonValue:
    if not path:
        return rewrite(value, place) if isinstance(value, str) else value
    step, rest = path[0], path[1:]
    match value:
        case Mapping() if step != "[]":
            return {
                name: _rewrite(item, rest, _below(place, name), rewrite) if _fits(step, name) else item
                for name, item in value.items()
            }
        case list() | tuple() if step == "[]":
            return [
                _rewrite(item, rest, _below(place, _entry_name(item, at)), rewrite) for at, item in enumerate(value)
            ]
        case _:
            return value


def _fits(step: str, name: str) -> bool:
    return step in ("*", name) or (step == "?" and bool(_SECRET_NAME.search(name)))


def _below(place: str, name: str) -> str:
    return f"{place}/{name.replace('~', '~0').replace('/', '~1')}"


def _entry_name(entry: JsonValue, at: int) -> str:
    """What an entry of a list is called; its number only where it has no name of its own."""
    row = as_object(entry)
    return as_text(row.get("id")) or as_text(row.get("name")) or str(at)
