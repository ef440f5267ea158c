"""What the templates of the settings pages are given; see `server.views`."""

from dataclasses import dataclass
from typing import ClassVar

from skales.server.frame_views import Shell
from skales.server.views import Moment, Trouble, View


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several values of a control."""

    value: str
    label: str
    help: str
    symbol: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Undo:
    """The way back: what to put back, and what must still be there for that. Both are JSON, empty for no key."""

    former: str
    saved: str


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A question before a looser value counts."""

    value: str
    label: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
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


@dataclass(frozen=True, slots=True)
class SectionView:
    """A part of the page: rows, and what is no row."""

    id: str
    title: str
    words: str
    rows: tuple[Control, ...] = ()
    part: View | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A place that fits a search."""

    address: str
    label: str
    section: str
    help: str
    is_advanced: bool


@dataclass(frozen=True, slots=True)
class Hits:
    """What a search found; nothing for an empty query."""

    template: ClassVar[str] = "settings/hits.html"
    query: str
    rows: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class SettingsPage:
    """Everything the settings page shows. `faults` are values of the file that belong to no row."""

    template: ClassVar[str] = "settings/page.html"
    shell: Shell
    hits: Hits
    mode: str
    sections: tuple[SectionView, ...]
    faults: tuple[str, ...]


# --- parts that are no rows ---


@dataclass(frozen=True, slots=True)
class ProviderSummary:
    """Who answers now. `others` are labels of what else is set up."""

    template: ClassVar[str] = "settings/provider_summary.html"
    label: str
    model: str
    others: tuple[str, ...]
    fallbacks: tuple[str, ...]
    trouble: Trouble | None


@dataclass(frozen=True, slots=True)
class ToolSummary:
    """How many tools there are, and how many of them are on."""

    template: ClassVar[str] = "settings/tool_summary.html"
    total: int
    on: int


@dataclass(frozen=True, slots=True)
class DevKitPart:
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


@dataclass(frozen=True, slots=True)
class FolderSize:
    """A folder of the data directory and what it holds."""

    name: str
    what: str
    size: str
    count: int


@dataclass(frozen=True, slots=True)
class DataSizes:
    """How much the data directory holds."""

    template: ClassVar[str] = "settings/data_sizes.html"
    total: str
    rows: tuple[FolderSize, ...]


@dataclass(frozen=True, slots=True)
class BrokenFileLine:
    """A file that could not be read, where it lies now, and why."""

    path: str
    kept_at: str
    reason: str
    when: Moment


@dataclass(frozen=True, slots=True)
class BrokenFiles:
    """Files set aside that nobody dismissed."""

    template: ClassVar[str] = "settings/broken_files.html"
    rows: tuple[BrokenFileLine, ...]


@dataclass(frozen=True, slots=True)
class SecretLine:
    """A secret by name; `bound` says where it may go."""

    name: str
    bound: str


@dataclass(frozen=True, slots=True)
class SecretsPart:
    """How secrets are kept, and the named ones. `typed_…` is what could not be kept, for another try."""

    template: ClassVar[str] = "settings/secrets.html"
    kept: str
    trouble: Trouble | None
    can_retry: bool
    rows: tuple[SecretLine, ...]
    notice: str = ""
    typed_name: str = ""
    typed_hosts: str = ""


@dataclass(frozen=True, slots=True)
class DataPart:
    """Where everything lies."""

    template: ClassVar[str] = "settings/data.html"
    folder: str
    settings_file: str
    can_open: bool
    broken: BrokenFiles
    secrets: SecretsPart


@dataclass(frozen=True, slots=True)
class LicenceLine:
    """A part that is not ours and how it may be used."""

    name: str
    version: str
    licence: str


@dataclass(frozen=True, slots=True)
class AboutPart:
    """Version and licences."""

    template: ClassVar[str] = "settings/about.html"
    version: str
    python: str
    parts: tuple[LicenceLine, ...]


@dataclass(frozen=True, slots=True)
class Remark:
    """A short answer to a button: what was done, or why not."""

    template: ClassVar[str] = "settings/remark.html"
    words: str = ""
    trouble: Trouble | None = None
