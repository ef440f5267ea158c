"""run/: who uses the data directory now. One program at a time serves it; where, is written for the others to find.

The lock is the system's own, so that it ends with its program, however that ends. Spec: cli.md.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from skales.core.errors import ConfigurationError
from skales.core.json import as_object, as_text, parse_json
from skales.data.document import storage_errors, write_object
from skales.data.paths import DataDirectory
from skales.data.records import moment_ms
from skales.data.system_lock import try_lock, unlock

_FOLDER_MODE = 0o700
_FILE_MODE = 0o600
_OPEN_FLAGS = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)

# Somebody who only looks whether a server lives holds the lock for less than this.
_ATTEMPTS = 5
_PAUSE_S = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A running server. `token` lets programs of the same person in; it is never shown."""

    pid: int
    url: str
    token: str = field(repr=False)
    started_ms: int
    version: str


class InstanceLock:
    """Use of the data directory by this program, from `acquire` to `release` or the program's end."""

    def __init__(self, directory: DataDirectory) -> None:
        self._directory = directory
        self._descriptor: int | None = None
        self._published = False

    def acquire(self, exclusive: bool, *, pause: Callable[[float], None] = time.sleep) -> None:
        """Take the directory: a server for itself alone, a short-lived program beside others of its kind.

        Raises ConfigurationError that names who has it and what to do, StorageError when the disk refuses.
        """
        assert self._descriptor is None, "the lock is held already"
        descriptor = self._open()
        try:
            self._lock(descriptor, exclusive, pause)
            with storage_errors(self._directory.lock, "written"):
                # Whoever wrote an address before is gone, otherwise this lock were not ours.
                self._directory.instance.unlink(missing_ok=True)
                os.ftruncate(descriptor, 0)
                os.lseek(descriptor, 0, os.SEEK_SET)
                os.write(descriptor, f"{os.getpid()}\n".encode())
        except BaseException:  # an open descriptor would keep the lock
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    def publish(self, address: str, token: str, version: str, started_ms: int) -> None:
        """Write where this server answers, for other programs of the same person. Raises StorageError."""
        assert self._descriptor is not None, "only who holds the directory may say so"
        write_object(
            self._directory.instance,
            {
                "pid": os.getpid(),
                "url": address,
                "token": token,
                "startedAt": started_ms,
                "version": version,
            },
        )
        self._published = True

    def release(self) -> None:
        """Give the directory back; the second time is harmless."""
        if self._descriptor is None:
            return
        if self._published:
            with suppress(OSError):  # a leftover is recognised as stale
                self._directory.instance.unlink()
        # A child that was forked off shares the lock, so closing alone would leave it held.
        unlock(self._descriptor)
        os.close(self._descriptor)
        self._descriptor = None
        self._published = False

    def _open(self) -> int:
        path = self._directory.lock
        with storage_errors(path, "opened"):
            path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
            return os.open(path, _OPEN_FLAGS | os.O_CREAT, _FILE_MODE)

    def _lock(self, descriptor: int, exclusive: bool, pause: Callable[[float], None]) -> None:
        root = str(self._directory.root)
        try:
            for _ in range(_ATTEMPTS):
                if try_lock(descriptor, exclusive=exclusive):
                    return
                pause(_PAUSE_S)
        except OSError as error:
            raise ConfigurationError(
                f"The data directory {root!r} cannot be locked: {error.strerror}",
                hint="Set SKALES_DATA_DIR to a folder on a local disk",
                code="no_locks",
            ) from error
        raise _in_use(self._directory)


def find_instance(directory: DataDirectory) -> Instance | None:
    """The server that serves the directory at this moment, None when there is none, whatever the files say."""
    return _read_published(directory) if _is_served(directory) else None


def _is_served(directory: DataDirectory) -> bool:
    try:
        descriptor = os.open(directory.lock, _OPEN_FLAGS)
    except OSError:
        return False
    try:
        # Shared, so that several may look at once.
        return not try_lock(descriptor, exclusive=False)
    finally:
        os.close(descriptor)


def _read_published(directory: DataDirectory) -> Instance | None:
    try:
        value = as_object(parse_json(directory.instance.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None
    match value:
        case {"pid": int(pid), "url": str(url), "token": str(token)}:
            return Instance(
                pid=pid,
                url=url,
                token=token,
                started_ms=moment_ms(value.get("startedAt")),
                version=as_text(value.get("version")),
            )
        case _:
            return None


def _in_use(directory: DataDirectory) -> ConfigurationError:
    instance = _read_published(directory)
    if instance is not None:
        who, hint = f" (process {instance.pid}, {instance.url})", f"Open {instance.url}, or stop it"
    else:
        who, hint = _writer_of(directory.lock), "Wait for it to end, or stop it"
    return ConfigurationError(
        f"The data directory {str(directory.root)!r} is in use by another Skales{who}",
        hint=f"{hint}, or set SKALES_DATA_DIR to another folder",
        code="in_use",
    )


def _writer_of(lock: Path) -> str:
    """Who took the lock last, as far as it is written there."""
    try:
        text = lock.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
    return f" (process {text})" if text.isdecimal() else ""
