"""Vaults as the note tools see them: which there are, what is in one, and the real place a name in it means.

A vault counts as an allowed folder for these tools alone; blocked folders beat it, and no link leads out of it. Hidden
folders and node_modules are no part of it. Spec: memory.md, "Obsidian".
"""

import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from anyio import from_thread
from msgspec import Struct

from skales.core.errors import SkalesError, ToolError, ToolRefusedError
from skales.core.events import Progress
from skales.core.tool import Outcome
from skales.security.paths import PathPolicy, decide_path, resolve_path
from skales.tools.context import ToolContext
from skales.tools.documents.coding import TextCoding, decode_text, detect_coding
from skales.tools.file.changes import Stamp, stamp_of
from skales.tools.file.reach import build_reach
from skales.tools.file.safe_open import Entry, EntryKind, find_entry, open_file, walk_folder
from skales.tools.file.wording import shown_name

MOST_NOTES = 5_000
MOST_NOTE_BYTES = 2 * 1024 * 1024
MOST_PATH_CHARS = 4_096
_MOST_OTHERS = 20_000
_NOTE_ENDING = ".md"
# What stands for a byte that fits no character.
_HALF = re.compile("[\ud800-\udfff]")
_DEPTH = 40
_STEP = 500


class Vault(Struct, frozen=True):
    """A vault that can be used. `root` is a real place."""

    name: str
    root: Path
    policy: PathPolicy

    def shown(self, path: Path) -> str:
        """A path in it, as a person writes it; on one line whatever it holds."""
        return shown_name(path.relative_to(self.root).as_posix())


class Shelf(Struct, frozen=True):
    """What is in a vault, by path from its root. `is_cut` says that there is more than a vault may hold."""

    notes: Sequence[str]
    others: Sequence[str]
    is_cut: bool = False


class StoredNote(Struct, frozen=True):
    """A note as it is on the disk. `text` has its own line ends and no mark."""

    text: str
    coding: TextCoding
    stamp: Stamp


def open_vaults(ctx: ToolContext) -> Sequence[tuple[str, Path, Vault | ToolError]]:
    """Every vault of the settings by name and place, or why it cannot be used. Raises ToolError when there is none."""
    if not ctx.vaults:
        raise ToolError(
            "No Obsidian vault is set up",
            hint="The person adds a folder under Settings → Tools and add-ons → Obsidian vaults",
            code="no_vault",
        )
    found: list[tuple[str, Path, Vault | ToolError]] = []
    for entry in ctx.vaults:
        place = Path(entry.path).expanduser() if entry.path else Path()
        name = entry.alias.strip() or place.name or str(place)
        found.append((name, place, _open(ctx, name, place)))
    return found


def choose_vault(ctx: ToolContext, wanted: str) -> Vault:
    """The vault of this name or place; without one, the only one there is. Raises ToolError."""
    vaults = open_vaults(ctx)
    names = ", ".join(repr(name) for name, _place, _vault in vaults)
    text = wanted.strip()
    if not text and len(vaults) > 1:
        raise ToolError("There are several vaults", hint=f"Name one: {names}", code="which_vault")
    for name, place, vault in vaults:
        if not text or fold(text) == fold(name) or Path(text).expanduser() == place:
            if isinstance(vault, ToolError):
                raise vault
            return vault
    raise ToolError(f"There is no vault {text[:200]!r}", hint=f"There are {names}", code="not_found")


def place_in(vault: Vault, text: str) -> Path:
    """The real place a path from the vault's root means. Raises ToolError when it leaves the vault or is hidden."""
    if len(text) > MOST_PATH_CHARS:
        raise ToolError(f"{shown_name(text[:80])!r}… is too long for a path", code="bad_input")
    try:
        path = resolve_path("." if text.strip() in ("", "/") else text, vault.policy)
    except SkalesError as error:
        raise ToolError(error.message, hint=error.hint, code=error.code) from error
    if not path.is_relative_to(vault.root):
        raise ToolRefusedError(f"{shown_name(text[:200])!r} leads out of the vault {vault.name!r}")
    require_open(vault, path)
    return path


def require_open(vault: Vault, path: Path) -> None:
    """Raise ToolRefusedError for what is closed to tools, or hidden in the vault."""
    verdict = decide_path(path, vault.policy)
    if verdict.outcome is Outcome.DENY:
        raise ToolRefusedError(verdict.reason)
    if any(is_hidden(part) for part in path.relative_to(vault.root).parts):
        raise ToolRefusedError(f"{vault.shown(path)!r} is hidden and no part of the notes")


def list_vault(vault: Vault, ctx: ToolContext | None = None) -> Shelf:
    """What is in it, links left out. With `ctx`, it reports how far it is. Called in a worker thread."""
    notes: list[str] = []
    others: list[str] = []
    for entry in walk_vault(vault, vault.root):
        if entry.kind is not EntryKind.FILE:
            continue
        name = entry.path.relative_to(vault.root).as_posix()
        if not is_note(name):
            others += [name] if len(others) < _MOST_OTHERS else []
            continue
        if len(notes) >= MOST_NOTES:
            return Shelf(notes, others, is_cut=True)
        notes.append(name)
        if ctx is not None and len(notes) % _STEP == 0:
            report(ctx, f"Listing {vault.name}", len(notes), 0)
    return Shelf(notes, others)


def walk_vault(vault: Vault, folder: Path, *, depth: int = _DEPTH) -> Iterator[Entry]:
    """Everything below a folder of the vault that is neither hidden nor closed; ends when the call is cancelled."""
    is_open = build_reach(vault.policy)

    def is_part(entry: Entry) -> bool:
        return not is_hidden(entry.path.name) and is_open(entry)

    for number, entry in enumerate(walk_folder(folder, enter=is_part, depth=depth)):
        if number % _STEP == 0:
            from_thread.check_cancelled()
        if is_part(entry):
            yield entry


def load_note(path: Path, *, most_bytes: int = MOST_NOTE_BYTES) -> StoredNote:
    """Read a note. Raises ToolError when it is too large, no text, or no regular file."""
    with open_file(path) as stream:
        stamp = stamp_of(stream)
        if stamp.size_bytes > most_bytes:
            raise ToolError(f"{path.name!r} is larger than {most_bytes // 1024**2} MB", code="too_large")
        content = stream.read(most_bytes + 1)
    coding = detect_coding(content, is_whole=True) if content else TextCoding("utf-8")
    if coding is None:
        raise ToolError(f"{path.name!r} holds no text", code="not_text")
    return StoredNote(decode_text(content, coding), coding, stamp)


def report(ctx: ToolContext, label: str, done: int, total: int) -> None:
    """Show progress from a worker thread; raises when the call was cancelled."""
    from_thread.check_cancelled()
    from_thread.run_sync(ctx.scope.report, Progress(label, done, total, "steps"))


def is_note(name: str) -> bool:
    """Whether a file is a note by its name."""
    return name.lower().endswith(_NOTE_ENDING)


def is_hidden(name: str) -> bool:
    """Whether a folder or file is passed over; also one whose name is no text, which Obsidian cannot show either."""
    return name.startswith(".") or name == "node_modules" or _HALF.search(name) is not None


def fold(text: str) -> str:
    """As names of notes are compared: without case, in one spelling of accents."""
    return unicodedata.normalize("NFC", text).casefold().strip()


def _open(ctx: ToolContext, name: str, place: Path) -> Vault | ToolError:
    if not place.is_absolute():
        return ToolError(f"The vault {name!r} is no whole path", hint="The person corrects it in the settings")
    try:
        root = Path(os.path.realpath(place))
        policy = PathPolicy(workspace=root, blocked=ctx.paths.blocked)
        verdict = decide_path(root, policy)
        if verdict.outcome is Outcome.DENY:
            return ToolRefusedError(verdict.reason)
        found = find_entry(root)
    except (ToolError, ValueError, OSError) as error:
        return ToolError(f"The vault {name!r} cannot be opened: {error}")
    if found is None or found.kind is not EntryKind.FOLDER:
        return ToolError(
            f"The folder of the vault {name!r} is not there", hint="The person corrects it in the settings"
        )
    return Vault(name, root, policy)
