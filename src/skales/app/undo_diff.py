"""What a change looks like to a person: lines that go and come where both sides are text, else a sentence.

Secrets in the lines are masked: the diff is looked at, copied and logged, the files are not.
"""

import difflib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from skales.core.errors import SkalesError
from skales.data.undo_blobs import BlobStore
from skales.data.undo_files import digest_of, look
from skales.data.undo_shape import Area, Kind, State
from skales.security.redact import redact

_TEXT_BYTES_MOST = 512 * 1024
_LINES_MOST = 400


class Difference(Struct, frozen=True):
    """One change. `lines` is a unified diff without its head; where there is none, `note` says why."""

    what: str
    lines: tuple[str, ...] = ()
    note: str = ""


def describe_change(area: Area, name: str, old: State, new: State, blobs: BlobStore) -> Difference:
    """How a thing goes from one state to another. Reads contents, as far as they are kept or still there."""
    what = _name_change(old, new)
    if area is not Area.FILE:
        return Difference(what, _diff(old.text, new.text))
    if old.kind is Kind.LINK or new.kind is Kind.LINK:
        return Difference(what, _diff(old.text, new.text))
    sides = [_text_of(name, state, blobs) for state in (old, new)]
    if Kind.FILE not in (old.kind, new.kind):
        return Difference(what, note=_mode_note(old, new))
    before, after = sides
    if before is None or after is None:
        return Difference(what, note=_why_not(old, new))
    if before == after:
        return Difference(what, note=_mode_note(old, new))
    return Difference(what, _diff(before, after))


def _name_change(old: State, new: State) -> str:
    if old.kind is Kind.ABSENT:
        return "created"
    if new.kind is Kind.ABSENT:
        return "removed"
    return "changed" if old.kind is new.kind else f"{old.kind.value} became {new.kind.value}"


def _mode_note(old: State, new: State) -> str:
    if old.mode != new.mode and old.kind is new.kind:
        return f"Permissions {old.mode:o} became {new.mode:o}"
    return "A folder" if Kind.FOLDER in (old.kind, new.kind) else "An empty file"


def _why_not(old: State, new: State) -> str:
    sizes = " and ".join(f"{state.size_bytes:,} bytes" for state in (old, new) if state.kind is Kind.FILE)
    return f"Not shown as text: binary, large or no longer there ({sizes})"


def _text_of(name: str, state: State, blobs: BlobStore) -> str | None:
    """The content of a state; nothing for what holds none, None where it cannot be shown."""
    if state.kind is not Kind.FILE:
        return ""
    if not state.digest or state.size_bytes > _TEXT_BYTES_MOST:
        return None
    content = _content(name, state, blobs)
    if content is None or b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def _content(name: str, state: State, blobs: BlobStore) -> bytes | None:
    target = io.BytesIO()
    if blobs.has(state.digest):
        try:
            blobs.copy(state.digest, target)
        except SkalesError:
            return None
        return target.getvalue()

    def take(stream: BinaryIO) -> str:
        target.write(stream.read(_TEXT_BYTES_MOST + 1))
        target.seek(0)
        return digest_of(target)

    try:
        found = look(Path(name), take, limit_bytes=_TEXT_BYTES_MOST)
    except SkalesError:
        return None
    return target.getvalue() if found.digest == state.digest else None


def _diff(before: str, after: str) -> tuple[str, ...]:
    old, new = before.splitlines(), after.splitlines()
    lines: Sequence[str] = list(difflib.unified_diff(old, new, lineterm="", n=2))[2:]
    if not lines and before != after:
        return ("Only line ends differ",)
    shown = [redact(line) for line in lines[:_LINES_MOST]]
    return (*shown, f"[{len(lines) - _LINES_MOST:,} more lines]") if len(lines) > _LINES_MOST else tuple(shown)
