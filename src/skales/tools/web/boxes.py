"""Boxes that show nothing: switched off, pushed off the screen, clipped away, shrunk to a point.

Judged from styles alone, without layout: what only the sizes of other boxes could tell is taken to be visible.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from skales.tools.web.css import Token, Tokens, split_at
from skales.tools.web.lengths import SCREEN_HEIGHT_PX, SCREEN_WIDTH_PX, Measure, length_px
from skales.tools.web.properties import pieces

# Nobody moves a box this far and means it to be read; menus that slide in move by their own width.
_FAR_PX = 500.0
# To the right and down, a page can be scrolled; beyond this nobody does.
_FAR_SCROLL_PX = 5_000.0
_FAR_DOWN_PX = 50_000.0
_TINY_PX = 2.0
_TINY_SCALE = 0.1

_INLINE_TAGS = frozenset(
    {
        "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd",
        "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var",
    }
)  # fmt: skip
_MOVED = {"absolute", "fixed", "relative", "sticky"}
_OUT_OF_FLOW = {"absolute", "fixed"}
_CLIPPING = {"hidden", "clip", "scroll", "auto"}


class Box(Struct, frozen=True):
    """An element's own declarations, variables filled in, and what its place in the page adds."""

    tag: str
    values: Mapping[str, Tokens]
    font_px: float
    is_item: bool
    """Whether the parent lays its children out as boxes (flex, grid), inline ones too."""

    def word(self, name: str) -> str:
        """The value when it is one keyword, else empty."""
        value = pieces(self.values.get(name, ()))
        return value[0].name if len(value) == 1 and value[0].kind == "ident" else ""

    def length(self, name: str, percent_px: float = 0.0) -> float | None:
        """The value as pixels, None when there is none."""
        return length_px(self.values.get(name, ()), Measure(self.font_px, percent_px))


def is_box_hidden(box: Box) -> bool:
    """Whether neither the element nor anything in it can be seen."""
    return (
        box.word("display") == "none"
        or box.word("content-visibility") == "hidden"
        or _is_off_screen(box)
        or _is_clipped(box)
        or _is_empty(box)
        or _is_transformed_away(box)
    )


def _is_off_screen(box: Box) -> bool:
    if box.word("position") in _MOVED and _is_moved_away(box):
        return True
    left = box.length("margin-left", SCREEN_WIDTH_PX) or 0.0
    # A full-width background is made with a margin that an equal padding takes back.
    back = box.length("padding-left", SCREEN_WIDTH_PX) or 0.0
    top = box.length("margin-top", SCREEN_WIDTH_PX) or 0.0
    return left + back <= -_FAR_PX or top <= -_FAR_SCROLL_PX / 2


def _is_moved_away(box: Box) -> bool:
    left, right = box.length("left", SCREEN_WIDTH_PX), box.length("right", SCREEN_WIDTH_PX)
    top, bottom = box.length("top", SCREEN_HEIGHT_PX), box.length("bottom", SCREEN_HEIGHT_PX)
    if any(edge is not None and edge <= -_FAR_PX for edge in (left, right, top, bottom)):
        return True
    if any(edge is not None and edge >= _FAR_SCROLL_PX for edge in (left, right, bottom)):
        return True
    if top is not None and top >= _FAR_DOWN_PX:
        return True
    width, height = box.length("width", SCREEN_WIDTH_PX), box.length("height", SCREEN_HEIGHT_PX)
    if box.word("position") not in _OUT_OF_FLOW:
        return False
    return _is_just_outside(left, right, width) or _is_just_outside(top, bottom, height)


def _is_just_outside(start: float | None, end: float | None, size: float | None) -> bool:
    """Whether a box of known size ends before the edge it is placed by."""
    return size is not None and any(edge is not None and edge < 0 and edge + size <= 0 for edge in (start, end))


def _is_clipped(box: Box) -> bool:
    clip = pieces(box.values.get("clip", ()))
    if box.word("position") in _OUT_OF_FLOW and clip and clip[0].name == "rect" and _is_empty_rect(clip[0], box):
        return True
    path = pieces(box.values.get("clip-path", ()))
    return bool(path) and path[0].kind == "function" and _is_empty_shape(path[0], box)


def _is_empty_rect(rect: Token, box: Box) -> bool:
    """`rect(top, right, bottom, left)` of no area; `auto` is the box's own edge."""
    edges = [
        length_px([token], Measure(box.font_px)) for token in rect.inner if token.kind not in {"whitespace", "literal"}
    ]
    if len(edges) != 4:
        return False
    top, right, bottom, left = edges
    is_flat = right is not None and right - (left or 0) <= _TINY_PX
    return is_flat or (bottom is not None and bottom - (top or 0) <= _TINY_PX)


def _is_empty_shape(shape: Token, box: Box) -> bool:
    """A clip path that leaves nothing. Percentages are of the box itself, so 100 stands for the whole of it."""
    measure = Measure(box.font_px, 100.0)
    if shape.name == "polygon":
        points = [_point(piece, measure) for piece in split_at(shape.inner, ",")]
        known = [point for point in points if point is not None]
        return len({x for x, _y in known}) == 1 or len({y for _x, y in known}) == 1
    values = [length_px([token], measure) for token in pieces(shape.inner)]
    sizes = [value for value in values if value is not None]
    if shape.name in {"circle", "ellipse"}:
        return bool(values) and values[0] is not None and min(sizes) <= 0
    if shape.name not in {"inset", "rect", "xywh"} or not sizes:
        return False
    if shape.name == "xywh":
        return len(sizes) > 3 and min(sizes[2:4]) <= 0
    in_percent = any(token.kind == "percentage" for token in shape.inner)
    top, right, bottom, left = (sizes * 4)[:4] if len(sizes) == 1 else (sizes[:2] * 2 if len(sizes) < 4 else sizes[:4])
    if shape.name == "rect":
        return right - left <= 0 or bottom - top <= 0
    return in_percent and (top + bottom >= 100 or left + right >= 100)


def _point(piece: Sequence[Token], measure: Measure) -> tuple[float, float] | None:
    values = [length_px([token], measure) for token in pieces(piece)]
    numbers = [value for value in values if value is not None]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else None


def _is_empty(box: Box) -> bool:
    """No width or no height, and what sticks out is cut off."""
    if box.tag == "svg":
        return any(box.length(name, 100.0) == 0 for name in ("width", "height"))
    if box.tag in _INLINE_TAGS and not _has_own_box(box):
        return False
    return any(
        box.word(f"overflow-{axis}") in _CLIPPING and any(_is_tiny(box.length(name, 100.0)) for name in names)
        for axis, names in (("x", ("width", "max-width")), ("y", ("height", "max-height")))
    )


def _is_tiny(size: float | None) -> bool:
    return size is not None and size <= _TINY_PX


def _has_own_box(box: Box) -> bool:
    """Whether width and height mean anything for an element that is inline by nature."""
    display = box.word("display")
    return (
        box.is_item
        or box.word("position") in _OUT_OF_FLOW
        or box.word("float") in {"left", "right", "inline-start", "inline-end"}
        or display not in {"", "inline", "contents"}
    )


def _is_transformed_away(box: Box) -> bool:
    steps = [token for token in pieces(box.values.get("transform", ())) if token.kind == "function"]
    if any(_moves_away(step, box) for step in steps):
        return True
    factors = pieces(box.values.get("scale", ()))
    if factors and any(abs(factor) < _TINY_SCALE for factor in _numbers(factors)):
        return True
    moves = pieces(box.values.get("translate", ()))
    return bool(moves) and _is_far(moves, box)


def _moves_away(step: Token, box: Box) -> bool:
    arguments = [token for token in pieces(step.inner) if not token.is_sign(",")]
    match step.name:
        case "translate" | "translate3d" | "translatex" | "translatey":
            return _is_far(arguments, box)
        case "scale" | "scalex" | "scaley" | "scale3d":
            return any(abs(factor) < _TINY_SCALE for factor in _numbers(arguments))
        case "matrix" if len(arguments) == 6:
            a, b, c, d, x, y = _numbers(arguments)
            return abs(a * d - b * c) < _TINY_SCALE**2 or min(x, y) <= -_FAR_PX * 2 or max(x, y) >= _FAR_SCROLL_PX
        case _:
            return False


def _numbers(tokens: Sequence[Token]) -> list[float]:
    return [token.number / 100 if token.kind == "percentage" else token.number for token in tokens]


def _is_far(arguments: Sequence[Token], box: Box) -> bool:
    """Percentages are of the element's own size, of which a few widths are an everyday slide show."""
    distances = [length_px([token], Measure(box.font_px, 100.0)) or 0.0 for token in arguments]
    return any(distance <= -_FAR_PX * 2 or distance >= _FAR_SCROLL_PX for distance in distances)
