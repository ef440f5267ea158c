"""The settings page as a whole: its sections with their rows and parts."""

from collections.abc import Mapping

from msgspec import structs

from skales.app.app import App
from skales.data.setting_shapes import Settings
from skales.server.ui.frame import build_shell
from skales.server.ui.models import describe_model
from skales.server.ui.provider_names import name_provider
from skales.server.ui.provider_rows import list_set_up
from skales.server.ui.setting_about import build_about
from skales.server.ui.setting_controls import Outcome, build_control, loose_faults
from skales.server.ui.setting_data import build_data
from skales.server.ui.setting_devkit import build_devkit
from skales.server.ui.setting_rows import list_rows
from skales.server.ui.setting_search import search_settings
from skales.server.ui.setting_table import SECTIONS, Section, Setting
from skales.server.ui.setting_views import ProviderSummary, SectionView, SettingsPage, ToolSummary
from skales.server.views import Screen, View
from skales.server.words import _

MODES = ("standard", "advanced")


def build_page(
    app: App, address: str, *, query: str = "", mode: str = "", came: Mapping[str, Outcome] | None = None
) -> SettingsPage:
    """Everything. `came` is what came of changes, by the setting's name. An unknown mode leaves it to the browser."""
    settings = app.settings.load()
    rows = list_rows(app)
    parts = _build_parts(app, settings, address)
    return SettingsPage(
        shell=build_shell(app, _("Settings"), Screen.SETTINGS),
        hits=search_settings(app, query),
        mode=mode if mode in MODES else "",
        sections=tuple(_build_section(app, section, rows, parts, came or {}) for section in SECTIONS),
        faults=loose_faults(app.settings.faults(), rows),
    )


def _build_section(
    app: App, section: Section, rows: tuple[Setting, ...], parts: Mapping[Section, View], came: Mapping[str, Outcome]
) -> SectionView:
    settings, faults = app.settings.load(), app.settings.faults()
    title, words = SECTIONS[section]
    return SectionView(
        section,
        _(title),
        _(words),
        tuple(
            structs.replace(build_control(settings, faults, row, came.get(row.name)), is_whole_page=True)
            for row in rows
            if row.section is section
        ),
        parts.get(section),
    )


def _build_parts(app: App, settings: Settings, address: str) -> Mapping[Section, View]:
    return {
        Section.PROVIDERS: _build_providers(app, settings),
        Section.TOOLS: _build_tools(app),
        Section.DEVELOPER: build_devkit(app, address),
        Section.DATA: build_data(app),
        Section.ABOUT: build_about(),
    }


def _build_providers(app: App, settings: Settings) -> ProviderSummary:
    model = describe_model(app)
    others = [name_provider(settings, name) for name in list_set_up(app, settings) if name != settings.active_provider]
    fallbacks = [
        f"{name_provider(settings, item.provider)} {item.model}".strip() for item in settings.fallback_providers
    ]
    label = name_provider(settings, settings.active_provider)
    return ProviderSummary(label, model.model, tuple(others), tuple(fallbacks), model.trouble)


def _build_tools(app: App) -> ToolSummary:
    specs = app.toolbox.specs()
    return ToolSummary(len(specs), sum(app.toolbox.is_enabled(spec.name) for spec in specs))
