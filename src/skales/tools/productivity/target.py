"""Where a made document goes: its name, its ending, and that nothing is overwritten unasked."""

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from skales.core.errors import InputError, ToolError
from skales.core.tool import ToolResult
from skales.tools.context import ToolContext
from skales.tools.describe import render_size
from skales.tools.file.changes import new_file
from skales.tools.file.reach import require_allowed
from skales.tools.file.safe_open import EntryKind, find_entry
from skales.tools.file.wording import shown_path

_NO_NAME = re.compile(r"[^\w .,()-]+")
_LONGEST_NAME = 80
_MOST_NAMES = 1_000


def choose_target(
    ctx: ToolContext, wanted: Path | None, about: str, endings: Sequence[str], *, overwrite: bool
) -> Path:
    """The path to write to, which a tool may use. Raises InputError, or ToolError when a file is there.

    Args:
        ctx: The call.
        wanted: The path asked for, with or without an ending; a folder to put the file into; or None.
        about: What the document is about; a name is made of it when none is asked for.
        endings: Those that may be written, the usual one first.
        overwrite: Whether a file that is there may be replaced.
    """
    folder = wanted if wanted is not None and _is_folder(wanted) else None
    if wanted is None or folder is not None:
        return _free_name(ctx, folder or ctx.paths.workspace.resolve(), about, endings[0])
    path = wanted if wanted.suffix else wanted.with_name(f"{wanted.name}{endings[0]}")
    if path.suffix.lower() not in endings:
        raise InputError(f"{path.name!r} has an ending that cannot be written", hint=f"Use one of {', '.join(endings)}")
    if not path.name.isprintable():
        raise InputError("The filename holds signs that cannot be seen", hint="Use letters, digits and spaces")
    require_allowed(path, ctx.paths)
    there = find_entry(path)
    if there is not None and (not overwrite or there.kind is not EntryKind.FILE):
        raise ToolError(
            f"{shown_path(ctx, path)!r} is there already",
            hint="Choose another name, or set overwrite=true if the person wants it replaced",
            code="exists",
        )
    return path


class Made(Struct, frozen=True):
    """A document before it is stored: what is in it (`3 sheets`), and what else the model should know."""

    content: bytes
    facts: str
    note: str = ""


def store(ctx: ToolContext, path: Path, made: Made, *, overwrite: bool) -> ToolResult:
    """Write the file, whole or not at all, and say so; `path` is from `choose_target`."""
    with new_file(path, ctx.ids, overwrite=overwrite) as stream:
        stream.write(made.content)
    summary = f"Made {shown_path(ctx, path)} ({made.facts}, {render_size(len(made.content))})"
    text = f"{summary}. {made.note}" if made.note else summary
    return ToolResult(text=text, summary=summary, files=(str(path),))


def _is_folder(path: Path) -> bool:
    there = find_entry(path)
    return there is not None and there.kind is EntryKind.FOLDER


def _free_name(ctx: ToolContext, folder: Path, about: str, ending: str) -> Path:
    stem = " ".join(_NO_NAME.sub(" ", about).split())[:_LONGEST_NAME].strip(" .-") or "document"
    for number in range(1, _MOST_NAMES):
        path = folder / f"{stem}{f' {number}' if number > 1 else ''}{ending}"
        if find_entry(path, may_be_link=True) is None:
            return require_allowed(path, ctx.paths)
    raise ToolError(f"There are too many files named {stem!r}", hint="Choose a filename", code="exists")
