"""What tools need of a desktop, and the one way to it. Says in plain words what is missing where there is none.

Linux is driven through X11 (`x11`), macOS and Windows through pynput (`native`).
"""

import os
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Protocol

from anyio import CancelScope, to_thread
from msgspec import Struct

from skales.core.errors import ToolError
from skales.tools.system.keys import Combination


class Button(StrEnum):
    """A button of the mouse."""

    LEFT = "left"
    MIDDLE = "middle"
    RIGHT = "right"


class Direction(StrEnum):
    """Where the view moves to."""

    UP = "up"
    DOWN = "down"
    LEFT = "left"
    RIGHT = "right"


class Window(Struct, frozen=True):
    """The window that gets the keys. `program` is what it says it belongs to; both texts were written by others."""

    identity: int
    title: str
    program: str


class Desktop(Protocol):
    """Pointer and keyboard of the screen. Everything blocks for a moment; what is pressed is released in any case."""

    def focused_window(self) -> Window | None:
        """The window that gets the keys; None where that cannot be known."""
        ...

    def move(self, x: float, y: float) -> None:
        """Put the pointer on a place of the whole desktop."""
        ...

    def click(self, button: Button, times: int) -> None:
        """Click where the pointer is."""
        ...

    def scroll(self, direction: Direction, steps: int) -> None:
        """Turn the wheel where the pointer is."""
        ...

    def press(self, combination: Combination) -> None:
        """Press a combination once. Raises ToolError when the keyboard has no such key."""
        ...

    def type_text(self, text: str) -> None:
        """Type a text; a line end is Enter. Raises ToolError when the keyboard cannot be made to type a character."""
        ...

    def close(self) -> None:
        """Leave the desktop as it was found."""
        ...


@asynccontextmanager
async def open_desktop() -> AsyncGenerator[Desktop]:
    """The desktop for as long as the block. Raises ToolError(code="no_display")."""
    desktop = await to_thread.run_sync(_connect)
    try:
        yield desktop
    except _lost_errors() as error:
        raise no_display("The screen went away", "Look at it again with computer_screenshot") from error
    finally:
        with CancelScope(shield=True):
            await to_thread.run_sync(desktop.close)


def require_display() -> None:
    """Raise ToolError(code="no_display") that says what is missing for pictures of the screen and for input."""
    if _is_x11_system():
        from skales.tools.system.x11 import open_display

        open_display(_display_name(os.environ)).close()


def no_display(message: str, hint: str) -> ToolError:
    """The error of every way in which a desktop can be missing."""
    return ToolError(message, hint=hint, code="no_display")


def missing_package(name: str) -> ToolError:
    """The error for a library that only the extra brings."""
    return no_display(
        f"The Python package {name} is not installed, which working on the screen needs",
        "Install it with: pip install 'skales[desktop]'",
    )


def _connect() -> Desktop:
    if _is_x11_system():
        from skales.tools.system.x11 import X11Desktop, open_display

        return X11Desktop(open_display(_display_name(os.environ)))
    from skales.tools.system.native import open_native

    return open_native()


def _lost_errors() -> tuple[type[Exception], ...]:
    if not _is_x11_system():
        return (OSError,)
    from skales.tools.system.x11 import lost_errors

    return lost_errors()


def _is_x11_system() -> bool:
    return sys.platform not in {"win32", "darwin"}


def _display_name(environment: Mapping[str, str]) -> str:
    name = environment.get("DISPLAY", "")
    if name:
        return name
    if environment.get("WAYLAND_DISPLAY") or environment.get("XDG_SESSION_TYPE") == "wayland":
        raise wayland_error()
    raise no_display(
        "There is no screen: Skales runs without a display (DISPLAY is not set)",
        "Start Skales from a terminal of the desktop, or name the display: DISPLAY=:0",
    )


def wayland_error() -> ToolError:
    """Wayland lets no program see or press what belongs to another; only X11 windows would be reached, by luck."""
    return no_display(
        "This desktop runs on Wayland, where no program may see the screen or press keys for others",
        "Choose a session with X11 (Xorg) at the login screen",
    )
