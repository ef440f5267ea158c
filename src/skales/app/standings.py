"""How it is about what some tools need besides their add-on; see `tools.conditions`. No network is asked."""

import os
import sys
from collections.abc import Callable, Mapping
from functools import partial

from skales.data.connectors import ConnectorStore
from skales.data.ftp_profiles import FtpProfiles
from skales.data.setting_shapes import Settings
from skales.tools.conditions import Condition, Standing


def name_conditions(
    settings: Callable[[], Settings], connectors: ConnectorStore, profiles: FtpProfiles, search: Condition
) -> Mapping[str, Condition]:
    """Need → who knows about it."""
    return {
        "search_engine": search,
        "connector": partial(stand_connectors, connectors),
        "vault": lambda: _stand_vaults(settings()),
        "server": lambda: _stand_servers(profiles),
        "display": lambda: stand_display(os.environ, sys.platform),
    }


def stand_connectors(connectors: ConnectorStore) -> Standing:
    """Whether there is a connector to call, and what they are called."""
    names = connectors.ids()
    missing = "" if names else "No connector is set up; `skales connectors add` sets one up"
    return Standing(missing, ", ".join(names))


def stand_display(environment: Mapping[str, str], platform: str) -> Standing:
    """Whether there is a screen to look at; what else stands in the way is said by the tools themselves."""
    if platform in ("darwin", "win32") or environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"):
        return Standing()
    return Standing("Skales was started without a display, so it sees no screen")


def _stand_vaults(settings: Settings) -> Standing:
    has_one = any(vault.path for vault in settings.obsidian_vaults)
    return Standing("" if has_one else "No Obsidian vault is set up; add its folder under Settings, Tools")


def _stand_servers(profiles: FtpProfiles) -> Standing:
    return Standing("" if profiles.has_any() else "No server is set up; `skales ftp add` sets one up")
