"""How markdown becomes HTML: our answer wherever the text could reach outside itself, or the page has parts of its own.

What comes out still passes `sanitize`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from html import escape
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.gfm_autolink import gfm_autolink_plugin

from skales.server.highlight import highlight_code
from skales.server.sanitize import INLINE_PICTURE, is_link, words_of_html

Tokens = Sequence[Token]

# Markup without attributes that models use inside prose and tables.
_PLAIN_TAG = re.compile(r"</?(?:kbd|mark|sub|sup)>|<br ?/?>", re.IGNORECASE)
# Answers sit below the page's h1 and the h2 of each message.
_FIRST_RANK = 3
_ADDRESS_LIKE = re.compile(r"\b(javascript|vbscript|data):", re.IGNORECASE)


def render_unclean(text: str) -> str:
    """The markup of a text, not sanitised yet."""
    parser = _parser()
    env: dict[str, Any] = {}
    tokens = parser.parse(text, env)
    levels = sorted({token.tag for token in tokens if token.type == "heading_open"})
    env |= {"links": [], "ranks": {level: f"h{min(_FIRST_RANK + at, 6)}" for at, level in enumerate(levels)}}
    return str(parser.renderer.render(tokens, parser.options, env))


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
    allowed = is_link(address)
    env["links"].append(allowed)
    return _open_link(address) if allowed else ""


def _link_close(_renderer: RendererHTML, _tokens: Tokens, _idx: int, _options: OptionsDict, env: EnvType) -> str:
    return "</a>" if env["links"].pop() else ""


def _image(renderer: RendererHTML, tokens: Tokens, idx: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[idx]
    alt = renderer.renderInlineAsText(token.children or [], options, env)
    address = str(token.attrGet("src") or "")
    if INLINE_PICTURE.fullmatch(address):
        return f'<img src="{address}" alt="{escape(alt)}">'
    if not is_link(address) or any(env["links"]):
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
