"""Sealing and opening: bound to a place, found by the key's id, kept out of texts, loaded when it is needed."""

import base64
import json
import subprocess
import sys
import threading

import pytest

from skales.core.errors import SkalesError, StorageError
from skales.data.connectors import AuthKind, Connector, ConnectorAuth, ConnectorStore
from skales.data.document import write_object
from skales.data.ftp_profiles import FtpProfileDraft, FtpProfiles
from skales.data.key_store import StorePlace, is_private, wanted_place
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.secret_places import SECRET_FILES, SETTINGS
from skales.data.setting_names import _SECRET_NAME
from skales.data.setting_shapes import Settings
from skales.data.settings import SettingsStore
from skales.data.sign_ins import SignIns, StoredSignIn
from skales.data.vault import Vault
from skales.data.vault_key import MasterKey
from skales.data.vault_text import DamagedSecretError, is_mask, is_sealed
from tests.conftest import CountingIds, FixedClock
from tests.data.key_stores import GoodStore, open_vault

PLACE = "settings.json:/providers/openai/apiKey"


@pytest.mark.parametrize("text", ["k", "sk-123", "ü\ud800€", "x" * 100_000, "enc:", "line\nline"])
def test_what_is_sealed_opens_at_its_place(home: DataDirectory, text: str) -> None:
    vault = open_vault(home, None)
    sealed = vault.seal(text, PLACE)
    assert is_sealed(sealed)
    assert sealed != vault.seal(text, PLACE)
    assert vault.open(sealed, PLACE) == text
    assert open_vault(home, None).open(sealed, PLACE) == text


def test_what_is_not_sealed_is_itself_and_nothing_is_sealed_twice(home: DataDirectory) -> None:
    vault = open_vault(home, None)
    assert vault.open("plain", PLACE) == "plain"
    assert vault.seal("", PLACE) == ""
    assert not home.encryption_key.exists()
    sealed = vault.seal("plain", PLACE)
    assert vault.seal(sealed, PLACE) == sealed


def test_moved_cut_and_changed_values_do_not_open(home: DataDirectory) -> None:
    vault = open_vault(home, None)
    sealed = vault.seal("the secret", PLACE)
    with pytest.raises(DamagedSecretError):
        vault.open(sealed, "settings.json:/providers/other/apiKey")
    data = bytearray(base64.b64decode(sealed.removeprefix("enc:v1:")))
    for at in range(8, len(data)):
        changed = bytearray(data)
        changed[at] ^= 1
        with pytest.raises(DamagedSecretError):
            vault.open("enc:v1:" + base64.b64encode(changed).decode(), PLACE)
    for text in (sealed[:-8], "enc:v1:", "enc:v1:not base64!", "enc:v2:" + sealed[7:]):
        with pytest.raises(SkalesError):
            vault.open(text, PLACE)


def test_a_value_pasted_under_another_provider_is_not_sent_there(home: DataDirectory) -> None:
    quarantine = Quarantine(home.quarantine, FixedClock())
    settings = SettingsStore(home, quarantine, open_vault(home, None))
    settings.set_provider("openai", api_key="sk-0123456789")
    raw = json.loads(home.settings.read_text(encoding="utf-8"))
    raw["providers"]["custom"] = {"baseUrl": "https://evil.example/v1", **raw["providers"]["openai"]}
    write_object(home.settings, raw)
    assert settings.load().provider("custom").api_key == ""
    assert settings.load().provider("openai").api_key == "sk-0123456789"
    # A slot that the program itself renames takes its key along.
    settings.update(lambda changed: changed["providers"].update(renamed=changed["providers"].pop("openai")))  # type: ignore[union-attr]
    assert settings.load().provider("renamed").api_key == "sk-0123456789"


def test_every_secret_of_the_settings_is_in_the_table() -> None:
    listed = {path[-1] for path in SETTINGS.paths}
    found: set[str] = set()
    pending: list[type] = [Settings]
    while pending:
        for field in pending.pop().model_fields.values():  # type: ignore[attr-defined]
            if field.annotation is str and _SECRET_NAME.search(field.alias or ""):
                found.add(field.alias)
            pending += [kind for kind in _kinds(field.annotation) if hasattr(kind, "model_fields")]
    assert found == listed


def _kinds(annotation: object) -> list[type]:
    inner = [kind for part in getattr(annotation, "__args__", ()) for kind in _kinds(part)]
    return [*inner, annotation] if isinstance(annotation, type) else inner


def test_stores_seal_and_keep_what_they_cannot_open(home: DataDirectory, clock: FixedClock, ids: CountingIds) -> None:
    quarantine = Quarantine(home.quarantine, clock)
    good = GoodStore()

    def stores(vault: Vault) -> tuple[FtpProfiles, ConnectorStore, SignIns]:
        return (
            FtpProfiles(home, quarantine, clock, ids, vault),
            ConnectorStore(home, quarantine, vault),
            SignIns(home, quarantine, vault),
        )

    ftp, connectors, sign_ins = stores(open_vault(home, good))
    ftp.save(FtpProfileDraft(alias="shop", host="h.example", username="ada", password="ftp-password"))
    auth = ConnectorAuth(kind=AuthKind.BEARER, secret="bearer-secret")
    headers = {"X-Api-Key": "header-secret", "Accept": "text/plain"}
    connectors.add(Connector(id="crm", name="crm", base_url="https://crm.example", auth=auth, headers=headers))
    sign_ins.save("openai", StoredSignIn("access-token", "refresh-token", 5))
    files = (home.ftp_profiles, home.connectors, home.sign_ins)
    written = "".join(path.read_text(encoding="utf-8") for path in files)
    assert [word for word in ("ftp-p", "bearer-s", "header-s", "access-t", "refresh-t") if word in written] == []
    assert "text/plain" in written
    assert set(open_vault(home, good).known_values()) == {
        "ftp-password", "bearer-secret", "header-secret", "access-token", "refresh-token",
    }  # fmt: skip

    ftp, connectors, sign_ins = stores(open_vault(home, None))
    assert ftp.find("shop").password == ""
    assert connectors.get("crm").auth.secret == ""
    assert connectors.get("crm").headers == {"Accept": "text/plain"}
    assert sign_ins.load("openai") is None
    ftp.save(FtpProfileDraft(alias="shop", host="h.example", username="ada", password=None, remote_path="/www"))
    ftp.pin(ftp.find("shop").id, "SHA256:x")
    connectors.add(Connector(id="other", name="other", base_url="https://o.example"))
    sign_ins.save("xai", StoredSignIn("another-token"))

    ftp, connectors, sign_ins = stores(open_vault(home, good))
    assert (ftp.find("shop").password, ftp.find("shop").remote_path) == ("ftp-password", "/www")
    assert connectors.get("crm").auth.secret == "bearer-secret"
    assert connectors.get("crm").headers == headers
    assert sign_ins.load("openai") == StoredSignIn("access-token", "refresh-token", 5)


def test_known_values_are_read_again_when_a_file_changed(home: DataDirectory) -> None:
    vault = open_vault(home, None)
    settings = SettingsStore(home, Quarantine(home.quarantine, FixedClock()), vault)
    assert set(vault.known_values()) == set()
    settings.set_provider("openai", api_key="sk-0123456789")
    assert set(vault.known_values()) == {"sk-0123456789"}
    settings.set_provider("openai", api_key="sk-another-one-2")
    assert set(vault.known_values()) == {"sk-another-one-2"}
    assert vault.known_values() is vault.known_values()


def test_a_program_that_seals_nothing_loads_neither_library(home: DataDirectory) -> None:
    code = (
        "import sys\n"
        "from skales.app.wiring import build_app\n"
        "from skales.core.clock import SystemClock\n"
        "from skales.core.ids import RandomIds\n"
        "from skales.data.instance import InstanceLock\n"
        "from skales.data.paths import locate_data_directory\n"
        "directory = locate_data_directory()\n"
        "app = build_app(directory, InstanceLock(directory), SystemClock(), RandomIds())\n"
        "app.settings.load(); app.settings.update(lambda raw: raw.update(theme='dark')); app.vault.settle()\n"
        "print([name for name in ('keyring', 'cryptography') if name in sys.modules])\n"
    )
    write_object(home.settings, {"theme": "light"})
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"SKALES_DATA_DIR": str(home.root), "PATH": ""},
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    assert done.stdout == "[]\n"


def test_another_process_waits_while_one_seals(home: DataDirectory) -> None:
    first, second = open_vault(home, None), open_vault(home, None)
    order: list[str] = []
    with first.writing():

        def seal() -> None:
            second.seal("x", PLACE)
            order.append("second")

        other = threading.Thread(target=seal)
        other.start()
        order.append("first")
    other.join()
    assert order == ["first", "second"]
    assert len(first.keys.file_keys()) == 1


def test_a_key_file_that_is_a_link_is_not_followed(home: DataDirectory) -> None:
    elsewhere = home.workspace / "key"
    elsewhere.write_text(base64.b64encode(b"k" * 32).decode(), encoding="utf-8")
    home.encryption_key.symlink_to(elsewhere)
    with pytest.raises(StorageError, match="not a plain file"):
        open_vault(home, None).seal("x", PLACE)


@pytest.mark.parametrize("data", [b"k" * 32, b"6b" * 32, base64.b64encode(b"k" * 32) + b"\r\n"])
def test_key_files_of_other_spellings_are_read(home: DataDirectory, data: bytes) -> None:
    home.encryption_key.write_bytes(data)
    assert open_vault(home, None).keys.file_keys() == (MasterKey(b"k" * 32),)
    assert "6b6b" not in repr(MasterKey(b"k" * 32))


def _backend(module: str, name: str) -> object:
    return type(name, (), {"__module__": module})()


@pytest.mark.parametrize(
    ("module", "name", "private"),
    [
        ("keyring.backends.SecretService", "Keyring", True),
        ("keyring.backends.macOS", "Keyring", True),
        ("keyring.backends.Windows", "WinVaultKeyring", True),
        ("keyring.backends.kwallet", "DBusKeyring", True),
        ("keyring.backends.fail", "Keyring", False),
        ("keyring.backends.null", "Keyring", False),
        ("keyrings.alt.file", "PlaintextKeyring", False),
        ("keyrings.alt.file", "EncryptedKeyring", False),
        ("keyrings.cryptfile.cryptfile", "CryptFileKeyring", False),
        ("somebody.else", "PlaintextKeyring", False),
    ],
)
def test_a_key_store_is_judged_by_its_class(module: str, name: str, private: bool) -> None:
    assert is_private(_backend(module, name)) is private


def test_the_person_may_want_the_file() -> None:
    assert wanted_place({"SKALES_KEY_STORE": "File"}) is StorePlace.FILE
    assert wanted_place({}) is StorePlace.AUTO
    assert wanted_place({"SKALES_KEY_STORE": "x"}) is StorePlace.AUTO


def test_masks_are_known_and_passwords_with_stars_are_not_masks() -> None:
    assert all(map(is_mask, ("•••", "sk-•••abcd", "***", "sk-proj-***")))
    assert not any(map(is_mask, ("pass*word", "**bold**x", "sk-123", "")))


def test_the_files_of_secrets_are_closed_to_tools(home: DataDirectory) -> None:
    paths = [file.path_of(home) for file in SECRET_FILES]
    assert [
        path for path in (*paths, home.encryption_key, home.vault, home.vault_lock.parent) if path not in home.private
    ] == []
