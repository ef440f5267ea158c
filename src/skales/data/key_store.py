"""The computer's own key store (Keychain, Credential Manager, Secret Service): asked in a thread, waited for briefly.

A key store may be missing, raise whatever it likes, or wait for a prompt that nobody sees; callers learn which, and
never hang. What is kept there is `vault_key`'s business. Spec: security.md, "Secrets".
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Generic, Protocol, TypeVar, cast

from msgspec import Struct

_log = logging.getLogger(__name__)

Answer = TypeVar("Answer")

SERVICE = "Skales"
# How long an answer is waited for by whoever cannot go on without it, and by whoever can.
PATIENCE_S = 3.0
GRACE_S = 0.4

# Back ends that keep nothing, keep it readable for everyone, or ask in a terminal.
_REFUSED_MODULES = ("keyring.backends.fail", "keyring.backends.null", "keyrings.alt", "keyrings.cryptfile")
_REFUSED_NAMES = ("plaintext", "uncrypted")


class StorePlace(StrEnum):
    """Where the person wants the master key: `SKALES_KEY_STORE`."""

    AUTO = "auto"
    FILE = "file"


class KeyStore(Protocol):
    """What is needed of a key store. Every method may block, and may raise anything."""

    def get_password(self, service: str, username: str) -> str | None:
        """The text kept under a name."""
        ...

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep a text."""
        ...

    def delete_password(self, service: str, username: str) -> None:
        """Forget it."""
        ...


def wanted_place(environment: Mapping[str, str] = os.environ) -> StorePlace:
    """What `SKALES_KEY_STORE` says; anything but `file` is automatic."""
    return StorePlace.FILE if environment.get("SKALES_KEY_STORE", "").strip().lower() == "file" else StorePlace.AUTO


def find_key_store() -> KeyStore | None:
    """The key store that this computer offers, None when there is none that keeps secrets secret. May block."""
    import keyring  # 60 ms, and it looks for plug-ins: only for the first sealed value
    from keyring.backends.chainer import ChainerBackend

    found = keyring.get_keyring()
    candidates = found.backends if isinstance(found, ChainerBackend) else [found]
    return next((cast("KeyStore", store) for store in candidates if is_private(store)), None)


def is_private(store: object) -> bool:
    """Whether a back end of `keyring` is a real key store, judged by its class."""
    kind = type(store)
    module = kind.__module__
    if any(module == refused or module.startswith(f"{refused}.") for refused in _REFUSED_MODULES):
        return False
    return not any(word in kind.__name__.lower() for word in _REFUSED_NAMES)


def is_locked(error: Exception) -> bool:
    """Whether a key store failed because nobody unlocked it."""
    from keyring.errors import KeyringLocked

    return isinstance(error, KeyringLocked)


def store_label(store: object) -> str:
    """What people call it: `SecretService`, `macOS`, `Windows`."""
    return type(store).__module__.rpartition(".")[2]


class Asking(Struct, Generic[Answer]):
    """One question that a thread asks. `answer` and `error` count once it is done."""

    started_s: float
    done: threading.Event
    answer: Answer | None = None
    error: Exception | None = None

    def wait(self, wait_s: float) -> bool:
        """Whether it is answered, `wait_s` after it was asked at the latest."""
        return self.done.wait(max(0.0, self.started_s + wait_s - time.monotonic()))

    @property
    def age_s(self) -> float:
        """How long ago it was asked."""
        return time.monotonic() - self.started_s


def ask(question: Callable[[], Answer]) -> Asking[Answer]:
    """Ask in a thread that nobody waits for at the program's end."""
    asking: Asking[Answer] = Asking(time.monotonic(), threading.Event())

    def run() -> None:
        try:
            asking.answer = question()
        except Exception as error:  # noqa: BLE001 - a key store raises what it likes
            # The text may name what was asked for; the kind is enough for the log.
            _log.warning("the key store failed: %s", type(error).__name__)
            asking.error = error
        finally:
            asking.done.set()

    threading.Thread(target=run, name="key-store", daemon=True).start()
    return asking
