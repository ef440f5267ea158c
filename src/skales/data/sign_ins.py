"""Tokens that a sign-in gave, one entry per provider, in a file of their own that no tool may read.

Apart from settings.json, which people share and edit. Spec: providers.md, "Quirks" (openai_oauth).
"""

from dataclasses import dataclass, field

from skales.core.errors import BrokenDocumentError, NotFoundError
from skales.core.json import JsonValue, as_object, as_text
from skales.data.document import read_object
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import moment_ms, update_or_start_over


@dataclass(frozen=True, slots=True)
class StoredSignIn:
    """What lasts of a sign-in; the refresh token may be empty when none was given."""

    access_token: str = field(repr=False)
    refresh_token: str = field(default="", repr=False)
    expires_ms: int = 0


class SignIns:
    """The sign-ins of one data directory. Thread-safe."""

    def __init__(self, directory: DataDirectory, quarantine: Quarantine) -> None:
        self._path = directory.sign_ins
        self._quarantine = quarantine

    def load(self, provider_id: str) -> StoredSignIn | None:
        """What is kept for a provider. Raises StorageError when the file cannot be read."""
        try:
            row = as_object(read_object(self._path, self._quarantine).get(provider_id))
        except (NotFoundError, BrokenDocumentError):
            return None
        token = as_text(row.get("accessToken"))
        if not token:
            return None
        return StoredSignIn(token, as_text(row.get("refreshToken")), moment_ms(row.get("expiresMs")))

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

        update_or_start_over(self._path, self._quarantine, change, missing={})
