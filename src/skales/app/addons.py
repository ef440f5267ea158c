"""The add-ons that have something behind them here, and their switches. Spec: addons.md, "Storage"."""

from collections.abc import Sequence
from difflib import get_close_matches

from msgspec import Struct

from skales.app.app import App
from skales.core.errors import ConflictError, NotFoundError
from skales.core.json import JsonObject
from skales.core.tool import ToolSpec
from skales.data.setting_names import open_object
from skales.tools.addons import Addon, AddonState, is_addon_on, load_addons


class AddonStatus(Struct, frozen=True):
    """An add-on as it stands now, with its tools."""

    addon: Addon
    is_on: bool
    tools: Sequence[ToolSpec]


def list_addons(app: App) -> Sequence[AddonStatus]:
    """Those with tools, in the order of the table. Parked ones only while they are on, retired ones never."""
    switches = app.settings.load().addons
    behind: dict[str, list[ToolSpec]] = {}
    for spec in app.toolbox.specs():
        behind.setdefault(spec.addon, []).append(spec)
    return [
        AddonStatus(addon, is_on, behind[addon.id])
        for addon in load_addons().values()
        if addon.id in behind
        and ((is_on := is_addon_on(addon.id, switches)) or addon.state in (AddonState.ON, AddonState.OFF))
    ]


def switch_addon(app: App, addon_id: str, *, is_on: bool) -> JsonObject:
    """Switch one on or off, which counts from the next message on; how it stands then.

    Raises NotFoundError for an id that nobody knows, ConflictError for one without a switch.
    """
    addon = load_addons().get(addon_id)
    if addon is None:
        near = get_close_matches(addon_id, load_addons(), n=1)
        hint = f"Did you mean {near[0]}?" if near else "`skales addons` lists them"
        raise NotFoundError(f"There is no add-on {addon_id!r}", hint=hint)
    if not addon.has_switch:
        what = "belongs to the core and is always on" if addon.state is AddonState.CORE else "was retired and stays off"
        raise ConflictError(f"The add-on {addon_id!r} {what}")
    app.settings.update(lambda raw: open_object(raw, "addons").update({addon_id: is_on}))
    return {"id": addon_id, "label": addon.label, "enabled": is_on}


def report_addons(app: App) -> JsonObject:
    """`{addons: [{id, label, about, needs, state, enabled, tools}]}`."""
    return {
        "addons": [
            {
                "id": status.addon.id,
                "label": status.addon.label,
                "about": status.addon.about,
                "needs": status.addon.needs,
                "state": status.addon.state.value,
                "enabled": status.is_on,
                "tools": [spec.name for spec in status.tools],
            }
            for status in list_addons(app)
        ]
    }
