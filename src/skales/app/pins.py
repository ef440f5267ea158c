"""Tools that a person wants models to have always, besides the basic ones."""

from msgspec import Struct

from skales.app.app import App
from skales.core.json import JsonValue, as_list
from skales.core.tool import ToolSpec


class PinStatus(Struct, frozen=True):
    """A tool, and whether it is pinned."""

    spec: ToolSpec
    is_pinned: bool


def read_pin(app: App, spec: ToolSpec) -> PinStatus:
    """As the settings say."""
    return PinStatus(spec, spec.name in app.settings.load().pinned_tools)


def pin_tool(app: App, spec: ToolSpec, *, is_pinned: bool) -> PinStatus:
    """Pin or unpin, from the next message on; the order of the others stays."""

    def change(raw: dict[str, JsonValue]) -> None:
        others = [name for name in as_list(raw.get("pinnedTools")) if name != spec.name]
        raw["pinnedTools"] = [*others, spec.name] if is_pinned else others

    app.settings.update(change)
    return read_pin(app, spec)
