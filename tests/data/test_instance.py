"""Another program is a real process here, so that the lock is the system's and its end a real one."""

import errno
import fcntl
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from skales.core.errors import ConfigurationError, StorageError
from skales.data.instance import Instance, InstanceLock, find_instance
from skales.data.paths import DataDirectory

URL = "http://127.0.0.1:3000"

_PROGRAM = """
import sys
from pathlib import Path
from skales.data.instance import InstanceLock
from skales.data.paths import DataDirectory
lock = InstanceLock(DataDirectory(Path(sys.argv[1])))
lock.acquire(exclusive=sys.argv[2] == "exclusive")
if len(sys.argv) > 3:
    lock.publish(sys.argv[3], "token", "1.2.3", 5)
print("ready", flush=True)
sys.stdin.read()
"""


@contextmanager
def another_program(home: DataDirectory, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", _PROGRAM, str(home.root), *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as program:
        try:
            assert program.stdout is not None
            assert program.stdout.readline() == "ready\n"
            yield program
        finally:
            program.kill()
            program.wait(timeout=5)


@pytest.fixture
def lock(home: DataDirectory) -> Iterator[InstanceLock]:
    lock = InstanceLock(home)
    yield lock
    lock.release()


def no_pause(_seconds: float) -> None:
    pass


def test_a_server_is_found_while_it_lives(home: DataDirectory) -> None:
    assert find_instance(home) is None
    with another_program(home, "exclusive", URL) as server:
        assert find_instance(home) == Instance(pid=server.pid, url=URL, token="token", started_ms=5, version="1.2.3")
        assert "token=" not in repr(find_instance(home))
    assert find_instance(home) is None


def test_the_token_is_readable_by_its_owner_alone(lock: InstanceLock, home: DataDirectory) -> None:
    lock.acquire(exclusive=True)
    lock.publish(URL, "token", "1.2.3", 5)
    assert stat.S_IMODE(home.instance.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.lock.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.lock.parent.stat().st_mode) == 0o700
    assert json.loads(home.instance.read_text(encoding="utf-8")) == {
        "pid": os.getpid(),
        "url": URL,
        "token": "token",
        "startedAt": 5,
        "version": "1.2.3",
    }


@pytest.mark.parametrize("exclusive", [True, False])
def test_a_second_program_is_told_who_serves_and_what_to_do(
    lock: InstanceLock, home: DataDirectory, exclusive: bool
) -> None:
    with another_program(home, "exclusive", URL) as server:
        with pytest.raises(ConfigurationError) as caught:
            lock.acquire(exclusive, pause=no_pause)
        assert find_instance(home) is not None
    assert caught.value.code == "in_use"
    assert caught.value.message == (
        f"The data directory {str(home.root)!r} is in use by another Skales (process {server.pid}, {URL})"
    )
    assert caught.value.hint == f"Open {URL}, or stop it, or set SKALES_DATA_DIR to another folder"


def test_a_program_without_an_address_is_named_by_its_number(lock: InstanceLock, home: DataDirectory) -> None:
    with another_program(home, "shared") as program, pytest.raises(ConfigurationError) as caught:
        lock.acquire(exclusive=True, pause=no_pause)
    assert caught.value.message.endswith(f"is in use by another Skales (process {program.pid})")
    assert caught.value.hint == "Wait for it to end, or stop it, or set SKALES_DATA_DIR to another folder"


def replace_by_words(home: DataDirectory) -> None:
    home.lock.write_text("somebody", encoding="utf-8")


def remove_lock(home: DataDirectory) -> None:
    home.lock.unlink()


@pytest.mark.parametrize("damage", [replace_by_words, remove_lock])
def test_a_program_that_cannot_be_named_is_still_reported(
    lock: InstanceLock, home: DataDirectory, damage: Callable[[DataDirectory], None]
) -> None:
    def damage_once(_seconds: float) -> None:
        if home.lock.exists():
            damage(home)

    with another_program(home, "shared"), pytest.raises(ConfigurationError) as caught:
        lock.acquire(exclusive=True, pause=damage_once)
    assert caught.value.message.endswith("is in use by another Skales")


def test_short_lived_programs_share_the_directory(lock: InstanceLock, home: DataDirectory) -> None:
    with another_program(home, "shared"):
        lock.acquire(exclusive=False, pause=no_pause)
        assert find_instance(home) is None


def test_somebody_who_only_looks_does_not_keep_a_server_from_starting(lock: InstanceLock, home: DataDirectory) -> None:
    home.lock.parent.mkdir()
    looking = os.open(home.lock, os.O_RDWR | os.O_CREAT)
    fcntl.flock(looking, fcntl.LOCK_SH)
    lock.acquire(exclusive=True, pause=lambda _seconds: fcntl.flock(looking, fcntl.LOCK_UN))
    os.close(looking)


def test_a_killed_server_leaves_nothing_in_the_way(lock: InstanceLock, home: DataDirectory) -> None:
    with another_program(home, "exclusive", URL) as server:
        server.kill()
    assert home.instance.exists()
    assert find_instance(home) is None
    lock.acquire(exclusive=True)
    assert find_instance(home) is None
    lock.publish("http://127.0.0.1:3001", "other", "1.2.3", 6)
    found = find_instance(home)
    assert found is not None
    assert found.url == "http://127.0.0.1:3001"


def test_a_released_directory_is_free_again(lock: InstanceLock, home: DataDirectory) -> None:
    lock.acquire(exclusive=True)
    lock.publish(URL, "token", "1.2.3", 5)
    lock.release()
    lock.release()
    assert not home.instance.exists()
    lock.acquire(exclusive=True)
    lock.release()
    with another_program(home, "exclusive", URL):
        assert find_instance(home) is not None


def test_a_forked_child_does_not_keep_the_directory(lock: InstanceLock, home: DataDirectory) -> None:
    lock.acquire(exclusive=True)
    inherited = [os.dup(number) for number in _open_on(home)]
    assert inherited
    lock.release()
    other = InstanceLock(home)
    other.acquire(exclusive=True, pause=no_pause)
    other.release()
    for number in inherited:
        os.close(number)


def _open_on(home: DataDirectory) -> list[int]:
    return [int(link.name) for link in Path("/proc/self/fd").iterdir() if link.resolve() == home.lock.resolve()]


def test_an_address_that_is_gone_already_does_not_disturb_the_release(lock: InstanceLock, home: DataDirectory) -> None:
    lock.acquire(exclusive=True)
    lock.publish(URL, "token", "1.2.3", 5)
    home.instance.unlink()
    lock.release()


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff", b'{"pid": 1, "url": "x"}', b'{"pid": "1", "url": "x", "token": "t"}']
)
def test_an_address_that_cannot_be_read_is_none(lock: InstanceLock, home: DataDirectory, content: bytes) -> None:
    lock.acquire(exclusive=True)
    home.instance.write_bytes(content)
    assert find_instance(home) is None
    assert home.instance.read_bytes() == content


def test_a_disk_without_locks_is_named(
    lock: InstanceLock, home: DataDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_descriptor: int, _operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(ConfigurationError, match="cannot be locked: No locks available") as caught:
        lock.acquire(exclusive=True)
    assert caught.value.code == "no_locks"
    assert _open_on(home) == []


def test_a_full_disk_is_named_and_the_directory_given_back(
    lock: InstanceLock, home: DataDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_descriptor: int, _length: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "ftruncate", refuse)
        with pytest.raises(StorageError, match="the disk is full"):
            lock.acquire(exclusive=True)
    lock.acquire(exclusive=True)


def test_a_file_where_the_folder_should_be_is_a_storage_error(lock: InstanceLock, home: DataDirectory) -> None:
    home.lock.parent.write_text("", encoding="utf-8")
    with pytest.raises(StorageError, match="'lock' cannot be opened"):
        lock.acquire(exclusive=True)


def test_a_link_in_place_of_the_lock_is_not_followed(lock: InstanceLock, home: DataDirectory) -> None:
    target = home.root / "precious.txt"
    target.write_text("precious", encoding="utf-8")
    home.lock.parent.mkdir()
    home.lock.symlink_to(target)
    with pytest.raises(StorageError, match="'lock' cannot be opened"):
        lock.acquire(exclusive=True)
    assert target.read_text(encoding="utf-8") == "precious"
