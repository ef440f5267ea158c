"""Key stores that do what the ones of computers do."""

import threading

from skales.data.key_store import KeyStore
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.vault import Vault
from tests.conftest import FixedClock


class GoodStore:
    """Keeps what it is given, and shares it between processes, as far as they are threads here."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.asked = 0

    def get_password(self, service: str, username: str) -> str | None:
        self.asked += 1
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


class FailingStore(GoodStore):
    """Raises on every call, and not even one error of its own."""

    def get_password(self, service: str, username: str) -> str | None:
        raise RuntimeError(f"no agent for {service} {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise RuntimeError(f"no agent for {service} {username}")


class WaitingStore(GoodStore):
    """Waits for a prompt until somebody answers it."""

    def __init__(self) -> None:
        super().__init__()
        self.prompt = threading.Event()

    def get_password(self, service: str, username: str) -> str | None:
        assert self.prompt.wait(60)
        return super().get_password(service, username)

    def set_password(self, service: str, username: str, password: str) -> None:
        assert self.prompt.wait(60)
        super().set_password(service, username, password)


def open_vault(home: DataDirectory, store: KeyStore | None) -> Vault:
    """A vault as a program opens it that has just started."""
    from skales.data.key_store import StorePlace

    return Vault(home, Quarantine(home.quarantine, FixedClock()), lambda: store, StorePlace.AUTO)
