"""Finds the text of a page that no reader can see, and marks it, so that nothing else is shown to a model.

Judged like a browser with scripts on and a desktop screen: inherited visibility and font size, opacity that adds up,
text in the colour of its background, boxes off the screen. `aria-hidden` hides from no eye and does not count; closed
`<details>` can be opened by the reader and are shown.
"""

from collections.abc import Mapping, Set

from msgspec import Struct, field, structs

from skales.tools.web.boxes import Box, is_box_hidden
from skales.tools.web.cascade import Cascade, Winning, build_cascade
from skales.tools.web.css import Token, Tokens, parse_rgba
from skales.tools.web.dom import Element, Page, Text
from skales.tools.web.lengths import ROOT_FONT_PX, SCREEN_WIDTH_PX, Measure, length_px
from skales.tools.web.properties import pieces, resolve

_SMALLEST_FONT_PX = 4.0
_FAINTEST = 0.1
# WCAG contrast of 1 is the same colour; palest grey on white has 1.1 and can still be made out.
_LEAST_CONTRAST = 1.08
_CLEARLY_OTHER = 0.15
_FAR_INDENT_PX = 500.0

# Elements whose content a browser never draws.
_NEVER_DRAWN = frozenset(
    {
        "head", "title", "script", "style", "template", "noscript", "iframe", "object", "video", "audio", "canvas",
        "noembed", "noframes", "datalist", "rp", "desc", "metadata", "defs", "symbol", "clippath", "mask", "pattern",
        "annotation", "annotation-xml", "progress", "meter", "area", "base", "basefont", "link", "meta", "param",
        "source", "track",
    }
)  # fmt: skip
_CONTROLS = frozenset({"button", "input", "select", "textarea"})
_FONT_WORDS: Mapping[str, float] = {
    "xx-small": 9.0,
    "x-small": 10.0,
    "small": 13.0,
    "medium": 16.0,
    "large": 18.0,
    "x-large": 24.0,
    "xx-large": 32.0,
    "xxx-large": 48.0,
}
_FONT_STEPS: Mapping[str, float] = {"smaller": 1 / 1.2, "larger": 1.2}
_NO_VALUE = frozenset({"inherit", "initial", "unset", "revert", "revert-layer"})
# What `initial` means where it undoes something inherited.
_INITIAL: Mapping[str, Tokens] = {
    "visibility": (Token("ident", "visible"),),
    "font-size": (Token("ident", "medium"),),
    "color": (Token("ident", "black"),),
    "text-indent": (Token("number"),),
}

Rgb = tuple[float, float, float]
# A colour and how opaque it is; None while it is not known.
_Paint = tuple[Rgb, float]
_WHITE: Rgb = (1.0, 1.0, 1.0)
_BLACK: _Paint = ((0.0, 0.0, 0.0), 1.0)
_LINK: _Paint = ((0.0, 0.0, 0.93), 1.0)


class _Style(Struct, frozen=True):
    """What an element hands to its children.

    `ink` is None for a colour that cannot be told; `fill` beats it where set. `paper` is what is behind the text, None
    behind a picture. `is_drawn_otherwise` is for letters made of a shadow or of the background.
    """

    font_px: float = ROOT_FONT_PX
    is_visible: bool = True
    opacity: float = 1.0
    ink: _Paint | None = _BLACK
    fill: _Paint | None = None
    paper: Rgb | None = _WHITE
    is_drawn_otherwise: bool = False
    is_indented_away: bool = False
    lays_out_boxes: bool = False
    is_muted: bool = False
    custom: Mapping[str, Tokens] = field(default_factory=dict)


def hide_unseen(page: Page) -> int:
    """Mark every element of the page that cannot be seen, or whose own text cannot; how many characters that hides.

    A page that hides everything waits for its script to show it; then what hides it as a whole does not count.
    Scripts, styles and the like are no text and not counted.
    """
    cascade = build_cascade(page)
    seen, hidden = _mark(page, cascade, frozenset())
    if seen == 0 and any(element.tag == "script" for element in page.root.walk()):
        _seen, hidden = _mark(page, cascade, frozenset({"html", "body"}))
    return hidden


def _mark(page: Page, cascade: Cascade, unstyled: Set[str]) -> tuple[int, int]:
    """Mark the page, leaving out the styles of some elements; how many characters are seen and hidden."""
    seen = hidden = 0
    waiting: list[tuple[Element, _Style]] = [(page.root, _Style())]
    while waiting:
        element, above = waiting.pop()
        own = {} if element.tag in unstyled else cascade.winning.get(element, {})
        style = _style_of(element, above, own, is_alone=not cascade.has_foreign_sheets)
        element.is_hidden = style is None
        if style is None:
            hidden += _count_below(element)
            continue
        element.is_muted = style.is_muted
        own_text = _count_own(element)
        seen, hidden = (seen, hidden + own_text) if element.is_muted else (seen + own_text, hidden)
        waiting.extend((child, style) for child in element.elements)
    return seen, hidden


def _count_own(element: Element) -> int:
    return sum(len(child.text.strip()) for child in element.children if isinstance(child, Text))


def _count_below(element: Element) -> int:
    """The characters of an element's texts, without what is never drawn."""
    count = 0
    waiting = [element]
    while waiting:
        one = waiting.pop()
        if one.tag not in _NEVER_DRAWN:
            count += _count_own(one)
            waiting.extend(one.elements)
    return count


def _style_of(element: Element, above: _Style, own: Winning, *, is_alone: bool) -> _Style | None:
    """The element's style, None when nothing of it can be seen. `is_alone` says that no sheets are missing."""
    if element.tag in _NEVER_DRAWN:
        return None
    if not own and element.tag not in _CONTROLS and element.tag != "a":
        return None if _is_off_by_nature(element) else _handed_down(above, is_alone=is_alone)
    custom = above.custom
    if any(name.startswith("--") for name in own):
        custom = {**custom, **{name: value for name, value in own.items() if name.startswith("--")}}
    values = _values(own, custom)
    if "display" not in values and _is_off_by_nature(element):
        return None
    font_px = _font_px(values, above.font_px)
    box = Box(element.tag, values, font_px, above.lays_out_boxes)
    opacity = above.opacity * _opacity(box)
    if is_box_hidden(box) or opacity < _FAINTEST:
        return None
    visibility = box.word("visibility")
    style = _Style(
        font_px=font_px,
        is_visible=visibility == "visible" if visibility else above.is_visible,
        opacity=opacity,
        ink=_ink(element, values, above),
        fill=_paint(values["text-fill-color"]) if "text-fill-color" in values else above.fill,
        paper=_paper(element, box, above, is_alone=is_alone),
        is_drawn_otherwise=_is_drawn_otherwise(box, above),
        is_indented_away=_is_indented_away(box, above),
        lays_out_boxes=box.word("display") in {"flex", "inline-flex", "grid", "inline-grid"},
        custom=custom,
    )
    return style if _shows_text(style) else structs.replace(style, is_muted=True)


def _handed_down(above: _Style, *, is_alone: bool) -> _Style:
    """The style of an element that says nothing itself; most do, so it is the same object where it can be."""
    paper = above.paper if is_alone else None
    if paper is above.paper and not above.lays_out_boxes:
        return above
    style = structs.replace(above, paper=paper, lays_out_boxes=False)
    return structs.replace(style, is_muted=not _shows_text(style))


def _values(own: Winning, custom: Mapping[str, Tokens]) -> Mapping[str, Tokens]:
    """The element's own values, variables filled in; `inherit` and the like are as good as no value."""
    values: dict[str, Tokens] = {}
    for name, value in own.items():
        if name.startswith("--"):
            continue
        value = resolve(name, value, custom)
        word = value[0].name if len(value) == 1 else ""
        if word == "initial" and name in _INITIAL:
            values[name] = _INITIAL[name]
        elif value and word not in _NO_VALUE:
            values[name] = value
    return values


def _is_off_by_nature(element: Element) -> bool:
    """What a browser does not show unless a style says otherwise."""
    attributes = element.attributes
    return (
        "hidden" in attributes
        or "popover" in attributes
        or (element.tag == "dialog" and "open" not in attributes)
        or (element.tag == "input" and attributes.get("type", "").lower() == "hidden")
    )


def _font_px(values: Mapping[str, Tokens], above_px: float) -> float:
    value = pieces(values.get("font-size", ()))
    word = value[0].name if value and value[0].kind == "ident" else ""
    size = _FONT_WORDS.get(word, above_px * _FONT_STEPS.get(word, 1.0))
    if value and not word:
        measured = length_px(value, Measure(above_px, above_px))
        size = above_px if measured is None else measured
    zoom = pieces(values.get("zoom", ()))
    return size * (_share(zoom[0]) if len(zoom) == 1 and zoom[0].kind in {"number", "percentage"} else 1.0)


def _opacity(box: Box) -> float:
    value = pieces(box.values.get("opacity", ()))
    own = _share(value[0]) if len(value) == 1 and value[0].kind in {"number", "percentage"} else box.length("opacity")
    opacity = 1.0 if own is None else min(max(own, 0.0), 1.0)
    for step in pieces(box.values.get("filter", ())):
        if step.kind == "function" and step.name == "opacity" and (inner := pieces(step.inner)):
            opacity *= min(max(_share(inner[0]), 0.0), 1.0)
    return opacity


def _share(token: Token) -> float:
    return token.number / 100 if token.kind == "percentage" else token.number


def _ink(element: Element, values: Mapping[str, Tokens], above: _Style) -> _Paint | None:
    """The text's colour; links and form controls have one of their own."""
    value = values.get("color", ())
    if value and not (len(value) == 1 and value[0].name == "currentcolor"):
        return _paint(value)
    if element.tag == "a" and "href" in element.attributes:
        return _LINK
    return _BLACK if element.tag in _CONTROLS else above.ink


def _paint(value: Tokens) -> _Paint | None:
    found = parse_rgba(value)
    return None if found is None else (found[:3], found[3])


def _paper(element: Element, box: Box, above: _Style, *, is_alone: bool) -> Rgb | None:
    """What is behind the text, as far as this page's own styles tell."""
    picture = pieces(box.values.get("background-image", ()))
    if picture and picture[0].name != "none":
        return None
    behind = above.paper if is_alone and box.word("position") not in {"absolute", "fixed"} else None
    value = box.values.get("background-color", ())
    paint = _paint(value)
    if paint is None:
        return None if value else _WHITE if element.tag in _CONTROLS else behind
    color, opacity = paint
    if opacity >= 1:
        return color
    return behind if opacity <= 0 else _blend(color, opacity, behind)


def _blend(color: Rgb, opacity: float, behind: Rgb | None) -> Rgb | None:
    if behind is None:
        return None
    red, green, blue = (over * opacity + under * (1 - opacity) for over, under in zip(color, behind, strict=True))
    return red, green, blue


def _is_drawn_otherwise(box: Box, above: _Style) -> bool:
    if box.word("background-clip") == "text":
        return True
    return box.word("text-shadow") != "none" if "text-shadow" in box.values else above.is_drawn_otherwise


def _is_indented_away(box: Box, above: _Style) -> bool:
    indent = box.length("text-indent", SCREEN_WIDTH_PX)
    return above.is_indented_away if indent is None else abs(indent) >= _FAR_INDENT_PX


def _shows_text(style: _Style) -> bool:
    if not style.is_visible or style.font_px < _SMALLEST_FONT_PX or style.is_indented_away:
        return False
    paint = style.fill or style.ink
    if paint is None or style.is_drawn_otherwise:
        return True
    color, opacity = paint
    if opacity * style.opacity < _FAINTEST:
        return False
    seen = _blend(color, opacity, style.paper)
    return seen is None or style.paper is None or _contrast(seen, style.paper) >= _LEAST_CONTRAST


def _contrast(one: Rgb, other: Rgb) -> float:
    """The ratio of WCAG 2, 1 for equal brightness. Colours as bright as each other, such as red on green, do differ."""
    if max(abs(a - b) for a, b in zip(one, other, strict=True)) > _CLEARLY_OTHER:
        return _LEAST_CONTRAST
    bright, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def _luminance(color: Rgb) -> float:
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
