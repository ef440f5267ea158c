"""What the templates of the add-ons page are given; see `server.views`."""

from typing import ClassVar

from msgspec import Struct

from skales.server.frame_views import Shell
from skales.server.ui.setting_views import Control


class AddonTool(Struct, frozen=True):
    """A tool of an add-on, with its first sentence."""

    name: str
    summary: str


class AddonCard(Struct, frozen=True):
    """One add-on. `control` is its switch; those of the core have none. `needs` is a sentence, empty for nothing."""

    id: str
    label: str
    about: str
    needs: str
    control: Control | None
    tools: tuple[AddonTool, ...]


class AddonsPage(Struct, frozen=True):
    """Every add-on with tools: those with a switch first, then the core."""

    template: ClassVar[str] = "addons/page.html"
    shell: Shell
    switched: tuple[AddonCard, ...]
    core: tuple[AddonCard, ...]
