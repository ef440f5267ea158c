"""A document whose long list only grows: what the file holds of the list is copied, not encoded anew.

A conversation of thousands of messages is written whole with each further one, because a file is replaced in one step;
all that is work on the old ones is reading and writing their bytes.
Spec: data-directory.md, "Write rules".
"""

from collections.abc import Mapping
from operator import is_
from pathlib import Path

from skales.core.json import JsonValue, as_list, parse_json
from skales.data.document import (
    LIST_END,
    LIST_START,
    NEXT_LINE,
    ChangedOnDiskError,
    Stamp,
    are_objects,
    dump_lines,
    dump_object,
    read_bytes,
    write_bytes,
    write_stamped,
)


def write_grown(
    path: Path, value: Mapping[str, JsonValue], key: str, *, before: Mapping[str, JsonValue], expected: Stamp
) -> Stamp:
    """Like `write_stamped`, quick when the list under `key` still begins with the very entries it had.

    `before` is what was read from the file in the state `expected`.
    """
    old, new = as_list(before.get(key)), as_list(value.get(key))
    added = new[len(old) :]
    if not old or len(new) < len(old) or not all(map(is_, old, new)) or not are_objects(added):
        return write_stamped(path, value, expected=expected)
    data, stamp = read_bytes(path)
    if stamp != expected:
        raise ChangedOnDiskError(f"{path.name!r} was changed by another program", hint="Try again")
    lines = _find_lines(data, before, key)
    if lines is None:
        return write_stamped(path, value, expected=expected)
    grown = (lines, NEXT_LINE, dump_lines(added)) if added else (lines,)
    return write_bytes(path, dump_object(value, {key: grown}), expected=expected)


def _find_lines(data: bytes, value: Mapping[str, JsonValue], key: str) -> memoryview | None:
    """The text of the list's entries, when the file has a line for each, as we write it.

    It is the right one when what is around it has everything else, and an empty list instead.
    """
    opening = f'\n  "{key}": '.encode() + LIST_START
    start = data.find(opening) + len(opening)
    end = data.find(LIST_END, start)
    if start < len(opening) or end < start or data.count(b"\n", start, end) + 1 != len(as_list(value[key])):
        return None
    try:
        around = parse_json((data[:start] + data[end:]).decode())
    except ValueError:
        return None
    return memoryview(data)[start:end] if around == {**value, key: []} else None
