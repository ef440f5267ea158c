"""undo/blobs/: contents by their SHA-256, so that what is the same is kept once. Files 0600, folders 0700.

A crash of the program leaves whole files only. Nothing is forced to the disk, which would cost an edit more than the
edit itself: after a power cut a content may be missing or short, which is found by its hash when it is read.
"""

import hashlib
import itertools
import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from skales.core.errors import StorageError
from skales.data.document import storage_errors

CHUNK_BYTES = 1024 * 1024
_SHORT_BYTES = 64 * 1024
_FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_TEMPORARY = "new-"
# A content that is still being copied is younger.
_REST_MS = 3_600_000


class BlobStore:
    """The contents of one data directory. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._size_bytes: int | None = None
        self._text = str(folder)
        self._is_made = False
        self._own = secrets.token_hex(4)
        self._count = itertools.count()

    def keep(self, stream: BinaryIO) -> str:
        """Copy what is left of a stream and return its hash. Raises StorageError."""
        with storage_errors(self._folder, "written"):
            first = stream.read(_SHORT_BYTES)
            if len(first) < _SHORT_BYTES:
                return self._keep_short(first)
            return self._keep_long(first, stream)

    def has(self, digest: str) -> bool:
        """Whether the content is there."""
        return self._path(digest).exists()

    def open(self, digest: str) -> BinaryIO:
        """The content, unread. Raises StorageError when it is gone."""
        try:
            return self._path(digest).open("rb")
        except OSError as error:
            raise _gone() from error

    def copy(self, digest: str, target: BinaryIO) -> None:
        """Write the content into a stream. Raises StorageError when it is gone or no longer what it was."""
        hashed = hashlib.sha256()
        with self.open(digest) as source:
            while chunk := source.read(CHUNK_BYTES):
                hashed.update(chunk)
                target.write(chunk)
        if hashed.hexdigest() != digest:
            raise _gone()

    def size_bytes(self) -> int:
        """What all of it takes. Counted once, then kept up."""
        with self._lock:
            if self._size_bytes is None:
                self._size_bytes = sum(found.st_size for _, found, _ in self._files())
            return self._size_bytes

    def sweep(self, needed: frozenset[str], now_ms: int) -> None:
        """Remove every content that is not needed, and what crashes left half-written an hour ago or more."""
        for path, found, digest in self._files():
            is_old = now_ms - found.st_mtime_ns // 1_000_000 > _REST_MS
            if digest not in needed and (digest or is_old):
                with suppress(OSError):
                    path.unlink()
        with self._lock:
            self._size_bytes = None

    def _keep_short(self, content: bytes) -> str:
        # Thousands of small files are kept at the first look: plain calls on texts take half the time of paths.
        digest = hashlib.sha256(content).hexdigest()
        place = f"{self._text}{os.sep}{digest[:2]}{os.sep}{digest}"
        if os.path.exists(place):  # noqa: PTH110 - as above
            return digest
        temporary = self._temporary()
        descriptor = os.open(temporary, _FRESH, 0o600)
        try:
            written = 0
            while written < len(content):
                written += os.write(descriptor, content[written:] if written else content)
        except BaseException:  # half a file is left by nobody, also when interrupted
            os.unlink(temporary)  # noqa: PTH108 - as above
            raise
        finally:
            os.close(descriptor)
        self._put(temporary, place, len(content))
        return digest

    def _keep_long(self, first: bytes, stream: BinaryIO) -> str:
        hashed, size_bytes, chunk = hashlib.sha256(), 0, first
        temporary = self._temporary()
        try:
            with os.fdopen(os.open(temporary, _FRESH, 0o600), "wb") as file:
                while chunk:
                    hashed.update(chunk)
                    file.write(chunk)
                    size_bytes += len(chunk)
                    chunk = stream.read(CHUNK_BYTES)
            place = self._path(hashed.hexdigest())
            if place.exists():
                os.unlink(temporary)  # noqa: PTH108 - as above
            else:
                self._put(temporary, str(place), size_bytes)
        except BaseException:  # as above
            with suppress(FileNotFoundError):
                os.unlink(temporary)  # noqa: PTH108 - as above
            raise
        return hashed.hexdigest()

    def _put(self, temporary: str, place: str, size_bytes: int) -> None:
        try:
            os.replace(temporary, place)  # noqa: PTH105 - as above
        except FileNotFoundError:
            Path(place).parent.mkdir(mode=0o700, exist_ok=True)
            os.replace(temporary, place)  # noqa: PTH105 - as above
        with self._lock:
            if self._size_bytes is not None:
                self._size_bytes += size_bytes

    def _temporary(self) -> str:
        if not self._is_made:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._is_made = True
        return f"{self._text}{os.sep}{_TEMPORARY}{os.getpid()}-{next(self._count)}-{self._own}"

    def _path(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest

    def _files(self) -> Iterator[tuple[Path, os.stat_result, str]]:
        """Each file with its facts and its hash; one that is half-written has none."""
        with suppress(FileNotFoundError):
            for entry in os.scandir(self._folder):
                if entry.is_dir(follow_symlinks=False):
                    for inner in os.scandir(entry):
                        with suppress(FileNotFoundError):
                            yield Path(inner.path), inner.stat(follow_symlinks=False), inner.name
                elif entry.name.startswith(_TEMPORARY):
                    with suppress(FileNotFoundError):
                        yield Path(entry.path), entry.stat(follow_symlinks=False), ""


def _gone() -> StorageError:
    return StorageError("What was there before is no longer kept", hint="It was the oldest when the space ran out")
