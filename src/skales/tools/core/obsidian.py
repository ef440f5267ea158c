"""The tools that look into Obsidian vaults: which there are, what is in a folder, one note with its tags and links.

Searching and writing stand beside. Spec: memory.md, "Obsidian".
"""

from collections.abc import Sequence
from functools import partial

from anyio import to_thread

from skales.core.clock import to_datetime
from skales.core.errors import ToolError
from skales.core.json import JsonObject, JsonValue
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.core.obsidian_links import Finder, Led
from skales.tools.core.obsidian_note import Note, find_headings, find_tags, mask_code, match_heading, parse_note
from skales.tools.core.obsidian_vault import (
    MOST_NOTES,
    Vault,
    choose_vault,
    is_note,
    list_vault,
    load_note,
    open_vaults,
    place_in,
    require_open,
    walk_vault,
)
from skales.tools.define import tool
from skales.tools.describe import render_size, visible
from skales.tools.file.safe_open import Entry, EntryKind, find_entry
from skales.tools.file.wording import count_of, shown_name

_LISTED = 500
_SHOWN_LINKS = 100


@tool(
    "core",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    action="List the Obsidian vaults",
    example=("Which vaults do I have?", {}),
    needs="vault",
    found_by="Tresor Notizen vaults notes second brain welche Obsidian Tresore",
)
async def obsidian_list_vaults(ctx: ToolContext) -> ToolResult:
    """List the person's Obsidian vaults with how many notes each holds."""
    lines, rows = await to_thread.run_sync(_describe_vaults, ctx)
    return ToolResult(text="\n".join(lines), summary=count_of(len(lines), "vault"), data={"vaults": rows})


@tool(
    "core",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    action="List {folder} in the vault[ {vault}]",
    example=("What is in my Projects folder in Obsidian?", {"folder": "Projects"}),
    needs="vault",
    found_by="Notizen Ordner vault folder auflisten notes in Obsidian journal list",
)
async def obsidian_list_folder(ctx: ToolContext, folder: str = "", vault: str = "") -> ToolResult:
    """List notes and folders in a folder of an Obsidian vault.

    Args:
        folder: Path in the vault; empty for its top.
        vault: Name of the vault, when there are several.
    """
    return await to_thread.run_sync(partial(_list, ctx, folder, vault))


@tool(
    "core",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    action="Read the note {note}",
    example=("What does my note on Lisbon say?", {"note": "Lisbon"}),
    needs="vault",
    found_by="Notiz lesen note öffnen vault show Obsidian read open zeigen vorlesen says",
)
async def obsidian_read(ctx: ToolContext, note: str, heading: str = "", vault: str = "") -> ToolResult:
    """Read a note of an Obsidian vault with its tags and where its links lead.

    Args:
        note: Name, alias or path of the note.
        heading: Only what stands under this heading, such as Plans#May.
        vault: Name of the vault, when there are several.
    """
    return await to_thread.run_sync(partial(_read, ctx, note, heading, vault))


def find_note(vault: Vault, text: str, finder: Finder) -> str:
    """The path in the vault of the note a name means. Raises ToolError with names that are nearly the same."""
    name = text.strip()
    if name.startswith("[[") and name.endswith("]]"):  # as it is written in a note
        name = name[2:-2].partition("|")[0].partition("#")[0].strip()
    if not name:
        raise ToolError("The note's name is empty", hint="Look for it with obsidian_search")
    for spelling in (name, f"{name}.md"):
        if not is_note(spelling):
            continue
        path = place_in(vault, spelling)
        entry = find_entry(path)
        if entry is not None and entry.kind is EntryKind.FILE:
            return path.relative_to(vault.root).as_posix()
    found = [path for path in finder.find(name) if is_note(path)]
    if not found:
        near = " or ".join(repr(path) for path in finder.near(name))
        hint = f"Did you mean {near}" if near else "Look for it with obsidian_search"
        raise ToolError(f"There is no note {visible(name[:200])!r} in {vault.name!r}", hint=hint, code="not_found")
    if len(found) > 1:
        which = ", ".join(map(repr, found[:5]))
        raise ToolError(f"Several notes are called {visible(name)!r}", hint=f"Name one of {which}", code="ambiguous")
    return found[0]


def _describe_vaults(ctx: ToolContext) -> tuple[Sequence[str], Sequence[JsonValue]]:
    lines: list[str] = []
    rows: list[JsonValue] = []
    for name, place, vault in open_vaults(ctx):
        row = {"name": visible(name), "path": shown_name(str(place))}
        if isinstance(vault, ToolError):
            lines.append(f"- {visible(name)}: {vault}")
            rows.append({**row, "error": vault.message})
            continue
        shelf = list_vault(vault, ctx)
        more = f" (only the first {MOST_NOTES:,} are used)" if shelf.is_cut else ""
        lines.append(f"- {visible(name)}: {count_of(len(shelf.notes), 'note')}{more}, in {shown_name(str(place))}")
        rows.append({**row, "notes": len(shelf.notes)})
    return lines, rows


def _list(ctx: ToolContext, folder: str, wanted: str) -> ToolResult:
    vault = choose_vault(ctx, wanted)
    path = place_in(vault, folder)
    entry = find_entry(path)
    if entry is None or entry.kind is not EntryKind.FOLDER:
        raise ToolError(f"There is no folder {visible(folder[:200])!r} in {vault.name!r}", code="not_found")
    lines: list[str] = []
    rows: list[JsonValue] = []
    total = 0
    for found in walk_vault(vault, path, depth=1):
        total += 1
        if total <= _LISTED:
            lines.append(_line(found))
            rows.append({"path": vault.shown(found.path), "kind": found.kind.value})
    if total > _LISTED:
        lines.append(f"[{total - _LISTED:,} more; search for what you need]")
    where = vault.shown(path) if path != vault.root else vault.name
    summary = f"{where} holds {count_of(total, 'entry', 'entries')}"
    data: JsonObject = {"vault": vault.name, "entries": rows, "total": total}
    return ToolResult(text="\n".join(lines) or f"[{where} is empty]", summary=summary, data=data)


def _line(entry: Entry) -> str:
    name = shown_name(entry.path.name)
    match entry.kind:
        case EntryKind.FOLDER:
            return f"{name}/"
        case EntryKind.FILE:
            day = to_datetime(entry.modified_ms).strftime("%Y-%m-%d")
            return f"{name}  {render_size(entry.size_bytes)}  {day}"
        case EntryKind.LINK | EntryKind.OTHER:
            return f"{name} (no plain file)"


def _read(ctx: ToolContext, wanted: str, heading: str, vault_name: str) -> ToolResult:
    vault = choose_vault(ctx, vault_name)
    finder = Finder(vault, list_vault(vault, ctx))
    path = find_note(vault, wanted, finder)
    require_open(vault, vault.root / path)
    note = parse_note(load_note(vault.root / path).text)
    masked = mask_code(note.body)
    led = finder.follow(path, note, masked)
    body = _section(note, heading, path) if heading.strip() else note.body
    tags = list(dict.fromkeys((*note.front_tags, *find_tags(masked))))
    head = [f"Note: {shown_name(path)} in {vault.name}"]
    head += [f"Tags: {', '.join(f'#{visible(tag)}' for tag in tags)}"] if tags else []
    head += [f"Also called: {', '.join(map(visible, note.aliases))}"] if note.aliases else []
    head += [f"Front matter not read: {note.fault}"] if note.fault else []
    return ToolResult(
        text="\n".join([*head, *_link_lines(led), "", body.strip("\n") or "[The note is empty.]"]),
        summary=f"Read the note {shown_name(path)}",
        data=_data(vault, path, tags, led),
    )


def _section(note: Note, wanted: str, path: str) -> str:
    headings = find_headings(note.body)
    found = match_heading(headings, wanted)
    if not found:
        raise missing_heading(path, wanted, [heading.title for heading in headings])
    first = found[0]
    later = (heading.line for heading in headings if heading.line > first.line and heading.level <= first.level)
    return "\n".join(note.body.split("\n")[first.line : next(later, None)])


def missing_heading(path: str, wanted: str, titles: Sequence[str]) -> ToolError:
    """What to raise for a heading that a note has not."""
    shown = ", ".join(visible(title) for title in titles[:30])
    hint = f"It has {shown}" if shown else "It has no headings"
    return ToolError(f"{path!r} has no heading {visible(wanted[:200])!r}", hint=hint, code="no_heading")


def _link_lines(led: Sequence[Led]) -> Sequence[str]:
    """Each target once, those that lead nowhere with the reason."""
    lines = list(dict.fromkeys(_link_line(one) for one in led))
    hidden = len(lines) - _SHOWN_LINKS
    more = [f"[{hidden:,} more links]"] if hidden > 0 else []
    return ["Links:", *lines[:_SHOWN_LINKS], *more] if lines else []


def _link_line(led: Led) -> str:
    link = led.link
    part = f"#{link.part}" if link.part else ""
    kind = "embeds " if link.is_embed else ""
    written = visible(f"{link.target}{part}")
    if led.fault:
        return f"- {kind}{written}: unresolved, {led.fault}"
    return f"- {kind}{written} → {shown_name(led.path)}"


def _data(vault: Vault, path: str, tags: Sequence[str], led: Sequence[Led]) -> JsonObject:
    return {
        "vault": vault.name,
        "path": path,
        "tags": list(tags),
        "links": [
            {
                "target": one.link.target,
                "part": one.link.part,
                "embed": one.link.is_embed,
                "path": one.path or None,
                "unresolved": one.fault or None,
            }
            for one in led[:_SHOWN_LINKS]
        ],
    }
