"""The last gate of model output: an allow-list over the markup, and nothing in the text that a careless reader runs.

Links lead to http, https and mailto, open outside the page and tell nobody where from; pictures are inside the text or
not at all. What the markup should be is the business of `markdown_rules`.
"""

import re
from functools import cache
from urllib.parse import urlsplit

import nh3

INLINE_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+", re.ASCII)
_LINK_SCHEMES = frozenset({"http", "https", "mailto"})
_PICTURE_START = 'src="data:'
# Raw HTML whose content is no prose.
_SILENT_TAGS = {"script", "style", "title", "textarea", "template", "noscript", "iframe", "svg", "math"}

_TAGS = {
    "a", "blockquote", "br", "button", "code", "del", "div", "em", "figcaption", "figure", "h3", "h4", "h5", "h6", "hr",
    "img", "kbd", "li", "mark", "ol", "p", "pre", "s", "span", "strong", "sub", "sup", "table", "tbody", "td", "th",
    "thead", "tr", "ul",
}  # fmt: skip
_CLASSED = ("a", "button", "code", "div", "figure", "h3", "h4", "h5", "h6", "li", "span", "td", "th", "ul")
_ATTRIBUTES = {tag: {"class"} for tag in _CLASSED} | {
    "a": {"class", "href", "target"},
    "div": {"class", "tabindex"},
    "img": {"src", "alt"},
    "ol": {"start"},
    "pre": {"tabindex"},
    "span": {"class", "role", "aria-label"},
    "button": {"class"},
}

# Words a browser could act on if another program put our text into a page unescaped.
_LIVELY_TEXT = re.compile(r"(\bjavascript|\bvbscript|\bdata(?=:text))(:)|(\son[a-z]{3,})(=)", re.IGNORECASE)
_MAYBE_LIVELY = re.compile(r"script:|data:text|\son[a-z]{3,}=")
_TAG_OR_TEXT = re.compile(r"<[^>]*>|[^<]+")


def clean_html(html: str) -> str:
    """The fragment without anything that could act: safe to insert."""
    cleaner = _cleaner(with_pictures=_PICTURE_START in html)
    return _defuse_text(cleaner.clean(html))


def words_of_html(html: str) -> str:
    """What a reader would see of raw HTML, escaped: its text without tags and without scripts and styles."""
    return nh3.clean(html, tags=set(), clean_content_tags=_SILENT_TAGS).strip()


def is_link(address: str) -> bool:
    """Whether an address may be clicked."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme.lower() in _LINK_SCHEMES and (parts.scheme.lower() == "mailto" or bool(parts.hostname))


@cache
def _cleaner(*, with_pictures: bool) -> nh3.Cleaner:
    """Asking about each attribute in Python is slow, so only text with pictures inside pays for it."""
    return nh3.Cleaner(
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_filter_attribute if with_pictures else None,
        clean_content_tags={"script", "style"},
        link_rel="noopener noreferrer nofollow",
        tag_attribute_values={"button": {"type": {"button"}}},
        url_schemes=_LINK_SCHEMES | ({"data"} if with_pictures else set()),
        url_relative="deny",
    )


def _filter_attribute(tag: str, name: str, value: str) -> str | None:
    """`data:` passes for pictures inside the text only; every other address needs a link scheme."""
    if (tag, name) == ("img", "src"):
        return value if INLINE_PICTURE.fullmatch(value) else None
    if name == "href":
        return value if is_link(value) else None
    return value


def _defuse_text(html: str) -> str:
    """Spell the telling sign of script-like words in text as a character reference: same look, nothing to act on."""
    if not _MAYBE_LIVELY.search(html.lower()):
        return html
    return _TAG_OR_TEXT.sub(_defuse_piece, html)


def _defuse_piece(piece: re.Match[str]) -> str:
    text = piece[0]
    return text if text.startswith("<") else _LIVELY_TEXT.sub(_defuse_sign, text)


def _defuse_sign(found: re.Match[str]) -> str:
    return f"{found[1]}&#58;" if found[2] else f"{found[3]}&#61;"
