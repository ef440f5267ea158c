"""The tool `obsidian_search`: notes by words and tags, over all vaults or one."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Annotated

from anyio import to_thread
from msgspec import Struct, field

from skales.core.errors import InputError, SkalesError, ToolError
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.core.obsidian_note import find_tags, has_tag, mask_code, parse_note
from skales.tools.core.obsidian_vault import (
    MOST_NOTES,
    Vault,
    choose_vault,
    fold,
    list_vault,
    load_note,
    open_vaults,
    report,
)
from skales.tools.define import Range, tool
from skales.tools.describe import visible
from skales.tools.file.text_edit import unify_line_ends
from skales.tools.file.wording import count_of, shown_name

_TERM = re.compile(r"""tag:(?:"([^"]*)"|(\S+))|"([^"]*)"|(\S+)""")
_MOST_CHARS = 400
_SHOWN_CHARS = 200
_STEP = 200
_TIME_S = 60.0


class _Wanted(Struct, frozen=True):
    """What a note must hold: every text, folded, and every tag."""

    texts: Sequence[str]
    tags: Sequence[str]


class _Hit(Struct, frozen=True):
    """A note that fits. `line` counts from 1, 0 when its name or tags alone fit."""

    vault: str
    path: str
    score: int
    line: int = 0
    text: str = ""


class _Found(Struct):
    """What a search found and what it passed over."""

    hits: list[_Hit] = field(default_factory=list[_Hit])
    searched: int = 0
    unread: int = 0
    notes: list[str] = field(default_factory=list[str])


@tool(
    "core",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    action="Search the notes for {query}",
    example=("Find my notes about the Lisbon trip", {"query": "lisbon tag:travel"}),
    needs="vault",
    found_by=(
        "Notizen durchsuchen notes tag Zettelkasten vault find note Notiz suchen Obsidian finden write "
        "geschrieben thema topic"
    ),
)
async def obsidian_search(
    ctx: ToolContext, query: str, vault: str = "", limit: Annotated[int, Range(1, 100)] = 20
) -> ToolResult:
    """Find notes in the person's Obsidian vaults.

    Args:
        query: Words that must all be there, "words together", and tag:name, which finds nested tags too.
        vault: Only this vault.
        limit: How many notes at most.
    """
    wanted = _read_query(query)
    return await to_thread.run_sync(partial(_search, ctx, wanted, vault, limit))


def _read_query(query: str) -> _Wanted:
    if len(query) > _MOST_CHARS:
        raise InputError(f"query is longer than {_MOST_CHARS} characters", hint="Name the few words that tell most")
    texts: list[str] = []
    tags: list[str] = []
    for match in _TERM.finditer(query):
        tag, text = match[1] or match[2], match[3] or match[4]
        if tag:
            tags.append(tag)
        elif text and fold(text):
            texts.append(fold(text))
    if not texts and not tags:
        raise InputError("query is empty", hint="Name words, or a tag as tag:name")
    return _Wanted(texts, tags)


def _search(ctx: ToolContext, wanted: _Wanted, vault_name: str, limit: int) -> ToolResult:
    found = _Found()
    started_s = ctx.clock.monotonic_s()
    for vault in _vaults(ctx, vault_name, found):
        for number, path in enumerate(_notes(ctx, vault, found)):
            if number % _STEP == 0:
                report(ctx, f"Searching {vault.name}", number, 0)
                if ctx.clock.monotonic_s() - started_s > _TIME_S:
                    found.notes.append("The search took too long and was ended; search one vault, or fewer words")
                    break
            _look_at(vault, path, wanted, found)
    found.hits.sort(key=lambda hit: (-hit.score, hit.path))
    return _result(found, limit)


def _vaults(ctx: ToolContext, wanted: str, found: _Found) -> Iterator[Vault]:
    if wanted.strip():
        yield choose_vault(ctx, wanted)
        return
    vaults = open_vaults(ctx)
    usable = [vault for _name, _place, vault in vaults if isinstance(vault, Vault)]
    broken = [vault for _name, _place, vault in vaults if isinstance(vault, ToolError)]
    if not usable:
        raise broken[0]
    found.notes += [error.message for error in broken]
    yield from usable


def _notes(ctx: ToolContext, vault: Vault, found: _Found) -> Sequence[str]:
    shelf = list_vault(vault, ctx)
    if shelf.is_cut:
        found.notes.append(f"{vault.name} holds more than {MOST_NOTES:,} notes; only those were searched")
    return shelf.notes


def _look_at(vault: Vault, path: str, wanted: _Wanted, found: _Found) -> None:
    try:
        text = load_note(vault.root / path).text
    except SkalesError:
        found.unread += 1
        return
    found.searched += 1
    name = fold(posixpath.basename(path).removesuffix(".md"))
    folded = fold(text)
    if not all(word in folded or word in name for word in wanted.texts):
        return
    if wanted.tags and not _has_tags(text, folded, wanted.tags):
        return
    line, shown = _first_line(text, wanted.texts)
    score = sum(100 * (word == name) + 10 * (word in name) + min(folded.count(word), 9) for word in wanted.texts)
    found.hits.append(_Hit(vault.name, path, score, line, shown))


def _has_tags(text: str, folded: str, tags: Sequence[str]) -> bool:
    # Taking a note apart takes longer than seeing that the word is not in it.
    if not all(fold(tag).strip("#/") in folded for tag in tags):
        return False
    note = parse_note(text)
    missing = [tag for tag in tags if not has_tag(note.front_tags, tag)]
    if not all(f"#{fold(tag).strip('#/')}" in folded for tag in missing):
        return False
    given = find_tags(mask_code(note.body)) if missing else ()
    return all(has_tag(given, tag) for tag in missing)


def _first_line(text: str, words: Sequence[str]) -> tuple[int, str]:
    """The first line with one of the words, and what it says around it."""
    for number, line in enumerate(unify_line_ends(text).split("\n"), 1):
        folded = fold(line)
        places = [place for word in words if (place := folded.find(word)) >= 0]
        if places:
            start = max(min(places) - _SHOWN_CHARS // 4, 0)
            return number, visible(line.strip()[start : start + _SHOWN_CHARS])
    return 0, ""


def _result(found: _Found, limit: int) -> ToolResult:
    lines = [_line(hit) for hit in found.hits[:limit]]
    if len(found.hits) > limit:
        lines.append(f"[{len(found.hits) - limit:,} more notes; use more words, or a larger limit]")
    notes = [f"{note}." for note in found.notes]
    if found.unread:
        notes.append(f"{count_of(found.unread, 'note')} could not be read or were larger than 2 MB.")
    summary = f"Found {count_of(len(found.hits), 'note')} of {found.searched:,}"
    return ToolResult(
        text="\n".join([f"{summary}.", *lines, *notes]),
        summary=summary,
        data={
            "notes": [{"vault": hit.vault, "path": hit.path, "line": hit.line or None} for hit in found.hits[:limit]],
            "total": len(found.hits),
        },
    )


def _line(hit: _Hit) -> str:
    where = f"{shown_name(hit.path)} ({hit.vault})"
    return f"- {where}, line {hit.line}: {hit.text}" if hit.line else f"- {where}"
