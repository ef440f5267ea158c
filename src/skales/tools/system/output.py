"""What a terminal would show of a program's output, as plain text: no colours, no cursor tricks, no hidden signs."""

import codecs
import locale
import re

from skales.security.invisible import strip_invisible

# ECMA-48: control sequences, strings with their end, and two-character escapes. Strings that never end are cut short.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|\x1b\][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)?"
    r"|\x1b[PX^_][^\x1b\n]{0,4096}(?:\x1b\\)?"
    r"|\x1b[ -/]*[0-~]"
)


def render_output(raw: bytes) -> str:
    """Decode, drop escapes, and let carriage returns and backspaces do what they do on a screen."""
    text = _ESCAPES.sub("", _decode(raw)).replace("\r\n", "\n")
    lines = [_overwrite(line) if "\r" in line or "\b" in line else line for line in text.split("\n")]
    return strip_invisible("\n".join(lines))[0].strip("\n")


def cut_to_lines(head: bytes, tail: bytes) -> tuple[bytes, bytes]:
    """Both ends of a cut output without the lines the cut went through, where there are lines."""
    end = head.rfind(b"\n")
    start = tail.find(b"\n")
    return (head[: end + 1] if end >= 0 else head), (tail[start + 1 :] if start >= 0 else tail)


def _decode(raw: bytes) -> str:
    """UTF-8, else what this computer's programs use by default."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        encoding = locale.getencoding()
        is_utf8 = codecs.lookup(encoding).name == "utf-8"
        return raw.decode("utf-8" if is_utf8 else encoding, "replace")


def _overwrite(line: str) -> str:
    shown: list[str] = []
    place = 0
    for char in line:
        if char == "\r":
            place = 0
        elif char == "\b":
            place = max(place - 1, 0)
        else:
            shown[place : place + 1] = [char]
            place += 1
    return "".join(shown)
