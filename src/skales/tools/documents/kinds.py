"""What a file is, by its first bytes and only then by its name."""

import mimetypes
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile

# Enough for every mark below; the farthest is that of tar archives.
HEAD_BYTES = 512


class Family(StrEnum):
    """Who can read a file of this kind."""

    PDF = "pdf"
    WORD = "word"
    SHEET = "sheet"
    SLIDES = "slides"
    PICTURE = "picture"
    SOUND = "sound"
    VIDEO = "video"
    ARCHIVE = "archive"
    OLD_OFFICE = "old office"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Kind:
    """A binary kind: its words for a sentence, with article, and its family."""

    words: str
    family: Family


# (offset, mark, kind); the first that fits counts.
_MARKS: Sequence[tuple[int, bytes, Kind]] = (
    (0, b"%PDF-", Kind("a PDF document", Family.PDF)),
    (0, b"\x89PNG\r\n\x1a\n", Kind("a PNG picture", Family.PICTURE)),
    (0, b"\xff\xd8\xff", Kind("a JPEG picture", Family.PICTURE)),
    (0, b"GIF87a", Kind("a GIF picture", Family.PICTURE)),
    (0, b"GIF89a", Kind("a GIF picture", Family.PICTURE)),
    (8, b"WEBP", Kind("a WebP picture", Family.PICTURE)),
    (0, b"II*\0", Kind("a TIFF picture", Family.PICTURE)),
    (0, b"MM\0*", Kind("a TIFF picture", Family.PICTURE)),
    (0, b"\0\0\1\0", Kind("an icon", Family.PICTURE)),
    (4, b"ftypheic", Kind("a HEIC picture", Family.PICTURE)),
    (4, b"ftypavif", Kind("an AVIF picture", Family.PICTURE)),
    (4, b"ftypM4A", Kind("an M4A sound file", Family.SOUND)),
    (4, b"ftyp", Kind("an MP4 video", Family.VIDEO)),
    (0, b"\x1aE\xdf\xa3", Kind("a Matroska or WebM video", Family.VIDEO)),
    (8, b"AVI ", Kind("an AVI video", Family.VIDEO)),
    (8, b"WAVE", Kind("a WAV sound file", Family.SOUND)),
    (0, b"ID3", Kind("an MP3 sound file", Family.SOUND)),
    (0, b"\xff\xfb", Kind("an MP3 sound file", Family.SOUND)),
    (0, b"fLaC", Kind("a FLAC sound file", Family.SOUND)),
    (0, b"OggS", Kind("an Ogg sound or video file", Family.SOUND)),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Kind("an old or password-protected Office file", Family.OLD_OFFICE)),
    (0, b"\x1f\x8b", Kind("a gzip archive", Family.ARCHIVE)),
    (0, b"BZh", Kind("a bzip2 archive", Family.ARCHIVE)),
    (0, b"\xfd7zXZ\0", Kind("an xz archive", Family.ARCHIVE)),
    (0, b"\x28\xb5\x2f\xfd", Kind("a Zstandard archive", Family.ARCHIVE)),
    (0, b"7z\xbc\xaf\x27\x1c", Kind("a 7-Zip archive", Family.ARCHIVE)),
    (0, b"Rar!\x1a\x07", Kind("a RAR archive", Family.ARCHIVE)),
    (257, b"ustar", Kind("a tar archive", Family.ARCHIVE)),
    (0, b"\x7fELF", Kind("a Linux program", Family.OTHER)),
    (0, b"\xcf\xfa\xed\xfe", Kind("a macOS program", Family.OTHER)),
    (0, b"SQLite format 3\0", Kind("an SQLite database", Family.OTHER)),
    (0, b"\0asm", Kind("a WebAssembly module", Family.OTHER)),
    (0, b"wOFF", Kind("a web font", Family.OTHER)),
    (0, b"wOF2", Kind("a web font", Family.OTHER)),
)
# A Windows program, and a bitmap, begin with letters that a text may begin with too.
_WEAK_MARKS: Sequence[tuple[bytes, Kind]] = (
    (b"MZ", Kind("a Windows program", Family.OTHER)),
    (b"BM", Kind("a BMP picture", Family.PICTURE)),
)
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
# The folder inside a zip that tells an Office file.
_ZIP_FOLDERS: Sequence[tuple[str, Kind]] = (
    ("word/", Kind("a Word document", Family.WORD)),
    ("xl/", Kind("an Excel workbook", Family.SHEET)),
    ("ppt/", Kind("a PowerPoint presentation", Family.SLIDES)),
)
_ZIP = Kind("a zip archive", Family.ARCHIVE)


def detect_kind(stream: BinaryIO) -> Kind | None:
    """The kind by content, None for text and for what nobody knows; the stream's place does not matter."""
    stream.seek(0)
    head = stream.read(HEAD_BYTES)
    return _zip_kind(stream) if head.startswith(_ZIP_STARTS) else kind_by_head(head)


def kind_by_head(head: bytes) -> Kind | None:
    """The kind by the first bytes alone, which do not tell an Office file from another zip."""
    if head.startswith(_ZIP_STARTS):
        return _ZIP
    for offset, mark, kind in _MARKS:
        if head.startswith(mark, offset):
            return kind
    if b"\0" in head:
        return next((kind for mark, kind in _WEAK_MARKS if head.startswith(mark)), None)
    return None


def kind_by_name(path: Path) -> str:
    """The media type that the name's ending suggests, empty when it suggests none."""
    return mimetypes.guess_type(path.name)[0] or ""


def _zip_kind(stream: BinaryIO) -> Kind:
    try:
        with ZipFile(stream) as archive:
            names = archive.namelist()
    except (BadZipFile, ValueError, OSError, EOFError, NotImplementedError):
        return _ZIP
    if "[Content_Types].xml" in names:
        for folder, kind in _ZIP_FOLDERS:
            if any(name.startswith(folder) for name in names):
                return kind
    return _ZIP
