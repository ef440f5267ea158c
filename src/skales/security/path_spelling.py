"""Texts that cannot be a path, or that a system would read as another one. Pure; no disk is touched."""

import os
import re

# Linux: PATH_MAX and NAME_MAX in bytes (limits.h); the other systems are near enough or refuse by themselves.
_MAX_PATH_BYTES = 4095
_MAX_NAME_BYTES = 255

_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)


def find_spelling_fault(text: str, *, windows: bool = os.name == "nt") -> str:
    """Why the text cannot name a file, as the end of a sentence; empty when it can."""
    if not text.strip():
        return "it is empty"
    if "\0" in text:
        return "it contains a NUL character"
    try:
        size_bytes = len(os.fsencode(text))
        longest_bytes = max(len(os.fsencode(part)) for part in text.split("/"))
    except UnicodeEncodeError:
        return "it contains half a character"
    if size_bytes > _MAX_PATH_BYTES or longest_bytes > _MAX_NAME_BYTES:
        return "it is too long"
    return _find_windows_fault(text) if windows else ""


def _find_windows_fault(text: str) -> str:
    """Spellings that Windows reads as a device, a hidden stream, or a name other than the one written."""
    if text.startswith(("\\\\.\\", "\\\\?\\", "//./", "//?/")):
        return "it names a device"
    rest = text[2:] if re.match(r"[A-Za-z]:[\\/]", text) else text
    if ":" in rest:
        return "it contains a colon"
    parts = [part for part in re.split(r"[\\/]", rest) if part not in ("", ".", "..")]
    if any(_DEVICE.fullmatch(part) for part in parts):
        return "it names a device"
    if any(part.endswith((".", " ")) for part in parts):
        return "a name in it ends in a period or a blank"
    return ""
