"""Tool results that are too long for a model: whole in a file, with head and tail for the conversation.

The files lie in the workspace, where the agent's own tools may read them.
"""

import hashlib
import os
import re
from pathlib import Path

from skales.core.ids import is_safe_id
from skales.data.document import lock_for, write_bytes
from skales.data.paths import DataDirectory

RESULT_LIMIT = 20_000  # characters
_HEAD_SHARE = 2 / 3  # beginnings say more than ends, but errors stand at the end


def spill(directory: DataDirectory, session_id: str, call_id: str, text: str) -> Path:
    """Write a whole result to `workspace/results/<session>/<call>.txt`; the path it got.

    Ids may be any text a model wrote. Models count their calls anew each turn, so a taken name gets a number. Raises
    StorageError.
    """
    folder = directory.results / _file_name(session_id)
    name = _file_name(call_id)
    with lock_for(folder):
        path = folder / f"{name}.txt"
        number = 2
        while os.path.lexists(path):
            path = folder / f"{name}-{number}.txt"
            number += 1
        write_bytes(path, text.encode(errors="backslashreplace"))
    return path


def shorten(text: str, path: Path, limit: int = RESULT_LIMIT) -> str:
    """Head and tail of a text and between them a line that says what is missing; at most `limit` characters."""
    if len(text) <= limit:
        return text
    room = max(limit - len(_note(len(text), path)), 0)
    head = int(room * _HEAD_SHARE)
    tail = room - head
    note = _note(len(text) - room, path)
    return (text[:head] + note + text[len(text) - tail :])[:limit]


def _note(left_out: int, path: Path) -> str:
    return f"\n\n[{left_out:,} characters left out here; the whole result is in {path}]\n\n"


def _file_name(text: str) -> str:
    """The id itself where it can name a file, else what is readable of it with a digest that keeps it apart."""
    if is_safe_id(text):
        return text
    digest = hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:12]
    return "-".join(part for part in (re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")[:60], digest) if part)
