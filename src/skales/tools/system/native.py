"""Pointer and keyboard of macOS and Windows, through pynput."""

import sys
import time
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from skales.core.errors import ToolError
from skales.tools.system.desktop import Button, Desktop, Direction, Window, missing_package, no_display
from skales.tools.system.keys import Combination

if TYPE_CHECKING:
    from pynput import keyboard, mouse

_STEPS = {Direction.UP: (0, 1), Direction.DOWN: (0, -1), Direction.LEFT: (-1, 0), Direction.RIGHT: (1, 0)}
# What pynput calls differently.
_NAMES = {"escape": "esc", "super": "cmd", "print": "print_screen"}
_PRESS_S = 0.012


def open_native() -> Desktop:
    """The desktop, when this program may drive it. Raises ToolError(code="no_display")."""
    try:
        from pynput import keyboard, mouse
    except ImportError as error:
        raise missing_package("pynput") from error
    if sys.platform == "darwin" and not _is_trusted():
        raise no_display(
            "macOS does not let Skales press keys yet",
            "Allow the program that starts Skales under System Settings, Privacy & Security, Accessibility",
        )
    return NativeDesktop(keyboard.Controller(), mouse.Controller())


class NativeDesktop:
    """The Desktop of macOS and Windows. Which window gets the keys is not known."""

    def __init__(self, keys: "keyboard.Controller", pointer: "mouse.Controller") -> None:
        self._keys = keys
        self._pointer = pointer

    def focused_window(self) -> Window | None:
        """Not known here."""
        return None

    def move(self, x: float, y: float) -> None:
        """Put the pointer on a place of the whole desktop."""
        self._pointer.position = (round(x), round(y))

    def click(self, button: Button, times: int) -> None:
        """Click where the pointer is."""
        from pynput import mouse

        self._pointer.click(mouse.Button[button.value], times)

    def scroll(self, direction: Direction, steps: int) -> None:
        """Turn the wheel where the pointer is."""
        across, along = _STEPS[direction]
        for _ in range(steps):
            self._pointer.scroll(across, along)
            time.sleep(_PRESS_S)

    def press(self, combination: Combination) -> None:
        """Press a combination once; what was pressed is released whatever happens, the last first."""
        keys = [*map(_named, combination.modifiers), *([_key(combination.key)] if combination.key else [])]
        self._press_keys(keys)

    def type_text(self, text: str) -> None:
        """Type a text; a line end is Enter."""
        try:
            self._keys.type(text)
        except self._keys.InvalidCharacterException as error:
            raise ToolError("The text has a character that this keyboard cannot be made to type") from error

    def close(self) -> None:
        """Nothing was changed."""

    def _press_keys(self, keys: "Sequence[keyboard.Key | keyboard.KeyCode]") -> None:
        held: list[keyboard.Key | keyboard.KeyCode] = []
        try:
            for key in keys:
                held.append(key)
                self._keys.press(key)
            time.sleep(_PRESS_S)
        finally:
            for key in reversed(held):
                self._keys.release(key)


def _key(name: str) -> "keyboard.Key | keyboard.KeyCode":
    from pynput import keyboard

    return keyboard.KeyCode.from_char(name) if len(name) == 1 else _named(name)


def _named(name: str) -> "keyboard.Key":
    """The key of a name; keyboards of macOS lack some."""
    from pynput import keyboard

    try:
        return keyboard.Key[_NAMES.get(name, name)]
    except KeyError as error:
        raise ToolError(f"This keyboard has no key {name.title()}", code="no_key") from error


def _is_trusted() -> bool:
    """Whether macOS lets this program press keys; without it, presses vanish."""
    return bool(import_module("HIServices").AXIsProcessTrusted())
