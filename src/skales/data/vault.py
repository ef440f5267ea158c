"""Seals secrets where they stand: `enc:v1:<base64>` in place of the text, opened for a request and for nothing else.

AES-256-GCM; what is bound to a sealed value is its place, so that it opens nowhere else. The base64 holds the key's id
(8 bytes), the nonce (12), the sealed text and its tag (16). Spec: security.md, "Secrets".
"""

import secrets
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

from skales.core.errors import SkalesError
from skales.data.key_store import GRACE_S, PATIENCE_S, KeyStore, StorePlace, find_key_store
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.secret_places import KnownValues
from skales.data.vault_key import KeyPlace, KeyTroubleError, MasterKeys, Trouble
from skales.data.vault_text import ID_BYTES, NONCE_BYTES, DamagedSecretError, is_sealed, pack, unpack

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM


class VaultStatus(Struct, frozen=True):
    """How secrets are kept. `store` is the key store's name where it is known; `trouble` is what is wrong with it."""

    place: KeyPlace
    store: str
    trouble: Trouble | None


class Vault:
    """Seals and opens. Thread-safe; opening it reads nothing, and neither does a value that is not sealed."""

    def __init__(
        self,
        directory: DataDirectory,
        quarantine: Quarantine,
        find_store: Callable[[], KeyStore | None] = find_key_store,
        place: StorePlace | None = None,
    ) -> None:
        self.keys = MasterKeys(directory, quarantine, find_store, place)
        self._values = KnownValues(directory, quarantine)

    @property
    def changed(self) -> int:
        """Counts up when what could not be opened may open now."""
        return self.keys.changed

    @contextmanager
    def writing(self) -> Generator[None]:
        """Hold this from sealing until the sealed value is on the disk: no key goes away meanwhile."""
        try:
            with self.keys.holding():
                yield
        finally:
            self._values.look_again()

    def seal(self, text: str, place: str) -> str:
        """The text, sealed for one place, such as `settings.json:providers/openai/apiKey`.

        Empty and sealed texts stay. Raises KeyTroubleError when no key is at hand, StorageError.
        """
        if not text or is_sealed(text):
            return text
        with self.keys.holding():
            key = self.keys.current()
        nonce = secrets.token_bytes(NONCE_BYTES)
        sealed = _cipher(key.secret).encrypt(nonce, text.encode("utf-8", "surrogatepass"), place.encode())
        return pack(key.id, nonce, sealed)

    def open(self, text: str, place: str, wait_s: float = GRACE_S) -> str:
        """What was sealed; a text that is not sealed is itself.

        Raises KeyTroubleError when the key is not at hand, DamagedSecretError.
        """
        if not is_sealed(text):
            return text
        data = unpack(text)
        key = self.keys.find(data[:ID_BYTES].hex(), wait_s)
        nonce, sealed = data[ID_BYTES : ID_BYTES + NONCE_BYTES], data[ID_BYTES + NONCE_BYTES :]
        from cryptography.exceptions import InvalidTag

        try:
            return _cipher(key.secret).decrypt(nonce, sealed, place.encode()).decode("utf-8", "surrogatepass")
        except (InvalidTag, UnicodeDecodeError) as error:
            raise DamagedSecretError from error

    def open_or_keep(self, text: str, place: str, wait_s: float = GRACE_S) -> tuple[str, SkalesError | None]:
        """What was sealed, or the sealed text itself and why it does not open."""
        try:
            return self.open(text, place, wait_s), None
        except (KeyTroubleError, DamagedSecretError) as error:
            return text, error

    def status(self, wait_s: float = GRACE_S) -> VaultStatus:
        """How secrets are kept, and what is wrong with the key store where the key is in it."""
        place = self.keys.place()
        trouble: Trouble | None = None
        match place:
            case KeyPlace.STORE:
                try:
                    self.keys.find(self.keys.chosen_id(), wait_s)
                except KeyTroubleError as error:
                    trouble = error.trouble
            case KeyPlace.NONE:
                trouble = self.keys.probe_store(wait_s)
            case KeyPlace.FILE:
                pass
        return VaultStatus(place, self.keys.store_label(), trouble)

    def settle(self, wait_s: float = PATIENCE_S) -> None:
        """Wait until the key that seals now is at hand or known to be missing; at most `wait_s`, in a thread."""
        if self.keys.place() is KeyPlace.STORE:
            self.status(wait_s)

    def retry(self) -> None:
        """Ask the key store again."""
        self.keys.retry()

    def known_values(self) -> frozenset[str]:
        """Every secret of the data directory that can be opened now, to keep it out of texts.

        Read anew only when a file changed; the same object until then. What is not at hand is not waited for.
        Raises StorageError.
        """
        return self._values.known(self, self.changed)


def _cipher(key: bytes) -> "AESGCM":
    """Its library takes 40 ms to load, so it is loaded with the first sealed value."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(key)
