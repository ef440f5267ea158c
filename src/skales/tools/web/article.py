"""Finds the part of a page it is about: the article, without menus, banners, side columns and footers.

The page's own marks (`main`, `article`) are believed first; without them the part that holds most running text wins.
Nothing is lost silently: when the rest holds nearly everything, the whole page is the article.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import takewhile

from msgspec import Struct

from skales.tools.web.dom import Element, Text

# Below this a marked part is a teaser or a shell that a script fills.
_LEAST_MAIN = 140
# A part that holds more than this share of the page's text is not beside it.
_MOST_BESIDE_SHARE = 0.5
# A part of less than this share of what is left may be one of many.
_LEAST_SHARE = 0.6
_MORE = 1.3
_LEAST_LINKS = 3
_LEAST_PARAGRAPH = 25
_MOST_LINKED = 0.6

_BESIDE_TAGS = frozenset({"nav", "aside", "dialog", "search", "button", "select", "input"})
_BESIDE_ROLES = frozenset(
    {"navigation", "contentinfo", "complementary", "search", "dialog", "alertdialog", "menu", "menubar", "toolbar"}
)
_COOKIE_NAMES = re.compile(r"cookie|consent|gdpr|onetrust|\bcmp\b|privacy-?(?:banner|notice)", re.IGNORECASE)
_BESIDE_NAMES = re.compile(
    r"(?:^|[\s_-])(?:newsletter|subscribe|share|sharing|social|related|recommend(?:ed|ations)?|sidebar|breadcrumbs?|promo|"
    r"advert(?:isement)?|ads?|sponsor(?:ed)?|popup|modal|pagination|pager|skip-?link|masthead|nav(?:bar)?|menu|footer|"
    r"toolbar|comments)(?:$|[\s_-])",
    re.IGNORECASE,
)
_TEXT_PARTS = frozenset({"article", "blockquote", "main", "section"})
_PARAGRAPHS = frozenset({"p", "pre", "blockquote", "li", "dd", "td"})
_LISTS = frozenset({"ul", "ol", "div", "section", "table"})


class _Measure(Struct, frozen=True):
    """Visible characters in an element, how many of them are in links, how many links; and whether it has an `<h1>`."""

    text: int = 0
    linked: int = 0
    links: int = 0
    has_title: bool = False

    @property
    def running(self) -> int:
        """Characters outside of links."""
        return self.text - self.linked


_Measures = Mapping[Element, _Measure]


def find_article(root: Element) -> Element:
    """The element that holds the main text. What stands beside the text inside it is marked hidden."""
    measures = _measure(root)
    body = next((element for element in root.elements if element.tag == "body"), root)
    marked = _marked_part(body, measures)
    part = marked or body
    hidden = _hide_beside(part, measures, is_marked=marked is not None)
    measures = _measure(root)
    if not measures[part].text:
        # Nothing but what looked like menus: then the menus are the page.
        for element in hidden:
            element.is_hidden = False
        return part
    return marked or _densest_part(body, measures)


def _measure(root: Element) -> dict[Element, _Measure]:
    """Measure every element; what is hidden measures nothing."""
    measures: dict[Element, _Measure] = {}
    for element in reversed(list(root.walk())):
        measures[element] = _Measure() if element.is_hidden else _measure_shown(element, measures)
    return measures


def _measure_shown(element: Element, measures: _Measures) -> _Measure:
    inner = [measures[child] for child in element.elements]
    text = sum(each.text for each in inner)
    if not element.is_muted:
        text += sum(len(child.text.strip()) for child in element.children if isinstance(child, Text))
    is_link = element.tag == "a"
    return _Measure(
        text,
        text if is_link else sum(each.linked for each in inner),
        1 if is_link else sum(each.links for each in inner),
        element.tag == "h1" or any(each.has_title for each in inner),
    )


def _marked_part(body: Element, measures: _Measures) -> Element | None:
    """What the page itself marks as its main part: an article that is most of it, else `main`."""
    mains = [one for one in _outermost(body, _is_main) if measures[one].text >= _LEAST_MAIN]
    main = max(mains, key=lambda one: measures[one].text, default=None)
    articles = list(_outermost(main or body, lambda one: one.tag == "article"))
    longest = max(articles, key=lambda one: measures[one].text, default=None)
    if longest is None or measures[longest].text < _LEAST_MAIN:
        return main
    others = sum(measures[one].text for one in articles) - measures[longest].text
    return longest if measures[longest].text > 2 * others else main


def _is_main(element: Element) -> bool:
    return element.tag == "main" or _role(element) == "main" or element.attributes.get("itemprop") == "articleBody"


def _outermost(root: Element, is_wanted: Callable[[Element], bool]) -> Iterator[Element]:
    """The shown elements below that are wanted, without those inside of others."""
    waiting = list(root.elements)
    while waiting:
        element = waiting.pop()
        if element.is_hidden:
            continue
        if is_wanted(element):
            yield element
        else:
            waiting.extend(element.elements)


def _hide_beside(part: Element, measures: _Measures, *, is_marked: bool) -> list[Element]:
    """Hide what stands beside the text; returns what was hidden."""
    most = measures[part].text * _MOST_BESIDE_SHARE
    hidden: list[Element] = []
    # Each element, and whether it is inside a part of the text, where a header or footer belongs to the text.
    waiting = [(element, is_marked) for element in part.elements]
    while waiting:
        element, in_text = waiting.pop()
        if element.is_hidden:
            continue
        measure = measures[element]
        is_beside = _is_beside(element, measure, in_text=in_text)
        if measure.text <= most and (is_beside or (not is_marked and _is_link_list(element, measure))):
            element.is_hidden = True
            hidden.append(element)
        else:
            waiting += [(child, in_text or element.tag in _TEXT_PARTS) for child in element.elements]
    return hidden


def _is_beside(element: Element, measure: _Measure, *, in_text: bool) -> bool:
    if element.tag in _BESIDE_TAGS or _role(element) in _BESIDE_ROLES:
        return True
    if element.tag in {"header", "footer"}:
        return not in_text and not measure.has_title
    if element.tag in _PARAGRAPHS or element.tag in {"main", "article", "h1"}:
        return False
    names = f"{element.attributes.get('id', '')} {element.attributes.get('class', '')}"
    return _COOKIE_NAMES.search(names) is not None or _BESIDE_NAMES.search(names) is not None


def _role(element: Element) -> str:
    return element.attributes.get("role", "").strip().lower()


def _is_link_list(element: Element, measure: _Measure) -> bool:
    return element.tag in _LISTS and measure.links >= _LEAST_LINKS and measure.linked > measure.text * _MOST_LINKED


def _densest_part(body: Element, measures: _Measures) -> Element:
    """The element whose paragraphs hold most running text; its ancestor when that holds clearly more."""
    scores: dict[Element, float] = {}
    for element in body.walk():
        if element.tag not in _PARAGRAPHS or measures[element].running < _LEAST_PARAGRAPH or element.parent is None:
            continue
        scores[element.parent] = scores.get(element.parent, 0.0) + measures[element].running
        if above := element.parent.parent:
            scores[above] = scores.get(above, 0.0) + measures[element].running / 2
    best = max(scores, key=lambda element: scores[element], default=body)
    for above in takewhile(lambda one: one is not body, best.ancestors()):
        # A text cut into sections is scored piece by piece: what holds all pieces is the text.
        if measures[above].running > _MORE * measures[best].running:
            best = above
    return best if measures[best].text >= measures[body].text * _LEAST_SHARE else body
