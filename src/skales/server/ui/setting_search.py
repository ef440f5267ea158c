"""Finding a setting by any of its words, in English and in the page's language, without regard to case and accents.

Also for the command palette: `setting_links` names every place with its address.
"""

import unicodedata
from collections.abc import Sequence

from msgspec import Struct

from skales.app.app import App
from skales.server.ui.provider_names import name_provider
from skales.server.ui.provider_rows import list_providers
from skales.server.ui.setting_rows import list_rows
from skales.server.ui.setting_table import SECTIONS, Section
from skales.server.ui.setting_views import Hit, Hits
from skales.server.words import N_, _

_PAGE = "/settings"
_PROVIDERS = "/settings/providers"
_MOST = 30


class _Part(Struct, frozen=True):
    """A place that is no row of the table."""

    address: str
    label: str
    section: Section
    help: str = ""
    words: str = ""


class SettingLink(Struct, frozen=True):
    """A place of the settings: where it is, what it is called, and every word it may be found by."""

    address: str
    label: str
    section: str
    words: str
    help: str = ""
    is_advanced: bool = False


_PARTS = (
    _Part(_PROVIDERS, N_("Providers"), Section.PROVIDERS, words=N_("API key, token, model, account, endpoint")),
    _Part(
        f"{_PROVIDERS}#order",
        N_("If the first does not answer"),
        Section.PROVIDERS,
        words=N_("fallback, order, second choice, outage"),
    ),
    _Part(
        f"{_PROVIDERS}#nearby",
        N_("Model servers on this computer"),
        Section.PROVIDERS,
        words=N_("detect, find, local, Ollama, LM Studio, llama.cpp"),
    ),
    _Part(
        f"{_PROVIDERS}#new-endpoint",
        N_("Add an endpoint of your own"),
        Section.PROVIDERS,
        words=N_("custom, OpenAI-compatible, vLLM, proxy"),
    ),
    _Part("/tools", N_("All tools"), Section.TOOLS, words=N_("functions, abilities, run")),
    _Part(
        f"{_PAGE}#devkit",
        N_("DevKit"),
        Section.DEVELOPER,
        N_("HTTP routes for your own programs."),
        N_("API, token, HTTP, automation, port"),
    ),
    _Part(f"{_PAGE}#data-folder", N_("Data folder"), Section.DATA, words=N_("path, directory, location, backup, copy")),
    _Part(
        f"{_PAGE}#secrets",
        N_("Secrets"),
        Section.DATA,
        N_("How keys and passwords are kept, and secrets that tools use by name."),
        N_("password, token, API key, encryption, keychain, vault"),
    ),
    _Part(
        f"{_PAGE}#old-secrets",
        N_("Keys and passwords in old conversations"),
        Section.DATA,
        words=N_("secrets, keys, passwords, tokens, scan, mask"),
    ),
    _Part(f"{_PAGE}#data-sizes", N_("What takes space"), Section.DATA, words=N_("disk, size, storage")),
    _Part(
        f"{_PAGE}#about", N_("Version and licences"), Section.ABOUT, words=N_("update, release, open source, license")
    ),
)


def fold(text: str) -> str:
    """Text for comparing: no case, no accents, so that `zugange` finds “Zugänge”."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in parts if not unicodedata.combining(sign))


def setting_links(app: App) -> Sequence[SettingLink]:
    """Every place of the settings, in the page's language. Reads the disk."""
    settings = app.settings.load()
    links = [
        SettingLink(
            f"{_PAGE}{'?view=advanced' if row.is_advanced else ''}#{row.anchor}",
            _(row.label),
            _(SECTIONS[row.section][0]),
            _join(row.label, row.help, row.words, *(option.label for option in row.options)),
            _(row.help) if row.help else "",
            row.is_advanced,
        )
        for row in list_rows(app)
    ]
    links += [
        SettingLink(part.address, _(part.label), _(SECTIONS[part.section][0]), _join(part.label, part.help, part.words))
        for part in _PARTS
    ]
    providers = _(SECTIONS[Section.PROVIDERS][0])
    links += [
        SettingLink(
            f"{_PROVIDERS}?open={name}#provider-{name}",
            name_provider(settings, name),
            providers,
            _join(name, "API key"),
        )
        for name in list_providers(settings)
    ]
    return links


def search_settings(app: App, query: str) -> Hits:
    """The places that have every word of the query, those with the words in their name first."""
    wanted = fold(query).split()
    if not wanted:
        return Hits(query, ())
    found: list[tuple[bool, SettingLink]] = []
    for link in setting_links(app):
        label = fold(link.label)
        everything = f"{label} {fold(link.section)} {fold(link.words)}"
        if all(word in everything for word in wanted):
            found.append((not all(word in label for word in wanted), link))
    found.sort(key=lambda entry: entry[0])
    rows = (Hit(link.address, link.label, link.section, link.help, link.is_advanced) for _rank, link in found[:_MOST])
    return Hits(query, tuple(rows))


def _join(*texts: str) -> str:
    """The words and their translations."""
    said = [text for text in texts if text]
    return " ".join([*said, *(_(text) for text in said)])
