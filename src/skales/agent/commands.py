"""`/tool name key=value …`: a person runs a tool without a model; `/why …` with the same words only explains.

Spec: issue text; tools.md for the names.
"""

import shlex
from collections.abc import Mapping

from skales.core.errors import InputError
from skales.core.json import JsonObject, JsonValue, parse_typed
from skales.core.tool import ToolSpec

PREFIX = "/tool"
WHY = "/why"


def is_tool_command(text: str) -> bool:
    """Whether a chat message asks for a tool directly."""
    return text == PREFIX or text.startswith((f"{PREFIX} ", f"{PREFIX}\n"))


def is_why_command(text: str) -> bool:
    """Whether a chat message asks why a call asks, or what would happen with one."""
    return text == WHY or text.startswith((f"{WHY} ", f"{WHY}\n"))


def tool_name(text: str) -> str:
    """The tool a `/tool` message names. Raises InputError when it names none."""
    words = text.split(maxsplit=2)
    if len(words) < 2:
        raise InputError("No tool is named", hint="Write /tool read_file path=notes.txt")
    return words[1]


def parse_tool_arguments(text: str, spec: ToolSpec) -> JsonObject:
    """The arguments of a `/tool` message: `key=value`, quotes as in a shell, JSON for lists and objects.

    A value without a key goes to the first required parameter that has none.
    """
    rest = text.split(maxsplit=2)[2:]
    try:
        words = shlex.split("".join(rest))
    except ValueError as error:
        raise InputError(f"The arguments cannot be read: {error}", hint="Close every quote") from error
    properties = spec.parameters.get("properties")
    known = list(properties) if isinstance(properties, Mapping) else []
    required = spec.parameters.get("required")
    open_names = [name for name in known if isinstance(required, (list, tuple)) and name in required]
    arguments: dict[str, JsonValue] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if equals and key.isidentifier():
            arguments[key] = parse_typed(value)
            continue
        free = [name for name in open_names if name not in arguments]
        if not free:
            raise InputError(
                f"{word!r} belongs to no parameter", hint=f"Write key=value; {spec.name} knows {', '.join(known)}"
            )
        arguments[free[0]] = parse_typed(word)
    return arguments
