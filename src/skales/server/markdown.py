"""Model output as HTML that cannot act: markdown in, an allow-listed fragment out.

Spec: ui-surfaces.md, "Chat rendering".

Raw HTML in the text is dropped, its words stay; pictures from elsewhere become links that name their host; links open
outside the page. The parser's output passes nh3 once more, and the page's Content-Security-Policy stands behind both.
Not for text of people or tools: that is shown as it is.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from html import escape
from typing import Any
from urllib.parse import urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.gfm_autolink import gfm_autolink_plugin

from skales.server.highlight import highlight_code

Tokens = Sequence[Token]
_Env = dict[str, Any]

_LINK_SCHEMES = frozenset({"http", "https", "mailto"})
_INLINE_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+", re.ASCII)
_PICTURE_START = 'src="data:'
# Markup without attributes that models use inside prose and tables.
_PLAIN_TAG = re.compile(r"</?(?:kbd|mark|sub|sup)>|<br ?/?>", re.IGNORECASE)
_SILENT_TAGS = {"script", "style", "title", "textarea", "template", "noscript", "iframe", "svg", "math"}
# Answers sit below the page's h1 and the h2 of each message.
_FIRST_RANK = 3

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

# Names a browser could act on if another program put our text into a page unescaped.
_ADDRESS_LIKE = re.compile(r"\b(javascript|vbscript|data):", re.IGNORECASE)
_LIVELY_TEXT = re.compile(r"(\bjavascript|\bvbscript|\bdata(?=:text))(:)|(\son[a-z]{3,})(=)", re.IGNORECASE)
_MAYBE_LIVELY = re.compile(r"script:|data:text|\son[a-z]{3,}=")
# Half of a surrogate pair, from a stream that was cut inside one; UTF-8 cannot hold it.
_HALF_CHARACTER = re.compile(r"[\ud800-\udfff]")
_TAG_OR_TEXT = re.compile(r"<[^>]*>|[^<]+")


@lru_cache(maxsize=512)
def render_markdown(text: str) -> str:
    """A whole message, or one finished block of it, as an HTML fragment that is safe to insert."""
    parser, env = _parser(), _Env()
    tokens = parser.parse(_HALF_CHARACTER.sub("\ufffd", text), env)
    levels = sorted({token.tag for token in tokens if token.type == "heading_open"})
    env |= {"links": [], "ranks": {level: f"h{min(_FIRST_RANK + at, 6)}" for at, level in enumerate(levels)}}
    html = str(parser.renderer.render(tokens, parser.options, env))
    cleaner = _cleaner(with_pictures=_PICTURE_START in html)
    return _defuse_text(cleaner.clean(html))


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
        return value if _INLINE_PICTURE.fullmatch(value) else None
    if name == "href":
        return value if _is_link(value) else None
    return value


def _is_link(address: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme.lower() in _LINK_SCHEMES and (parts.scheme.lower() == "mailto" or bool(parts.hostname))


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


