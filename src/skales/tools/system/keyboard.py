"""The tools `computer_type` and `computer_key`. Secrets and password windows are refused, as far as they are seen."""

import re
from typing import Annotated

from anyio import to_thread

from skales.core.errors import InputError, ToolError, ToolRefusedError
from skales.core.events import Progress
from skales.core.tool import Effect, Safety, ToolResult
from skales.security.redact import redact
from skales.tools.context import ToolContext
from skales.tools.define import Range, tool
from skales.tools.system.desktop import Desktop, Window, open_desktop
from skales.tools.system.keys import parse_combination

_MOST_CHARACTERS = 10_000
_MOST_TIMES = 100
# So many characters are typed before the focus is looked at again, and a cancellation is noticed.
_AT_ONCE = 20
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

_PASSWORD_TITLE = re.compile(
    r"pass(?:word|phrase|code|wort)|kennwort|mot de passe|contraseña|\bPIN\b|authenticat\w* (?:is )?required"
    r"|authentifizierung|\bunlock\b|entsperren",
    re.IGNORECASE,
)
_PASSWORD_PROGRAM = re.compile(
    r"pinentry|polkit|askpass|gcr-prompter|keyring|kwallet|gksu|lxqt-sudo|xsecurelock|i3lock|screensaver|locker",
    re.IGNORECASE,
)
_UNSEEN = (
    "Only the window's title was checked: a password field inside another window cannot be told from other fields."
)
_UNCHECKED = "Which window was in front, and whether the field hides a password, could not be checked."


@tool(
    "system",
    Safety.CONFIRM,
    Effect.WRITES,
    Effect.OUTBOUND,
    Effect.DESTRUCTIVE,
    addon="computer_use",
    action="Type {text}",
    example=("Write my name into the field", {"text": "Ada Lovelace"}),
    needs="display",
    found_by=(
        "fill in box screen form tippen eingeben enter text into field type window Fenster Feld ausfüllen "
        "tippe schreiben editor eintippen input Formular"
    ),
)
async def computer_type(ctx: ToolContext, text: str) -> ToolResult:
    """Type text where the cursor is on the screen; click the field first. Never for passwords.

    Args:
        text: What to type; a line end presses Enter.
    """
    typed = text.replace("\r\n", "\n").replace("\r", "\n")
    _require_typable(typed)
    async with open_desktop() as desktop:
        window = await to_thread.run_sync(desktop.focused_window)
        _require_no_password(window)
        await _type(ctx, desktop, typed, window)
    note = _UNCHECKED if window is None else _UNSEEN
    return ToolResult(
        text=f"Typed {len(typed)} characters. {note}",
        summary=f"Typed {len(typed)} characters",
        data={"characters": len(typed)},
    )


@tool(
    "system",
    Safety.CONFIRM,
    Effect.WRITES,
    Effect.OUTBOUND,
    Effect.DESTRUCTIVE,
    addon="computer_use",
    action="Press {key}",
    example=("Save the document", {"key": "Ctrl+S"}),
    needs="display",
    found_by=(
        "Taste Tastenkombination shortcut Ctrl press key Enter Escape Strg drücken Tastendruck Tab F5 Alt Esc "
        "Leertaste Pfeiltaste Umschalt hit return drück copy paste"
    ),
)
async def computer_key(ctx: ToolContext, key: str, times: Annotated[int, Range(1, _MOST_TIMES)] = 1) -> ToolResult:
    """Press a key or key combination on the screen.

    Args:
        key: As people write it, such as Ctrl+Shift+T, Enter, PageDown, F5.
        times: How often.
    """
    combination = parse_combination(key)
    async with open_desktop() as desktop:
        if len(combination.key) == 1 and not {"ctrl", "alt", "super"} & set(combination.modifiers):
            _require_no_password(await to_thread.run_sync(desktop.focused_window))
        for done in range(times):
            await to_thread.run_sync(desktop.press, combination)
            ctx.scope.report(Progress(f"Pressing {combination}", done + 1, times, "steps"))
    often = "" if times == 1 else f" {times} times"
    return ToolResult(
        text=f"Pressed {combination}{often}. What came of it is seen in a new picture.",
        summary=f"Pressed {combination}{often}",
        data={"key": str(combination), "times": times},
    )


def _require_typable(text: str) -> None:
    if not text:
        raise InputError("There is no text to type")
    if len(text) > _MOST_CHARACTERS:
        raise InputError(
            f"The text has {len(text):,} characters, more than {_MOST_CHARACTERS:,}", hint="Type it in several parts"
        )
    if _CONTROLS.search(text):
        raise InputError("The text holds control characters", hint="Use computer_key for keys such as Escape")
    if redact(text) != text:
        raise ToolRefusedError(
            "The text looks like a password or key, which are never typed",
            hint="Ask the person to type it",
            code="secret_refused",
        )


def _require_no_password(window: Window | None) -> None:
    if window is None:
        return
    if _PASSWORD_TITLE.search(window.title) or _PASSWORD_PROGRAM.search(window.program):
        raise ToolRefusedError(
            "The window in front seems to ask for a password, into which nothing is typed",
            hint="Ask the person to type it",
            code="password_window",
        )


async def _type(ctx: ToolContext, desktop: Desktop, text: str, window: Window | None) -> None:
    """Type part by part, as long as the keys go where they went at the beginning."""
    for start in range(0, len(text), _AT_ONCE):
        if start and await to_thread.run_sync(_is_elsewhere, desktop, window):
            raise ToolError(
                f"Another window came to the front after {start} of {len(text)} characters; the rest was not typed",
                hint="Take a new picture, then go on from there",
                code="focus_lost",
            )
        await to_thread.run_sync(desktop.type_text, text[start : start + _AT_ONCE])
        ctx.scope.report(Progress("Typing", min(start + _AT_ONCE, len(text)), len(text), "steps"))


def _is_elsewhere(desktop: Desktop, window: Window | None) -> bool:
    found = desktop.focused_window()
    return window is not None and (found is None or found.identity != window.identity)
