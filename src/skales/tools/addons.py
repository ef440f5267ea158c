"""Which add-ons exist, and whether one is on. Add-ons gate tools; skills do not. Spec: addons.md, "States"."""

import tomllib
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path

from msgspec import Struct

_TABLE = Path(__file__).with_name("addons.toml")


class AddonState(StrEnum):
    """What an add-on is before the person decides."""

    CORE = "core"
    ON = "on"
    OFF = "off"
    PARKED = "parked"
    RETIRED = "retired"


class Addon(Struct, frozen=True):
    """One add-on. `about` is what it brings, `needs` what it takes besides the switch; both may be empty."""

    id: str
    state: AddonState
    label: str
    about: str = ""
    needs: str = ""

    @property
    def has_switch(self) -> bool:
        """Whether a person decides about it."""
        return self.state not in (AddonState.CORE, AddonState.RETIRED)


@cache
def load_addons() -> Mapping[str, Addon]:
    """Add-on id → the add-on, in the order of the table."""
    table = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    return {
        name: Addon(name, AddonState(facts["state"]), facts["label"], facts.get("about", ""), facts.get("needs", ""))
        for name, facts in table.items()
    }


def is_addon_on(addon: str, switches: Mapping[str, bool]) -> bool:
    """Whether an add-on is on, given the person's switches; an id that nobody knows is off."""
    known = load_addons().get(addon)
    match known.state if known else AddonState.RETIRED:
        case AddonState.CORE:
            return True
        case AddonState.RETIRED:
            return False
        case AddonState.ON:
            return switches.get(addon, True)
        case AddonState.OFF | AddonState.PARKED:
            return switches.get(addon, False)
