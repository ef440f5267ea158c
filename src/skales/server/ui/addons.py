"""The add-ons page: what each brings, its switch, and its tools. The switches are rows of the settings."""

from fastapi import APIRouter

from skales.app.addons import AddonStatus, list_addons
from skales.app.app import App
from skales.server.access import AppDep, PageSession
from skales.server.told import told
from skales.server.ui.addon_views import AddonCard, AddonsPage, AddonTool
from skales.server.ui.frame import build_shell
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.phrases import first_sentence
from skales.server.ui.setting_controls import build_control
from skales.server.ui.setting_rows import addon_row
from skales.server.views import Screen
from skales.server.words import _

router = APIRouter(dependencies=[PageSession])


@router.get("/skills", response_class=PageResponse)
def open_addons(app: AppDep) -> str:
    """All of them."""
    found = list_addons(app)
    return render(
        AddonsPage(
            shell=build_shell(app, _("Add-ons"), Screen.ADDONS),
            switched=tuple(_build_card(app, status) for status in found if status.addon.has_switch),
            core=tuple(_build_card(app, status) for status in found if not status.addon.has_switch),
        )
    )


def _build_card(app: App, status: AddonStatus) -> AddonCard:
    addon = status.addon
    control = build_control(app.settings.load(), app.settings.faults(), addon_row(addon)) if addon.has_switch else None
    return AddonCard(
        id=addon.id,
        label=told(addon.label),
        about=told(addon.about),
        needs=_("Needs %(what)s.", what=told(addon.needs)) if addon.needs else "",
        control=control,
        tools=tuple(AddonTool(spec.name, first_sentence(told(spec.description))) for spec in status.tools),
    )
