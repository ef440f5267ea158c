"""A safe name for a file that a server sends: from its header, else from the address, else from its type.

A name is one visible component that every system can store: no folders, no leading dot, no reserved names. Pure.
Spec: RFC 6266 (Content-Disposition), RFC 8187 (`filename*`).
"""

import mimetypes
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from skales.security.invisible import strip_invisible

_MOST_BYTES = 180
_MOST_ENDING = 20
_PARAMETER = re.compile(r";\s*([A-Za-z0-9!#$&+.^_`|~-]+\*?)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^;\s]*))")
_EXTENDED = re.compile(r"([A-Za-z0-9-]{1,20})'[^']{0,40}'(.*)", re.DOTALL)
# What Windows, the strictest, cannot store; control characters are gone already.
_FORBIDDEN = re.compile(r"[<>:\"|?*\x00-\x1f\x7f]")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
_ENDINGS = {"image/jpeg": ".jpg", "text/plain": ".txt", "text/html": ".html", "application/octet-stream": ".bin"}


def choose_name(disposition: str, address: str, content_type: str) -> str:
    """The best name there is; never empty."""
    for text in (*_disposition_names(disposition), _address_name(address)):
        name = safe_name(text)
        if name:
            return name if "." in name else f"{name}{_ending(content_type)}"
    return f"download{_ending(content_type)}"


def safe_name(text: str) -> str:
    """The last component of a name, made harmless; empty when nothing is left."""
    last = re.split(r"[/\\]", text.strip())[-1]
    visible = "".join(char if char.isprintable() else " " for char in strip_invisible(last)[0])
    name = " ".join(unicodedata.normalize("NFC", _FORBIDDEN.sub("_", visible)).split())
    name = name.lstrip(". ").rstrip(". ")
    if _RESERVED.fullmatch(name):
        name = f"_{name}"
    return _cut(name)


def numbered(name: str, number: int) -> str:
    """The name with a number before its ending: `report (2).pdf`."""
    stem, dot, ending = name.rpartition(".")
    if not stem or len(ending) > _MOST_ENDING:
        return f"{name} ({number})"
    if stem.endswith(".tar"):
        stem, dot, ending = stem.removesuffix(".tar"), ".tar.", ending
    return f"{stem} ({number}){dot}{ending}"


def _disposition_names(header: str) -> Iterator[str]:
    """`filename*` before `filename`, as the standard wants."""
    found = {match[1].lower(): _unquote(match) for match in reversed(list(_PARAMETER.finditer(f";{header}")))}
    extended = _EXTENDED.fullmatch(found.get("filename*", ""))
    if extended:
        # A plain name follows one that cannot be read.
        with suppress(LookupError, UnicodeDecodeError):
            yield unquote_to_bytes(extended[2]).decode(extended[1])
    plain = found.get("filename", "")
    if plain:
        yield _as_utf8(unquote(plain) if re.search("%[0-9A-Fa-f]{2}", plain) else plain)


def _unquote(match: re.Match[str]) -> str:
    return re.sub(r"\\(.)", r"\1", match[2]) if match[2] is not None else match[3]


def _as_utf8(text: str) -> str:
    """Many servers put UTF-8 into a header, which is read as Latin-1."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def _address_name(address: str) -> str:
    try:
        return unquote(urlsplit(address).path.rpartition("/")[2])
    except ValueError:
        return ""


def _ending(content_type: str) -> str:
    kind = content_type.partition(";")[0].strip().lower()
    return _ENDINGS.get(kind) or mimetypes.guess_extension(kind) or ""


def _cut(name: str) -> str:
    """Short enough for every disk, with its ending kept."""
    if len(name.encode()) <= _MOST_BYTES:
        return name
    stem, dot, ending = name.rpartition(".")
    if not stem or len(ending) > _MOST_ENDING:
        stem, dot, ending = name, "", ""
    room = _MOST_BYTES - len(f"{dot}{ending}".encode())
    return f"{stem.encode()[:room].decode(errors='ignore').rstrip('. ')}{dot}{ending}"
