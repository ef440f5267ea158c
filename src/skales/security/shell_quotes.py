"""What stands inside a shell's `$'…'` and backticks, as plain text. Pure; nothing here knows commands."""

import re

# The escapes of the QUOTING section of the bash manual.
_ANSI_C = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9A-Fa-f]{1,2})|[uU](?P<point>(?<=u)[0-9A-Fa-f]{1,4}|(?<=U)[0-9A-Fa-f]{1,8})"
    r"|c(?P<control>.)|(?P<letter>[abeEfnrtv\\'\"?]))",
    re.DOTALL,
)
_LETTERS = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_MAX_POINT = 0x10FFFF


def decode_ansi_c(text: str) -> str:
    """What `$'text'` means. Escapes the shell does not know stay as they are."""
    return _ANSI_C.sub(_decode_escape, text)


def _decode_escape(match: re.Match[str]) -> str:
    value = match[match.lastgroup or 0]
    match match.lastgroup:
        case "octal":
            return chr(int(value, 8) & 0xFF)
        case "control":
            return chr(ord(value) & 0x1F)
        case "letter":
            return _LETTERS.get(value, value)
        case _:
            point = int(value, 16)
            return chr(point) if point <= _MAX_POINT else match[0]


def unescape_backtick(text: str) -> str:
    """The command between two backticks, one level of backslashes taken off."""
    return re.sub(r"\\([$`\\])", r"\1", text)
