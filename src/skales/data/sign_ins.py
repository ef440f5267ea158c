"""Tokens that a sign-in gave, sealed, one entry per provider, in a file of their own that no tool may read.

Apart from settings.json, which people share and edit. Spec: providers.md, "Quirks" (openai_oauth).
"""

from dataclasses import dataclass, field

from skales.core.errors import BrokenDocumentError, NotFoundError
from skales.core.json import JsonValue, as_object, as_text
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import moment_ms
from skales.data.secret_places import SIGN_INS, SecretDocument
from skales.data.vault import Vault
from skales.data.vault_text import usable


@dataclass(frozen=True, slots=True)
class StoredSignIn:
    """What lasts of a sign-in; the refresh token may be empty when none was given."""

    access_token: str = field(repr=False)
    refresh_token: str = field(default="", repr=False)
    expires_ms: int = 0


class SignIns:
    """The sign-ins of one data directory. Thread-safe."""

    def __init__(self, directory: DataDirectory, quarantine: Quarantine, vault: Vault | None = None) -> None:
        self._document = SecretDocument(SIGN_INS, directory, quarantine, vault or Vault(directory, quarantine))

    def load(self, provider_id: str) -> StoredSignIn | None:
        """What is kept for a provider, as far as it opens. Raises StorageError when the file cannot be read."""
        try:
            row = as_object(self._document.read().get(provider_id))
        except (NotFoundError, BrokenDocumentError):
            return None
        token = usable(as_text(row.get("accessToken")))
        if not token:
            return None
        return StoredSignIn(token, usable(as_text(row.get("refreshToken"))), moment_ms(row.get("expiresMs")))

    def save(self, provider_id: str, sign_in: StoredSignIn | None) -> None:
        """Keep it, or forget what is kept. Raises StorageError."""

        def change(raw: dict[str, JsonValue]) -> None:
            if sign_in is None:
                raw.pop(provider_id, None)
            else:
                raw[provider_id] = {
                    "accessToken": sign_in.access_token,
                    "refreshToken": sign_in.refresh_token,
                    "expiresMs": sign_in.expires_ms,
                }

        self._document.update(change)
