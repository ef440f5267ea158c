"""The text of a line: words, links with their address, code, pictures by their description, filled-in form fields."""

import re
from collections.abc import Iterator
from urllib.parse import urljoin

from msgspec import Struct

from skales.tools.web.dom import Element, Node, Text

_BLANKS = re.compile(r"[ \t\r\n\f]+")
_AROUND_BREAK = re.compile(r" *\n *")
_LONGEST_LINK = 2_000
_LONGEST_ALT = 100
# Deeper than any page that people wrote; below it only the bare words are shown.
DEEPEST = 120

BLOCK_TAGS = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "dir", "div", "dl",
        "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header",
        "hgroup", "hr", "html", "legend", "li", "listing", "main", "menu", "nav", "ol", "optgroup", "p", "plaintext",
        "pre", "search", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul", "xmp",
    }
)  # fmt: skip
_WORDLESS_INPUTS = {"checkbox", "color", "file", "hidden", "image", "password", "radio", "range"}


class Setting(Struct, frozen=True):
    """What rendering needs to know of the whole page: the address links start from, and who holds blocks.

    `holders` are elements that hold a block somewhere below, so that even an inline one of them is no line of text.
    """

    base: str
    holders: frozenset[Element]


def build_setting(root: Element, address: str) -> Setting:
    """Look over the page once. `address` is where it was found; its `<base>` may point elsewhere."""
    holders: set[Element] = set()
    base = ""
    for element in root.walk():
        if element.tag == "base" and not base:
            base = element.attributes.get("href", "")
        if element.tag in BLOCK_TAGS:
            for above in element.ancestors():
                if above in holders:
                    break
                holders.add(above)
    return Setting(_join(address, base) or address, frozenset(holders))


def shown_children(element: Element) -> Iterator[Node]:
    """What of the element's children a reader sees."""
    for child in element.children:
        if isinstance(child, Text):
            if not element.is_muted:
                yield child
        elif not child.is_hidden:
            yield child


def render_line(element: Element, setting: Setting, depth: int) -> str:
    """Everything in the element as one line; blocks inside are joined by blanks."""
    return " ".join(tidy_line("".join(_pieces(element, setting, depth))).split("\n"))


def render_inline(node: Node, setting: Setting, depth: int) -> str:
    """A piece of a line, not yet tidied; `<br>` is a line end."""
    if isinstance(node, Text):
        return _BLANKS.sub(" ", node.text.replace("\xa0", " "))
    if depth > DEEPEST:
        return bare_words(node)
    inner = "".join(_pieces(node, setting, depth + 1))
    match node.tag:
        case "br":
            return "\n"
        case "img":
            return _picture(node)
        case "a":
            return _link(node, inner, setting)
        case "input" | "select":
            return _field(node, setting, depth)
        case _:
            return _marked(node.tag, inner) if inner.strip() else inner


def _marked(tag: str, inner: str) -> str:
    """Words with the signs that keep their meaning when the look is gone."""
    words = inner.strip()
    match tag:
        case "sup":
            return inner if words.startswith(("[", "(")) else f"^{words}"
        case "rt":
            return f"({words})"
        case "q":
            return f"“{words}”"
        case "del" | "s" | "strike":
            return f"~~{words}~~"
        case "code" | "kbd" | "samp" | "tt":
            return _code(words)
        case "button" | "label" | "option" | "text":
            return f" {words} "
        case _:
            return inner


def tidy_line(text: str) -> str:
    """Blanks as a browser shows them; line ends stay."""
    return _AROUND_BREAK.sub("\n", re.sub(r" {2,}", " ", text)).strip()


def bare_words(element: Element) -> str:
    """All text a reader sees in the element, without recursion, for nesting that no page needs."""
    words: list[str] = []
    waiting: list[Node] = [element]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Text):
            words.append(node.text)
        else:
            waiting.extend(reversed(list(shown_children(node))))
    return _BLANKS.sub(" ", " ".join(words))


def absolute_address(address: str, setting: Setting) -> str:
    """Where a link leads; empty when it leads nowhere a reader could go, or only within the page."""
    if not address.strip() or address.strip().startswith("#"):
        return ""
    joined = _join(setting.base, address)
    if not joined.lower().startswith(("http://", "https://", "mailto:", "tel:")) or len(joined) > _LONGEST_LINK:
        return ""
    return joined.replace("(", "%28").replace(")", "%29").replace("<", "%3C").replace(">", "%3E")


def _join(base: str, address: str) -> str:
    try:
        return "%20".join(urljoin(base, "".join(address.strip().splitlines())).split())
    except ValueError:
        return ""


def _pieces(element: Element, setting: Setting, depth: int) -> Iterator[str]:
    for child in shown_children(element):
        is_block = isinstance(child, Element) and child.tag in BLOCK_TAGS
        piece = render_inline(child, setting, depth)
        yield f" {piece} " if is_block else piece


def _link(element: Element, inner: str, setting: Setting) -> str:
    label = " ".join(inner.split())
    address = absolute_address(element.attributes.get("href", ""), setting)
    if not label or not address:
        return inner
    before = " " if inner[:1].isspace() else ""
    after = " " if inner[-1:].isspace() else ""
    return f"{before}[{label}]({address}){after}"


def _picture(element: Element) -> str:
    alt = " ".join(element.attributes.get("alt", "").split())
    if not alt or element.is_muted:
        return ""
    return f" [image: {alt if len(alt) <= _LONGEST_ALT else f'{alt[:_LONGEST_ALT]}…'}] "


def _field(element: Element, setting: Setting, depth: int) -> str:
    """What a form field shows: the chosen option, the value typed in."""
    if element.is_muted:
        return ""
    if element.tag == "input":
        kind = element.attributes.get("type", "").lower()
        value = "" if kind in _WORDLESS_INPUTS else " ".join(element.attributes.get("value", "").split())
        return f" [{value}] " if value else ""
    options = [one for one in element.walk() if one.tag == "option" and not one.is_hidden]
    chosen = [one for one in options if "selected" in one.attributes] or options[:1]
    return " [" + ", ".join(render_line(one, setting, depth + 1) for one in chosen) + "] " if chosen else ""


def _code(words: str) -> str:
    text = words.replace("\n", " ")
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}"
