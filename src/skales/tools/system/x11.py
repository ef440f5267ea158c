"""Pointer and keyboard of an X11 screen, through its XTEST extension and python-xlib. Knows nothing of tools.

Characters that no key has are given to keys that are not in use, and taken away again at the end.
"""

import os
import re
import socket
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from skales.core.errors import ToolError
from skales.tools.system.desktop import Button, Direction, Window, missing_package, no_display, wayland_error
from skales.tools.system.keys import Combination

if TYPE_CHECKING:
    from Xlib.display import Display
    from Xlib.xobject.drawable import Window as XWindow

# Programs tell a press from a bounce, and two clicks from a double click, by these.
_PRESS_S = 0.012
_BETWEEN_CLICKS_S = 0.06
# Programs ask for the keyboard's layout some time after they heard that it changed.
_LAYOUT_S = 0.15
_TREE_DEPTH = 32
_LOCAL_DISPLAY = re.compile(r"(?:unix)?:([0-9]{1,9})(?:\.[0-9]{1,9})?")

_BUTTONS: Mapping[Button, int] = {Button.LEFT: 1, Button.MIDDLE: 2, Button.RIGHT: 3}
_WHEEL: Mapping[Direction, int] = {Direction.UP: 4, Direction.DOWN: 5, Direction.LEFT: 6, Direction.RIGHT: 7}

# Keysyms, from X11/keysymdef.h.
_KEYSYMS: Mapping[str, int] = {
    "ctrl": 0xFFE3, "shift": 0xFFE1, "alt": 0xFFE9, "super": 0xFFEB, "level3": 0xFE03,
    "enter": 0xFF0D, "escape": 0xFF1B, "tab": 0xFF09, "space": 0x20, "backspace": 0xFF08, "delete": 0xFFFF,
    "insert": 0xFF63, "home": 0xFF50, "end": 0xFF57, "page_up": 0xFF55, "page_down": 0xFF56, "left": 0xFF51,
    "up": 0xFF52, "right": 0xFF53, "down": 0xFF54, "menu": 0xFF67, "caps_lock": 0xFFE5, "print": 0xFF61,
    "pause": 0xFF13, **{f"f{number}": 0xFFBD + number for number in range(1, 25)},
}  # fmt: skip
_TYPED: Mapping[str, int] = {"\n": _KEYSYMS["enter"], "\t": _KEYSYMS["tab"]}
# Which modifiers reach the columns of a key in the core keyboard mapping, for its first and its second group.
_COLUMNS: tuple[Mapping[int, tuple[str, ...]], ...] = (
    {0: (), 1: ("shift",), 4: ("level3",), 5: ("shift", "level3")},
    {2: (), 3: ("shift",), 6: ("level3",), 7: ("shift", "level3")},
)
_LOCK_MASK = 0x02


def open_display(name: str) -> "Display":
    """A connection to a screen that can be driven. Raises ToolError(code="no_display")."""
    try:
        from Xlib import display, error
    except ImportError as cause:
        raise missing_package("python-xlib") from cause
    try:
        _require_listening(name)
        found = display.Display(name)
        _require_drivable(found)
    except (error.DisplayError, error.XauthError, error.ConnectionClosedError, OSError, ValueError) as cause:
        raise no_display(
            f"The display {name!r} cannot be opened", "Start Skales from a terminal of the desktop it should work on"
        ) from cause
    return found


def lost_errors() -> tuple[type[Exception], ...]:
    """What the library raises when the screen goes away."""
    from Xlib import error

    return OSError, error.ConnectionClosedError


def _require_listening(name: str) -> None:
    """Raise OSError when nobody serves a display of this computer; python-xlib would leave its sockets open."""
    local = _LOCAL_DISPLAY.fullmatch(name)
    if local is None:
        return
    path = f"/tmp/.X11-unix/X{local[1]}"  # noqa: S108 - where every X server has its socket
    # On Linux it also has one that is no file.
    address = path if os.path.exists(path) else f"\0{path}"  # noqa: PTH110 - a socket is no path to work with
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(address)


def _require_drivable(found: "Display") -> None:
    """Close the connection and raise ToolError when programs cannot be driven on this display."""
    if found.has_extension("XWAYLAND") or _has_wayland_screens(found):
        found.close()
        raise wayland_error()
    if not found.has_extension("XTEST"):
        found.close()
        raise no_display("This display lets no program press keys (it has no XTEST)", "Use another display")


def _has_wayland_screens(found: "Display") -> bool:
    """Whether an X server inside Wayland shows itself by the names of its screens, as those before 2023 do."""
    if not found.has_extension("RANDR"):
        return False
    from Xlib.ext import randr

    resources = randr.get_screen_resources(found.screen().root)
    infos = [randr.get_output_info(found, output, resources.config_timestamp) for output in resources.outputs]
    return any(str(output.name).startswith("XWAYLAND") for output in infos)


class X11Desktop:
    """The Desktop of an X11 screen. For one thread at a time."""

    def __init__(self, display: "Display") -> None:
        self._display = display
        self._root = display.screen().root
        self._spare = _spare_keycodes(display)
        self._lent: dict[int, int] = {}  # keysym → keycode

    def focused_window(self) -> Window | None:
        """The window with the input focus, or under the pointer where nobody manages the focus."""
        from Xlib import error

        try:
            focus = self._display.get_input_focus().focus
            found = self._under_pointer() if isinstance(focus, int) else focus
            return self._describe(found) if found is not None else None
        except (error.BadWindow, error.BadDrawable):
            return None

    def move(self, x: float, y: float) -> None:
        """Put the pointer on a place of the whole desktop."""
        from Xlib import X
        from Xlib.ext import xtest

        xtest.fake_input(self._display, X.MotionNotify, x=round(x), y=round(y))
        self._display.sync()

    def click(self, button: Button, times: int) -> None:
        """Click where the pointer is."""
        for _ in range(times):
            self._press_button(_BUTTONS[button])
            time.sleep(_BETWEEN_CLICKS_S)

    def scroll(self, direction: Direction, steps: int) -> None:
        """Turn the wheel where the pointer is."""
        for _ in range(steps):
            self._press_button(_WHEEL[direction])

    def press(self, combination: Combination) -> None:
        """Press a combination once; modifiers alone are pressed and released."""
        needed: tuple[str, ...] = ()
        keycodes: list[int] = []
        if combination.key:
            keysym = _KEYSYMS.get(combination.key) or _keysym(combination.key)
            keycode, needed = self._stroke(keysym, is_letter=False)
            keycodes = [keycode]
        held = dict.fromkeys((*combination.modifiers, *needed))
        self._press_keys([*map(self._modifier, held), *keycodes])

    def type_text(self, text: str) -> None:
        """Type a text; a line end is Enter."""
        for part in self._parts(text):
            self._lend({keysym for keysym in map(_typed, part) if self._find_key(keysym) is None})
            for character in part:
                is_letter = character.lower() != character.upper()
                keycode, needed = self._stroke(_typed(character), is_letter=is_letter)
                self._press_keys([*map(self._modifier, needed), keycode])

    def close(self) -> None:
        """Take lent keys back, and leave."""
        with suppress(*lost_errors()):
            if self._lent:
                time.sleep(_LAYOUT_S)
                for keycode in self._lent.values():
                    self._assign(keycode, 0)
                self._display.sync()
            self._display.close()

    def _press_button(self, number: int) -> None:
        from Xlib import X

        with self._held(X.ButtonPress, X.ButtonRelease, [number]):
            time.sleep(_PRESS_S)

    def _press_keys(self, keycodes: Sequence[int]) -> None:
        from Xlib import X

        with self._held(X.KeyPress, X.KeyRelease, keycodes):
            time.sleep(_PRESS_S)

    @contextmanager
    def _held(self, press: int, release: int, details: Sequence[int]) -> Generator[None]:
        """Hold keys or buttons; they are released whatever happens, the last first."""
        from Xlib.ext import xtest

        try:
            for detail in details:
                xtest.fake_input(self._display, press, detail)
            self._display.sync()
            yield
        finally:
            for detail in reversed(details):
                xtest.fake_input(self._display, release, detail)
            self._display.sync()

    def _modifier(self, name: str) -> int:
        keycode = self._display.keysym_to_keycode(_KEYSYMS[name])
        if not keycode:
            raise ToolError(f"This keyboard has no key {name.title()}", code="no_key")
        return keycode

    def _stroke(self, keysym: int, *, is_letter: bool) -> tuple[int, tuple[str, ...]]:
        """The key that makes a keysym as the keyboard is set now, and the modifiers it takes."""
        found = self._find_key(keysym)
        if found is None:
            self._lend({keysym})
            found = self._lent[keysym], ()
        keycode, needed = found
        if is_letter and keysym not in self._lent and self._root.query_pointer().mask & _LOCK_MASK:
            needed = tuple(name for name in needed if name != "shift") if "shift" in needed else ("shift", *needed)
        return keycode, needed

    def _find_key(self, keysym: int) -> tuple[int, tuple[str, ...]] | None:
        if keysym in self._lent:
            return self._lent[keysym], ()
        columns = _COLUMNS[(self._root.query_pointer().mask >> 13 & 3) % len(_COLUMNS)]
        for keycode, column in self._display.keysym_to_keycodes(keysym):
            if column in columns:
                return keycode, columns[column]
        return None

    def _parts(self, text: str) -> Iterator[str]:
        """The text in parts, none with more unknown characters than there are keys to lend."""
        capacity = len(self._spare) + len(self._lent)
        start, unknown = 0, set[int]()
        for place, character in enumerate(text):
            keysym = _typed(character)
            if keysym in self._lent or self._find_key(keysym) is None:
                unknown.add(keysym)
            if len(unknown) > capacity:
                yield text[start:place]
                start, unknown = place, {keysym}
        yield text[start:]

    def _lend(self, keysyms: set[int]) -> None:
        """Give keysyms to keys that are not in use, or to those that were lent first."""
        if not keysyms:
            return
        if not self._spare and not self._lent:
            raise ToolError("This keyboard has no free key for a character it does not know", code="no_key")
        if len(keysyms) > len(self._spare):
            time.sleep(_LAYOUT_S)
        for keysym in keysyms:
            keycode = self._spare.pop() if self._spare else self._lent.pop(next(iter(self._lent)))
            self._assign(keycode, keysym)
            self._lent[keysym] = keycode
        self._display.sync()
        time.sleep(_LAYOUT_S)

    def _assign(self, keycode: int, keysym: int) -> None:
        # The same in all columns, so that no modifier and no lock changes it.
        self._display.change_keyboard_mapping(keycode, [(keysym,) * 8])

    def _under_pointer(self) -> "XWindow | None":
        child = self._root.query_pointer().child
        return None if isinstance(child, int) else child

    def _describe(self, window: "XWindow") -> Window:
        """Title and program stand at one of the windows around the focus; the outermost tells windows apart."""
        title = program = ""
        for _ in range(_TREE_DEPTH):
            title = title or self._title(window)
            kind = window.get_wm_class()
            program = program or (" ".join(kind) if kind else "")
            parent = window.query_tree().parent
            if isinstance(parent, int) or parent.id == self._root.id:
                break
            window = parent
        return Window(window.id, title, program)

    def _title(self, window: "XWindow") -> str:
        from Xlib import X

        found = window.get_full_property(self._display.intern_atom("_NET_WM_NAME"), X.AnyPropertyType)
        value = found.value if found is not None else window.get_wm_name()
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")


def _spare_keycodes(display: "Display") -> list[int]:
    """Keys that make nothing, on any level."""
    first: int = display.display.info.min_keycode
    count: int = display.display.info.max_keycode - first + 1
    mapping = display.get_keyboard_mapping(first, count)
    return [first + number for number, keysyms in enumerate(mapping) if not any(keysyms)]


def _typed(character: str) -> int:
    return _TYPED.get(character) or _keysym(character)


def _keysym(character: str) -> int:
    """Latin-1 characters are their own keysyms, all others have one each by rule."""
    code = ord(character)
    return code if 0x20 <= code <= 0x7E or 0xA0 <= code <= 0xFF else 0x1000000 + code
