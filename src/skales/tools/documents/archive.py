"""Lists what is in zip and tar archives, and reads a single compressed text as lines. Nothing is unpacked to disk."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Iterator
from typing import IO, BinaryIO, cast
from zipfile import BadZipFile, ZipFile

from skales.core.errors import ToolError
from skales.tools.describe import render_size, visible
from skales.tools.documents.coding import detect_coding
from skales.tools.documents.lines import decode_pieces
from skales.tools.file.unpacking import Member, read_archive

_SAMPLE_BYTES = 64 * 1024
_MOST_UNPACKED = 1024 * 1024 * 1024
_LISTED = 20_000
_TAR_MARK = slice(257, 262)
_BROKEN = (
    BadZipFile, EOFError, NotImplementedError, OSError, ValueError, LookupError, lzma.LZMAError, zlib.error,
)  # fmt: skip


def read_zip_list(stream: BinaryIO, part: str) -> Iterator[str]:
    """The entries of a zip archive, each a line with its size. Raises ToolError. It has no parts."""
    del part
    stream.seek(0)
    try:
        with ZipFile(stream) as archive:
            entries = archive.infolist()
    except _BROKEN as error:
        raise _damaged("a zip archive", error) from error
    files = sum(not entry.is_dir() for entry in entries)
    total = sum(entry.file_size for entry in entries)
    locked = ", some with a password" if any(entry.flag_bits & 1 for entry in entries) else ""
    yield f"[Zip archive: {files:,} file{'' if files == 1 else 's'}, {render_size(total)} unpacked{locked}]\n"
    for entry in entries[:_LISTED]:
        size = "" if entry.is_dir() else f"  ({render_size(entry.file_size)})"
        yield f"{visible(entry.filename)}{size}\n"
    if len(entries) > _LISTED:
        yield f"[{len(entries) - _LISTED:,} more entries are not listed]\n"


def read_tar_list(stream: BinaryIO, part: str) -> Iterator[str]:
    """The entries of a tar archive, compressed or not, each a line with its size. Raises ToolError. It has no parts."""
    del part
    members: list[Member] = []

    def take(member: Member, _chunks: Iterator[bytes]) -> None:
        members.append(member)

    read_archive(stream, take)
    files = sum(not member.is_folder for member in members)
    total = sum(member.size_bytes for member in members)
    yield f"[Tar archive: {files:,} file{'' if files == 1 else 's'}, {render_size(total)} unpacked]\n"
    for member in members[:_LISTED]:
        size = "/" if member.is_folder else f"  ({render_size(member.size_bytes)})"
        yield f"{visible(str(member.path))}{size}\n"
    if len(members) > _LISTED:
        yield f"[{len(members) - _LISTED:,} more entries are not listed]\n"


def read_compressed(stream: BinaryIO, part: str) -> Iterator[str]:
    """What is inside gzip, bzip2 or xz: the entries of a tar archive, or the lines of a text. Raises ToolError."""
    try:
        head = _unpacked(stream).read(_SAMPLE_BYTES)
        if head[_TAR_MARK] == b"ustar":
            yield from read_tar_list(stream, part)
            return
        coding = detect_coding(head, is_whole=len(head) < _SAMPLE_BYTES)
        if coding is None or not head:
            raise ToolError(
                f"It holds one compressed file, which is {'empty' if not head else 'no text'}",
                hint="A program of the person's can unpack it",
                code="binary",
            )
        yield "[A compressed text]\n"
        yield from decode_pieces(cast(BinaryIO, _Bounded(_unpacked(stream))), coding)
    except _BROKEN as error:
        raise _damaged("a compressed file", error) from error


def _unpacked(stream: BinaryIO) -> IO[bytes]:
    stream.seek(0)
    head = stream.read(6)
    stream.seek(0)
    if head.startswith(b"\x1f\x8b"):
        return cast(IO[bytes], gzip.GzipFile(fileobj=stream))
    return bz2.BZ2File(stream) if head.startswith(b"BZh") else lzma.LZMAFile(stream)


class _Bounded:
    """A stream for reading that ends in an error where an honest text would long have ended."""

    def __init__(self, inner: IO[bytes]) -> None:
        self._inner = inner
        self._left = _MOST_UNPACKED

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Go to a place."""
        return self._inner.seek(offset, whence)

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes. Raises ValueError when they are too many."""
        content = self._inner.read(size)
        self._left -= len(content)
        if self._left < 0:
            raise ValueError(f"it unpacks to more than {render_size(_MOST_UNPACKED)}")
        return content


def _damaged(words: str, error: BaseException) -> ToolError:
    return ToolError(f"It is {words}, but damaged: {error}", hint="Check it with get_file_info", code="damaged")
