"""undo/baseline.json: what the last look at the workspace found, so that the next one reads only what changed.

Losing it costs time, nothing else: the next look reads everything again.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from skales.core.json import JsonValue, as_list, as_object, parse_json
from skales.data.undo import write_quickly
from skales.data.undo_scan import Seen
from skales.data.undo_shape import Kind, State

_FIELDS = 12


def load_baseline(path: Path) -> dict[str, Seen]:
    """What was found last; nothing when there is no such file or it cannot be read."""
    try:
        raw = as_object(parse_json(path.read_text(encoding="utf-8")))
        return {name: _seen(entry) for name, entry in as_object(raw.get("found")).items()}
    except (OSError, ValueError, TypeError):
        return {}


def save_baseline(path: Path, found: Mapping[str, Seen]) -> None:
    """Replace the file. Raises OSError."""
    entries = {name: _entry(seen) for name, seen in found.items()}
    write_quickly(path, json.dumps({"found": entries}, separators=(",", ":")).encode())


def _entry(seen: Seen) -> list[JsonValue]:
    state = seen.state
    return [
        state.kind.value,
        state.mode,
        state.modified_ns,
        state.size_bytes,
        state.digest,
        state.text,
        state.is_kept,
        *(seen.mark or (-1, -1, -1, -1, -1)),
    ]


def _seen(entry: JsonValue) -> Seen:
    values = as_list(entry)
    if len(values) != _FIELDS:
        raise ValueError("an entry has other fields")
    kind, mode, modified_ns, size_bytes, digest, text, is_kept = values[:7]
    mark = cast("tuple[int, int, int, int, int]", tuple(values[7:]))
    if not all(isinstance(number, int) for number in (mode, modified_ns, size_bytes, *mark)):
        raise ValueError("an entry has other fields")
    return Seen(
        State(
            Kind(str(kind)),
            cast(int, mode),
            cast(int, modified_ns),
            cast(int, size_bytes),
            str(digest),
            str(text),
            is_kept is True,
        ),
        None if mark[0] < 0 else mark,
    )
