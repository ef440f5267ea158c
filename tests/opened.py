"""A file of the data directory as its owner reads it: sealed values open."""

from skales.core.clock import SystemClock
from skales.core.json import JsonValue
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.secret_places import SecretDocument, SecretFile
from skales.data.vault import Vault


def read_opened(home: DataDirectory, file: SecretFile) -> JsonValue:
    quarantine = Quarantine(home.quarantine, SystemClock())
    return SecretDocument(file, home, quarantine, Vault(home, quarantine)).read()
