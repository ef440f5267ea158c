"""The nine situations of a key store (STO-02), with stores that behave as they say."""

import json
import logging
import stat
import threading
import time

import pytest

from skales.core.errors import InputError
from skales.core.json import JsonObject
from skales.data.document import write_object
from skales.data.key_store import KeyStore
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.settings import SettingsStore
from skales.data.vault import Vault
from skales.data.vault_key import KeyPlace, KeyTroubleError, Trouble
from skales.data.vault_text import is_sealed
from tests.conftest import CASES, FixedClock
from tests.data.key_stores import FailingStore, GoodStore, WaitingStore, open_vault

CASE = json.loads((CASES / "storage" / "STO-02-key-store.json").read_text(encoding="utf-8"))
SITUATIONS = {row["n"]: row for row in CASE["situations"]}
KEY = "sk-demo-0123456789-abcdefghij"


def open_settings(home: DataDirectory, vault: Vault) -> SettingsStore:
    return SettingsStore(home, Quarantine(home.quarantine, FixedClock()), vault)


def stored_key(home: DataDirectory) -> str:
    return str(json.loads(home.settings.read_text(encoding="utf-8"))["providers"]["openai"]["apiKey"])


def save_key(home: DataDirectory, store: KeyStore | None, key: str = KEY) -> None:
    open_settings(home, open_vault(home, store)).set_provider("openai", api_key=key)


def files_that_hold(home: DataDirectory, text: str) -> list[str]:
    return [str(path) for path in home.root.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def test_every_situation_has_its_tests() -> None:
    assert sorted(SITUATIONS) == list(range(1, 10))


@pytest.mark.parametrize("store", [None, FailingStore()], ids=["1-none", "2-raises"])
def test_without_a_key_store_a_private_key_file_is_made_and_told_of_once(
    home: DataDirectory, store: KeyStore | None, caplog: pytest.LogCaptureFixture
) -> None:
    vault = open_vault(home, store)
    told: list[str] = []
    vault.keys.file_made = lambda: told.append("file")
    settings = open_settings(home, vault)
    with caplog.at_level(logging.DEBUG):
        settings.set_provider("openai", api_key=KEY)
        settings.set_provider("anthropic", api_key=KEY)
    assert stat.S_IMODE(home.encryption_key.stat().st_mode) == 0o600
    assert told == ["file"]
    assert "Traceback" not in caplog.text
    assert vault.status().place is KeyPlace.FILE
    assert is_sealed(stored_key(home))
    assert open_settings(home, open_vault(home, store)).load().provider("openai").api_key == KEY
    assert files_that_hold(home, KEY) == []


def test_3_a_key_store_that_waits_for_a_prompt_holds_nobody_up(home: DataDirectory) -> None:
    kept = GoodStore()
    save_key(home, kept)
    sealed = stored_key(home)
    waiting = WaitingStore()
    waiting.kept = kept.kept
    vault = open_vault(home, waiting)
    settings = open_settings(home, vault)
    started_s = time.monotonic()
    assert settings.load().provider("openai").api_key == ""
    assert vault.status().trouble is Trouble.LOCKED
    for _ in range(50):
        settings.load()
        settings.update(lambda raw: raw.update(theme="dark"))
    assert time.monotonic() - started_s < 3
    assert stored_key(home) == sealed
    with pytest.raises(KeyTroubleError, match="does not answer"):
        settings.set_provider("openai", api_key="sk-another-0123456789-abcdef")
    assert stored_key(home) == sealed
    # The person answers the prompt: nobody has to start anything anew.
    waiting.prompt.set()
    for thread in threading.enumerate():
        if thread.name == "key-store":
            thread.join()
    assert settings.load().provider("openai").api_key == KEY
    assert vault.status().trouble is None


def test_3_with_no_key_yet_a_waiting_store_leaves_plain_keys_alone_and_seals_none(home: DataDirectory) -> None:
    write_object(home.settings, {"providers": {"openai": {"apiKey": KEY}}})
    waiting = WaitingStore()
    vault = open_vault(home, waiting)
    settings = open_settings(home, vault)
    assert settings.load().provider("openai").api_key == KEY
    assert vault.status().trouble is Trouble.LOCKED
    settings.update(lambda raw: raw.update(theme="dark"))
    assert settings.load().provider("openai").api_key == KEY
    waiting.prompt.set()
    vault.retry()
    settings.update(lambda raw: raw.update(theme="light"))
    assert is_sealed(stored_key(home))
    assert not home.encryption_key.exists()


@pytest.mark.parametrize("later", [None, GoodStore(), FailingStore()], ids=["gone", "another", "fails"])
def test_4_a_key_that_is_gone_keeps_the_sealed_value_through_other_changes(
    home: DataDirectory, later: KeyStore | None
) -> None:
    save_key(home, GoodStore())
    sealed = stored_key(home)
    vault = open_vault(home, later)
    settings = open_settings(home, vault)
    assert settings.load().provider("openai").api_key == ""
    assert [fault.name for fault in settings.faults()] == ["providers.openai.apiKey"]
    settings.update(lambda raw: raw.update(theme="dark"))
    settings.set_provider("openai", model="gpt-5.5")
    assert stored_key(home) == sealed
    assert vault.status().trouble in (Trouble.GONE, Trouble.FAILED)


@pytest.mark.parametrize("later", [None, GoodStore()], ids=["gone", "another"])
def test_4_a_key_that_is_entered_anew_counts_and_the_others_wait_for_theirs(
    home: DataDirectory, later: GoodStore | None
) -> None:
    first = GoodStore()
    save_key(home, first)
    open_settings(home, open_vault(home, first)).set_provider("mistral", api_key=KEY)
    settings = open_settings(home, open_vault(home, later))
    settings.set_provider("openai", api_key=f"{KEY}2")
    assert [settings.load().provider(name).api_key for name in ("openai", "mistral")] == [f"{KEY}2", ""]
    back = GoodStore()
    back.kept = {**first.kept, **(later.kept if later else {})}
    there = open_settings(home, open_vault(home, back)).load()
    assert [there.provider(name).api_key for name in ("openai", "mistral")] == [f"{KEY}2", KEY]


@pytest.mark.parametrize("number", [4, 6])
def test_a_value_that_no_key_opens_is_kept_and_not_used(home: DataDirectory, number: int) -> None:
    raw: JsonObject = SITUATIONS[number]["settings"]
    write_object(home.settings, raw)
    before = stored_key(home)
    settings = open_settings(home, open_vault(home, GoodStore()))
    assert settings.load().provider("openai").api_key == ""
    settings.update(lambda changed: changed.update(theme="dark"))
    settings.set_provider("anthropic", api_key=KEY)
    assert stored_key(home) == before


def test_5_a_plain_key_is_used_at_once_and_sealed_with_the_next_change(home: DataDirectory) -> None:
    raw: JsonObject = SITUATIONS[5]["settings"]
    write_object(home.settings, raw)
    plain = stored_key(home)
    store = GoodStore()
    settings = open_settings(home, open_vault(home, store))
    assert settings.load().provider("openai").api_key == plain
    assert store.asked == 0
    settings.update(lambda changed: changed.update(theme="dark"))
    assert is_sealed(stored_key(home))
    assert settings.load().provider("openai").api_key == plain
    assert files_that_hold(home, plain) == []
    assert not home.encryption_key.exists()


def test_7_a_key_file_that_others_can_read_is_closed(home: DataDirectory) -> None:
    save_key(home, None)
    home.encryption_key.chmod(0o644)
    settings = open_settings(home, open_vault(home, GoodStore()))
    assert settings.load().provider("openai").api_key == KEY
    assert stat.S_IMODE(home.encryption_key.stat().st_mode) == 0o600


def test_7_a_key_file_of_something_else_is_left_alone_and_reported(home: DataDirectory) -> None:
    home.encryption_key.write_bytes(b"somebody else's\n")
    home.encryption_key.chmod(0o644)
    quarantine = Quarantine(home.quarantine, FixedClock())
    vault = Vault(home, quarantine, lambda: None)
    with pytest.raises(Exception, match="holds no key"):
        open_settings(home, vault).set_provider("openai", api_key=KEY)
    assert home.encryption_key.read_bytes() == b"somebody else's\n"
    assert stat.S_IMODE(home.encryption_key.stat().st_mode) == 0o600
    assert [notice.path for notice in quarantine.notices()] == [home.encryption_key]


@pytest.mark.parametrize("has_store", [True, False])
def test_8_first_starts_at_the_same_moment_make_one_key(home: DataDirectory, has_store: bool) -> None:
    store = GoodStore() if has_store else None
    ready = threading.Barrier(4)

    def start(number: int) -> None:
        ready.wait()
        open_settings(home, open_vault(home, store)).set_provider(f"p{number}", api_key=f"{KEY}{number}")

    starts = [threading.Thread(target=start, args=(number,)) for number in range(4)]
    for one in starts:
        one.start()
    for one in starts:
        one.join()
    after = open_settings(home, open_vault(home, store)).load()
    assert [after.provider(f"p{number}").api_key for number in range(4)] == [f"{KEY}{number}" for number in range(4)]
    keys = open_vault(home, store).keys.file_keys()
    assert len(store.kept if store else keys) == 1


@pytest.mark.parametrize("mask", ["••••••••", "sk-•••ghij", "***"])
def test_9_a_mask_never_takes_a_keys_place(home: DataDirectory, mask: str) -> None:
    store = GoodStore()
    settings = open_settings(home, open_vault(home, store))
    settings.set_provider("openai", api_key=KEY)
    settings.update(lambda raw: raw.update(cameras={"door": {"address": "http://10.0.0.9/", "password": "letmein1"}}))
    sealed = stored_key(home)
    with pytest.raises(InputError, match="masked form"):
        settings.set_provider("openai", api_key=mask)
    with pytest.raises(InputError, match="masked form"):
        settings.set_value("cameras.door.password", mask)
    assert stored_key(home) == sealed
    assert settings.load().cameras["door"].password == "letmein1"
