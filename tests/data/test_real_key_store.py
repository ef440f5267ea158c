"""The vault with a real Secret Service: `gnome-keyring` in a D-Bus session of its own. Needs both installed."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skales.data.paths import DataDirectory

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the Secret Service is Linux's")

# A program of the person's: seals or opens, and says what it found.
_PROGRAM = """
import json, sys
from skales.core.clock import SystemClock
from skales.core.errors import SkalesError
from skales.data.paths import locate_data_directory
from skales.data.quarantine import Quarantine
from skales.data.settings import SettingsStore
from skales.data.vault import Vault

home = locate_data_directory()
quarantine = Quarantine(home.quarantine, SystemClock())
vault = Vault(home, quarantine)
settings = SettingsStore(home, quarantine, vault)
vault.settle()
said = ""
try:
    if sys.argv[1]:
        settings.set_provider("openai", api_key=sys.argv[1])
except SkalesError as error:
    said = error.code
status = vault.status()
print(json.dumps({
    "key": settings.load().provider("openai").api_key,
    "place": status.place.value, "store": status.store, "said": said,
    "trouble": status.trouble.value if status.trouble else "",
}))
"""
KEY = "sk-real-0123456789-abcdef"


@pytest.fixture
def session(home: DataDirectory, tmp_path: Path) -> "Session":
    for program, package in (("dbus-run-session", "dbus"), ("gnome-keyring-daemon", "gnome-keyring")):
        assert shutil.which(program), f"{program} is missing: apt-get install {package}"
    return Session(home, tmp_path)


class Session:
    """Sessions of one person, each with a bus and a key store of its own, over the same folders."""

    def __init__(self, home: DataDirectory, folder: Path) -> None:
        self._home = home
        self._folder = folder
        for name in ("home", "run"):
            (folder / name).mkdir(mode=0o700)

    def run(self, daemon: str, *keys: str) -> list[dict[str, str]]:
        """What the program says, once for each key, with the key store started as `daemon` says."""
        started = [f'"{sys.executable}" -c "$PROGRAM" "{key}"' for key in keys]
        done = subprocess.run(
            ["dbus-run-session", "--", "sh", "-c", " && ".join([daemon, *started])],
            env={
                "PATH": "/usr/local/bin:/usr/bin:/bin",
                "HOME": str(self._folder / "home"),
                "XDG_RUNTIME_DIR": str(self._folder / "run"),
                "SKALES_DATA_DIR": str(self._home.root),
                "PROGRAM": _PROGRAM,
            },
            capture_output=True,
            timeout=60,
            check=False,
            encoding="utf-8",
        )
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


_UNLOCKED = "printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null"
_LOCKED = "gnome-keyring-daemon --start --components=secrets >/dev/null"
_NONE = "unset DBUS_SESSION_BUS_ADDRESS"


def test_a_key_is_kept_in_the_key_store_and_found_by_the_next_program(session: Session, home: DataDirectory) -> None:
    first, second = session.run(_UNLOCKED, KEY, "")
    assert first == second == {"key": KEY, "place": "store", "store": "SecretService", "said": "", "trouble": ""}
    assert not home.encryption_key.exists()
    assert KEY not in home.settings.read_text(encoding="utf-8")
    # The next session, with the same key store.
    (later,) = session.run(_UNLOCKED, "")
    assert later["key"] == KEY


def test_a_locked_key_store_keeps_the_value_and_says_so(session: Session, home: DataDirectory) -> None:
    session.run(_UNLOCKED, KEY)
    sealed = home.settings.read_text(encoding="utf-8")
    (shut,) = session.run(_LOCKED, "sk-another-0123456789")
    assert (shut["key"], shut["trouble"], shut["said"]) == ("", "locked", "key_locked")
    assert home.settings.read_text(encoding="utf-8") == sealed
    (open_again,) = session.run(_UNLOCKED, "")
    assert open_again["key"] == KEY


def test_a_session_without_a_key_store_keeps_the_value_and_takes_a_new_one(
    session: Session, home: DataDirectory
) -> None:
    session.run(_UNLOCKED, KEY)
    (gone,) = session.run(_NONE, "")
    assert (gone["key"], gone["trouble"]) == ("", "gone")
    (anew,) = session.run(_NONE, "sk-another-0123456789")
    assert (anew["key"], anew["place"]) == ("sk-another-0123456789", "file")
    assert home.encryption_key.exists()
