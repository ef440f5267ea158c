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
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.gfm_autolink import gfm_autolink_plugin

from skales.server.markdown_code import render_code
from skales.server.markdown_files import (
    is_picture,
    read_file_path,
    render_file_card,
    render_file_picture,
    render_inline_picture,
)
from skales.server.markdown_maths import add_maths, render_maths
from skales.server.markdown_tables import close_table, mark_figures, open_cell, open_table
from skales.server.sanitize import INLINE_PICTURE, is_link, words_of_html
from skales.server.words import _

Tokens = Sequence[Token]

# Markup without attributes that models use inside prose and tables.
_PLAIN_TAG = re.compile(r"</?(?:kbd|mark|sub|sup)>|<br ?/?>", re.IGNORECASE)
# Answers sit below the page's h1 and the h2 of each message.
_FIRST_RANK = 3
# The parser leaves out what stands deeper; a list counts twice.
_DEEPEST = 60
# A longer paragraph is shown as it is: finding the marks in it could take seconds.
_LONGEST_PARAGRAPH = 20_000
_ADDRESS_LIKE = re.compile(r"\b(javascript|vbscript|data):", re.IGNORECASE)


def render_unclean(text: str) -> str | None:
    """The markup of a text, not sanitised yet; None when lists or quotations stand too deep in each other."""
    parser = _parser()
    env: dict[str, Any] = {}
    tokens = parser.parse(text, env)
    if any(token.level >= _DEEPEST - 1 for token in tokens):
        return None
    mark_figures(tokens)
    levels = sorted({token.tag for token in tokens if token.type == "heading_open"})
    env |= {"links": [], "ranks": {level: f"h{min(_FIRST_RANK + at, 6)}" for at, level in enumerate(levels)}}
    return str(parser.renderer.render(tokens, parser.options, env))


@cache
def _parser() -> MarkdownIt:
    parser = _LenientParser("commonmark", {"html": True, "tasklists": True, "breaks": True, "maxNesting": _DEEPEST})
    parser.enable(["table", "strikethrough"])
    parser.use(gfm_autolink_plugin)
    add_maths(parser)
    parser.core.ruler.at("inline", _read_paragraphs)
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    return parser


class _LenientParser(MarkdownIt):
    """Takes every address: refusing here would leave it standing in the text; the rules refuse and keep the words."""

    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802 - the library's name
        return True


def _read_paragraphs(state: StateCore) -> None:
    """The library's own rule, but for paragraphs that are too long."""
    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        if len(token.content) > _LONGEST_PARAGRAPH:
            token.children.append(Token("text", "", 0, content=token.content))
        else:
            state.md.inline.parse(token.content, state.md, state.env, token.children)


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


def _link_open(renderer: RendererHTML, tokens: Tokens, idx: int, options: OptionsDict, env: EnvType) -> str:
    address = str(tokens[idx].attrGet("href") or "")
    if is_link(address):
        env["links"].append("</a>")
        return _open_link(address)
    path = read_file_path(address)
    env["links"].append("")
    if not path:
        return ""
    return render_file_card(path, _take_words(renderer, tokens, idx, options, env))


def _link_close(_renderer: RendererHTML, _tokens: Tokens, _idx: int, _options: OptionsDict, env: EnvType) -> str:
    return str(env["links"].pop())


def _take_words(renderer: RendererHTML, tokens: Tokens, idx: int, options: OptionsDict, env: EnvType) -> str:
    """The words of a link, taken out of it: a card shows them itself."""
    end = next(at for at in range(idx, len(tokens)) if tokens[at].type == "link_close")
    inside = [token.copy() for token in tokens[idx + 1 : end]]
    for token in tokens[idx + 1 : end]:
        token.type, token.content, token.children = "text", "", []
    return renderer.renderInlineAsText(inside, options, env)


def _image(renderer: RendererHTML, tokens: Tokens, idx: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[idx]
    alt = renderer.renderInlineAsText(token.children or [], options, env)
    address = str(token.attrGet("src") or "")
    is_linked = any(env["links"])
    if INLINE_PICTURE.fullmatch(address):
        return render_inline_picture(address, alt, is_linked=is_linked)
    path = "" if is_linked else read_file_path(address)
    if path:
        return render_file_picture(path, alt) if is_picture(path) else render_file_card(path, alt)
    if not is_link(address) or is_linked:
        return escape(alt)
    host = urlsplit(address).hostname or ""
    shown = f'{escape(alt) or _("Picture")} <span class="host">{escape(host)}</span>'
    return f"{_open_link(address, 'picture')}{shown}</a>"


def _code(_renderer: RendererHTML, tokens: Tokens, idx: int, _options: OptionsDict, _env: EnvType) -> str:
    token = tokens[idx]
    language = token.info.strip().partition(" ")[0]
    if language.lower() == "math":
        return render_maths(token.content, display=True)
    return render_code(token.content, language)


def _list_item_open(_renderer: RendererHTML, tokens: Tokens, idx: int, _options: OptionsDict, _env: EnvType) -> str:
    checked = tokens[idx].meta.get("checked")
    if checked is None:
        return "<li>"
    state, words = ("task done", _("Done")) if checked else ("task", _("To do"))
    return f'<li class="task-item"><span class="{state}" role="img" aria-label="{words}"></span>'


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
    "table_open": open_table,
    "table_close": close_table,
    "th_open": open_cell,
    "td_open": open_cell,
    "list_item_open": _list_item_open,
}
