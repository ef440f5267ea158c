"""The tools that add to Obsidian vaults: a new note, or text at the end of one or under a heading. Nothing is replaced.

Line ends, encoding and byte order mark of a note stay as they are. Spec: memory.md, "Obsidian"; data-directory.md,
`obsidianFormat`.
"""

import posixpath
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated

from anyio import to_thread

from skales.core.clock import to_datetime
from skales.core.errors import InputError, ToolError
from skales.core.tool import Effect, Safety, ToolResult
from skales.security.path_spelling import find_spelling_fault
from skales.tools.context import ToolContext
from skales.tools.core.obsidian import find_note, missing_heading
from skales.tools.core.obsidian_links import Finder
from skales.tools.core.obsidian_note import Note, find_headings, match_heading, parse_note
from skales.tools.core.obsidian_vault import (
    MOST_NOTE_BYTES,
    MOST_PATH_CHARS,
    Vault,
    choose_vault,
    fold,
    is_hidden,
    list_vault,
    load_note,
    place_in,
    require_open,
)
from skales.tools.define import Range, tool
from skales.tools.describe import render_size, visible
from skales.tools.documents.coding import encode_text, require_encodable
from skales.tools.file.changes import new_file
from skales.tools.file.safe_open import EntryKind, find_entry, list_folder
from skales.tools.file.text_edit import unify_line_ends
from skales.tools.file.wording import shown_name

# What Obsidian refuses in names, for one system or for links.
_FORBIDDEN = '\\/:*?"<>|#^[]'
_PLACE = re.compile(r"\{(title|date|time|content|tag)\}")
_LINE_END = re.compile("\r\n|\r|\n")


@tool(
    "core",
    Safety.CONFIRM,
    Effect.WRITES,
    action="Create the note {title}[ in {folder}] ({content:size})",
    example=(
        "Save this as a note in Obsidian",
        {"title": "Lisbon trip", "content": "Flights on the 3rd.", "tags": ["travel"]},
    ),
    needs="vault",
    found_by=(
        "neue Notiz anlegen erstellen create put turn fresh note vault write down aufschreiben Zettel "
        "Obsidian new page Seite"
    ),
)
async def obsidian_create_note(  # noqa: PLR0913 - what a model may say to a tool stands in its signature
    ctx: ToolContext,
    title: str,
    content: str,
    folder: str = "",
    tags: Annotated[Sequence[str], Range(0, 20)] = (),
    vault: str = "",
) -> ToolResult:
    """Create a new note in an Obsidian vault; an existing one is never replaced.

    Args:
        title: Name of the note; may hold {date} and {time}.
        content: Its text as Markdown.
        folder: Where in the vault; made when missing.
        tags: Tags for it, without #.
        vault: Name of the vault, when there are several.
    """
    return await to_thread.run_sync(partial(_create, ctx, (title, content, folder), tags, vault))


@tool(
    "core",
    Safety.CONFIRM,
    Effect.WRITES,
    action="Add {content:size} to the note {note}[ under {heading}]",
    example=(
        "Add milk to my shopping note",
        {"note": "Shopping", "content": "- [ ] milk", "heading": "Groceries"},
    ),
    needs="vault",
    found_by=(
        "Notiz ergänzen anhängen daily note add to Tagesnotiz under heading Obsidian idea ergänze dranhängen "
        "Überschrift append"
    ),
)
async def obsidian_append_to_note(
    ctx: ToolContext, note: str, content: str, heading: str = "", vault: str = ""
) -> ToolResult:
    """Add text to the end of an Obsidian note, or under one of its headings.

    Args:
        note: Name, alias or path of the note.
        content: Markdown to add, on lines of its own.
        heading: Heading to add it under, such as Plans#May.
        vault: Name of the vault, when there are several.
    """
    return await to_thread.run_sync(partial(_append, ctx, (note, content), heading, vault))


def _create(ctx: ToolContext, said: tuple[str, str, str], tags: Sequence[str], vault_name: str) -> ToolResult:
    title, content, folder = said
    vault = choose_vault(ctx, vault_name)
    for place in (title, folder):
        if len(place) > MOST_PATH_CHARS:
            raise InputError(f"{visible(place[:80])!r}… cannot name a note: it is too long", hint="Choose another name")
        if place.strip().startswith("/") and place.strip() != "/":
            raise InputError(f"{visible(place[:200])!r} is no place in a vault", hint="Name folders from its top")
    now = to_datetime(ctx.clock.now_ms())
    marks = [tag for text in (*tags, ctx.note_format.tag) if (tag := text.strip().lstrip("#"))]
    _require_tags(marks)
    inner, _slash, last = title.strip().replace("\\", "/").rpartition("/")
    last = _fill(last.removesuffix(".md").strip(), _name_values(now, last))
    name = _fill(ctx.note_format.filename or "{title}", _name_values(now, last)).strip()
    steps = [*(folder.strip() or ctx.note_format.folder).replace("\\", "/").split("/"), *inner.split("/")]
    folders = [_checked_name(step.strip()) for step in steps if step.strip()]
    path = place_in(vault, "/".join([*folders, f"{_checked_name(name)}.md"]))
    _require_free(vault, path)
    text = _compose(ctx, now, (last, content), marks)
    if len(encoded := text.encode(errors="replace")) > MOST_NOTE_BYTES:
        raise InputError(f"The note would be larger than {render_size(MOST_NOTE_BYTES)}")
    with new_file(path, ctx.ids, overwrite=False) as stream:
        stream.write(encoded)
    shown = vault.shown(path)
    summary = f"Created the note {shown}"
    return ToolResult(
        text=f"{summary} in {vault.name} ({render_size(len(encoded))})", summary=summary, files=(str(path),)
    )


def _append(ctx: ToolContext, said: tuple[str, str], heading: str, vault_name: str) -> ToolResult:
    wanted, content = said
    if not content.strip():
        raise InputError("content is empty", hint="Say what to add")
    vault = choose_vault(ctx, vault_name)
    path = vault.root / find_note(vault, wanted, Finder(vault, list_vault(vault, ctx)))
    require_open(vault, path)
    stored = load_note(path)
    added = unify_line_ends(content).strip("\n")
    require_encodable(added, stored.coding)
    if heading.strip():
        number = _line_under(vault.shown(path), parse_note(stored.text), heading)
    else:
        number = _last(_LINE_END.split(stored.text))
    changed = _insert(stored.text, number, added)
    encoded = encode_text(changed, stored.coding)
    if len(encoded) > MOST_NOTE_BYTES:
        raise InputError(f"The note would be larger than {render_size(MOST_NOTE_BYTES)}")
    with new_file(path, ctx.ids, expected=stored.stamp) as stream:
        stream.write(encoded)
    where = f" under {visible(heading.strip())}" if heading.strip() else ""
    summary = f"Added {render_size(len(added.encode(errors='replace')))} to {vault.shown(path)}{where}"
    return ToolResult(text=f"{summary}, from line {number + 1} on", summary=summary, files=(str(path),))


def _line_under(shown: str, note: Note, wanted: str) -> int:
    """The line of the file, from 0, at which the part under a heading ends; blank lines below it stay below."""
    headings = find_headings(note.body)
    found = match_heading(headings, wanted.lstrip("# "))
    if not found:
        raise missing_heading(shown, wanted, [heading.title for heading in headings])
    if len(found) > 1:
        lines = ", ".join(str(note.first_line + heading.line + 1) for heading in found[:5])
        raise ToolError(
            f"{shown!r} has {len(found)} headings {visible(wanted)!r} (lines {lines})",
            hint="Name the heading above it too, such as Plans#May",
            code="ambiguous",
        )
    first = found[0]
    body = note.body.split("\n")
    later = (heading.line for heading in headings if heading.line > first.line and heading.level <= first.level)
    end = next(later, len(body))
    while end > first.end and not body[end - 1].strip():
        end -= 1
    return note.first_line + end


def _last(lines: Sequence[str]) -> int:
    """The line after the text's last, from 0."""
    return len(lines) - 1 if not lines[-1] else len(lines)


def _insert(text: str, number: int, added: str) -> str:
    """The text with lines put in before one of its lines, counted from 0, in the line ends that it has most."""
    ends = _LINE_END.findall(text)
    end = max(dict.fromkeys(ends), key=ends.count) if ends else "\n"
    place = _place_of_line(text, number)
    before, after = text[:place], text[place:]
    is_ended = bool(after) or not text or text.endswith(("\n", "\r"))
    if before and not before.endswith(("\n", "\r")):
        before += end
    return "".join((before, added.replace("\n", end), end if is_ended else "", after))


def _place_of_line(text: str, number: int) -> int:
    """Where a line begins; the end of the text for the line after its last."""
    place = 0
    for count, match in enumerate(_LINE_END.finditer(text), 1):
        if count > number:
            return place
        place = match.end()
    return place if number <= len(_LINE_END.findall(text)) else len(text)


def _compose(ctx: ToolContext, now: datetime, said: tuple[str, str], tags: Sequence[str]) -> str:
    title, content = said
    body = unify_line_ends(content).strip("\n")
    template = unify_line_ends(ctx.note_format.template) or "{content}"
    if "{content}" not in template:
        template = f"{template.rstrip()}\n\n{{content}}"
    values = {
        "title": title,
        "date": now.strftime("%Y-%m-%d"),
        "time": now.strftime("%H:%M"),
        "content": body,
        "tag": ctx.note_format.tag.strip().lstrip("#"),
    }
    text = _fill(template, values).strip("\n")
    missing = [tag for tag in tags if "{tag}" not in template or tag != values["tag"]]
    return f"{_with_tags(text, missing)}\n"


def _with_tags(text: str, tags: Sequence[str]) -> str:
    """Tags as front matter, or at the end of a text that has front matter of its own."""
    kept = list(dict.fromkeys(tags))
    if not kept:
        return text
    if text.startswith("---\n"):
        return f"{text}\n\n{' '.join(f'#{tag}' for tag in kept)}"
    lines = "\n".join(f"  - {tag}" for tag in kept)
    return f"---\ntags:\n{lines}\n---\n\n{text}"


def _fill(template: str, values: Mapping[str, str]) -> str:
    """Put values into their places, in one pass: what a value holds stays as it is."""
    return _PLACE.sub(lambda place: values.get(place[1], place[0]), template)


def _name_values(now: datetime, title: str) -> Mapping[str, str]:
    return {"title": title, "date": now.strftime("%Y-%m-%d"), "time": now.strftime("%H-%M")}


def _checked_name(name: str) -> str:
    """A name that every system and Obsidian's links can carry. Raises InputError."""
    fault = find_spelling_fault(name, windows=True)
    bad = next((char for char in name if char in _FORBIDDEN or not char.isprintable()), "")
    if bad:
        fault = f"it contains {visible(bad)!r}"
    elif name in (".", "..") or is_hidden(name):
        fault = "such names are hidden"
    elif len(name.encode(errors="replace")) > 240:
        fault = "it is too long"
    if fault:
        raise InputError(f"{visible(name[:200])!r} cannot name a note: {fault}", hint="Choose another name")
    return name


def _require_tags(tags: Sequence[str]) -> None:
    for tag in tags:
        if not re.fullmatch(r"[\w/-]+", tag) or tag.isdigit():
            raise InputError(f"{visible(tag[:80])!r} is no tag", hint="Use letters, digits, _, - and / without blanks")


def _require_free(vault: Vault, path: Path) -> None:
    """Names count without their capitals, as in Obsidian."""
    parent = find_entry(path.parent)
    if parent is None:
        return
    if parent.kind is not EntryKind.FOLDER:
        raise ToolError(f"{vault.shown(path.parent)!r} is no folder", code="exists")
    taken = [entry.path.name for entry in list_folder(path.parent) if fold(entry.path.name) == fold(path.name)]
    if taken:
        place = (
            posixpath.join(vault.shown(path.parent), shown_name(taken[0])) if path.parent != vault.root else taken[0]
        )
        raise ToolError(
            f"The note {place!r} exists already; nothing was changed",
            hint="Add to it with obsidian_append_to_note, or choose another title",
            code="exists",
        )
