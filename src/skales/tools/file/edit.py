"""edit_file and replace_in_file: change what the call names and keep every other byte. Spec: TOO-02.

Both show what they change as a diff, before on the approval card and after in the result.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated

from anyio import to_thread
from msgspec import Struct

from skales.core.errors import InputError, ToolError
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.define import Range, tool
from skales.tools.describe import render_size
from skales.tools.documents.coding import TextCoding, decode_text, detect_coding, encode_text, require_encodable
from skales.tools.documents.kinds import detect_kind
from skales.tools.file.changes import Stamp, new_file, stamp_of
from skales.tools.file.diff import Diff, diff_texts
from skales.tools.file.patterns import compile_pattern
from skales.tools.file.reach import require_entry
from skales.tools.file.safe_open import open_file
from skales.tools.file.text_edit import (
    Replacement,
    SeenText,
    find_all,
    find_closest,
    line_at,
    replace_pieces,
    see_text,
    unify_line_ends,
)
from skales.tools.file.wording import count_of, shown_path

# A changed text is held in memory a few times over.
_LIMIT_BYTES = 64 * 1024 * 1024
_SHOWN_PLACES = 10
_SHOWN_CHARS = 300


class _OpenText(Struct, frozen=True):
    """A file's text, how to store it again, and the state it was read in."""

    text: SeenText
    coding: TextCoding
    stamp: Stamp


class _Wanted(Struct, frozen=True):
    """What replace_in_file looks for; `limit` 0 takes all."""

    find: str
    replace: str
    is_pattern: bool
    limit: int


class _Planned(Struct, frozen=True):
    """A change that is worked out and not made."""

    name: str
    opened: _OpenText
    replacements: Sequence[Replacement]
    changed: str

    @property
    def diff(self) -> Diff:
        return diff_texts(self.opened.text.original, self.changed, self.name)


_Build = Callable[[str, SeenText], Sequence[Replacement]]


def preview_edit(ctx: ToolContext, path: Path, old_text: str, new_text: str) -> str:
    """What edit_file would change."""
    return _plan(ctx, path, _edit_of(old_text, new_text)).diff.text


def preview_replace(  # noqa: PLR0913 - the parameters of the tool
    ctx: ToolContext, path: Path, find: str, replace: str, regex: bool = False, count: int = 0
) -> str:
    """What replace_in_file would change."""
    return _plan(ctx, path, _replace_of(find, replace, regex, count)).diff.text


@tool(
    "file",
    Safety.CONFIRM,
    Effect.WRITES,
    action="Change {path}: replace “{old_text}” with “{new_text}”",
    example=(
        "Change the port in app.ini from 80 to 8080",
        {"path": "app.ini", "old_text": "port = 80\n", "new_text": "port = 8080\n"},
    ),
    basic=True,
    preview=preview_edit,
    found_by=(
        "put comment at the top einfügen insert add line into file config ändern bearbeiten korrigieren "
        "change fix correct replace Tippfehler update typo Zeile statt instead setzen anpassen value Wert "
        "verbessern"
    ),
)
async def edit_file(ctx: ToolContext, path: Path, old_text: str, new_text: str) -> ToolResult:
    """Change one place in a text file; the rest stays as it is.

    Args:
        path: File to change.
        old_text: Text as it stands in the file, with enough lines around to occur once.
        new_text: What takes its place.
    """
    return await to_thread.run_sync(partial(_change, ctx, path, _edit_of(old_text, new_text)))


@tool(
    "file",
    Safety.CONFIRM,
    Effect.WRITES,
    action="Replace “{find}” with “{replace}” in {path}",
    example=(
        "Replace every 'colour' by 'color' in essay.md",
        {"path": "essay.md", "find": "colour", "replace": "color"},
    ),
    preview=preview_replace,
    found_by=(
        "ersetzen Vorkommen sämtliche überall every occurrence all rename variable Suchen und replace "
        "austauschen swap change throughout durch jedes"
    ),
)
async def replace_in_file(  # noqa: PLR0913 - what a model may say to a tool stands in its signature
    ctx: ToolContext,
    path: Path,
    find: str,
    replace: str,
    regex: bool = False,
    count: Annotated[int, Range(0, 1_000_000)] = 0,
) -> ToolResult:
    r"""Replace every occurrence of a text in a file, or every match of a regular expression.

    Args:
        path: File to change.
        find: Text or regular expression (Python syntax, ^ and $ at every line).
        replace: What takes its place; with regex, \1 is the first group.
        regex: Whether find is a regular expression.
        count: At most this many, from the top; 0 is all.
    """
    return await to_thread.run_sync(partial(_change, ctx, path, _replace_of(find, replace, regex, count)))


def _replace_of(find: str, replace: str, regex: bool, count: int) -> _Build:
    wanted = _Wanted(unify_line_ends(find), unify_line_ends(replace), is_pattern=regex, limit=count)
    return partial(_find_replacements, wanted)


def _edit_of(old_text: str, new_text: str) -> _Build:
    if not old_text:
        raise InputError("old_text is empty", hint="Name the text to replace, or use write_file or append_file")

    def build(name: str, text: SeenText) -> Sequence[Replacement]:
        old = unify_line_ends(old_text)
        places = find_all(text.seen, old)
        if not places and old.startswith("\ufeff"):
            # The mark at the start is kept apart from the text.
            old = old.removeprefix("\ufeff")
            places = find_all(text.seen, old)
        if not places:
            raise _not_found(name, text, old)
        if len(places) > 1:
            raise _ambiguous(name, text, places)
        new = unify_line_ends(new_text).removeprefix("\ufeff" if old_text.startswith("\ufeff") else "")
        return [Replacement(places[0], places[0] + len(old), new)]

    return build


def _find_replacements(wanted: _Wanted, name: str, text: SeenText) -> Sequence[Replacement]:
    if not wanted.find:
        raise InputError("find is empty", hint="Name the text to replace")
    found = list(islice(_matches(wanted, text.seen), wanted.limit or None))
    if not found:
        raise _not_found(name, text, wanted.find)
    return found


def _matches(wanted: _Wanted, text: str) -> Iterator[Replacement]:
    if wanted.is_pattern:
        for match in compile_pattern(wanted.find).find(text):
            yield Replacement(match.start(), match.end(), _expand(match.expand, wanted.replace))
        return
    place = text.find(wanted.find)
    while place >= 0:
        end = place + len(wanted.find)
        yield Replacement(place, end, wanted.replace)
        place = text.find(wanted.find, end)


def _expand(expand: Callable[[str], str], template: str) -> str:
    try:
        return expand(template)
    except (IndexError, ValueError, LookupError) as error:
        raise InputError(f"{template!r} is not a valid replacement: {error}", hint="Check the group numbers") from error


def _plan(ctx: ToolContext, path: Path, build: _Build) -> _Planned:
    name = shown_path(ctx, path)
    require_entry(path, ctx.paths)
    opened = _open_text(path, name)
    replacements = build(name, opened.text)
    changed, inserted = replace_pieces(opened.text, replacements)
    if changed == opened.text.original:
        raise ToolError(f"{name!r} says this already; nothing was changed", hint="Read it again", code="unchanged")
    require_encodable(inserted, opened.coding)
    return _Planned(name, opened, replacements, changed)


def _change(ctx: ToolContext, path: Path, build: _Build) -> ToolResult:
    planned = _plan(ctx, path, build)
    name, opened, replacements = planned.name, planned.opened, planned.replacements
    with new_file(path, ctx.ids, expected=opened.stamp) as stream:
        stream.write(encode_text(planned.changed, opened.coding))
    shown = replacements[:_SHOWN_PLACES]
    lines = list(dict.fromkeys(line_at(opened.text.seen, replacement.start) for replacement in shown))
    more = len(replacements) - len(shown)
    where = f"line{'' if len(lines) == 1 and not more else 's'} {', '.join(map(str, lines))}{', …' if more else ''}"
    summary = f"Changed {count_of(len(replacements), 'place')} in {name} ({where})"
    return ToolResult(text=summary, summary=summary, data=planned.diff.data, files=(str(path),))


def _open_text(path: Path, name: str) -> _OpenText:
    with open_file(path) as stream:
        stamp = stamp_of(stream)
        if stamp.size_bytes > _LIMIT_BYTES:
            raise ToolError(
                f"{name!r} is {render_size(stamp.size_bytes)}; files over {render_size(_LIMIT_BYTES)} are not edited",
                hint="Change it with a script",
            )
        kind = detect_kind(stream)
        stream.seek(0)
        content = stream.read()
    coding = None if kind else detect_coding(content, is_whole=True)
    if coding is None:
        raise ToolError(f"{name!r} is {kind.words if kind else 'binary data'}, not text", hint="Only text is edited")
    return _OpenText(see_text(decode_text(content, coding)), coding, stamp)


def _not_found(name: str, text: SeenText, wanted: str) -> ToolError:
    line, lines = find_closest(text.seen, wanted)
    hint = "Read the file and copy the text exactly, with its blanks"
    if lines:
        last = line + len(lines) - 1
        where = f"Line {line} is" if last == line else f"Lines {line}–{last} are"
        hint = "\n".join([f"{where} closest:", *(text[:_SHOWN_CHARS] for text in lines)])
    return ToolError(f"The text is not in {name!r}; nothing was changed", hint=hint, code="not_found")


def _ambiguous(name: str, text: SeenText, places: Sequence[int]) -> ToolError:
    lines = ", ".join(str(line_at(text.seen, place)) for place in places[:_SHOWN_PLACES])
    more = "" if len(places) <= _SHOWN_PLACES else ", …"
    return ToolError(
        f"The text occurs {len(places)} times in {name!r} (lines {lines}{more}); nothing was changed",
        hint="Add lines before or after it to old_text, or use replace_in_file to change all",
        code="ambiguous",
    )
