"""Where the links of a note lead: by path, by file name, by another name of a note, to a heading or a block.

Names are looked up in a list of the vault made once; notes are opened only for what their names do not tell.
"""

import posixpath
from collections.abc import Mapping, Sequence
from functools import cached_property

from anyio import from_thread
from msgspec import Struct

from skales.core.errors import SkalesError
from skales.tools.core.obsidian_note import (
    Link,
    Note,
    find_block_ids,
    find_headings,
    find_links,
    mask_code,
    match_heading,
    parse_note,
)
from skales.tools.core.obsidian_vault import Shelf, Vault, fold, is_note, load_note

# Notes opened for the headings and blocks that links name.
_MOST_OPENED = 200


class Led(Struct, frozen=True):
    """A link and the file it leads to, by its path in the vault. `fault` says why it leads nowhere."""

    link: Link
    path: str = ""
    fault: str = ""


class Finder:
    """Looks names up in one vault, as it was when it was listed."""

    def __init__(self, vault: Vault, shelf: Shelf) -> None:
        self._vault = vault
        self._shelf = shelf
        self._opened: dict[str, Note | None] = {}

    def find(self, target: str, source: str = "") -> Sequence[str]:
        """The files a name can mean, the likeliest first: its whole path, the same folder as `source`, the shortest."""
        wanted = target.strip().replace("\\", "/")
        if wanted.startswith(("./", "../")):
            wanted = posixpath.normpath(posixpath.join(posixpath.dirname(source), wanted))
        wanted = fold(wanted.strip("/"))
        for name in (f"{wanted}.md", wanted):
            found = [path for path in self._by_name.get(posixpath.basename(name), ()) if _ends_with(fold(path), name)]
            if found:
                here = posixpath.dirname(source)
                return sorted(found, key=lambda path: (fold(path) != name, posixpath.dirname(path) != here, len(path)))
        return self._by_alias.get(wanted, ())

    def follow(self, source: str, note: Note, masked: str) -> Sequence[Led]:
        """Where each link of a note leads; `masked` is its body without code."""
        return [self._follow(link, source, note) for link in find_links(masked)]

    def near(self, target: str) -> Sequence[str]:
        """Paths of notes that are called nearly so."""
        import difflib

        names = {fold(posixpath.basename(path).removesuffix(".md")): path for path in self._shelf.notes}
        wanted = fold(posixpath.basename(target).removesuffix(".md"))
        return [names[name] for name in difflib.get_close_matches(wanted, names, n=3, cutoff=0.6)]

    def _follow(self, link: Link, source: str, note: Note) -> Led:
        path, there = source, note
        if link.target:
            found = self.find(link.target, source)
            if not found:
                return Led(link, fault="there is no such note")
            path = found[0]
            if not link.part or not is_note(path):
                return Led(link, path)
            opened = self._open(path) if path != source else note
            if opened is None:
                return Led(link, path, "the note it leads to cannot be read")
            there = opened
        return Led(link, path, _find_fault(there, link.part))

    def _open(self, path: str) -> Note | None:
        if path not in self._opened and len(self._opened) < _MOST_OPENED:
            self._opened[path] = self._load(path)
        return self._opened.get(path)

    def _load(self, path: str) -> Note | None:
        try:
            return parse_note(load_note(self._vault.root / path).text)
        except SkalesError:
            return None

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[str]]:
        found: dict[str, list[str]] = {}
        for path in (*self._shelf.notes, *self._shelf.others):
            found.setdefault(fold(posixpath.basename(path)), []).append(path)
        return found

    @cached_property
    def _by_alias(self) -> Mapping[str, Sequence[str]]:
        """Other names of notes, which only their front matter tells."""
        found: dict[str, list[str]] = {}
        for path in self._shelf.notes:
            from_thread.check_cancelled()
            for alias in read_aliases(self._vault, path):
                found.setdefault(fold(alias), []).append(path)
        return found


def read_aliases(vault: Vault, path: str) -> Sequence[str]:
    """The other names of a note; none when it cannot be read."""
    try:
        text = load_note(vault.root / path).text
    except SkalesError:
        return ()
    head = text[:4].removeprefix("\ufeff")
    return parse_note(text).aliases if head.startswith("---") and "alias" in text else ()


def _ends_with(path: str, name: str) -> bool:
    return path == name or path.endswith(f"/{name}")


def _find_fault(note: Note, part: str) -> str:
    """Why a heading or block is not in a note; empty when it is."""
    if part.startswith("^"):
        is_there = part[1:].strip().lower() in find_block_ids(mask_code(note.body))
        return "" if is_there else "there is no such block in it"
    return "" if match_heading(find_headings(note.body), part) else "there is no such heading in it"
