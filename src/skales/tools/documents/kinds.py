"""What a file is, by its first bytes and only then by its name."""

import mimetypes
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path, PurePath
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile

from msgspec import Struct, structs

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
    MAIL = "mail"
    BOOK = "book"
    RICH_TEXT = "rich text"
    TABLE = "table"
    NOTEBOOK = "notebook"
    OLD_OFFICE = "old office"
    OTHER = "other"


class Kind(Struct, frozen=True):
    """What a file is, and all there is to say about reading it; a new kind is one line in a table below.

    `words` stand in a sentence, with article. `reader` is the module and function in this package that read it, empty
    when nothing does; `hint` then says what else can be done. `is_from_others` marks what strangers send.
    """

    words: str
    family: Family
    reader: str = ""
    hint: str = ""
    is_from_others: bool = False
    media_type: str = ""


_SAVE_HINT = "Ask the person to save it in the present format (.docx, .xlsx, .pptx) without a password"
_LOCKED_HINT = "Ask the person for a copy without a password"
_UNPACK_HINT = "Ask the person to unpack it; zip and tar archives can be unpacked with extract_archive"
_OLD_OFFICE = Kind("an old or password-protected Office file", Family.OLD_OFFICE, hint=_SAVE_HINT)


def _picture(words: str) -> Kind:
    return Kind(words, Family.PICTURE, "picture:read_picture")


def _sound(words: str) -> Kind:
    return Kind(words, Family.SOUND, hint="transcribe_audio can listen when it is offered")


def _video(words: str) -> Kind:
    return Kind(words, Family.VIDEO, hint="get_file_info tells its size and date")


# (offset, mark, kind); the first that fits counts.
_MARKS: Sequence[tuple[int, bytes, Kind]] = (
    (0, b"%PDF-", Kind("a PDF document", Family.PDF, "pdf:read_pdf", media_type="application/pdf")),
    (0, b"\x89PNG\r\n\x1a\n", _picture("a PNG picture")),
    (0, b"\xff\xd8\xff", _picture("a JPEG picture")),
    (0, b"GIF87a", _picture("a GIF picture")),
    (0, b"GIF89a", _picture("a GIF picture")),
    (8, b"WEBP", _picture("a WebP picture")),
    (0, b"II*\0", _picture("a TIFF picture")),
    (0, b"MM\0*", _picture("a TIFF picture")),
    (0, b"\0\0\1\0", _picture("an icon")),
    (4, b"ftypheic", _picture("a HEIC picture")),
    (4, b"ftypavif", _picture("an AVIF picture")),
    (4, b"ftypM4A", _sound("an M4A sound file")),
    (4, b"ftyp", _video("an MP4 video")),
    (0, b"\x1aE\xdf\xa3", _video("a Matroska or WebM video")),
    (8, b"AVI ", _video("an AVI video")),
    (8, b"WAVE", _sound("a WAV sound file")),
    (0, b"ID3", _sound("an MP3 sound file")),
    (0, b"\xff\xfb", _sound("an MP3 sound file")),
    (0, b"fLaC", _sound("a FLAC sound file")),
    (0, b"OggS", _sound("an Ogg sound or video file")),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", _OLD_OFFICE),
    (0, b"\x1f\x8b", Kind("a gzip archive", Family.ARCHIVE, "archive:read_compressed")),
    (0, b"BZh", Kind("a bzip2 archive", Family.ARCHIVE, "archive:read_compressed")),
    (0, b"\xfd7zXZ\0", Kind("an xz archive", Family.ARCHIVE, "archive:read_compressed")),
    (0, b"\x28\xb5\x2f\xfd", Kind("a Zstandard archive", Family.ARCHIVE, hint=_UNPACK_HINT)),
    (0, b"7z\xbc\xaf\x27\x1c", Kind("a 7-Zip archive", Family.ARCHIVE, hint=_UNPACK_HINT)),
    (0, b"Rar!\x1a\x07", Kind("a RAR archive", Family.ARCHIVE, hint=_UNPACK_HINT)),
    (257, b"ustar", Kind("a tar archive", Family.ARCHIVE, "archive:read_tar_list")),
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
    (b"BM", _picture("a BMP picture")),
)
_OFFICE_TYPE = "application/vnd.openxmlformats-officedocument"
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
# The folder inside a zip that tells an Office file.
_ZIP_FOLDERS: Sequence[tuple[str, Kind]] = (
    (
        "word/",
        Kind("a Word document", Family.WORD, "word:read_word", media_type=f"{_OFFICE_TYPE}.wordprocessingml.document"),
    ),
    (
        "xl/",
        Kind("an Excel workbook", Family.SHEET, "sheet:read_sheets", media_type=f"{_OFFICE_TYPE}.spreadsheetml.sheet"),
    ),
    (
        "ppt/",
        Kind(
            "a PowerPoint presentation",
            Family.SLIDES,
            "slides:read_slides",
            media_type=f"{_OFFICE_TYPE}.presentationml.presentation",
        ),
    ),
)
# The first part of an OpenDocument file or a book says what it is.
_ZIP_TYPES: Mapping[str, Kind] = {
    "application/epub+zip": Kind("an EPUB book", Family.BOOK, "book:read_book"),
    "application/vnd.oasis.opendocument.text": Kind(
        "an OpenDocument text", Family.WORD, "open_document:read_open_text"
    ),
    "application/vnd.oasis.opendocument.spreadsheet": Kind(
        "an OpenDocument table", Family.SHEET, "open_document:read_open_sheets"
    ),
    "application/vnd.oasis.opendocument.presentation": Kind(
        "an OpenDocument presentation", Family.SLIDES, "open_document:read_open_slides"
    ),
}
_ZIP = Kind("a zip archive", Family.ARCHIVE, "archive:read_zip_list")
# Names in the directory of an old Office file, in its own encoding, that tell what it is.
_OLD_NAMES: Sequence[tuple[str, Kind]] = (
    ("EncryptedPackage", Kind("an Office file with a password", Family.OLD_OFFICE, hint=_LOCKED_HINT)),
    (
        "__properties_version1.0",
        Kind("an Outlook message", Family.OLD_OFFICE, hint="Ask the person to save it as .eml"),
    ),
    ("WordDocument", Kind("an old Word document", Family.OLD_OFFICE, hint=_SAVE_HINT)),
    ("Workbook", Kind("an old Excel workbook", Family.OLD_OFFICE, hint=_SAVE_HINT)),
    ("PowerPoint Document", Kind("an old PowerPoint presentation", Family.OLD_OFFICE, hint=_SAVE_HINT)),
)
_OLD_DIRECTORY_BYTES = 64 * 1024
_MAIL = Kind("an e-mail", Family.MAIL, "mail:read_mail", is_from_others=True, media_type="message/rfc822")
_TABLE = Kind("a table", Family.TABLE, "table:read_table")
_MAIL_LINE = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,60}:[ \t\S]*|[ \t].*")
_MAIL_FIELDS = re.compile(
    r"^(?:received|return-path|message-id|mime-version|delivered-to|dkim-signature):", re.IGNORECASE | re.MULTILINE
)
# Kinds that are text, so that they can be searched and edited as such: (does the start look like it, kind).
_TEXT_KINDS: Sequence[tuple[Callable[[str, str], bool], Kind]] = (
    (lambda head, _ending: head.startswith("{\\rtf"), Kind("rich text", Family.RICH_TEXT, "rich_text:read_rich_text")),
    (lambda head, ending: ending == ".eml" or _is_mail(head), _MAIL),
    (lambda _head, ending: ending in {".csv", ".tsv", ".tab"}, _TABLE),
    (
        lambda head, ending: ending == ".ipynb" and head.lstrip().startswith("{"),
        Kind("a notebook", Family.NOTEBOOK, "notebook:read_notebook"),
    ),
)


def detect_kind(stream: BinaryIO) -> Kind | None:
    """The kind by content, None for text and for what nobody knows; the stream's place does not matter."""
    stream.seek(0)
    head = stream.read(HEAD_BYTES)
    if head.startswith(_ZIP_STARTS):
        return _zip_kind(stream)
    kind = kind_by_head(head)
    return _old_kind(stream, head) if kind is _OLD_OFFICE else kind


def detect_text_kind(head: str, name: str) -> Kind | None:
    """What a text is that a reader shows better than as it is stored, by its first lines and the ending of its name."""
    ending = PurePath(name).suffix.lower()
    return next((kind for fits, kind in _TEXT_KINDS if fits(head, ending)), None)


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
            media_type = _own_type(archive, names)
    except (BadZipFile, ValueError, OSError, EOFError, NotImplementedError, RuntimeError, zlib.error):
        return _ZIP
    if media_type in _ZIP_TYPES:
        return structs.replace(_ZIP_TYPES[media_type], media_type=media_type)
    if "[Content_Types].xml" in names:
        for folder, kind in _ZIP_FOLDERS:
            if any(name.startswith(folder) for name in names):
                return kind
    return _ZIP


def _own_type(archive: ZipFile, names: Sequence[str]) -> str:
    if "mimetype" not in names or archive.getinfo("mimetype").file_size > HEAD_BYTES:
        return ""
    return archive.read("mimetype").decode("ascii", "replace").strip()


def _old_kind(stream: BinaryIO, head: bytes) -> Kind:
    """An old Office file by the names in its directory, which begins where its head says."""
    if len(head) < HEAD_BYTES:
        return _OLD_OFFICE
    sector_bytes = 1 << min(int.from_bytes(head[30:32], "little"), 12)
    stream.seek((int.from_bytes(head[48:52], "little") + 1) * sector_bytes)
    directory = stream.read(_OLD_DIRECTORY_BYTES)
    return next((kind for name, kind in _OLD_NAMES if name.encode("utf-16-le") in directory), _OLD_OFFICE)


def _is_mail(head: str) -> bool:
    """Whether a text begins with header lines such as only mails have."""
    lines = head.replace("\r\n", "\n").partition("\n\n")[0].split("\n")
    if len(lines) < 3 or not all(map(_MAIL_LINE.fullmatch, lines[:40])):
        return False
    top = "\n".join(lines)
    return bool(_MAIL_FIELDS.search(top)) and bool(re.search(r"^(?:from|to):", top, re.IGNORECASE | re.MULTILINE))
