"""`{{secret:NAME}}` in the arguments of a call: where it may stand, and what takes its place there.

In an address the value is percent-encoded and stands behind the host; in a command it never stands at all, the shell
finds it in its environment. Pure: whoever asks brings the values. Spec: security.md, "Secrets".
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from skales.core.errors import InputError
from skales.core.json import JsonObject, JsonValue, parse_json

_PLACEHOLDER = re.compile(r"\{\{\s{0,8}secret:\s{0,8}([A-Za-z0-9][A-Za-z0-9_-]{0,63})\s{0,8}\}\}")
_AUTHORITY = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/*[^/?#]*")

_MAX_DEPTH = 64


@dataclass(frozen=True, slots=True)
class Filled:
    """Arguments with the secrets in them, and what commands find in their environment."""

    arguments: JsonObject
    environment: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Filling:
    """What a filling knows: each argument's format, a secret's value, and what a command calls it."""

    formats: Mapping[str, str]
    value_of: Callable[[str], str] = field(repr=False)
    variable_of: Callable[[str], str]
    windows: bool = False


def secret_names(value: JsonValue, depth: int = 0) -> tuple[str, ...]:
    """The names that placeholders in a value's texts mention, each once, in order."""
    found: list[str] = []
    if isinstance(value, str):
        found = [match[1].lower() for match in _PLACEHOLDER.finditer(value)]
    elif depth < _MAX_DEPTH and isinstance(value, Mapping):
        found = [name for item in value.values() for name in secret_names(item, depth + 1)]
    elif depth < _MAX_DEPTH and isinstance(value, (list, tuple)):
        found = [name for item in value for name in secret_names(item, depth + 1)]
    return tuple(dict.fromkeys(found))


def host_of(url: str) -> str:
    """The host of an address, empty when it names none."""
    try:
        return (urlsplit(url).hostname or "").lower().rstrip(".")
    except ValueError:
        return ""


def covers_host(hosts: tuple[str, ...], host: str) -> bool:
    """Whether a host is among these; `*.example.org` is every one below it."""
    return any(host.endswith(known[1:]) if known.startswith("*.") else host == known.strip("[]") for known in hosts)


def require_fillable(formats: Mapping[str, str], arguments: JsonObject) -> None:
    """Raises InputError where a placeholder stands in a path or in the host of an address."""
    for name, value in arguments.items():
        for text in texts_in(value):
            if not secret_names(text):
                continue
            if formats.get(name) == "path":
                raise InputError("A secret cannot stand in a path", hint="Put it into a header, a body or a command")
            if formats.get(name) == "uri" and secret_names(_authority(text)):
                raise InputError("A secret cannot stand in the host of an address", hint="Put it behind the host")


def fill(filling: Filling, arguments: JsonObject) -> Filled:
    """The arguments with every placeholder replaced. Raises InputError where none can stand."""
    require_fillable(filling.formats, arguments)
    environment: dict[str, str] = {}

    def fill_command(text: str) -> str:
        return _fill_command(text, filling, environment)

    def fill_url(text: str) -> str:
        return _PLACEHOLDER.sub(lambda match: quote(filling.value_of(match[1].lower()), safe=""), text)

    def fill_text(text: str) -> str:
        if not _PLACEHOLDER.search(text):
            return text
        is_json = _is_json(text)
        return _PLACEHOLDER.sub(lambda match: _spelled(filling.value_of(match[1].lower()), is_json=is_json), text)

    ways = {"shell-command": fill_command, "uri": fill_url}
    filled = {
        name: _map(value, ways.get(filling.formats.get(name, ""), fill_text)) for name, value in arguments.items()
    }
    return Filled(filled, environment)


def _fill_command(text: str, filling: Filling, environment: dict[str, str]) -> str:
    pieces: list[str] = []
    done, quoting = 0, ""
    for match in _PLACEHOLDER.finditer(text):
        quoting = _quoting_after(text[done : match.start()], quoting)
        name = match[1].lower()
        variable = filling.variable_of(name)
        environment[variable] = filling.value_of(name)
        expand = _expand_windows if filling.windows else _expand
        pieces += [text[done : match.start()], expand(variable, quoting)]
        done = match.end()
    return "".join((*pieces, text[done:]))


def _expand(variable: str, quoting: str) -> str:
    """The variable so that the shell reads it as one piece, whatever the quotes around it."""
    match quoting:
        case '"':
            return f"${{{variable}}}"
        case "'":
            return f"'\"${{{variable}}}\"'"
        case _:
            return f'"${{{variable}}}"'


def _expand_windows(variable: str, quoting: str) -> str:
    if quoting == "'":
        raise InputError("A secret cannot stand between single quotes here", hint="Use double quotes")
    return f"$($env:{variable})" if quoting else f"$env:{variable}"


def _quoting_after(text: str, quoting: str) -> str:
    """The quote that is open behind a piece of a command, given the one that was open before it."""
    skip = False
    for sign in text:
        if skip:
            skip = False
        elif sign == "\\" and quoting != "'":
            skip = True
        elif quoting:
            quoting = "" if sign == quoting else quoting
        elif sign in "'\"":
            quoting = sign
    return quoting


def _authority(url: str) -> str:
    found = _AUTHORITY.match(url)
    return found.group() if found else url


def _is_json(text: str) -> bool:
    if not text.lstrip().startswith(("{", "[", '"')) or text.lstrip().startswith("{{secret"):
        return False
    try:
        parse_json(text)
    except ValueError:
        return False
    return True


def _spelled(value: str, *, is_json: bool) -> str:
    return json.dumps(value, ensure_ascii=False)[1:-1] if is_json else value


def _map(value: JsonValue, change: Callable[[str], str], depth: int = 0) -> JsonValue:
    if isinstance(value, str):
        return change(value)
    if depth >= _MAX_DEPTH or value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {name: _map(item, change, depth + 1) for name, item in value.items()}
    return [_map(item, change, depth + 1) for item in value]


def texts_in(value: JsonValue, depth: int = 0) -> list[str]:
    """Every text in a value."""
    if isinstance(value, str):
        return [value]
    if depth >= _MAX_DEPTH or value is None or isinstance(value, (bool, int, float)):
        return []
    items = value.values() if isinstance(value, Mapping) else value
    return [text for item in items for text in texts_in(item, depth + 1)]
