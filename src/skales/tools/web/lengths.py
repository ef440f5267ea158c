"""CSS lengths in pixels, as they come out on an ordinary desktop screen. Spec: CSS Values and Units."""

import math
from collections.abc import Sequence

from msgspec import Struct

from skales.tools.web.css import Token, split_at, trim

# The screen a page is judged for.
SCREEN_WIDTH_PX = 1280.0
SCREEN_HEIGHT_PX = 800.0
ROOT_FONT_PX = 16.0

_PX = {
    "": 1.0, "px": 1.0, "cm": 96 / 2.54, "mm": 96 / 25.4, "q": 96 / 101.6, "in": 96.0, "pt": 96 / 72, "pc": 16.0,
    "rem": ROOT_FONT_PX, "rlh": ROOT_FONT_PX * 1.2,
}  # fmt: skip
_PER_FONT = {"em": 1.0, "ex": 0.5, "ch": 0.5, "cap": 0.7, "ic": 1.0, "lh": 1.2}
_PER_SCREEN = {"w": SCREEN_WIDTH_PX, "i": SCREEN_WIDTH_PX, "h": SCREEN_HEIGHT_PX, "b": SCREEN_HEIGHT_PX}
_SCREEN_UNITS = ("v", "sv", "lv", "dv", "cq")


class Measure(Struct, frozen=True):
    """What relative lengths are relative to: the font's size, and what 100 % is."""

    font_px: float
    percent_px: float = 0.0


def length_px(value: Sequence[Token], measure: Measure) -> float | None:
    """A length, percentage or sum of them; a bare number counts as pixels. None when it is nothing of the kind."""
    tokens = trim(value)
    if len(tokens) != 1:
        return None
    return _value(tokens[0], measure)


def _value(token: Token, measure: Measure) -> float | None:
    match token.kind:
        case "number" | "dimension":
            return _dimension(token.number, token.text, measure)
        case "percentage":
            return token.number / 100 * measure.percent_px
        case "() block":
            return _sum(token.inner, measure)
        case "function":
            return _function(token, measure)
        case _:
            return None


def _dimension(number: float, unit: str, measure: Measure) -> float | None:
    if unit in _PX:
        return number * _PX[unit]
    if unit in _PER_FONT:
        return number * _PER_FONT[unit] * measure.font_px
    if unit.endswith("min"):
        return number / 100 * SCREEN_HEIGHT_PX
    if unit.endswith("max"):
        return number / 100 * SCREEN_WIDTH_PX
    if unit[:-1] in _SCREEN_UNITS and unit[-1] in _PER_SCREEN:
        return number / 100 * _PER_SCREEN[unit[-1]]
    return None


def _function(token: Token, measure: Measure) -> float | None:
    if token.name in {"calc", "-webkit-calc"}:
        return _sum(token.inner, measure)
    values = [_sum(piece, measure) for piece in split_at(token.inner, ",")]
    known = [value for value in values if value is not None]
    if len(known) < len(values) or not known:
        return None
    match token.name:
        case "min":
            return min(known)
        case "max":
            return max(known)
        case "clamp" if len(known) == 3:
            return max(known[0], min(known[1], known[2]))
        case "abs":
            return abs(known[0])
        case _:
            return None


def _sum(tokens: Sequence[Token], measure: Measure) -> float | None:
    """Terms joined by signs that stand alone; `1px -2px` without blanks around the sign is no sum."""
    total, sign = 0.0, 1.0
    term: list[Token] = []
    for token in [*tokens, Token("literal", "+")]:
        if not token.is_sign("+", "-"):
            term.append(token)
            continue
        value = _product(trim(term), measure)
        if value is None:
            return None
        total += sign * value
        sign, term = (1.0 if token.text == "+" else -1.0), []
    return total if math.isfinite(total) else None


def _product(tokens: Sequence[Token], measure: Measure) -> float | None:
    parts = [token for token in tokens if token.kind != "whitespace"]
    product = _value(parts[0], measure) if parts else None
    for sign, part in zip(parts[1::2], parts[2::2], strict=False):
        factor = _value(part, measure)
        if product is None or factor is None or not sign.is_sign("*", "/"):
            return None
        if sign.text == "/" and factor == 0:
            return None
        product = product * factor if sign.text == "*" else product / factor
    return product if len(parts) % 2 else None
