"""Which declarations win for each element of a page: its `<style>` sheets, `style` attributes and old attributes.

Sheets behind a link are not loaded; `has_foreign_sheets` tells of them. Spec: CSS Cascade; CSS Nesting.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from skales.tools.web.css import Declaration, RawRule, Tokens, parse_declarations, parse_stylesheet
from skales.tools.web.dom import Element, Page, Text
from skales.tools.web.matching import Matcher, too_complicated
from skales.tools.web.media import media_holds, media_text_holds, supports_holds
from skales.tools.web.properties import expand
from skales.tools.web.selectors import Selector, UnknownSelectorError, parse_selectors

Winning = Mapping[str, Tokens]
# Important, inline, layer rank, specificity, order: the larger wins.
_Weight = tuple[bool, bool, int, tuple[int, int, int], int]
_Found = dict[str, tuple[_Weight, Tokens]]

# How many declarations may meet elements; an ordinary page has some ten thousand such meetings.
_MOST_OFFERS = 3_000_000
_HINT_WEIGHT: _Weight = (False, False, 0, (0, 0, 0), -1)
# Rules inside these describe no element of a page at rest.
_SKIPPED = frozenset(
    {
        "keyframes", "-webkit-keyframes", "-moz-keyframes", "font-face", "page", "property", "counter-style", "import",
        "charset", "namespace", "font-feature-values", "container", "starting-style", "view-transition",
    }
)  # fmt: skip
_DRAWING_HINTS = ("display", "visibility", "opacity", "font-size", "transform", "clip-path")


class Cascade(Struct, frozen=True):
    """The winning declarations of every element that has any."""

    winning: Mapping[Element, Winning]
    has_foreign_sheets: bool


class _Rule(Struct, frozen=True):
    selectors: Sequence[Selector]
    declarations: Sequence[Declaration]
    is_layered: bool


def build_cascade(page: Page) -> Cascade:
    """Read all styles of the page. Raises ToolError when its selectors take too long to match."""
    elements = list(page.root.walk())
    found: dict[Element, _Found] = {}
    _enter_hints(elements, found)
    _enter_sheets(page, elements, found)
    for element in elements:
        if style := element.attributes.get("style"):
            for declaration in _expanded(parse_declarations(style)):
                weight = (declaration.is_important, True, 0, (0, 0, 0), 0)
                _offer(found.setdefault(element, {}), declaration, weight)
    return Cascade(
        {element: {name: value for name, (_weight, value) in each.items()} for element, each in found.items()},
        has_foreign_sheets=any(_is_foreign_sheet(element) for element in elements),
    )


def _enter_sheets(page: Page, elements: Sequence[Element], found: dict[Element, _Found]) -> None:
    rules = [rule for sheet in elements if sheet.tag == "style" for rule in _sheet_rules(sheet)]
    if not rules:
        return
    matcher = Matcher(page)
    offers = 0
    for order, rule in enumerate(rules):
        for selector in rule.selectors:
            matched = matcher.select(selector)
            offers += len(matched) * len(rule.declarations)
            if offers > _MOST_OFFERS:
                raise too_complicated()
            for element in matched:
                _enter(found.setdefault(element, {}), rule, selector, order)


def _enter(found: _Found, rule: _Rule, selector: Selector, order: int) -> None:
    for declaration in rule.declarations:
        important = declaration.is_important
        # A layer loses to what stands outside of one, and wins where both are important.
        rank = 1 if rule.is_layered is important else 0
        _offer(found, declaration, (important, False, rank, selector.specificity, order))


def _offer(found: _Found, declaration: Declaration, weight: _Weight) -> None:
    present = found.get(declaration.name)
    if present is None or weight >= present[0]:
        found[declaration.name] = (weight, declaration.value)


def _expanded(declarations: Sequence[Declaration]) -> Iterator[Declaration]:
    for declaration in declarations:
        yield from expand(declaration)


def _sheet_rules(sheet: Element) -> Sequence[_Rule]:
    kind = sheet.attributes.get("type", "").strip().lower()
    if kind not in {"", "text/css"} or not media_text_holds(sheet.attributes.get("media", "")):
        return ()
    return list(_flat_rules(parse_stylesheet(_text_of(sheet)), (), is_layered=False))


def _text_of(sheet: Element) -> str:
    return "".join(child.text for child in sheet.children if isinstance(child, Text))


def _is_foreign_sheet(element: Element) -> bool:
    if element.tag == "link":
        return "stylesheet" in element.attributes.get("rel", "").lower().split()
    return element.tag == "style" and "@import" in _text_of(element).lower()


def _flat_rules(
    content: Sequence[RawRule | Declaration], parents: Sequence[Selector], *, is_layered: bool
) -> Iterator[_Rule]:
    """Nested rules and conditions as a plain list; declarations right inside a condition are those of `parents`."""
    own = list(_expanded([item for item in content if isinstance(item, Declaration)]))
    if parents and own:
        yield _Rule(parents, own, is_layered)
    for item in content:
        if isinstance(item, Declaration):
            continue
        if not item.at:
            if selectors := _selectors_of(item, parents):
                yield from _flat_rules(item.content, selectors, is_layered=is_layered)
        elif item.at not in _SKIPPED and _condition_holds(item):
            yield from _flat_rules(item.content, parents, is_layered=is_layered or item.at == "layer")


def _selectors_of(rule: RawRule, parents: Sequence[Selector]) -> Sequence[Selector]:
    try:
        return parse_selectors(rule.prelude, parents)
    except UnknownSelectorError:
        return ()


def _condition_holds(rule: RawRule) -> bool:
    match rule.at:
        case "media":
            return media_holds(rule.prelude)
        case "supports":
            return supports_holds(rule.prelude)
        case _:
            return True


def _enter_hints(elements: Sequence[Element], found: dict[Element, _Found]) -> None:
    """What old attributes and those of drawings say: `bgcolor`, `<font color>`, `<text opacity="0">`."""
    drawn: set[Element] = set()
    for element in elements:
        if element.tag == "svg" or element.parent in drawn:
            drawn.add(element)
        for attribute, name in _hint_names(element, is_drawn=element in drawn):
            if attribute in element.attributes:
                for declaration in parse_declarations(f"{name}:{element.attributes[attribute]}")[:1]:
                    _offer(found.setdefault(element, {}), declaration, _HINT_WEIGHT)


def _hint_names(element: Element, *, is_drawn: bool) -> Iterator[tuple[str, str]]:
    yield "bgcolor", "background-color"
    if element.tag == "font":
        yield "color", "color"
    if element.tag == "body":
        yield "text", "color"
    if element.tag == "svg":
        yield from (("width", "width"), ("height", "height"))
    if is_drawn:
        yield from ((name, name) for name in _DRAWING_HINTS)
        yield "fill", "color"
        yield "fill-opacity", "opacity"
