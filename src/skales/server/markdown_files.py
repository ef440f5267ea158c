"""Files of the workspace that an answer names, and pictures in it: cards, and pictures whose place is kept.

Only addresses below our own `/ui/preview/file` come out of here; whether a file is there, and inside the workspace, is
decided when it is asked for.
"""

import base64
import binascii
import re
from html import escape
from pathlib import PurePosixPath
from urllib.parse import quote, unquote

from skales.server.words import _

FILE_ADDRESS = re.compile(r"/ui/preview/file\?path=[A-Za-z0-9%._~/-]+", re.ASCII)

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_PICTURES = frozenset({"png", "jpg", "jpeg", "gif", "webp", "avif", "svg"})
# Endings that make a relative address a file; anything else could be a host name such as `example.com`.
_FILES = _PICTURES | {
    "pdf", "txt", "md", "rst", "csv", "tsv", "json", "jsonl", "yaml", "yml", "toml", "ini", "cfg", "xml",
    "html", "htm", "css", "log", "tex", "bib", "ics", "eml", "vcf", "doc", "docx", "odt", "rtf", "xls", "xlsx",
    "ods", "ppt", "pptx", "odp", "epub", "zip", "tar", "gz", "tgz", "bz2", "xz", "7z", "py", "js", "mjs", "ts",
    "tsx", "jsx", "java", "kt", "c", "h", "cpp", "hpp", "cs", "go", "rs", "rb", "php", "swift", "sql", "sh",
    "bash", "ps1", "bat", "r", "lua", "pl", "ipynb", "diff", "patch", "mp3", "wav", "flac", "ogg", "m4a",
    "mp4", "mov", "webm", "mkv", "bmp", "tif", "tiff", "heic", "sqlite", "db", "parquet",
}  # fmt: skip
_LONGEST_HEAD = 64_000
_JPEG_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})


def read_file_path(address: str) -> str:
    """The path that a link's address means; empty when it is no file of the workspace."""
    path = unquote(address).partition("#")[0].removeprefix("./")
    if not path or len(path) > 1000 or _SCHEME.match(path) or path.startswith("//") or _CONTROL.search(path):
        return ""
    return path if _ending(path) in _FILES and "?" not in path and "\\" not in path else ""


def is_picture(path: str) -> bool:
    """Whether a file can be shown in the page."""
    return _ending(path) in _PICTURES


def address_file(path: str) -> str:
    """Where the page gets a file."""
    return f"/ui/preview/file?path={quote(path, safe='/')}"


def render_file_card(path: str, name: str = "") -> str:
    """A file as a card: its kind, its name as a link, a button that copies its path."""
    shown = name or PurePosixPath(path).name
    copy = _("Copy the path of %(name)s", name=PurePosixPath(path).name)
    return (
        f'<span class="file-card"><a class="file" href="{address_file(path)}" target="_blank">'
        f'<span class="kind">{escape(_ending(path).upper())}</span>'
        f'<span class="name">{escape(shown)}</span></a>'
        f'<button type="button" class="copy-path" data-copy="{escape(path)}" aria-label="{escape(copy)}">'
        f"{_('Copy path')}</button></span>"
    )


def render_file_picture(path: str, alt: str) -> str:
    """A picture of the workspace, in a place whose height does not depend on it."""
    return _zoomable(f'<img class="from-file" src="{address_file(path)}" alt="{escape(alt)}" loading="lazy">', alt)


def render_inline_picture(address: str, alt: str, *, is_linked: bool) -> str:
    """A picture inside the text; with its size where its first bytes tell it, so that nothing jumps."""
    size = _read_size(address)
    place = f' width="{size[0]}" height="{size[1]}"' if size else ""
    picture = f'<img src="{address}" alt="{escape(alt)}"{place}>'
    return picture if is_linked else _zoomable(picture, alt)


def _zoomable(picture: str, alt: str) -> str:
    words = _("Enlarge %(name)s", name=alt) if alt else _("Enlarge the picture")
    return f'<button type="button" class="zoom" aria-label="{escape(words)}">{picture}</button>'


def _ending(path: str) -> str:
    return PurePosixPath(path).suffix[1:].lower()


def _read_size(address: str) -> tuple[int, int] | None:
    """Width and height from a `data:` address, in pixels."""
    head = address.partition(",")[2][:_LONGEST_HEAD]
    try:
        data = base64.b64decode(head[: len(head) // 4 * 4])
    except binascii.Error:
        return None
    size = _size_of(data)
    return size if size and all(0 < side < 100_000 for side in size) else None


def _size_of(data: bytes) -> tuple[int, int] | None:
    """PNG, GIF, WebP and JPEG keep their size near the start. RFC 2083; GIF89a; RFC 9649; ITU T.81."""
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        return int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
    if data[:6] in (b"GIF87a", b"GIF89a") and len(data) >= 10:
        return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) >= 30:
        return _size_of_webp(data)
    return _size_of_jpeg(data) if data[:2] == b"\xff\xd8" else None


def _size_of_webp(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8 ":
            return int.from_bytes(data[26:28], "little") & 0x3FFF, int.from_bytes(data[28:30], "little") & 0x3FFF
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
        case _:
            return None


def _size_of_jpeg(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        if data[at + 1] in _JPEG_FRAMES:
            return int.from_bytes(data[at + 7 : at + 9]), int.from_bytes(data[at + 5 : at + 7])
        at += 2 + int.from_bytes(data[at + 2 : at + 4])
    return None
