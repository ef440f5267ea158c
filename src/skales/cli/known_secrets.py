"""The vault of a data directory for commands that work on its files without the app."""

from skales.core.clock import SystemClock
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.vault import Vault


def open_vault(directory: DataDirectory) -> Vault:
    """Its vault; nothing is read yet."""
    return Vault(directory, Quarantine(directory.quarantine, SystemClock()))
