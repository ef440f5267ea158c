"""The CSS properties that can hide text, each under one name: shorthands taken apart, vendor prefixes dropped.

A shorthand whose value hangs on a variable is taken apart when the variable is known. Spec: CSS Cascade; CSS Variables.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from skales.tools.web.css import Declaration, Token, Tokens, parse_rgba

RELEVANT = frozenset(
    {
        "display", "visibility", "opacity", "content-visibility", "font-size", "zoom", "color", "background-color",
        "background-image", "background-clip", "text-fill-color", "text-shadow", "text-indent", "position", "float",
        "left", "right", "top", "bottom", "margin-left", "margin-top", "padding-left", "width", "height", "max-width",
        "max-height", "overflow-x", "overflow-y", "clip", "clip-path", "transform", "translate", "scale", "filter",
    }
)  # fmt: skip

_PREFIX = re.compile(r"-(?:webkit|moz|ms|o)-")
_OTHER_NAMES: Mapping[str, str] = {
    "inset-inline-start": "left",
    "inset-inline-end": "right",
    "inset-block-start": "top",
    "inset-block-end": "bottom",
    "margin-inline-start": "margin-left",
    "margin-block-start": "margin-top",
    "padding-inline-start": "padding-left",
    "inline-size": "width",
    "block-size": "height",
    "max-inline-size": "max-width",
    "max-block-size": "max-height",
    "overflow-inline": "overflow-x",
    "overflow-block": "overflow-y",
}
# Shorthands of lengths: the property each of the four sides (or two ends) sets; an empty name is of no interest.
_SIDES: Mapping[str, tuple[str, ...]] = {
    "inset": ("top", "right", "bottom", "left"),
    "margin": ("margin-top", "", "", "margin-left"),
    "padding": ("", "", "", "padding-left"),
    "inset-inline": ("left", "right"),
    "inset-block": ("top", "bottom"),
    "margin-inline": ("margin-left", ""),
    "margin-block": ("margin-top", ""),
    "padding-inline": ("padding-left", ""),
    "overflow": ("overflow-x", "overflow-y"),
}
_FONT_PARTS = ("font-size",)
_BACKGROUND_PARTS = ("background-color", "background-image")
_FONT_SIZES = frozenset(
    {"xx-small", "x-small", "small", "medium", "large", "x-large", "xx-large", "xxx-large", "smaller", "larger"}
)
_PICTURES = ("url", "gradient", "image", "element", "cross-fade", "paint")
_NOTHING: Tokens = (Token("ident", "none"),)
_TRANSPARENT: Tokens = (Token("ident", "transparent"),)
# The name under which an unresolved shorthand waits as the value of its parts.
_WAITING = "-part-of"
# Variables that grow by containing each other are cut here.
_MOST_TOKENS = 500


def expand(declaration: Declaration) -> Iterator[Declaration]:
    """The declaration as relevant properties; custom properties (`--x`) are always relevant."""
    name, value = declaration.name, declaration.value
    if name.startswith("--"):
        yield declaration
        return
    name = _PREFIX.sub("", name)
    name = _OTHER_NAMES.get(name, name)
    if name == "all":
        found: Mapping[str, Tokens] = dict.fromkeys(RELEVANT, value)
    elif parts := _parts_of(name):
        waits = any(token.kind == "function" and token.name == "var" for token in value)
        found = {part: _waiting(name, value) for part in parts} if waits else _take_apart(name, value)
    else:
        found = {name: value} if name in RELEVANT else {}
    for part, inner in found.items():
        yield Declaration(part, inner, declaration.is_important)


def resolve(name: str, value: Tokens, custom: Mapping[str, Tokens]) -> Tokens:
    """The value of a property with its variables filled in; empty when one is missing and has no fallback."""
    if len(value) == 1 and value[0].kind == "function" and value[0].name == _WAITING:
        shorthand, *rest = value[0].inner
        whole = _fill(rest, custom, depth=0)
        return _take_apart(shorthand.text, tuple(whole)).get(name, ()) if whole else ()
    return tuple(_fill(value, custom, depth=0) or ())


def pieces(value: Sequence[Token]) -> list[Token]:
    """The parts of a value that stand between blanks, signs included."""
    return [token for token in value if token.kind != "whitespace"]


def _parts_of(name: str) -> Sequence[str]:
    if name == "font":
        return _FONT_PARTS
    if name == "background":
        return _BACKGROUND_PARTS
    return [part for part in _SIDES.get(name, ()) if part]


def _waiting(shorthand: str, value: Tokens) -> Tokens:
    return (Token("function", _WAITING, inner=(Token("ident", shorthand), *value)),)


def _take_apart(name: str, value: Tokens) -> Mapping[str, Tokens]:
    parts = pieces(value)
    if len(parts) == 1 and parts[0].name in {"inherit", "initial", "unset", "revert", "revert-layer"}:
        return dict.fromkeys(_parts_of(name), value)
    if name == "font":
        size = _font_size(parts)
        return {"font-size": (size,)} if size else {}
    if name == "background":
        color = [token for token in parts if parse_rgba((token,))]
        picture = [token for token in parts if token.kind == "url" or _is_picture(token)]
        return {
            "background-color": tuple(color[:1]) or _TRANSPARENT,
            "background-image": tuple(picture[:1]) or _NOTHING,
        }
    if not parts:
        return {}
    sides = _SIDES[name]
    # One value is for all; two are for opposite sides; a missing fourth is the second.
    sides_from = (0, 1, 0, 1) if len(parts) == 2 else (0, 1, 2, 1) if len(parts) == 3 else (0, 1, 2, 3)
    chosen = [
        parts[min(sides_from[place], len(parts) - 1)] if len(parts) > 1 else parts[0] for place in range(len(sides))
    ]
    return {side: (token,) for side, token in zip(sides, chosen, strict=True) if side}


def _is_picture(token: Token) -> bool:
    return token.kind == "function" and any(word in token.name for word in _PICTURES)


def _font_size(parts: Sequence[Token]) -> Token | None:
    """The size in `italic 700 0/1.2 serif`: the last length before the slash, or the last one at all."""
    slash = next((place for place, token in enumerate(parts) if token.is_sign("/")), None)
    sizes = [
        token
        for token in parts[:slash]
        if token.kind in {"dimension", "percentage", "function"}
        or (token.kind == "number" and (slash is not None or token.number == 0))
        or token.name in _FONT_SIZES
    ]
    return sizes[-1] if sizes else None


def _fill(value: Sequence[Token], custom: Mapping[str, Tokens], depth: int) -> list[Token] | None:
    """Replace `var(--name, fallback)`; None when a variable is missing."""
    filled: list[Token] = []
    for token in value:
        if token.kind == "function" and token.name == "var":
            inner = _variable(token, custom, depth)
            if inner is None:
                return None
            filled += inner
        elif token.inner:
            content = _fill(token.inner, custom, depth)
            if content is None:
                return None
            filled.append(Token(token.kind, token.text, token.number, tuple(content)))
        else:
            filled.append(token)
        if len(filled) > _MOST_TOKENS:
            return None
    return filled


def _variable(token: Token, custom: Mapping[str, Tokens], depth: int) -> list[Token] | None:
    name = next((part.text for part in token.inner if part.kind == "ident"), "")
    comma = next((place for place, part in enumerate(token.inner) if part.is_sign(",")), None)
    if depth > 10:
        return None
    if custom.get(name):
        return _fill(custom[name], custom, depth + 1)
    return None if comma is None else _fill(token.inner[comma + 1 :], custom, depth + 1)
