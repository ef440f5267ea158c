"""What the templates of the settings pages are given; see `server.views`."""

from typing import ClassVar

from msgspec import Struct

from skales.server.frame_views import Shell
from skales.server.views import Moment, Trouble, View


class Choice(Struct, frozen=True):
    """One of several values of a control."""

    value: str
    label: str
    help: str
    symbol: str
    chosen: bool


class Undo(Struct, frozen=True):
    """The way back: what to put back, and what must still be there for that. Both are JSON, empty for no key."""

    former: str
    saved: str


class Confirmation(Struct, frozen=True):
    """A question before a looser value counts."""

    value: str
    label: str
    words: str


class Control(Struct, frozen=True, kw_only=True):
    """A row of the page: the control and what came of its last change.

    `was` is what the file says, as JSON; a change carries it back. `mine` is what was typed and not kept, because the
    file had been changed meanwhile. `fault` says why the file's own value does not count. `is_whole_page` is for a
    browser without scripts.
    """

    template: ClassVar[str] = "settings/control.html"
    name: str
    anchor: str
    label: str
    help: str
    kind: str
    was: str
    is_advanced: bool = False
    text: str = ""
    is_on: bool = False
    choices: tuple[Choice, ...] = ()
    folders: tuple[str, ...] = ()
    unit: str = ""
    low: int = 0
    high: int = 0
    placeholder: str = ""
    suggestions: str = ""
    saved: str = ""
    announcement: str = ""
    undo: Undo | None = None
    error: str = ""
    fault: str = ""
    mine: str | None = None
    confirmation: Confirmation | None = None
    beside: tuple[View, ...] = ()
    is_whole_page: bool = False


class SectionView(Struct, frozen=True):
    """A part of the page: rows, and what is no row."""

    id: str
    title: str
    words: str
    rows: tuple[Control, ...] = ()
    part: View | None = None


class Hit(Struct, frozen=True):
    """A place that fits a search."""

    address: str
    label: str
    section: str
    help: str
    is_advanced: bool


class Hits(Struct, frozen=True):
    """What a search found; nothing for an empty query."""

    template: ClassVar[str] = "settings/hits.html"
    query: str
    rows: tuple[Hit, ...]


class SettingsPage(Struct, frozen=True):
    """Everything the settings page shows. `faults` are values of the file that belong to no row."""

    template: ClassVar[str] = "settings/page.html"
    shell: Shell
    hits: Hits
    mode: str
    sections: tuple[SectionView, ...]
    faults: tuple[str, ...]


# --- parts that are no rows ---


class ProviderSummary(Struct, frozen=True):
    """Who answers now. `others` are labels of what else is set up."""

    template: ClassVar[str] = "settings/provider_summary.html"
    label: str
    model: str
    others: tuple[str, ...]
    fallbacks: tuple[str, ...]
    trouble: Trouble | None


class ToolSummary(Struct, frozen=True):
    """How many tools there are, and how many of them are on."""

    template: ClassVar[str] = "settings/tool_summary.html"
    total: int
    on: int


class DevKitPart(Struct, frozen=True):
    """The DevKit's switch and token. `fresh_token` is shown this once; `notice` says what was done."""

    template: ClassVar[str] = "settings/devkit.html"
    is_on: bool
    is_forced: bool
    token_mask: str
    address: str
    path: str
    fresh_token: str = ""
    notice: str = ""
    undo_on: bool | None = None
    trouble: Trouble | None = None


class FolderSize(Struct, frozen=True):
    """A folder of the data directory and what it holds."""

    name: str
    what: str
    size: str
    count: int


class DataSizes(Struct, frozen=True):
    """How much the data directory holds."""

    template: ClassVar[str] = "settings/data_sizes.html"
    total: str
    rows: tuple[FolderSize, ...]


class BrokenFileLine(Struct, frozen=True):
    """A file that could not be read, where it lies now, and why."""

    path: str
    kept_at: str
    reason: str
    when: Moment


class BrokenFiles(Struct, frozen=True):
    """Files set aside that nobody dismissed."""

    template: ClassVar[str] = "settings/broken_files.html"
    rows: tuple[BrokenFileLine, ...]


class SecretLine(Struct, frozen=True):
    """A secret by name; `bound` says where it may go."""

    name: str
    bound: str


class SecretsPart(Struct, frozen=True):
    """How secrets are kept, and the named ones. `typed_…` is what could not be kept, for another try."""

    template: ClassVar[str] = "settings/secrets.html"
    kept: str
    trouble: Trouble | None
    can_retry: bool
    rows: tuple[SecretLine, ...]
    notice: str = ""
    typed_name: str = ""
    typed_hosts: str = ""


class DataPart(Struct, frozen=True):
    """Where everything lies."""

    template: ClassVar[str] = "settings/data.html"
    folder: str
    settings_file: str
    can_open: bool
    broken: BrokenFiles
    secrets: SecretsPart


class LicenceLine(Struct, frozen=True):
    """A part that is not ours and how it may be used."""

    name: str
    version: str
    licence: str


class AboutPart(Struct, frozen=True):
    """Version and licences."""

    template: ClassVar[str] = "settings/about.html"
    version: str
    python: str
    parts: tuple[LicenceLine, ...]


class Remark(Struct, frozen=True):
    """A short answer to a button: what was done, or why not."""

    template: ClassVar[str] = "settings/remark.html"
    words: str = ""
    trouble: Trouble | None = None
