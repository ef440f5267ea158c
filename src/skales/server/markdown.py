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
def _parser() -> MarkdownIt:
    parser = _LenientParser("commonmark", {"html": True, "tasklists": True, "breaks": True})
    parser.enable(["table", "strikethrough"])
    parser.use(gfm_autolink_plugin)
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    return parser


class _LenientParser(MarkdownIt):
    """Takes every address: refusing here would leave it standing in the text; the rules refuse and keep the words."""

    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802 - the library's name
        return True


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


def words_of_html(html: str) -> str:
    """What a reader would see of raw HTML: its text without tags, without the content of scripts and styles."""
    return nh3.clean(html, tags=set(), clean_content_tags=_SILENT_TAGS).strip()


def _html_inline(_renderer: RendererHTML, tokens: Tokens, idx: int, _options: OptionsDict, _env: EnvType) -> str:
    tag = tokens[idx].content
    return tag.lower() if _PLAIN_TAG.fullmatch(tag) else ""


def _html_block(_renderer: RendererHTML, tokens: Tokens, idx: int, _options: OptionsDict, _env: EnvType) -> str:
    words = words_of_html(tokens[idx].content)
    return f"<p>{words}</p>\n" if words else ""


def _heading_open(_renderer: RendererHTML, tokens: Tokens, idx: int, _options: OptionsDict, env: EnvType) -> str:
    level = tokens[idx].tag
    return f'<{env["ranks"][level]} class="level-{level[1:]}">'


def _heading_close(_renderer: RendererHTML, tokens: Tokens, idx: int, _options: OptionsDict, env: EnvType) -> str:
    return f"</{env['ranks'][tokens[idx].tag]}>\n"


def _link_open(_renderer: RendererHTML, tokens: Tokens, idx: int, _options: OptionsDict, env: EnvType) -> str:
    address = str(tokens[idx].attrGet("href") or "")
    allowed = _is_link(address)
    env["links"].append(allowed)
    return _open_link(address) if allowed else ""


def _link_close(_renderer: RendererHTML, _tokens: Tokens, _idx: int, _options: OptionsDict, env: EnvType) -> str:
    return "</a>" if env["links"].pop() else ""


def _image(renderer: RendererHTML, tokens: Tokens, idx: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[idx]
    alt = renderer.renderInlineAsText(token.children or [], options, env)
    address = str(token.attrGet("src") or "")
    if _INLINE_PICTURE.fullmatch(address):
        return f'<img src="{address}" alt="{escape(alt)}">'
    if not _is_link(address) or any(env["links"]):
        return escape(alt)
    host = urlsplit(address).hostname or ""
    shown = f'{escape(alt) or "Picture"} <span class="host">{escape(host)}</span>'
    return f"{_open_link(address, 'picture')}{shown}</a>"


def _code(_renderer: RendererHTML, tokens: Tokens, idx: int, _options: OptionsDict, _env: EnvType) -> str:
    token = tokens[idx]
    return render_code(token.content, token.info.strip().partition(" ")[0])


def _table_open(*_rest: object) -> str:
    return '<div class="table-scroll" tabindex="0"><table>\n'


def _table_close(*_rest: object) -> str:
    return "</table></div>\n"


def _cell_open(_renderer: RendererHTML, tokens: Tokens, idx: int, _options: OptionsDict, _env: EnvType) -> str:
    """Alignment as a class, since style attributes are forbidden."""
    token = tokens[idx]
    align = str(token.attrGet("style") or "").removeprefix("text-align:")
    return f'<{token.tag} class="align-{align}">' if align in ("left", "center", "right") else f"<{token.tag}>"


def _list_item_open(_renderer: RendererHTML, tokens: Tokens, idx: int, _options: OptionsDict, _env: EnvType) -> str:
    checked = tokens[idx].meta.get("checked")
    if checked is None:
        return "<li>"
    state, words = ("task done", "Done") if checked else ("task", "To do")
    return f'<li class="task-item"><span class="{state}" role="img" aria-label="{words}"></span>'


def render_code(code: str, language: str) -> str:
    """A code block with its language, a copy button and colours by class; the copy button needs `code.js`."""
    name = escape(language) or "text"
    head = f'<figcaption><span>{name}</span><button type="button" class="copy">Copy</button></figcaption>'
    return (
        f'<figure class="code">{head}<pre tabindex="0"><code>{highlight_code(code, language)}</code></pre></figure>\n'
    )


def _open_link(address: str, css_class: str = "") -> str:
    """Script-like words inside a query stay what they were, percent-encoded."""
    scheme, _, rest = address.partition(":")
    inert = _ADDRESS_LIKE.sub(r"\1%3A", rest)
    named = f' class="{css_class}"' if css_class else ""
    return f'<a{named} href="{escape(f"{scheme}:{inert}")}" target="_blank">'


# Our answer wherever the text could reach outside itself, and where the page has parts of its own.
_RULES: Mapping[str, Callable[..., str]] = {
    "html_inline": _html_inline,
    "html_block": _html_block,
    "heading_open": _heading_open,
    "heading_close": _heading_close,
    "link_open": _link_open,
    "link_close": _link_close,
    "image": _image,
    "fence": _code,
    "code_block": _code,
    "table_open": _table_open,
    "table_close": _table_close,
    "th_open": _cell_open,
    "td_open": _cell_open,
    "list_item_open": _list_item_open,
}
