"""Changes the master key: a new one seals everything anew, then the old ones go.

At every moment each value opens with the new key or an old one; a change that was cut off is simply done again.
Spec: security.md, "Secrets".
"""

from msgspec import Struct

from skales.core.errors import BrokenDocumentError, NotFoundError
from skales.core.json import JsonValue
from skales.data.document import read_object, update_object
from skales.data.key_store import PATIENCE_S, StorePlace
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.secret_places import SECRET_FILES, SecretFile
from skales.data.vault import Vault
from skales.data.vault_text import is_mask, is_sealed, key_id_of


class SecretCount(Struct, frozen=True):
    """The secrets on the disk: sealed ones, plain ones, and sealed ones that do not open."""

    sealed: int
    plain: int
    closed: int


def count_secrets(directory: DataDirectory, quarantine: Quarantine, vault: Vault) -> SecretCount:
    """Look at every secret there is. Raises StorageError."""
    sealed, plain, closed = 0, 0, 0
    for file in SECRET_FILES:
        for place, text in _secrets_of(directory, quarantine, file).items():
            if is_sealed(text):
                sealed += 1
                closed += vault.open_or_keep(text, place, PATIENCE_S)[1] is not None
            else:
                plain += bool(text) and not is_mask(text)
    return SecretCount(sealed, plain, closed)


def rotate(directory: DataDirectory, quarantine: Quarantine, vault: Vault, place: StorePlace) -> SecretCount:
    """Seal everything with a new key, kept in the key store or in the file; plain secrets too.

    What does not open stays as it is, and so does the key that it needs. Raises KeyTroubleError when the new key cannot
    be kept, StorageError.
    """
    with vault.writing():
        new = vault.keys.make(place)
        for file in SECRET_FILES:
            _seal_anew(directory, quarantine, vault, file)
        needed = {
            key_id_of(text)
            for file in SECRET_FILES
            for text in _secrets_of(directory, quarantine, file).values()
            if is_sealed(text)
        }
        vault.keys.drop_others(frozenset({new.id} | needed))
    return count_secrets(directory, quarantine, vault)


def _seal_anew(directory: DataDirectory, quarantine: Quarantine, vault: Vault, file: SecretFile) -> None:
    path = file.path_of(directory)

    def seal(text: str, place: str) -> str:
        opened, trouble = vault.open_or_keep(text, place, PATIENCE_S)
        return text if trouble is not None or is_mask(opened) else vault.seal(opened, place)

    def change(raw: dict[str, JsonValue]) -> None:
        anew = file.rewrite(raw, path.name, seal)
        raw.clear()
        raw.update(anew)

    try:
        if _secrets_of(directory, quarantine, file):
            update_object(path, quarantine, change, missing=None)
    except (NotFoundError, BrokenDocumentError):
        return


def _secrets_of(directory: DataDirectory, quarantine: Quarantine, file: SecretFile) -> dict[str, str]:
    """Every secret of a file by its place, as it stands there."""
    path = file.path_of(directory)
    found: dict[str, str] = {}

    def note(text: str, place: str) -> str:
        found[place] = text
        return text

    try:
        file.rewrite(read_object(path, quarantine), path.name, note)
    except (NotFoundError, BrokenDocumentError):
        return {}
    return found
