"""Named secrets on the disk: sealed, bound, and shown by name alone."""

import json
import stat

import pytest

from skales.core.errors import ConflictError, InputError, NotFoundError
from skales.data.document import write_object
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.secret_store import NamedSecret, SecretStore, environment_name
from skales.data.vault import Vault
from skales.data.vault_text import is_sealed
from tests.conftest import FixedClock

VALUE = "-----BEGIN KEY-----\nline ü\n-----END KEY-----"


@pytest.fixture
def store(home: DataDirectory, clock: FixedClock) -> SecretStore:
    quarantine = Quarantine(home.quarantine, clock)
    return SecretStore(home, quarantine, clock, Vault(home, quarantine))


def test_a_secret_is_kept_sealed_and_comes_back(store: SecretStore, home: DataDirectory, clock: FixedClock) -> None:
    saved = store.save(" GitHub ", f"{VALUE}\n", hosts=["API.GitHub.com.", "*.example"], tools=["http_request"])
    assert saved == NamedSecret(
        name="github", hosts=("api.github.com", "*.example"), tools=("http_request",), saved_ms=clock.now_ms()
    )
    assert store.value("GITHUB") == VALUE
    assert store.list() == [saved]
    (entry,) = json.loads(home.secrets.read_text(encoding="utf-8"))["secrets"]
    assert is_sealed(entry["value"])
    assert "line" not in home.secrets.read_text(encoding="utf-8")
    assert stat.S_IMODE(home.secrets.stat().st_mode) == 0o600
    assert home.secrets in home.private
    assert environment_name("shop-ftp") == "SKALES_SECRET_SHOP_FTP"


def test_another_value_keeps_what_the_secret_is_bound_to(store: SecretStore) -> None:
    store.save("crm", "first-value", hosts=["a.example"])
    assert store.save("crm", "second-value").hosts == ("a.example",)
    assert store.value("crm") == "second-value"
    assert store.save("crm", "third-value", hosts=[]).hosts == ()


def test_deleting_one_leaves_the_others_and_what_nobody_knows(store: SecretStore, home: DataDirectory) -> None:
    store.save("one", "value-one")
    store.save("two", "value-two")
    raw = json.loads(home.secrets.read_text(encoding="utf-8"))
    write_object(home.secrets, {**raw, "other": 1, "secrets": [*raw["secrets"], {"odd": True}]})
    store.delete("one")
    with pytest.raises(NotFoundError):
        store.delete("one")
    assert store.value("two") == "value-two"
    after = json.loads(home.secrets.read_text(encoding="utf-8"))
    assert (after["other"], after["secrets"][-1]) == (1, {"odd": True})


def test_a_value_moved_to_another_name_does_not_open(store: SecretStore, home: DataDirectory) -> None:
    store.save("one", "value-one")
    store.save("two", "value-two")
    raw = json.loads(home.secrets.read_text(encoding="utf-8"))
    first, second = raw["secrets"]
    write_object(home.secrets, {"secrets": [{**first, "value": second["value"]}, second]})
    with pytest.raises(ConflictError, match="does not open"):
        store.value("one")
    assert store.value("two") == "value-two"


@pytest.mark.parametrize("value", ["short", "", "••••••••", "***", "enc:v1:abcdef", "a\0bcdefgh"])
def test_what_is_no_secret_is_refused_without_repeating_it(store: SecretStore, value: str) -> None:
    with pytest.raises(InputError) as refused:
        store.save("crm", value)
    assert not value or value not in str(refused.value).replace("***", "" if value == "***" else "***")
    assert store.list() == []


@pytest.mark.parametrize("name", ["", "a b", "../x", "ä", "x" * 65, "-x", "a}}"])
def test_a_name_is_plain(store: SecretStore, name: str) -> None:
    with pytest.raises(InputError, match="cannot name a secret"):
        store.save(name, "a-long-value")


def test_bindings_are_checked_and_names_stay_apart_for_commands(store: SecretStore) -> None:
    with pytest.raises(InputError, match="is not a host"):
        store.save("crm", "a-long-value", hosts=["https://x/"])
    with pytest.raises(InputError, match="is not the name of a tool"):
        store.save("crm", "a-long-value", tools=["Send Mail"])
    store.save("a-b", "a-long-value")
    with pytest.raises(ConflictError, match="could not tell"):
        store.save("a_b", "a-long-value")
