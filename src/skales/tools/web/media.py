"""Whether a CSS condition holds on an ordinary desktop screen with a mouse. Spec: Media Queries."""

import re
from collections.abc import Iterator, Mapping, Sequence

from skales.tools.web.css import Token, parse_stylesheet, split_at, trim
from skales.tools.web.lengths import ROOT_FONT_PX, SCREEN_HEIGHT_PX, SCREEN_WIDTH_PX, Measure, length_px

_VENDOR = re.compile(r"-(?:webkit|moz|ms|o)-")
_JOINERS = {"and", "or", "not", "only"}
_MEDIA = {"all", "screen"}
# Features with a word as value, and the word a desktop answers.
_ANSWERS: Mapping[str, str] = {
    "orientation": "landscape",
    "hover": "hover",
    "any-hover": "hover",
    "pointer": "fine",
    "any-pointer": "fine",
    "prefers-color-scheme": "light",
    "prefers-reduced-motion": "no-preference",
    "prefers-reduced-data": "no-preference",
    "prefers-contrast": "no-preference",
    "forced-colors": "none",
    "inverted-colors": "none",
    "display-mode": "browser",
    "scripting": "enabled",
    "update": "fast",
}
# Features that hold when asked for without a value.
_PRESENT = {"color", "width", "height", "hover", "any-hover", "pointer", "any-pointer", "scripting", "update"}
_SIZES: Mapping[str, float] = {
    "width": SCREEN_WIDTH_PX,
    "height": SCREEN_HEIGHT_PX,
    "device-width": SCREEN_WIDTH_PX,
    "device-height": SCREEN_HEIGHT_PX,
}
_MEASURE = Measure(ROOT_FONT_PX)


def media_holds(query: Sequence[Token]) -> bool:
    """Whether a list of media queries holds; an empty one does, a feature nobody knows does not."""
    return not trim(query) or any(_query_holds(one) for one in split_at(query, ","))


def media_text_holds(text: str) -> bool:
    """The same for the `media` attribute of an element."""
    rules = parse_stylesheet(f"@media {text} {{}}")
    return bool(rules) and media_holds(rules[0].prelude)


def supports_holds(condition: Sequence[Token]) -> bool:
    """Whether an `@supports` condition holds.

    What hides text is old enough to be supported everywhere; a vendor's prefix asks for one browser only.
    """
    words = [token.name for token in _flat(condition)]
    return "not" not in words and not any(_VENDOR.match(word) for word in words)


def _flat(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _flat(token.inner)


def _query_holds(query: Sequence[Token]) -> bool:
    """Parts joined all by `and` or all by `or`, the whole turned round by `not`."""
    words = [token.name for token in query if token.kind == "ident"]
    parts = [_feature_holds(token.inner) for token in query if token.kind == "() block"]
    parts += [word in _MEDIA for word in words if word not in _JOINERS]
    holds = any(parts) if "or" in words else all(parts) and bool(parts)
    return holds is not ("not" in words)


def _feature_holds(inner: Sequence[Token]) -> bool:
    if any(token.kind == "() block" for token in inner):
        return _query_holds(inner)
    name, *rest = split_at(inner, ":")
    if not rest:
        return _range_holds(name)
    feature = name[0].name if name else ""
    if feature in _ANSWERS:
        return [token.name for token in rest[0]] == [_ANSWERS[feature]]
    bound = length_px(rest[0], _MEASURE)
    size = _SIZES.get(feature.removeprefix("min-").removeprefix("max-"))
    if bound is None or size is None:
        return False
    return _compare(size, {"min": ">=", "max": "<="}.get(feature[:3], "="), bound)


def _range_holds(inner: Sequence[Token]) -> bool:
    """`width > 600px`, `400px <= width <= 900px`, or a feature by itself."""
    values: list[float] = []
    signs = [""]
    parts = [token for token in inner if token.kind != "whitespace"]
    if len(parts) == 1:
        return parts[0].name in _PRESENT
    for token in parts:
        if token.is_sign("<", ">", "="):
            signs[-1] += token.text
            continue
        value = _SIZES.get(token.name) if token.kind == "ident" else length_px([token], _MEASURE)
        if value is None:
            return False
        values.append(value)
        signs.append("")
    pairs = zip(values, signs[1:], values[1:], strict=False)
    return len(values) > 1 and all(_compare(one, sign, other) for one, sign, other in pairs)


def _compare(one: float, sign: str, other: float) -> bool:
    match sign:
        case "<":
            return one < other
        case "<=":
            return one <= other
        case ">":
            return one > other
        case ">=":
            return one >= other
        case "=":
            return one == other
        case _:
            return False
