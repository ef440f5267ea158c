"""The keys that secrets are sealed with: in the computer's key store, else in a private file of the data directory.

A key is known by its id, which every sealed value names. `vault.json` says which key seals now; opening needs no such
record. Sealing itself is `vault`'s business. Spec: security.md, "Secrets".
"""

import base64
import binascii
import contextlib
import hashlib
import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from skales.core.errors import BrokenDocumentError, ConflictError, NotFoundError, StorageError
from skales.core.json import JsonValue, as_text
from skales.data.document import ABSENT, Stamp, read_bytes, read_object, stamp_of, storage_errors, write_bytes
from skales.data.key_store import (
    GRACE_S,
    PATIENCE_S,
    SERVICE,
    Asking,
    KeyStore,
    StorePlace,
    ask,
    find_key_store,
    is_locked,
    store_label,
    wanted_place,
)
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import texts_of, update_or_start_over
from skales.data.system_lock import try_lock, unlock
from skales.data.vault_text import ID_BYTES

KEY_BYTES = 32
_FILE_MODE = 0o600
_FOLDER_MODE = 0o700
_LOCK_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_LOCK_WAIT_S = 10.0
_LOCK_PAUSE_S = 0.02
# A key store that failed is asked again after this long, or when the person says so.
_RETRY_S = 30.0
_HEX = re.compile(rb"[0-9a-fA-F]{64}")


class Trouble(StrEnum):
    """Why a key is not at hand."""

    LOCKED = "locked"  # the key store does not answer
    FAILED = "failed"  # it answers with an error
    GONE = "gone"  # no key store here, or another one: it does not know the key


class KeyTroubleError(ConflictError):
    """A key is not at hand. What it sealed is still there."""

    def __init__(self, trouble: Trouble) -> None:
        message, hint = _TROUBLES[trouble]
        super().__init__(message, hint=hint, code=f"key_{trouble.value}")
        self.trouble = trouble


_TROUBLES: Mapping[Trouble, tuple[str, str]] = {
    Trouble.LOCKED: (
        "The key store of this computer does not answer",
        "Unlock it and try again; `skales vault rotate --to file` keeps the key in a file instead",
    ),
    Trouble.FAILED: (
        "The key store of this computer answers with an error",
        "Try again later; what is sealed stays as it is",
    ),
    Trouble.GONE: (
        "The key that this was sealed with is not on this computer",
        "Go back to the account or computer that sealed it, or enter the secret again",
    ),
}


class KeyPlace(StrEnum):
    """Where the key lies that seals now."""

    NONE = "none"
    STORE = "store"
    FILE = "file"


class MasterKey(Struct, frozen=True):
    """A key. Two keys are never of the same id."""

    secret: bytes

    def __repr__(self) -> str:
        """Its id alone."""
        return f"MasterKey({self.id})"

    @property
    def id(self) -> str:
        """What sealed values and the key store call it."""
        return hashlib.sha256(b"skales key id\0" + self.secret).digest()[:ID_BYTES].hex()


class MasterKeys:
    """The keys of one data directory. Thread-safe, and safe beside other processes.

    `find_store` looks for the computer's key store, in a thread.
    """

    def __init__(
        self,
        directory: DataDirectory,
        quarantine: Quarantine,
        find_store: Callable[[], KeyStore | None] = find_key_store,
        place: StorePlace | None = None,
    ) -> None:
        self._directory = directory
        self._quarantine = quarantine
        self._find_store = find_store
        self._place = wanted_place() if place is None else place
        self._known: dict[str, MasterKey] = {}
        self._file: tuple[Stamp, tuple[MasterKey, ...]] = (ABSENT, ())
        self._asked: dict[str, Asking[MasterKey | None]] = {}
        self._label = ""
        self._guard = threading.RLock()
        self._held = threading.RLock()
        self._depth = 0
        self._descriptor = -1
        self._retries = 0
        # Told when a key file is made, because no key store could be used.
        self.file_made: Callable[[], None] = lambda: None

    @property
    def changed(self) -> int:
        """Counts up when a key may have come to hand that was not before."""
        if not self._asked:
            return self._retries
        with self._guard:
            return self._retries + sum(asking.done.is_set() for asking in self._asked.values())

    @contextlib.contextmanager
    def holding(self) -> Generator[None]:
        """Nobody else, in whatever process, seals or changes keys while the block runs. Raises StorageError."""
        with self._held:
            if self._depth == 0:
                self._descriptor = self._take_lock()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    unlock(self._descriptor)
                    os.close(self._descriptor)

    def find(self, key_id: str, wait_s: float = GRACE_S) -> MasterKey:
        """The key of an id. Raises KeyTroubleError; a key store that is late is waited for no longer than `wait_s`."""
        with self._guard:
            in_file = {key.id: key for key in self.file_keys()}
            found = in_file.get(key_id) or self._known.get(key_id)
            if found is not None:
                return found
            if self._place is StorePlace.FILE and key_id not in self._store_ids():
                raise KeyTroubleError(Trouble.GONE)
            asking = self._asking(key_id)
        if not asking.wait(wait_s):
            raise KeyTroubleError(Trouble.LOCKED)
        if asking.error is not None:
            raise KeyTroubleError(Trouble.LOCKED if is_locked(asking.error) else Trouble.FAILED) from asking.error
        if asking.answer is None:
            raise KeyTroubleError(Trouble.GONE)
        return asking.answer

    def current(self) -> MasterKey:
        """The key that seals now, made when there is none. Call it while holding. Raises KeyTroubleError."""
        in_file = self.file_keys()
        chosen = self.chosen_id()
        if in_file and not chosen:
            return in_file[0]
        if not chosen:
            return self.make(self._place)
        try:
            return self.find(chosen, PATIENCE_S)
        except KeyTroubleError as error:
            if error.trouble is not Trouble.GONE:
                raise
            # What the old key sealed stays, and opens where that key is.
            return self.make(self._place)

    def make(self, place: StorePlace) -> MasterKey:
        """A new key that seals from now on; earlier ones stay. Call it while holding. Raises KeyTroubleError."""
        key = MasterKey(secrets.token_bytes(KEY_BYTES))
        if place is StorePlace.AUTO and self._put_into_store(key):
            self._choose(key.id)
        else:
            self.write_file((key, *self.file_keys()))
            self._choose("")
            self.file_made()
        with self._guard:
            self._known[key.id] = key
        return key

    def drop_others(self, kept: frozenset[str]) -> None:
        """Forget every key that is not one of these. Call it while holding, when nothing needs the others."""
        in_file = self.file_keys()
        left = tuple(key for key in in_file if key.id in kept)
        if left != in_file:
            self.write_file(left)
        for key_id in self._store_ids():
            if key_id not in kept:
                self._forget_in_store(key_id)

    def place(self) -> KeyPlace:
        """Where the key lies that seals now."""
        if self.chosen_id():
            return KeyPlace.STORE
        return KeyPlace.FILE if self.file_keys() else KeyPlace.NONE

    def chosen_id(self) -> str:
        """The id of the key in the key store that seals now; empty when one of the file does, or none."""
        return as_text(self._record().get("key"))

    def store_label(self) -> str:
        """What the key store is called, as far as it was met."""
        return self._label

    def retry(self) -> None:
        """Ask again whatever failed or does not answer."""
        with self._guard:
            self._retries += len(self._asked) + 1
            self._asked = {name: asking for name, asking in self._asked.items() if asking.answer is not None}

    # --- the file ---

    def file_keys(self) -> tuple[MasterKey, ...]:
        """The keys of the file, the one that seals first. A mode that lets others read it is corrected."""
        path = self._directory.encryption_key
        with self._guard, storage_errors(path, "read"):
            stamp = stamp_of(path)
            if stamp == ABSENT:
                return ()
            self._tighten()
            if self._file[0] != stamp:
                data, stamp = read_bytes(path)
                self._file = (stamp, _parse_keys(data))
                if not self._file[1]:
                    self._quarantine.report(path, "it holds no key that is known here")
            return self._file[1]

    def write_file(self, keys: Sequence[MasterKey]) -> None:
        """Put these keys into the file, in one step; no keys are no file."""
        path = self._directory.encryption_key
        if stamp_of(path) != ABSENT and not self.file_keys():
            raise StorageError(
                "'.encryption-key' holds no key that is known here", hint="Move the file away, then try again"
            )
        if keys:
            write_bytes(path, b"".join(base64.b64encode(key.secret) + b"\n" for key in keys))
        else:
            with storage_errors(path, "deleted"):
                path.unlink(missing_ok=True)

    def _tighten(self) -> None:
        path = self._directory.encryption_key
        if os.name != "posix" or not path.lstat().st_mode & 0o077:
            return
        try:
            path.chmod(_FILE_MODE, follow_symlinks=os.chmod not in os.supports_follow_symlinks)
        except OSError:
            self._quarantine.report(path, "others on this computer can read it, and its mode cannot be changed")

    # --- the key store ---

    def probe_store(self, wait_s: float = GRACE_S) -> Trouble | None:
        """What is wrong with the key store; None when it answers. GONE is that there is none."""
        with self._guard:
            asking = self._asking("probe")
        if not asking.wait(wait_s):
            return Trouble.LOCKED
        if asking.error is not None:
            return Trouble.LOCKED if is_locked(asking.error) else Trouble.FAILED
        return None if self._label else Trouble.GONE

    def _asking(self, key_id: str) -> Asking["MasterKey | None"]:
        known = self._asked.get(key_id)
        if known is not None and not (known.done.is_set() and known.answer is None and known.age_s > _RETRY_S):
            return known

        def look_up() -> MasterKey | None:
            store = self._open_store()
            text = None if store is None else store.get_password(SERVICE, key_id)
            key = _parse_key(text.encode()) if text else None
            return key if key is not None and key.id == key_id else None

        if known is not None:
            self._retries += 1
        asking = self._asked[key_id] = ask(look_up)
        return asking

    def _open_store(self) -> KeyStore | None:
        store = self._find_store()
        self._label = "" if store is None else store_label(store)
        return store

    def _put_into_store(self, key: MasterKey) -> bool:
        """Whether the key is safely there. Raises KeyTroubleError(LOCKED) for a store that does not answer."""
        given_up = threading.Event()
        looking = ask(self._open_store)
        if not looking.wait(PATIENCE_S):
            raise KeyTroubleError(Trouble.LOCKED)
        if looking.answer is None:
            return False
        # Noted first: a key that nobody knows of could never be forgotten again.
        self._change(lambda raw: raw.update(storeKeys=[*_ids(raw), key.id]))

        def put() -> bool:
            store = self._open_store()
            if store is None:
                return False
            text = base64.b64encode(key.secret).decode()
            store.set_password(SERVICE, key.id, text)
            if given_up.is_set():
                store.delete_password(SERVICE, key.id)
                return False
            return store.get_password(SERVICE, key.id) == text

        asking = ask(put)
        if not asking.wait(PATIENCE_S):
            given_up.set()
            raise KeyTroubleError(Trouble.LOCKED)
        return asking.error is None and bool(asking.answer)

    def _forget_in_store(self, key_id: str) -> None:
        """A store that refuses keeps a key that opens nothing any more; its id stays noted for the next time."""

        def forget() -> bool:
            store = self._open_store()
            if store is None:
                return False
            if store.get_password(SERVICE, key_id) is not None:
                store.delete_password(SERVICE, key_id)
            return True

        asking = ask(forget)
        if asking.wait(PATIENCE_S) and asking.error is None and asking.answer:
            self._change(lambda raw: raw.update(storeKeys=[one for one in _ids(raw) if one != key_id]))

    # --- the record ---

    def _record(self) -> dict[str, JsonValue]:
        try:
            return read_object(self._directory.vault, self._quarantine)
        except (NotFoundError, BrokenDocumentError):
            return {}

    def _store_ids(self) -> tuple[str, ...]:
        return _ids(self._record())

    def _choose(self, key_id: str) -> None:
        if self.chosen_id() != key_id:
            self._change(lambda raw: raw.update(key=key_id))

    def _change(self, change: Callable[[dict[str, JsonValue]], None]) -> None:
        update_or_start_over(self._directory.vault, self._quarantine, change, missing={})

    def _take_lock(self) -> int:
        path = self._directory.vault_lock
        with storage_errors(path, "opened"):
            path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
            descriptor = os.open(path, _LOCK_FLAGS, _FILE_MODE)
        until_s = time.monotonic() + _LOCK_WAIT_S
        try:
            while not try_lock(descriptor, exclusive=True):
                _require_before(until_s)
                time.sleep(_LOCK_PAUSE_S)
        except OSError as error:
            os.close(descriptor)
            raise StorageError(f"The secrets cannot be locked: {error.strerror}") from error
        except StorageError:
            os.close(descriptor)
            raise
        return descriptor


def _require_before(until_s: float) -> None:
    if time.monotonic() > until_s:
        raise StorageError("Another Skales is busy with the secrets", hint="Try again in a moment")


def _ids(raw: Mapping[str, JsonValue]) -> tuple[str, ...]:
    chosen = as_text(raw.get("key"))
    return tuple(dict.fromkeys([*texts_of(raw.get("storeKeys")), *([chosen] if chosen else [])]))


def _parse_keys(data: bytes) -> tuple[MasterKey, ...]:
    """The keys of a file: a line of base64 or hexadecimal each, or 32 bytes and nothing else."""
    if len(data) == KEY_BYTES:
        return (MasterKey(data),)
    found = (_parse_key(line) for line in data.split())
    return tuple(key for key in found if key is not None)


def _parse_key(text: bytes) -> MasterKey | None:
    if _HEX.fullmatch(text.strip()):
        return MasterKey(bytes.fromhex(text.strip().decode()))
    try:
        secret = base64.b64decode(text.strip(), validate=True)
    except binascii.Error:
        return None
    return MasterKey(secret) if len(secret) == KEY_BYTES else None
