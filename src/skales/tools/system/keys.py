"""Key combinations as people write them, and the ones that are never pressed. Knows no keyboard."""

import re
from collections.abc import Mapping

from msgspec import Struct

from skales.core.errors import InputError, ToolRefusedError

# In the order in which they are pressed.
MODIFIERS = ("ctrl", "alt", "shift", "super")

_MODIFIER_NAMES: Mapping[str, str] = {
    "ctrl": "ctrl", "control": "ctrl", "ctl": "ctrl", "strg": "ctrl", "⌃": "ctrl",
    "alt": "alt", "option": "alt", "opt": "alt", "⌥": "alt",
    "shift": "shift", "umschalt": "shift", "⇧": "shift",
    "super": "super", "win": "super", "windows": "super", "meta": "super", "cmd": "super", "command": "super",
    "⌘": "super",
}  # fmt: skip
_KEY_NAMES: Mapping[str, str] = {
    "enter": "enter", "return": "enter", "eingabe": "enter", "⏎": "enter",
    "esc": "escape", "escape": "escape", "tab": "tab", "⇥": "tab", "space": "space", "spacebar": "space",
    "leertaste": "space", "backspace": "backspace", "rücktaste": "backspace", "⌫": "backspace",
    "del": "delete", "delete": "delete", "entf": "delete", "ins": "insert", "insert": "insert", "einfg": "insert",
    "home": "home", "pos1": "home", "end": "end", "ende": "end",
    "pageup": "page_up", "pgup": "page_up", "bildauf": "page_up", "prior": "page_up",
    "pagedown": "page_down", "pgdn": "page_down", "pgdown": "page_down", "bildab": "page_down", "next": "page_down",
    "left": "left", "arrowleft": "left", "leftarrow": "left", "←": "left",
    "right": "right", "arrowright": "right", "rightarrow": "right", "→": "right",
    "up": "up", "arrowup": "up", "uparrow": "up", "↑": "up",
    "down": "down", "arrowdown": "down", "downarrow": "down", "↓": "down",
    "menu": "menu", "contextmenu": "menu", "apps": "menu", "capslock": "caps_lock",
    "printscreen": "print", "print": "print", "prtsc": "print", "prtscn": "print", "druck": "print",
    "sysrq": "sysrq", "sysreq": "sysrq", "pause": "pause", "break": "pause",
    "plus": "+", "minus": "-", "comma": ",", "period": ".", "dot": ".", "slash": "/",
    **{f"f{number}": f"f{number}" for number in range(1, 25)},
}  # fmt: skip

# Each ends the session, locks the screen, leaves it for a text console, or speaks to the kernel (Alt+Print is Alt+SysRq
# on many keyboards): the modifiers that must all be held, and the key.
_FORBIDDEN: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"ctrl", "alt"}), "delete"),
    (frozenset({"ctrl", "alt"}), "backspace"),
    (frozenset({"alt"}), "print"),
    (frozenset(), "sysrq"),
    (frozenset({"super"}), "l"),
    (frozenset({"ctrl", "alt"}), "l"),
    (frozenset({"ctrl", "super"}), "q"),
    (frozenset({"shift", "super"}), "q"),
    *((frozenset({"ctrl", "alt"}), f"f{number}") for number in range(1, 13)),
)
_MOST_CHARACTERS = 60
_SYMBOLS = re.compile(r"([⌃⌥⇧⌘])(?=\S)")


class Combination(Struct, frozen=True):
    """Modifiers to hold, and the key: one character or a name such as `page_up`; empty for modifiers alone."""

    modifiers: tuple[str, ...]
    key: str

    def __str__(self) -> str:
        """As people write it: `Ctrl+Shift+T`."""
        parts = [*self.modifiers, *([self.key] if self.key else [])]
        return "+".join(part.replace("_", " ").title().replace(" ", "") for part in parts)


def parse_combination(text: str) -> Combination:
    """What to press for `Ctrl+Shift+T`, `cmd-c`, `Strg + Entf`, `F5`. Letters mean keys, whatever their case.

    Raises InputError for what is none, ToolRefusedError for one that is never pressed.
    """
    parts = _split(text)
    modifiers = {_MODIFIER_NAMES[part] for part in parts if part in _MODIFIER_NAMES}
    keys = [_key(part, text) for part in parts if part not in _MODIFIER_NAMES]
    if len(keys) > 1:
        raise InputError(f"{text[:_MOST_CHARACTERS]!r} names more than one key", hint="Press one combination at a time")
    combination = Combination(tuple(name for name in MODIFIERS if name in modifiers), keys[0] if keys else "")
    _require_harmless(combination)
    return combination


def _split(text: str) -> list[str]:
    """The parts in lower case. A last `+` or `-` is the key itself."""
    whole = re.sub(r"\s+", "", text).lower()
    if not whole or len(whole) > _MOST_CHARACTERS:
        raise InputError("No key is named", hint="Write it like Ctrl+Shift+T, Enter or F5")
    whole = _SYMBOLS.sub(r"\1+", whole)
    last = whole[-1] if whole[-1] in "+-" else ""
    front = whole[:-1].rstrip("+-") if last else whole
    return [part for part in re.split(r"[+-]", front) if part] + ([last] if last else [])


def _key(part: str, text: str) -> str:
    if part in _KEY_NAMES:
        return _KEY_NAMES[part]
    if len(part) == 1 and part.isprintable():
        return part
    raise InputError(
        f"{part!r} in {text[:_MOST_CHARACTERS]!r} is not a key",
        hint="Write it like Ctrl+Shift+T, Enter, PageDown or F5",
    )


def _require_harmless(combination: Combination) -> None:
    held = set(combination.modifiers)
    if any(key == combination.key and modifiers <= held for modifiers, key in _FORBIDDEN):
        raise ToolRefusedError(
            f"{combination} is never pressed: it can end the session, lock the screen or reach the system itself",
            code="key_refused",
        )
