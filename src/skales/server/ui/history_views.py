"""What the templates of the history are given: search results, the trash, dialogs, and the exported document.

The sidebar's list stands in `views` with the frame it belongs to.
"""

from typing import ClassVar

from markupsafe import Markup
from msgspec import Struct

from skales.server.conversation_views import Picture
from skales.server.frame_views import Shell
from skales.server.views import Moment


class Excerpt(Struct, frozen=True):
    """A piece of a text around what was found: `marked` pieces are the words, the others stand between them."""

    pieces: tuple[tuple[str, bool], ...]
    address: str


class FoundSession(Struct, frozen=True):
    """A conversation on the history page. `folder` is empty for none; `excerpts` only when something was searched."""

    id: str
    title: str
    address: str
    when: Moment
    facts: tuple[str, ...]
    folder: str
    is_pinned: bool
    excerpts: tuple[Excerpt, ...] = ()


class HistoryFilter(Struct, frozen=True):
    """What the history page was asked for, as its form shows it again. Days are `2026-11-30` or empty."""

    query: str = ""
    folder: str = ""
    since: str = ""
    until: str = ""
    model: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether everything is shown."""
        return not (self.query or self.folder or self.since or self.until or self.model)


class FoundPage(Struct, frozen=True):
    """A stretch of results; `next_address` leads to what comes after, empty at the end."""

    template: ClassVar[str] = "history/found.html"
    rows: tuple[FoundSession, ...]
    is_filtered: bool
    is_first: bool
    next_address: str = ""


class DeletedRow(Struct, frozen=True):
    """A conversation in the trash."""

    id: str
    title: str
    when: Moment
    facts: str


class Trash(Struct, frozen=True):
    """What was deleted, newest first; `more` are how many are not shown."""

    template: ClassVar[str] = "history/trash.html"
    rows: tuple[DeletedRow, ...]
    more: int = 0


class HistoryPage(Struct, frozen=True):
    """All conversations with room for searching, or the trash."""

    template: ClassVar[str] = "history/page.html"
    shell: Shell
    filter: HistoryFilter
    folders: tuple[str, ...]
    total: int
    content: FoundPage | Trash

    @property
    def shows_trash(self) -> bool:
        """Whether this is what was deleted."""
        return isinstance(self.content, Trash)


class MoveForm(Struct, frozen=True):
    """Where a conversation can go: the folders there are, none, or a new one."""

    template: ClassVar[str] = "history/move.html"
    session_id: str
    title: str
    folder: str
    folders: tuple[str, ...]


class ExportEntry(Struct, frozen=True):
    """A part of an exported conversation. `tool` only on steps; `html` only on answers, `text` on everything else."""

    who: str
    when: str
    text: str = ""
    html: Markup = Markup("")
    pictures: tuple[Picture, ...] = ()
    files: tuple[str, ...] = ()
    thoughts: str = ""
    notes: tuple[str, ...] = ()
    tool: str = ""
    arguments: str = ""
    result: str = ""


class ExportedDocument(Struct, frozen=True):
    """A conversation as a page of its own that needs nothing else."""

    template: ClassVar[str] = "history/export.html"
    title: str
    facts: str
    entries: tuple[ExportEntry, ...]
    thoughts_label: str
    result_label: str
