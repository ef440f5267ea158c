"""Which add-ons exist, and whether one is on. Add-ons gate tools; skills do not. Spec: addons.md, "States"."""

import tomllib
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path

_TABLE = Path(__file__).with_name("addons.toml")


class AddonState(StrEnum):
    """What an add-on is before the person decides."""

    CORE = "core"
    ON = "on"
    OFF = "off"
    PARKED = "parked"
    RETIRED = "retired"


@cache
def load_addons() -> Mapping[str, AddonState]:
    """Add-on id → its state on a fresh install."""
    table = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    return {name: AddonState(state) for name, state in table.items()}


def is_addon_on(addon: str, switches: Mapping[str, bool]) -> bool:
    """Whether an add-on is on, given the person's switches; an id that nobody knows is off."""
    match load_addons().get(addon, AddonState.RETIRED):
        case AddonState.CORE:
            return True
        case AddonState.RETIRED:
            return False
        case AddonState.ON:
            return switches.get(addon, True)
        case AddonState.OFF | AddonState.PARKED:
            return switches.get(addon, False)
