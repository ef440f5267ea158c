"""The tools `computer_click` and `computer_scroll`. A click on what deletes, buys, pays or cancels asks the person."""

import re
from functools import partial
from typing import Annotated

from anyio import to_thread
from msgspec import Struct

from skales.core.errors import ToolRefusedError
from skales.core.ports import Question
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.define import Range, tool
from skales.tools.screens import Seen, require_fresh
from skales.tools.system.desktop import Button, Direction, open_desktop
from skales.tools.system.finding import Located, locate, not_found, render_places, require_point
from skales.tools.system.reading import can_read, read_words
from skales.tools.system.shots import take_shot

_MOST_STEPS = 50
# The part of the picture around a point in which the words of a button stand, in points.
_LABEL_ACROSS = 90
_LABEL_ALONG = 16
# Spec: orchestrator.md, "Effective decision": such clicks ask in every mode.
_GRAVE = re.compile(
    r"\b(?:delete|remove|erase|uninstall|buy|purchase|order now|place order|check ?out|pay|cancel|unsubscribe"
    r"|löschen|entfernen|kaufen|bestellen|bezahlen|zahlen|abbrechen|kündigen|stornieren)\b",
    re.IGNORECASE,
)
_YES = "Click it"
_NO = "Do not click"


class _Target(Struct, frozen=True):
    """Where to click, and what is known to stand there."""

    seen: Seen
    x: float
    y: float
    label: str


@tool(
    "system",
    Safety.CONFIRM,
    Effect.READS_PRIVATE,
    Effect.UNTRUSTED_OUTPUT,
    Effect.WRITES,
    Effect.OUTBOUND,
    Effect.DESTRUCTIVE,
    addon="computer_use",
    action="Click[ {text}][ at {x}, {y}] on the screen",
    example=("Click on Save", {"text": "Save"}),
    needs="display",
    found_by=(
        "klicken button Knopf drücken press mouse Maus click on OK anklicken draufklicken klick double right "
        "link menu Menü tab Reiter dialog Schalter"
    ),
)
async def computer_click(  # noqa: PLR0913 - what a model may say of a click
    ctx: ToolContext,
    text: str = "",
    x: float | None = None,
    y: float | None = None,
    revision: int | None = None,
    button: Button = Button.LEFT,
    clicks: Annotated[int, Range(1, 3)] = 1,
) -> ToolResult:
    """Click a control on the screen, by the text on it or by a point of a picture.

    Args:
        text: The words on the control; the safer way.
        x: Instead, a point of the picture.
        y: From its top.
        revision: Of that picture.
        button: Mouse button.
        clicks: 2 for a double click.
    """
    if text.strip():
        located = await locate(ctx, text)
        if not located.is_certain:
            return _uncertain(located, text)
        target = _target(located)
    else:
        target = await _by_point(ctx, x, y, revision)
    await _ask_if_grave(ctx, target, text)
    # Reading and asking take time, in which the screen may have changed.
    require_fresh(target.seen, await take_shot(target.seen.monitor), target.x, target.y)
    place = target.seen.on_desktop(target.x, target.y)
    async with open_desktop() as desktop:
        await to_thread.run_sync(desktop.move, *place)
        await to_thread.run_sync(desktop.click, button, clicks)
    return ToolResult(
        text=f"Clicked at {target.x:g}, {target.y:g}. Whether it had an effect is seen in a new picture.",
        summary=f"Clicked at {target.x:g}, {target.y:g}",
        data={"x": target.x, "y": target.y, "revision": target.seen.revision, "button": button.value, "clicks": clicks},
    )


@tool(
    "system",
    Safety.CONFIRM,
    Effect.WRITES,
    Effect.OUTBOUND,
    Effect.DESTRUCTIVE,
    addon="computer_use",
    action="Scroll {direction}[ at {x}, {y}] on the screen",
    example=("Scroll down a bit", {"direction": "down", "amount": 5}),
    needs="display",
    found_by="scrollen nach unten down page window blättern scroll runter hoch rauf weiter bottom top oben",
)
async def computer_scroll(  # noqa: PLR0913 - what a model may say of it
    ctx: ToolContext,
    direction: Direction,
    amount: Annotated[int, Range(1, _MOST_STEPS)] = 3,
    x: float | None = None,
    y: float | None = None,
    revision: int | None = None,
) -> ToolResult:
    """Scroll what is under the pointer, or under a point of a picture.

    Args:
        direction: Where to.
        amount: Steps of the wheel.
        x: A point of the picture to scroll at.
        y: From its top.
        revision: Of that picture.
    """
    place: tuple[float, float] | None = None
    if (x, y, revision) != (None, None, None):
        across, along, number = require_point(x, y, revision)
        seen = ctx.screens.find(number, ctx.scope.session_id)
        place = seen.on_desktop(across, along)
        require_fresh(seen, await take_shot(seen.monitor), across, along)
    async with open_desktop() as desktop:
        if place is not None:
            await to_thread.run_sync(desktop.move, *place)
        await to_thread.run_sync(partial(desktop.scroll, direction, amount))
    return ToolResult(
        text=f"Scrolled {direction.value} by {amount}. What is in sight is seen in a new picture.",
        summary=f"Scrolled {direction.value} by {amount}",
        data={"direction": direction.value, "amount": amount},
    )


def _target(located: Located) -> _Target:
    place = located.places[0]
    return _Target(located.seen, place.x, place.y, place.text)


def _uncertain(located: Located, text: str) -> ToolResult:
    """Nothing was clicked; the places between which only the picture can decide."""
    if not located.found:
        raise not_found(text)
    places = render_places(located.places)
    revision = located.seen.revision
    return ToolResult(
        text=f"Nothing was clicked: it is not certain which of these is meant. Click one of the points of revision "
        f"{revision} instead.\n{places}",
        summary="Nothing was clicked: several places fit",
        is_error=True,
        data={"revision": revision, "places": [place.facts() for place in located.places]},
    )


async def _by_point(ctx: ToolContext, x: float | None, y: float | None, revision: int | None) -> _Target:
    across, along, number = require_point(x, y, revision)
    seen = ctx.screens.find(number, ctx.scope.session_id)
    seen.on_desktop(across, along)
    shot = await take_shot(seen.monitor)
    require_fresh(seen, shot, across, along)
    label = ""
    if can_read():
        left, top = seen.in_pixels(shot, across - _LABEL_ACROSS, along - _LABEL_ALONG)
        right, bottom = seen.in_pixels(shot, across + _LABEL_ACROSS, along + _LABEL_ALONG)
        box = (max(0, left), max(0, top), min(shot.image.width, right), min(shot.image.height, bottom))
        label = " ".join(word.text for word in await read_words(ctx, shot.image.crop(box)))
    return _Target(seen, across, along, label)


async def _ask_if_grave(ctx: ToolContext, target: _Target, text: str) -> None:
    found = _GRAVE.search(text) or _GRAVE.search(target.label)
    if found is None:
        return
    word = found[0]
    answer = await ctx.scope.ask(
        Question(f"Click on {word!r} on the screen? It may delete, pay for or end something.", (_YES, _NO))
    )
    if answer.strip().casefold() not in {_YES.casefold(), "yes", "y", "ok", "ja"}:
        raise ToolRefusedError(f"The person did not agree to click on {word!r}: {answer[:500]}", code="not_agreed")
