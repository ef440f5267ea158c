"""write_file and append_file: whole contents in, with the encoding and line ends that a file already has.

Both show what they change as a diff, before on the approval card and after in the result.
"""

from functools import partial
from pathlib import Path

from anyio import to_thread
from msgspec import Struct

from skales.core.errors import ToolError
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.define import tool
from skales.tools.describe import render_size
from skales.tools.documents.coding import TextCoding, detect_coding, encode_text, require_encodable
from skales.tools.documents.kinds import detect_kind
from skales.tools.file.changes import append_bytes, new_file
from skales.tools.file.diff import Diff, diff_texts
from skales.tools.file.safe_open import find_entry, open_file
from skales.tools.file.wording import count_of, shown_path

_SAMPLE_BYTES = 256 * 1024
_UTF8 = TextCoding("utf-8")
# Of a longer file only what is added to it is shown.
_COMPARED_BYTES = 4 * 1024 * 1024


class _Style(Struct, frozen=True):
    """How a file stores text: None for `coding` when it holds none."""

    coding: TextCoding | None
    has_windows_ends: bool = False


class _Before(Struct, frozen=True):
    """A file as it is: in words with article, and its text, None when it holds none or more than is compared."""

    style: _Style
    words: str
    text: str | None


def preview_write(ctx: ToolContext, path: Path, content: str) -> str:
    """What write_file would change."""
    old = _look(path)
    if old is not None and old.text is None:
        return f"It takes the place of {old.words}."
    return _compare(old, content, shown_path(ctx, path)).text or "The text stays as it is."


def preview_append(ctx: ToolContext, path: Path, content: str) -> str:
    """What append_file would change."""
    old = _look(path)
    return _compare_end(old, content, shown_path(ctx, path)).text


@tool(
    "file",
    Safety.CONFIRM,
    Effect.WRITES,
    action="Write {content:size} to {path}",
    example=("Save 'buy milk' as todo.txt", {"path": "todo.txt", "content": "buy milk\n"}),
    basic=True,
    preview=preview_write,
    found_by=(
        "write create erstellen make program hello Code Datei schreiben speichern anlegen save new file neue "
        "notieren put Rezept recipe text festhalten store reinschreiben ablegen draft script readme"
    ),
)
async def write_file(ctx: ToolContext, path: Path, content: str) -> ToolResult:
    """Create a text file, or replace all of an existing one; folders on the way are made.

    Args:
        path: File to write.
        content: The whole text.
    """
    return await to_thread.run_sync(partial(_write, ctx, path, content))


@tool(
    "file",
    Safety.CONFIRM,
    Effect.WRITES,
    action="Add {content:size} to the end of {path}",
    example=("Add 'call Ana' to todo.txt", {"path": "todo.txt", "content": "call Ana\n"}),
    preview=preview_append,
    found_by=(
        "unten dazu dazuschreiben reinschreiben line Zeile end bottom anhängen ergänzen hinzufügen ans Ende "
        "log journal dranhängen Satz tack onto attach note entry eintragen Tagebuch"
    ),
)
async def append_file(ctx: ToolContext, path: Path, content: str) -> ToolResult:
    """Add text to the end of a file, creating it when it does not exist.

    Args:
        path: File to add to.
        content: Written as is; begin with a line end to start a new line.
    """
    return await to_thread.run_sync(partial(_append, ctx, path, content))


def _write(ctx: ToolContext, path: Path, content: str) -> ToolResult:
    name = shown_path(ctx, path)
    before = _look(path)
    old = before.style if before else None
    style = _kept_style(old)
    text = _with_ends(content, style)
    encoded = _encode(text, style.coding or _UTF8)
    with new_file(path, ctx.ids) as stream:
        stream.write(encoded)
    lines = count_of(text.count("\n") + (not text.endswith("\n") and bool(text)), "line")
    summary = f"{'Created' if old is None else 'Replaced'} {name} ({render_size(len(encoded))}, {lines})"
    diff = _compare(before, content, name)
    return ToolResult(text=f"{summary}{_kept_note(old, style)}", summary=summary, data=diff.data, files=(str(path),))


def _append(ctx: ToolContext, path: Path, content: str) -> ToolResult:
    name = shown_path(ctx, path)
    before = _look(path)
    if before is None:
        return _write(ctx, path, content)
    style = before.style
    if style.coding is None:
        raise ToolError(f"{name!r} holds no text; adding some would damage it", hint="Write another file")
    encoded = _encode(_with_ends(content, style), TextCoding(style.coding.codec))
    append_bytes(path, encoded)
    summary = f"Added {render_size(len(encoded))} to {name}"
    diff = _compare_end(before, content, name)
    return ToolResult(text=summary, summary=summary, data=diff.data, files=(str(path),))


def _look(path: Path) -> _Before | None:
    """An existing file, None when there is none."""
    if find_entry(path) is None:
        return None
    with open_file(path) as stream:
        size_bytes = stream.seek(0, 2)
        kind = detect_kind(stream)
        stream.seek(0)
        sample = stream.read(_SAMPLE_BYTES)
        is_whole = len(sample) == size_bytes
        rest = b"" if is_whole or size_bytes > _COMPARED_BYTES else stream.read(_COMPARED_BYTES)
    size = render_size(size_bytes)
    coding = None if kind else detect_coding(sample, is_whole=is_whole)
    if coding is None:
        return _Before(_Style(None), f"{kind.words if kind else 'a file that is no text'} ({size})", None)
    words = f"a text of {size}"
    text = sample[len(coding.mark) :].decode(coding.codec, "ignore")
    ends = text.count("\n")
    style = _Style(coding, has_windows_ends=ends > 0 and text.count("\r\n") == ends)
    if size_bytes > _COMPARED_BYTES:
        return _Before(style, words, None)
    return _Before(style, words, (sample + rest)[len(coding.mark) :].decode(coding.codec, "replace"))


def _compare(before: _Before | None, content: str, name: str) -> Diff:
    """What becomes of a file whose whole text is exchanged; one that holds none counts as new."""
    return diff_texts(before.text if before else None, content.removeprefix("\ufeff"), name)


def _compare_end(before: _Before | None, content: str, name: str) -> Diff:
    if before is None or before.text is None:
        return diff_texts(None, content, f"{name}, end" if before else name)
    return diff_texts(before.text, f"{before.text}{content}", name)


def _kept_style(old: _Style | None) -> _Style:
    """What new content keeps of a file: a mark with its encoding, and line ends; an encoding that was guessed ends."""
    if old is None or old.coding is None:
        return _Style(_UTF8)
    coding = old.coding if old.coding.mark or old.coding.codec.startswith(("utf-16", "utf-32")) else _UTF8
    return _Style(coding, old.has_windows_ends)


def _kept_note(old: _Style | None, style: _Style) -> str:
    if old is None or old.coding is None:
        return ""
    kept = [style.coding.label] if style.coding and style.coding != _UTF8 else []
    kept += ["Windows line ends"] if style.has_windows_ends else []
    note = f". Kept its {' and '.join(kept)}" if kept else ""
    if style.coding != old.coding:
        note += f". It was {old.coding.label} and is UTF-8 now"
    return note


def _with_ends(content: str, style: _Style) -> str:
    """Windows line ends where the file has only those and the content brings none of its own."""
    return content.replace("\n", "\r\n") if style.has_windows_ends and "\r" not in content else content


def _encode(text: str, coding: TextCoding) -> bytes:
    require_encodable(text, coding)
    return encode_text(text.removeprefix("\ufeff") if coding.mark else text, coding)
