"""A change of the master key: everything opens at every moment, whatever happens in between."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skales.data import document
from skales.data.key_store import KeyStore, StorePlace
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.secret_store import SecretStore
from skales.data.settings import SettingsStore
from skales.data.vault import Vault
from skales.data.vault_key import KeyPlace
from skales.data.vault_rotation import SecretCount, rotate
from tests.conftest import FixedClock
from tests.data.key_stores import GoodStore, WaitingStore, open_vault

KEYS = {f"p{number}": f"sk-0123456789-{number}" for number in range(3)}
ALL = {**KEYS, "crm": "named-secret"}


def fill(home: DataDirectory, vault: Vault) -> None:
    quarantine = Quarantine(home.quarantine, FixedClock())
    settings = SettingsStore(home, quarantine, vault)
    for name, key in KEYS.items():
        settings.set_provider(name, api_key=key)
    SecretStore(home, quarantine, FixedClock(), vault).save("crm", ALL["crm"])


def read_all(home: DataDirectory, vault: Vault) -> dict[str, str]:
    quarantine = Quarantine(home.quarantine, FixedClock())
    settings = SettingsStore(home, quarantine, vault).load()
    named = SecretStore(home, quarantine, FixedClock(), vault).value("crm")
    return {**{name: settings.provider(name).api_key for name in KEYS}, "crm": named}


def turn(home: DataDirectory, store: KeyStore | None, place: StorePlace = StorePlace.AUTO) -> SecretCount:
    return rotate(home, Quarantine(home.quarantine, FixedClock()), open_vault(home, store), place)


def test_everything_is_sealed_anew_and_the_old_key_is_gone(home: DataDirectory) -> None:
    fill(home, open_vault(home, None))
    before = home.settings.read_text(encoding="utf-8"), home.encryption_key.read_bytes()
    assert turn(home, None) == SecretCount(sealed=4, plain=0, closed=0)
    after = home.settings.read_text(encoding="utf-8"), home.encryption_key.read_bytes()
    assert before[0] != after[0]
    assert before[1] != after[1]
    assert len(open_vault(home, None).keys.file_keys()) == 1
    assert read_all(home, open_vault(home, None)) == ALL


def test_a_key_moves_from_the_file_into_the_key_store_and_back(home: DataDirectory) -> None:
    fill(home, open_vault(home, None))
    store = GoodStore()
    turn(home, store)
    assert not home.encryption_key.exists()
    assert len(store.kept) == 1
    assert open_vault(home, store).status().place is KeyPlace.STORE
    assert read_all(home, open_vault(home, store)) == ALL
    turn(home, store, StorePlace.FILE)
    assert store.kept == {}
    assert open_vault(home, store).status().place is KeyPlace.FILE
    assert read_all(home, open_vault(home, None)) == ALL


def test_plain_secrets_are_sealed_with_the_others(home: DataDirectory) -> None:
    document.write_object(home.settings, {"providers": {"openai": {"apiKey": "sk-plain-0123456789"}}, "other": 1})
    assert turn(home, None) == SecretCount(sealed=1, plain=0, closed=0)
    assert "sk-plain" not in home.settings.read_text(encoding="utf-8")
    assert json.loads(home.settings.read_text(encoding="utf-8"))["other"] == 1


def test_a_running_program_goes_on_with_the_new_key(home: DataDirectory) -> None:
    running = open_vault(home, None)
    fill(home, running)
    turn(home, None)
    assert read_all(home, running) == ALL
    settings = SettingsStore(home, Quarantine(home.quarantine, FixedClock()), running)
    settings.set_provider("p9", api_key="sk-later-0123456789")
    fresh = SettingsStore(home, Quarantine(home.quarantine, FixedClock()), open_vault(home, None))
    assert fresh.load().provider("p9").api_key == "sk-later-0123456789"


def test_what_does_not_open_stays_and_its_key_is_kept(home: DataDirectory) -> None:
    store = GoodStore()
    fill(home, open_vault(home, store))
    locked = WaitingStore()
    locked.kept = store.kept
    assert turn(home, locked, StorePlace.FILE) == SecretCount(sealed=4, plain=0, closed=4)
    locked.prompt.set()
    assert len(store.kept) == 1
    assert read_all(home, open_vault(home, store)) == ALL
    turn(home, store)
    assert read_all(home, open_vault(home, store)) == ALL


class _Crashed(BaseException):
    """The program ends here."""


@pytest.mark.parametrize("has_store", [False, True])
@pytest.mark.parametrize("to_file", [False, True])
def test_a_crash_at_any_write_leaves_every_value_openable(
    home: DataDirectory, monkeypatch: pytest.MonkeyPatch, has_store: bool, to_file: bool
) -> None:
    store = GoodStore() if has_store else None
    fill(home, open_vault(home, store))
    real = document._replace
    crashes = 0
    for after_the_rename in (False, True):
        for at in range(8):
            left = at

            def crash(source: Path, target: Path, pause: object) -> None:
                nonlocal left
                left -= 1
                if left < 0 and not after_the_rename:  # noqa: B023 - called within the round
                    raise _Crashed
                real(source, target, pause)  # type: ignore[arg-type]
                if left < 0:
                    raise _Crashed

            monkeypatch.setattr(document, "_replace", crash)
            try:
                turn(home, store, StorePlace.FILE if to_file and at % 2 else StorePlace.AUTO)
            except _Crashed:
                crashes += 1
            monkeypatch.setattr(document, "_replace", real)
            assert read_all(home, open_vault(home, store)) == ALL
    assert crashes >= 6
    assert turn(home, store) == SecretCount(sealed=4, plain=0, closed=0)
    assert read_all(home, open_vault(home, store)) == ALL
    assert len(store.kept if store else open_vault(home, store).keys.file_keys()) == 1


_ROTATE = """
import itertools
from skales.core.clock import SystemClock
from skales.data.key_store import StorePlace
from skales.data.paths import locate_data_directory
from skales.data.quarantine import Quarantine
from skales.data.vault import Vault
from skales.data.vault_rotation import rotate
home = locate_data_directory()
quarantine = Quarantine(home.quarantine, SystemClock())
print("ready", flush=True)
for _ in itertools.count():
    rotate(home, quarantine, Vault(home, quarantine), StorePlace.FILE)
"""


def test_killed_in_the_middle_again_and_again_nothing_is_lost(home: DataDirectory) -> None:
    fill(home, open_vault(home, None))
    for number in range(8):
        with subprocess.Popen(
            [sys.executable, "-c", _ROTATE],
            env={"SKALES_DATA_DIR": str(home.root), "PATH": ""},
            stdout=subprocess.PIPE,
        ) as rotating:
            assert rotating.stdout is not None
            assert rotating.stdout.readline() == b"ready\n"
            time.sleep(0.1 + number * 0.013)
            rotating.send_signal(signal.SIGKILL)
        assert read_all(home, open_vault(home, None)) == ALL
    assert turn(home, None).closed == 0
    assert len(open_vault(home, None).keys.file_keys()) == 1
