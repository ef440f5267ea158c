"""Every row of the settings page: the table's, the small model's, and a switch for each add-on that has tools here."""

from skales.app.addons import list_addons
from skales.app.app import App
from skales.server.told import told
from skales.server.ui.provider_names import name_provider
from skales.server.ui.provider_rows import ACTIVE, active_row, find_row, list_set_up
from skales.server.ui.setting_table import SETTINGS, Kind, Option, Section, Setting
from skales.server.words import N_
from skales.tools.addons import Addon


def list_rows(app: App) -> tuple[Setting, ...]:
    """The rows in the order of the page."""
    return (*SETTINGS, *_small_model_rows(app), *_addon_rows(app))


def find_setting(app: App, name: str) -> Setting | None:
    """The row of a dotted name, on whichever page it stands. Reads the disk."""
    for row in list_rows(app):
        if row.name == name:
            return row
    settings = app.settings.load()
    if name == ACTIVE:
        return active_row(app, settings)
    found = find_row(settings, name)
    return found[1] if found else None


def _small_model_rows(app: App) -> tuple[Setting, ...]:
    """Who does small jobs; nobody as long as no provider is named."""
    settings = app.settings.load()
    named = settings.small_model.provider
    # One that is no longer set up is still what the file says.
    known = list_set_up(app, settings)
    known = (*known, named) if named and named not in known else known
    options = (Option(name, name_provider(settings, name)) for name in known)
    return (
        Setting(
            name="smallModel.provider",
            section=Section.CHAT,
            label=N_("Small model for small jobs"),
            help=N_("It names new conversations and sums up long ones. Nobody: the first words are the title."),
            kind=Kind.SELECT,
            is_advanced=True,
            options=(Option("", N_("Nobody")), *options),
            words=N_("title, summary, cheap, fast, routing"),
        ),
        Setting(
            name="smallModel.model",
            section=Section.CHAT,
            label=N_("Id of the small model"),
            help=N_("Empty means the provider's usual one."),
            kind=Kind.LINE,
            is_advanced=True,
            words=N_("title, summary, cheap, fast, routing"),
        ),
    )


def _addon_rows(app: App) -> tuple[Setting, ...]:
    """A switch without a tool behind it would do nothing, so there is none."""
    return tuple(addon_row(status.addon) for status in list_addons(app) if status.addon.has_switch)


def addon_row(addon: Addon) -> Setting:
    """The switch of one add-on."""
    return Setting(
        name=f"addons.{addon.id}",
        section=Section.TOOLS,
        label=told(addon.label),
        help=told(addon.about),
        kind=Kind.SWITCH,
        words=N_("add-on, tools"),
    )
