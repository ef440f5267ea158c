"""Finds the part of a page it is about: the article, without menus, banners, side columns and footers.

The page's own marks (`main`, `article`) are believed first; without them the part that holds most running text wins.
Nothing is lost silently: when the rest holds nearly everything, the whole page is the article.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from skales.tools.web.dom import Element, Text

# Below this a marked part is a teaser or a shell that a script fills.
_LEAST_MAIN = 140
# A part that holds more than this share of the page's text is not beside it.
_MOST_BESIDE_SHARE = 0.5
# An article of less than this share of what is left may be one of many teasers.
_LEAST_SHARE = 0.4
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


@dataclass(frozen=True, slots=True)
class _Measure:
    """Visible characters in an element, how many of them are in links, and how many links there are."""

    text: int = 0
    linked: int = 0
    links: int = 0


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
        if element.is_hidden:
            measures[element] = _Measure()
            continue
        inner = [measures[child] for child in element.elements]
        text = sum(each.text for each in inner)
        if not element.is_muted:
            text += sum(len(child.text.strip()) for child in element.children if isinstance(child, Text))
        if element.tag == "a":
            measures[element] = _Measure(text, text, 1)
        else:
            measures[element] = _Measure(text, sum(each.linked for each in inner), sum(each.links for each in inner))
    return measures


def _shown(root: Element) -> Iterator[Element]:
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if not element.is_hidden:
            yield element
            waiting.extend(reversed(element.elements))


def _marked_part(body: Element, measures: _Measures) -> Element | None:
    """What the page itself marks as its main part: one long article, else `main`."""
    shown = [element for element in _shown(body) if measures[element].text >= _LEAST_MAIN]
    mains = [
        one
        for one in shown
        if one.tag == "main" or _role(one) == "main" or one.attributes.get("itemprop") == "articleBody"
    ]
    main = max(mains, key=lambda one: measures[one].text, default=None)
    around = main or body
    articles = [one for one in shown if one.tag == "article" and around in one.ancestors()]
    longest = max(articles, key=lambda one: measures[one].text, default=None)
    others = sum(measures[one].text for one in articles if one.parent is not None and one is not longest)
    if longest is not None and measures[longest].text > others:
        return longest
    return main


def _hide_beside(part: Element, measures: _Measures, *, is_marked: bool) -> list[Element]:
    """Hide what stands beside the text; returns what was hidden."""
    most = measures[part].text * _MOST_BESIDE_SHARE
    hidden: list[Element] = []
    waiting = list(part.elements)
    while waiting:
        element = waiting.pop()
        if element.is_hidden:
            continue
        is_small = measures[element].text <= most
        if is_small and (_is_beside(element) or (not is_marked and _is_link_list(element, measures[element]))):
            element.is_hidden = True
            hidden.append(element)
        else:
            waiting.extend(element.elements)
    return hidden


def _is_beside(element: Element) -> bool:
    names = f"{element.attributes.get('id', '')} {element.attributes.get('class', '')}"
    if element.tag in _BESIDE_TAGS or _role(element) in _BESIDE_ROLES:
        return True
    if element.tag in _PARAGRAPHS or element.tag in {"body", "main", "article", "h1"}:
        return False
    if element.tag in {"header", "footer"}:
        is_of_page = not any(above.tag in _TEXT_PARTS for above in element.ancestors())
        return is_of_page and not any(one.tag == "h1" for one in element.walk())
    return _COOKIE_NAMES.search(names) is not None or _BESIDE_NAMES.search(names) is not None


def _role(element: Element) -> str:
    return element.attributes.get("role", "").strip().lower()


def _is_link_list(element: Element, measure: _Measure) -> bool:
    return element.tag in _LISTS and measure.links >= _LEAST_LINKS and measure.linked > measure.text * _MOST_LINKED


def _densest_part(body: Element, measures: _Measures) -> Element:
    """The element whose paragraphs hold most running text; its ancestor when that holds clearly more."""
    scores: dict[Element, float] = {}
    for element in _shown(body):
        text = measures[element].text - measures[element].linked
        if element.tag not in _PARAGRAPHS or text < _LEAST_PARAGRAPH or element.parent is None:
            continue
        scores[element.parent] = scores.get(element.parent, 0.0) + text
        if above := element.parent.parent:
            scores[above] = scores.get(above, 0.0) + text / 2
    best = max(scores, key=lambda element: scores[element], default=body)
    # A text cut into sections is scored piece by piece: what holds all pieces is the text.
    for above in best.ancestors():
        if above is body or body not in above.ancestors():
            break
        if measures[above].text - measures[above].linked > 1.3 * (measures[best].text - measures[best].linked):
            best = above
    is_enough = measures[best].text >= measures[body].text * _LEAST_SHARE
    return best if is_enough else body
