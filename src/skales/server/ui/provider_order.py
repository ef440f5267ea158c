"""Who answers when the chosen provider fails: an ordered list, changed by buttons, kept in `fallbackProviders`."""

import json
from collections.abc import Mapping, Sequence

from msgspec import Struct

from skales.app.app import App
from skales.core.errors import InputError, SkalesError
from skales.core.json import JsonValue, as_list
from skales.server.ui.provider_names import name_provider
from skales.server.ui.provider_rows import is_on, list_set_up
from skales.server.ui.provider_views import FallbackLine, Fallbacks
from skales.server.ui.setting_saving import describe
from skales.server.ui.setting_values import CHANGED, change_value, parse_token, read_token, read_value
from skales.server.ui.setting_views import Choice, Undo
from skales.server.words import _

PLACE = ("fallbackProviders",)
_MOST = 12


class Move(Struct, frozen=True):
    """What a button asks for: `add`, `remove`, `up` or `down`; `number` counts from 0."""

    action: str
    number: int = -1
    provider: str = ""
    model: str = ""


def build_fallbacks(app: App, *, saved: str = "", error: str = "", former: str | None = None) -> Fallbacks:
    """The list as the file has it. Reads the disk."""
    settings = app.settings.load()
    order, names = settings.fallback_providers, list_set_up(app, settings)
    rows = tuple(
        FallbackLine(
            number,
            item.provider,
            name_provider(settings, item.provider),
            item.model,
            is_usable=item.provider in names and is_on(settings, item.provider),
            is_first=number == 0,
            is_last=number == len(order) - 1,
        )
        for number, item in enumerate(order)
    )
    faults = [str(fault) for fault in app.settings.faults() if fault.place[:1] == PLACE]
    was = read_token(settings, PLACE)
    return Fallbacks(
        was,
        rows,
        tuple(Choice(name, name_provider(settings, name), "", "", chosen=False) for name in names),
        fault=_("In settings.json %(fault)s, so it does not count.", fault="; ".join(faults)) if faults else "",
        saved=saved,
        error=error,
        undo=None if former is None else Undo(former, was),
    )


def move_fallback(app: App, move: Move, was: str) -> Fallbacks:
    """The list after a change, or as it is with the reason why not."""
    settings = app.settings.load()
    try:
        order = _moved(list_set_up(app, settings), list(as_list(read_value(settings, PLACE))), move)
        former = change_value(app.settings, PLACE, order, expected=was)
    except SkalesError as error:
        return build_fallbacks(app, error=_say(error))
    return build_fallbacks(app, saved=_("Saved"), former=former)


def undo_fallback(app: App, former: str, saved: str) -> Fallbacks:
    """The list as it was before the last change."""
    try:
        change_value(app.settings, PLACE, parse_token(former), expected=saved)
    except SkalesError as error:
        return build_fallbacks(app, error=_say(error))
    return build_fallbacks(app, saved=_("Put back"))


def _moved(usable: Sequence[str], order: list[JsonValue], move: Move) -> list[JsonValue]:
    if move.action == "add":
        return _with_new(usable, order, move)
    if not 0 <= move.number < len(order):
        raise InputError(_("This place in the list is gone"))
    item = order.pop(move.number)
    match move.action:
        case "remove":
            return order
        case "up" | "down":
            order.insert(max(move.number + (-1 if move.action == "up" else 1), 0), item)
            return order
        case _:
            raise InputError(_("This is none of the choices"))


def _with_new(usable: Sequence[str], order: list[JsonValue], move: Move) -> list[JsonValue]:
    provider, model = move.provider.strip(), move.model.strip()
    if provider not in usable:
        raise InputError(_("Choose a provider that is set up"))
    new: dict[str, JsonValue] = {"provider": provider, "model": model}
    if any(json.dumps(_bare(item)) == json.dumps(new) for item in order):
        raise InputError(_("This one is in the list already"))
    if len(order) >= _MOST:
        raise InputError(_("The list is full"), hint=_("Remove one first"))
    return [*order, new]


def _bare(item: JsonValue) -> JsonValue:
    match item:
        case Mapping():
            return {"provider": item.get("provider", ""), "model": item.get("model", "")}
        case _:
            return item


def _say(error: SkalesError) -> str:
    if error.code == CHANGED:
        return _("settings.json was changed in the meantime. Here is what it says now; nothing was overwritten.")
    return describe(error)
