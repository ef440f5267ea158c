"""undo/baseline.jsonl: what the last look at the workspace found, so that the next one reads only what changed.

A look adds a line for each entry that is other than before; a file with more lines of the past than of the present is
written anew. Losing it costs time, nothing else: the next look reads everything again.
"""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from skales.core.json import JsonValue, as_list, parse_json
from skales.data.undo import write_quickly
from skales.data.undo_scan import Seen
from skales.data.undo_shape import Kind, State

_FIELDS = 13
_APPEND = os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
_WORN_LINES = 1_000


class Baseline:
    """What was found, by path, in memory and in its file. Used by one thread at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines = 0
        self.found: Mapping[str, Seen] = {}

    def load(self) -> None:
        """Read the file; a line that cannot be read ends it, as a crash may have cut it."""
        found: dict[str, Seen] = {}
        self._lines = 0
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError):
            lines = []
        for line in lines:
            try:
                path, seen = _parse(line)
            except (ValueError, TypeError):
                self._lines = len(lines) + _WORN_LINES + len(found)  # written anew at the next look
                break
            self._lines += 1
            if seen is None:
                found.pop(path, None)
            else:
                found[path] = seen
        self.found = found

    def become(self, found: Mapping[str, Seen]) -> None:
        """Take over what a look found. Raises OSError."""
        old = self.found
        changed = [_line(path, seen) for path, seen in found.items() if old.get(path) is not seen]
        changed += [_line(path, None) for path in old if path not in found]
        self.found = found
        if not changed:
            return
        if self._lines + len(changed) > 2 * len(found) + _WORN_LINES or not self._append(changed):
            lines = [_line(path, seen) for path, seen in found.items()]
            write_quickly(self._path, "".join(lines).encode())
            self._lines = len(lines)

    def _append(self, lines: Sequence[str]) -> bool:
        """Add to the file; False when there is none."""
        try:
            descriptor = os.open(self._path, _APPEND)
        except FileNotFoundError:
            return False
        with os.fdopen(descriptor, "wb") as file:
            file.write("".join(lines).encode())
        self._lines += len(lines)
        return True


def _line(path: str, seen: Seen | None) -> str:
    if seen is None:
        return json.dumps([path]) + "\n"
    state = seen.state
    mark = seen.mark or (-1, -1, -1, -1, -1)
    entry = [
        path,
        state.kind.value,
        state.mode,
        state.modified_ns,
        state.size_bytes,
        state.digest,
        state.text,
        state.is_kept,
        *mark,
    ]
    return json.dumps(entry) + "\n"


def _parse(line: str) -> tuple[str, Seen | None]:
    """Raises ValueError for what no look wrote."""
    values = as_list(parse_json(line))
    if len(values) == 1 and isinstance(values[0], str):
        return values[0], None
    if len(values) != _FIELDS:
        raise ValueError("a line has other fields")
    path, kind, mode, modified_ns, size_bytes, digest, text, is_kept = values[:8]
    numbers: Sequence[JsonValue] = (mode, modified_ns, size_bytes, *values[8:])
    if not all(isinstance(number, int) for number in numbers):
        raise ValueError("a line has other fields")
    mark = cast("tuple[int, int, int, int, int]", tuple(values[8:]))
    state = State(
        Kind(str(kind)),
        cast("int", mode),
        cast("int", modified_ns),
        cast("int", size_bytes),
        str(digest),
        str(text),
        is_kept is True,
    )
    return str(path), Seen(state, None if mark[0] < 0 else mark)
