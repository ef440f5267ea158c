"""What the templates of the settings page are given; see `server.views`."""

from dataclasses import dataclass
from typing import ClassVar

from skales.server.views import Moment, Shell, StarterFacts, Trouble


@dataclass(frozen=True, slots=True)
class KeyField:
    """The write-only field of a key; `mask` is all the page ever learns of the stored one.

    `is_update` replaces the field that is on the page already.
    """

    template: ClassVar[str] = "settings/key_field.html"
    provider_id: str
    mask: str
    needed: bool
    is_update: bool = False


@dataclass(frozen=True, slots=True)
class ProviderCard:
    """A model provider. `key` is None for one that takes none."""

    template: ClassVar[str] = "settings/provider.html"
    id: str
    label: str
    badges: tuple[str, ...]
    is_active: bool
    state: str
    base_url: str
    default_url: str
    model: str
    default_model: str
    models: tuple[str, ...]
    key: KeyField | None
    starter: StarterFacts | None = None
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class ProviderList:
    """Those that are set up, the active one first, and the others."""

    template: ClassVar[str] = "settings/providers.html"
    chosen: tuple[ProviderCard, ...]
    others: tuple[ProviderCard, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several; exactly one is `chosen`."""

    value: str
    label: str
    help: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class BrokenFileLine:
    """A file that could not be read, where it lies now, and why."""

    path: str
    kept_at: str
    reason: str
    when: Moment


@dataclass(frozen=True, slots=True)
class SettingsPage:
    """Everything the settings page shows."""

    template: ClassVar[str] = "settings/page.html"
    shell: Shell
    providers: ProviderList
    safety: tuple[Choice, ...]
    themes: tuple[Choice, ...]
    data_folder: str
    broken_files: tuple[BrokenFileLine, ...]


@dataclass(frozen=True, slots=True)
class Saved:
    """The answer to a change: what was saved, or why not."""

    template: ClassVar[str] = "settings/saved.html"
    words: str = "Saved"
    trouble: Trouble | None = None
    key: KeyField | None = None


@dataclass(frozen=True, slots=True)
class ConnectionReport:
    """What a connection test found."""

    template: ClassVar[str] = "settings/report.html"
    provider_id: str
    words: str
    models: tuple[str, ...]
    trouble: Trouble | None = None
