"""Tables: a region that scrolls and can be reached with the keyboard, figures flush right, buttons that copy."""

import re
from collections.abc import Iterator, Sequence

from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from skales.server.words import _

Tokens = Sequence[Token]

# A figure, with its sign, currency or unit: −1,234.5 · € 12 · 99.9 % · 12 ms
_FIGURE = re.compile(r"[-+−±~≈<>≤≥]?\s?[$€£¥]?\s?[-−]?\d[\d.,'’\u00a0\u202f]*\s?(?:%|[$€£¥]|°[CF]?|[A-Za-zµ]{1,3})?")
_NOTHING = frozenset({"", "-", "–", "—", "n/a"})
_ALIGNS = frozenset({"left", "center", "right"})
_NUMBER = "number"


def mark_figures(tokens: Tokens) -> None:
    """Mark the cells of columns that hold figures only and that the author left unaligned."""
    for table in _tables(tokens):
        columns = _columns(table)
        for cells in columns:
            body = [text for cell, text in cells if cell.tag == "td" and text not in _NOTHING]
            aligned = any(cell.attrGet("style") for cell, _text in cells)
            if body and not aligned and all(_FIGURE.fullmatch(text) for text in body):
                for cell, _text in cells:
                    cell.meta[_NUMBER] = True


def open_table(*_rest: object) -> str:
    """The beginning of a table."""
    label = _("Table")
    return f'<div class="table-box"><div class="table-scroll" role="region" aria-label="{label}" tabindex="0"><table>\n'


def close_table(*_rest: object) -> str:
    """The end of a table, with its buttons."""
    return (
        '</table></div><div class="table-actions">'
        f'<button type="button" class="copy-table" data-format="csv">{_("Copy as CSV")}</button>'
        f'<button type="button" class="copy-table" data-format="markdown">{_("Copy as Markdown")}</button>'
        "</div></div>\n"
    )


def open_cell(_renderer: RendererHTML, tokens: Tokens, idx: int, _options: OptionsDict, _env: EnvType) -> str:
    """Alignment as a class, since style attributes are forbidden."""
    token = tokens[idx]
    if token.meta.get(_NUMBER):
        return f'<{token.tag} class="align-right figures">'
    align = str(token.attrGet("style") or "").removeprefix("text-align:")
    return f'<{token.tag} class="align-{align}">' if align in _ALIGNS else f"<{token.tag}>"


def _tables(tokens: Tokens) -> Iterator[Tokens]:
    start = 0
    for at, token in enumerate(tokens):
        if token.type == "table_open":
            start = at
        elif token.type == "table_close":
            yield tokens[start:at]


def _columns(table: Tokens) -> list[list[tuple[Token, str]]]:
    """Each column's cells with their text, from the top."""
    columns: list[list[tuple[Token, str]]] = []
    place = 0
    for at, token in enumerate(table):
        if token.type == "tr_open":
            place = 0
        elif token.type in ("th_open", "td_open"):
            if place == len(columns):
                columns.append([])
            columns[place].append((token, table[at + 1].content.strip(" *_`")))
            place += 1
    return columns
