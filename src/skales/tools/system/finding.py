"""The tools `computer_find` and `computer_read_field`: what stands where on the screen, read from a picture of it.

Nothing is pressed to find out: copying a field's text would need keys that do harm in some programs, such as Ctrl+C in
a terminal. So only what can be seen is read, never the text behind the dots of a password field.
"""

from collections.abc import Sequence
from typing import Annotated

from anyio import to_thread
from msgspec import Struct

from skales.core.errors import InputError, ToolError
from skales.core.json import JsonValue
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.define import Range, tool
from skales.tools.screens import Seen, Shot, require_fresh
from skales.tools.system.fields import field_at, field_of_label
from skales.tools.system.reading import Box, Found, find_text, note_unsure, read_words, render_lines
from skales.tools.system.shots import take_shot
from skales.tools.web.quoting import neutralise, quote_untrusted

_MOST_MONITORS = 16
_LONGEST_TEXT = 200
# Around a point without borders, the part of the screen in which its line is read.
_LINE_ACROSS = 500
_LINE_ALONG = 24


class Place(Struct, frozen=True):
    """A text on the screen, in points of the picture."""

    text: str
    x: int
    y: int
    box: tuple[int, int, int, int]
    likeness: float

    def facts(self) -> JsonValue:
        """The same as JSON."""
        return {
            "text": self.text,
            "x": self.x,
            "y": self.y,
            "box": list(self.box),
            "likeness": round(self.likeness, 2),
        }


class Located(Struct, frozen=True):
    """Where a text stands: the shot it was read from, what is remembered of it, and the places, best first."""

    shot: Shot
    seen: Seen
    found: Sequence[Found]

    @property
    def places(self) -> Sequence[Place]:
        """The same in points of the picture."""
        return [_place(hit, self.shot, self.seen) for hit in self.found]

    @property
    def is_certain(self) -> bool:
        """Whether there is one place, with exactly this text."""
        return len(self.found) == 1 and self.found[0].likeness == 1


async def locate(ctx: ToolContext, text: str, monitor: int = 0) -> Located:
    """Look for a text on the screen. Raises InputError, ToolError."""
    wanted = text.strip()
    if not wanted or len(wanted) > _LONGEST_TEXT or not any(char.isalnum() for char in wanted):
        raise InputError(
            "There is no text to look for", hint=f"Name the words on the control, at most {_LONGEST_TEXT} characters"
        )
    shot = await take_shot(monitor)
    words = await read_words(ctx, shot.image)
    return Located(shot, ctx.screens.keep(shot, ctx.scope.session_id), find_text(words, wanted))


def not_found(text: str) -> ToolError:
    """The error for a text that is not on the screen."""
    return ToolError(
        f"{text.strip()[:_LONGEST_TEXT]!r} cannot be read anywhere on the screen",
        hint="Look at a picture with computer_screenshot; it may be drawn as a symbol, or be out of sight",
        code="not_found",
    )


@tool(
    "system",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    Effect.UNTRUSTED_OUTPUT,
    addon="computer_use",
    action="Look for {text} on the screen",
    example=("Where is the button Save?", {"text": "Save"}),
    needs="display",
    found_by=(
        "auf dem Bildschirm finden locate button on screen where is icon Schaltfläche visible sehen Knopf "
        "irgendwo suchen whether"
    ),
)
async def computer_find(
    ctx: ToolContext, text: str, monitor: Annotated[int, Range(0, _MOST_MONITORS)] = 0
) -> ToolResult:
    """Find a button, label or other control on the screen by the text on it.

    Args:
        text: The words on it.
        monitor: Counted from 1; 0 is the main one.
    """
    located = await locate(ctx, text, monitor)
    places = located.places
    if not places:
        raise not_found(text)
    revision = located.seen.revision
    return ToolResult(
        text=f"Found at these points of revision {revision}:\n{render_places(places)}",
        summary=f"Found {len(places)} {'place' if len(places) == 1 else 'places'} on the screen",
        data={"revision": revision, "places": [place.facts() for place in places]},
    )


@tool(
    "system",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    Effect.UNTRUSTED_OUTPUT,
    addon="computer_use",
    action="Read the field[ {label}] on the screen",
    example=("What stands in the field Name?", {"label": "Name"}),
    needs="display",
    found_by=(
        "Feld lesen text field value dialog was steht im read window Eingabefeld box total Betrag Betreff "
        "subject shown program Wert eingetragen Textfeld"
    ),
)
async def computer_read_field(
    ctx: ToolContext,
    label: str = "",
    x: float | None = None,
    y: float | None = None,
    revision: int | None = None,
) -> ToolResult:
    """Read what can be seen in a field on the screen, named by its label or by a point in it.

    Args:
        label: The words beside or above the field.
        x: Instead, a point of the picture.
        y: From its top.
        revision: Of that picture.
    """
    if label.strip():
        shot, box, is_line = *(await _labelled(ctx, label)), False
    else:
        shot, box, is_line = await _pointed(ctx, x, y, revision)
    part = shot.image.crop((box.left, box.top, box.right, box.bottom))
    words = await read_words(ctx, part, is_sparse=is_line)
    text = render_lines(words)
    unsure = note_unsure(words)
    shown = quote_untrusted(text, "screen") if text else "It shows no text that can be read."
    if unsure:
        shown += f"\n{unsure}; it is left out. Look at a picture with computer_screenshot."
    what = "No field with borders is there; its line" if is_line else "The field"
    return ToolResult(
        text=f"{what}, read from a picture, so that single letters may be wrong:\n{shown}",
        summary=_sum_up(text, unsure),
        data={"text": text, "illegible": sum(not word.is_sure for word in words)},
    )


def _sum_up(text: str, unsure: str) -> str:
    if not text:
        return f"The field shows no text that can be read, {unsure}" if unsure else "The field shows no text"
    return f"Read a field on the screen, {unsure}" if unsure else "Read a field on the screen"


def require_point(x: float | None, y: float | None, revision: int | None) -> tuple[float, float, int]:
    """The three arguments that name a place only together. Raises InputError."""
    if x is None or y is None or revision is None:
        raise InputError(
            "No place is named",
            hint="Give x, y and the revision of the picture they are from, or the text on the control",
        )
    return x, y, revision


def render_places(places: Sequence[Place]) -> str:
    """The places for a model, one a line, quoted."""
    return quote_untrusted("\n".join(_line(place) for place in places), "screen")


async def _labelled(ctx: ToolContext, label: str) -> tuple[Shot, Box]:
    located = await locate(ctx, label)
    for hit in located.found:
        box = await to_thread.run_sync(field_of_label, located.shot.image, hit.box)
        if box is not None:
            return located.shot, box
    if not located.found:
        raise not_found(label)
    raise ToolError(
        "No field was found to the right of this label or below it",
        hint="Name a point in the field instead, from a picture of computer_screenshot",
        code="not_found",
    )


async def _pointed(ctx: ToolContext, x: float | None, y: float | None, revision: int | None) -> tuple[Shot, Box, bool]:
    """The field at a point, or the line there when it has no borders, as the last part says."""
    across, along, number = require_point(x, y, revision)
    seen = ctx.screens.find(number, ctx.scope.session_id)
    seen.on_desktop(across, along)
    shot = await take_shot(seen.monitor)
    require_fresh(seen, shot, across, along)
    left, top = seen.in_pixels(shot, across, along)
    box = await to_thread.run_sync(field_at, shot.image, left, top)
    return shot, box or _line_around(shot, left, top), box is None


def _line_around(shot: Shot, x: int, y: int) -> Box:
    width, height = shot.image.size
    return Box(
        max(0, x - _LINE_ACROSS), max(0, y - _LINE_ALONG), min(width, x + _LINE_ACROSS), min(height, y + _LINE_ALONG)
    )


def _place(hit: Found, shot: Shot, seen: Seen) -> Place:
    across, along = seen.width / shot.image.width, seen.height / shot.image.height
    x, y = hit.box.centre
    box = (
        round(hit.box.left * across),
        round(hit.box.top * along),
        round(hit.box.right * across),
        round(hit.box.bottom * along),
    )
    return Place(hit.text, round(x * across), round(y * along), box, hit.likeness)


def _line(place: Place) -> str:
    note = "" if place.likeness == 1 else " (similar)"
    return f"x={place.x} y={place.y}: {neutralise(place.text)}{note}"
