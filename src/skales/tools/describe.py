"""Says in plain words what a call would do, for approval cards and progress lines.

The words come from the tool's `action`, the values from a model: whatever they hold, the sentence stays one line,
short, and shows every character that could hide what it says.
"""

import re
from collections.abc import Sequence

from skales.core.json import JsonObject, JsonValue, as_object
from skales.core.tool import ToolSpec, property_formats

_LIMIT = 200
_VALUE_LIMIT = 90
_LIST_LIMIT = 3
_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
_PLACE = re.compile(r"\{(\w+)(?::(size))?\}")
_STEP = 1024


def describe_call(spec: ToolSpec, action: str, arguments: JsonObject) -> str:
    """The action with its arguments filled in, at most 200 characters; without an action, the tool's name."""
    properties = as_object(spec.parameters.get("properties"))
    paths = {name for name, form in property_formats(spec).items() if form == "path"}

    def fill(place: re.Match[str]) -> str:
        value = arguments.get(place[1], as_object(properties.get(place[1])).get("default"))
        if place[2]:
            return render_size(len(str(value or "").encode(errors="replace")))
        return _shown(value, is_path=place[1] in paths)

    def fill_optional(part: re.Match[str]) -> str:
        given = all(arguments.get(place[1]) not in (None, "", False) for place in _PLACE.finditer(part[1]))
        return part[1] if given else ""

    # The template is cut down before any value enters it, so that braces in a value stay what they are.
    return _cut(_PLACE.sub(fill, _OPTIONAL.sub(fill_optional, action or spec.name.replace("_", " "))), _LIMIT)


def render_size(size_bytes: int) -> str:
    """A size as people say it: `812 bytes`, `3.4 KB`, `2.0 GB`."""
    if size_bytes < _STEP:
        return "1 byte" if size_bytes == 1 else f"{size_bytes} bytes"
    size = float(size_bytes)
    for unit in ("KB", "MB", "GB"):
        size /= _STEP
        if size < _STEP:
            return f"{size:.1f} {unit}"
    return f"{size / _STEP:.1f} TB"


def visible(text: str) -> str:
    """The text on one line, with line ends as `⏎` and every other character that cannot be seen written as its code."""
    lines = text.splitlines()
    joined = text if lines == [text] else " ⏎ ".join(line.strip() for line in lines if line.strip())
    return "".join(char if char.isprintable() else f"<U+{ord(char):04X}>" for char in joined)


def _shown(value: JsonValue, *, is_path: bool) -> str:
    match value:
        case None:
            return ""
        case str() if is_path:
            # The end of a path says most.
            text = "the workspace" if value in {"", "."} else visible(value)
            return text if len(text) <= _VALUE_LIMIT else f"…{text[-_VALUE_LIMIT + 1 :]}"
        case str():
            return _cut(visible(value), _VALUE_LIMIT)
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return str(value)
        case Sequence():
            return _shown_list(value, is_path=is_path)
        case _:
            return _cut(", ".join(visible(f"{key}: {inner}") for key, inner in value.items()), _VALUE_LIMIT)


def _shown_list(values: Sequence[JsonValue], *, is_path: bool) -> str:
    shown = [_shown(value, is_path=is_path) for value in values[:_LIST_LIMIT]]
    more = len(values) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
