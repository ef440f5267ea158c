"""Every screen of the navigation in one table. What is switched off has no entry."""

from collections.abc import Callable

from msgspec import Struct

from skales.app.app import App
from skales.server.frame_views import PlaceLink
from skales.server.views import Screen
from skales.server.words import N_, _
from skales.tools.addons import is_addon_on


def _always(_app: App) -> bool:
    return True


def _while_devkit_is_on(app: App) -> bool:
    return app.devkit.read().enabled


def _when_something_was_sent(app: App) -> bool:
    return bool(app.outbox.store.list())


class Place(Struct, frozen=True):
    """A screen. It is listed while its add-on is on, if it belongs to one, and its condition holds."""

    id: Screen
    address: str
    symbol: str
    label: str
    addon: str = ""
    is_open: Callable[[App], bool] = _always


PLACES = (
    Place(Screen.CHAT, "/chat", "chat", N_("Chat")),
    Place(Screen.HISTORY, "/history", "history", N_("History")),
    Place(Screen.TASKS, "/tasks", "done", N_("Tasks")),
    Place(Screen.SCHEDULE, "/schedule", "again", N_("Schedule")),
    Place(Screen.TOOLS, "/tools", "tools", N_("Tools")),
    Place(Screen.ADDONS, "/skills", "addons", N_("Add-ons")),
    Place(Screen.ACTIVITY, "/activity", "activity", N_("Activity")),
    Place(Screen.GRANTS, "/grants", "key", N_("Grants")),
    Place(Screen.UNDO, "/undo", "undo", N_("Undo")),
    Place(Screen.COSTS, "/costs", "costs", N_("Costs")),
    Place(Screen.OUTBOX, "/outbox", "send", N_("Outbox"), is_open=_when_something_was_sent),
    Place(Screen.DEVELOPER, "/developer", "code", N_("Developer"), is_open=_while_devkit_is_on),
    Place(Screen.SETTINGS, "/settings", "settings", N_("Settings")),
)


def list_places(app: App) -> tuple[PlaceLink, ...]:
    """The entries that are there now, in order. Reads the disk."""
    switched = app.settings.load().addons
    return tuple(
        PlaceLink(place.id, place.address, place.symbol, _(place.label))
        for place in PLACES
        if (not place.addon or is_addon_on(place.addon, switched)) and place.is_open(app)
    )


def list_plain_places() -> tuple[PlaceLink, ...]:
    """The entries that are always there."""
    return tuple(
        PlaceLink(place.id, place.address, place.symbol, _(place.label))
        for place in PLACES
        if not place.addon and place.is_open is _always
    )
