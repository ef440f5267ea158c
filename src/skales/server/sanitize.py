"""The last gate of model output: an allow-list over the markup, and nothing in the text that a careless reader runs.

Links lead to http, https and mailto, open outside the page and tell nobody where from; pictures are inside the text or
not at all. What the markup should be is the business of `markdown_rules`.
"""

import re
from functools import cache
from urllib.parse import urlsplit

import nh3

from skales.server.markdown_files import FILE_ADDRESS

INLINE_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+", re.ASCII)
_LINK_SCHEMES = frozenset({"http", "https", "mailto"})
# What of ours needs a wider gate, by what it begins with. A model's own markup never gets this far.
_PICTURE_START = 'src="data:'
_FILE_START = '="/ui/preview/file?path='
_MATHS_START = "<math"
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
    "button": {"class", "aria-label", "aria-pressed", "data-copy", "data-format", "data-name"},
    "code": {"class", "title"},
    "div": {"class", "tabindex", "role", "aria-label"},
    "img": {"class", "src", "alt", "width", "height", "loading"},
    "ol": {"start"},
    "pre": {"tabindex"},
    "span": {"class", "role", "aria-label", "data-sign"},
}
# MathML Core, presentation only: no links, no actions, no foreign markup. W3C, "MathML Core", section 3.
_MATHS_TAGS = {
    "math", "menclose", "mfrac", "mi", "mn", "mo", "mover", "mpadded", "mphantom", "mroot", "mrow", "mspace", "msqrt",
    "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder", "munderover",
}  # fmt: skip
_MATHS_LAYOUT = {"class", "displaystyle", "scriptlevel"}
_MATHS_ATTRIBUTES = dict.fromkeys(_MATHS_TAGS, _MATHS_LAYOUT) | {
    "math": {"display"},
    "menclose": {"class", "notation"},
    "mfrac": {"displaystyle", "linethickness"},
    "mi": {"mathvariant"},
    "mo": {
        "fence", "form", "largeop", "lspace", "maxsize", "minsize", "movablelimits", "rspace", "separator", "stretchy",
        "symmetric",
    },
    "mover": {"accent"},
    "mpadded": {"class", "depth", "height", "lspace", "voffset", "width"},
    "mspace": {"depth", "height", "width"},
    "munder": {"accentunder"},
    "munderover": {"accent", "accentunder"},
}  # fmt: skip

# Words a browser could act on if another program put our text into a page unescaped.
_LIVELY_TEXT = re.compile(r"(\bjavascript|\bvbscript|\bdata(?=:text))(:)|(\son[a-z]{3,})(=)", re.IGNORECASE)
_MAYBE_LIVELY = re.compile(r"script:|data:text|\son[a-z]{3,}=")
_TAG_OR_TEXT = re.compile(r"<[^>]*>|[^<]+")
# Signs that cannot be seen but turn the text around or hide in it: bidirectional controls, zero-width signs, tags.
# The tags of a flag emoji are meant.
_HIDDEN_SIGN = re.compile(
    "(\U0001f3f4[\U000e0020-\U000e007f]+)|([\u00ad\u180e\u200b\u202a-\u202e\u2060\u2065-\u2069\ufeff\U000e0000-\U000e007f])"
)


def clean_html(html: str) -> str:
    """The fragment without anything that could act: safe to insert."""
    with_addresses = _PICTURE_START in html or _FILE_START in html
    cleaner = _cleaner(with_addresses=with_addresses, with_maths=_MATHS_START in html)
    return _show_hidden_signs(_defuse_text(cleaner.clean(html)))


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
def _cleaner(*, with_addresses: bool, with_maths: bool) -> nh3.Cleaner:
    """Asking about each attribute in Python is slow, so only text with pictures or files pays for it."""
    return nh3.Cleaner(
        tags=_TAGS | _MATHS_TAGS if with_maths else _TAGS,
        attributes=_ATTRIBUTES | _MATHS_ATTRIBUTES if with_maths else _ATTRIBUTES,
        attribute_filter=_filter_attribute if with_addresses else None,
        clean_content_tags={"script", "style"},
        link_rel="noopener noreferrer nofollow",
        tag_attribute_values={"button": {"type": {"button"}}},
        url_schemes=_LINK_SCHEMES | ({"data"} if with_addresses else set()),
        url_relative="pass_through" if with_addresses else "deny",
    )


def _filter_attribute(tag: str, name: str, value: str) -> str | None:
    """`data:` passes for pictures inside the text only, our own address for files only; all else must be a link."""
    if name == "src":
        return value if tag == "img" and (INLINE_PICTURE.fullmatch(value) or FILE_ADDRESS.fullmatch(value)) else None
    if name == "href":
        return value if is_link(value) or FILE_ADDRESS.fullmatch(value) else None
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


def _show_hidden_signs(html: str) -> str:
    """Each stands alone in an element that ends its effect and names it; copied text keeps it."""
    if html.isascii() or not _HIDDEN_SIGN.search(html):
        return html
    return _TAG_OR_TEXT.sub(_show_signs_of_piece, html)


def _show_signs_of_piece(piece: re.Match[str]) -> str:
    text = piece[0]
    return _HIDDEN_SIGN.sub("", text) if text.startswith("<") else _HIDDEN_SIGN.sub(_show_sign, text)


def _show_sign(found: re.Match[str]) -> str:
    sign = found[2]
    return f'<span class="sign" data-sign="U+{ord(sign):04X}">{sign}</span>' if sign else found[1]
