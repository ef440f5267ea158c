"""Reads zip and tar archives that nobody vetted, entry by entry, and refuses what could do harm when unpacked.

Sizes are counted on bytes that really come out, not believed. Nothing is written here. Spec: SKL-03.
"""

import bz2
import gzip
import io
import lzma
import re
import stat
import struct
import tarfile
import unicodedata
import zlib
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import IO, BinaryIO, Protocol
from zipfile import BadZipFile, ZipFile, ZipInfo

from msgspec import Struct, field

from skales.core.errors import ToolError, ToolRefusedError
from skales.security.path_spelling import find_spelling_fault
from skales.tools.describe import render_size, visible

_TOTAL_BYTES = 4 * 1024 * 1024 * 1024
_ENTRIES = 50_000
# Logs and tables reach some 50:1, a bomb 1000:1 and more.
_RATIO = 200
_RATIO_FLOOR_BYTES = 5 * 1024 * 1024
_CHUNK_BYTES = 256 * 1024
# What a tar archive may need between two contents: headers with long names and attributes.
_HEADER_BYTES = 1024 * 1024
_DRIVE = re.compile(r"[A-Za-z]:([/\\]|$)")
_BROKEN = (
    BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, EOFError, ValueError, LookupError,
    NotImplementedError, OverflowError, MemoryError, struct.error, RuntimeError,
)  # fmt: skip


class _Readable(Protocol):
    """What unpacks a stream: the library's own types agree on nothing more."""

    def read(self, size: int, /) -> bytes: ...


class Member(Struct, frozen=True):
    """One entry of an archive; `path` is relative and has no `..`, `size_bytes` is what the archive says."""

    path: PurePosixPath
    is_folder: bool
    size_bytes: int
    is_executable: bool


class _Budget(Struct):
    """What was seen of an archive so far, against the limits."""

    packed_bytes: int
    unpacked_bytes: int = 0
    paths: dict[str, bool] = field(default_factory=dict[str, bool])

    def add(self, member: Member) -> None:
        """Raise ToolRefusedError for one entry too many, or one in the place of another."""
        if len(self.paths) >= _ENTRIES:
            raise _refused(f"it has more than {_ENTRIES:,} entries")
        key = unicodedata.normalize("NFC", str(member.path)).casefold()
        if key in self.paths and not (member.is_folder and self.paths[key]):
            raise _refused(f"two entries are named {visible(str(member.path))!r}")
        for parent in PurePosixPath(key).parents:
            if not self.paths.setdefault(str(parent), True):
                raise _refused(f"{visible(str(member.path))!r} lies inside an entry that is a file")
        self.paths[key] = member.is_folder

    def unpack(self, size_bytes: int) -> None:
        """Raise ToolRefusedError when what came out is more than an honest archive holds."""
        self.unpacked_bytes += size_bytes
        if self.unpacked_bytes > _TOTAL_BYTES:
            raise _refused(f"it unpacks to more than {render_size(_TOTAL_BYTES)}")
        if self.unpacked_bytes > max(_RATIO_FLOOR_BYTES, self.packed_bytes * _RATIO):
            size = render_size(self.packed_bytes)
            raise _refused(f"{size} unpack to more than {render_size(self.unpacked_bytes)}, as a size bomb does")


def read_archive(stream: BinaryIO, take: Callable[[Member, Iterator[bytes]], None]) -> None:
    """Hand over every entry with its content. Raises ToolRefusedError for a hostile archive, else ToolError.

    Args:
        stream: The archive.
        take: Gets each entry and its content in pieces; what it leaves unread is read all the same.
    """
    packed_bytes = stream.seek(0, 2)
    stream.seek(0)
    head = stream.read(6)
    stream.seek(0)
    try:
        if head.startswith(b"PK"):
            _read_zip(stream, _Budget(packed_bytes), take)
        elif head.startswith(b"\x1f\x8b"):
            with gzip.GzipFile(fileobj=stream) as unpacked:
                _read_tar(unpacked, _Budget(packed_bytes), take)
        elif head.startswith(b"BZh"):
            with bz2.BZ2File(stream) as unpacked:
                _read_tar(unpacked, _Budget(packed_bytes), take)
        elif head.startswith(b"\xfd7zXZ"):
            with lzma.LZMAFile(stream) as unpacked:
                _read_tar(unpacked, _Budget(packed_bytes), take)
        else:
            _read_tar(stream, _Budget(packed_bytes), take)
    except _BROKEN as error:
        raise ToolError(
            f"It is damaged, or no zip or tar archive: {error}", hint="Check it with get_file_info", code="damaged"
        ) from error


def _read_zip(stream: BinaryIO, budget: _Budget, take: Callable[[Member, Iterator[bytes]], None]) -> None:
    with ZipFile(stream) as archive:
        for entry in archive.infolist():
            member = _zip_member(entry)
            if member is None:
                continue
            budget.add(member)
            if member.is_folder:
                take(member, iter(()))
                continue
            with archive.open(entry) as content:
                _hand_over(member, _chunks(content, budget), take)


def _zip_member(entry: ZipInfo) -> Member | None:
    mode = entry.external_attr >> 16
    # The library cuts a name at a NUL; the name as written counts.
    path = _safe_path(entry.orig_filename)
    if stat.S_ISLNK(mode):
        raise _refused(f"{visible(entry.filename)!r} is a symbolic link entry")
    if stat.S_IFMT(mode) not in {0, stat.S_IFREG, stat.S_IFDIR}:
        raise _refused(f"{visible(entry.filename)!r} is a device or pipe")
    if entry.flag_bits & 1:
        raise ToolError("It has a password", hint="Ask the person for a copy without one", code="encrypted")
    if path is None:
        return None
    # Old Windows programs write folders with their own separator.
    is_folder = entry.orig_filename.endswith(("/", "\\"))
    return Member(path, is_folder, entry.file_size, bool(mode & stat.S_IXUSR) and not is_folder)


def _read_tar(stream: _Readable, budget: _Budget, take: Callable[[Member, Iterator[bytes]], None]) -> None:
    meter = _Meter(stream)
    meter.allow(_HEADER_BYTES)
    with tarfile.open(fileobj=meter, mode="r|") as archive:
        while (entry := archive.next()) is not None:
            member = _tar_member(entry)
            meter.allow(entry.size + _HEADER_BYTES)
            content = archive.extractfile(entry)
            if member is None:
                continue
            budget.add(member)
            _hand_over(member, _chunks(content, budget) if content else iter(()), take)


def _tar_member(entry: tarfile.TarInfo) -> Member | None:
    path = _safe_path(entry.name)
    if entry.issym() or entry.islnk():
        raise _refused(f"{visible(entry.name)!r} is a {'symbolic' if entry.issym() else 'hard'} link entry")
    if entry.isdev():
        raise _refused(f"{visible(entry.name)!r} is a device or pipe")
    if entry.issparse() or entry.size < 0:
        raise _refused(f"{visible(entry.name)!r} is larger than what is stored of it")
    if path is None:
        return None
    return Member(path, entry.isdir(), entry.size, bool(entry.mode & stat.S_IXUSR) and not entry.isdir())


class _Meter(io.BufferedIOBase):
    """Lets a tar reader have what its last header entitles it to: a header that claims gigabytes is cut short."""

    def __init__(self, stream: _Readable) -> None:
        self._stream = stream
        self._left = 0

    def allow(self, size_bytes: int) -> None:
        """Let this many bytes pass from here on."""
        self._left = size_bytes

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes. Raises ToolRefusedError when they are more than allowed."""
        wanted = -1 if size is None else size
        self._left -= wanted
        if wanted < 0 or self._left < 0:
            raise _refused("a header in it is larger than any honest one")
        return self._stream.read(wanted)


def _chunks(content: IO[bytes], budget: _Budget) -> Iterator[bytes]:
    while chunk := content.read(_CHUNK_BYTES):
        budget.unpack(len(chunk))
        yield chunk


def _hand_over(member: Member, chunks: Iterator[bytes], take: Callable[[Member, Iterator[bytes]], None]) -> None:
    take(member, chunks)
    for _chunk in chunks:
        continue


def _safe_path(name: str) -> PurePosixPath | None:
    """The path an entry means, None for the archive's own folder. Raises ToolRefusedError when it leads elsewhere."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in {"", "."}]
    shown = visible(name)[:200]
    if name.startswith(("/", "\\")) or _DRIVE.match(name):
        raise _refused(f"{shown!r} is an absolute path")
    if ".." in parts:
        raise _refused(f"{shown!r} is a path that leaves the folder")
    if any(unicodedata.category(char) == "Cc" for char in name):
        raise _refused(f"{shown!r} is a name with control characters")
    if not parts:
        return None
    if fault := find_spelling_fault("/".join(parts)):
        raise _refused(f"{shown!r} cannot be a file here: {fault}")
    return PurePosixPath(*parts)


def _refused(reason: str) -> ToolRefusedError:
    return ToolRefusedError(
        f"The archive is not unpacked, nothing was written: {reason}",
        hint="Tell the person; an archive like this can be made to do harm",
        code="hostile_archive",
    )
