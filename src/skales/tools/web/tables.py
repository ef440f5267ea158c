"""HTML tables: data as rows of cells, and the telling apart of tables that only place things on the page."""

from collections.abc import Iterator, Sequence

from skales.tools.web.dom import Element
from skales.tools.web.inline import BLOCK_TAGS, Setting, render_line

_MOST_COLUMNS = 60
_MOST_ROWS_SPANNED = 200
_SECTIONS = {"thead", "tbody", "tfoot"}
# Blocks that a cell of data may hold.
_CELL_BLOCKS = {"p", "div", "ul", "ol", "li"}


def rows_of(table: Element) -> Iterator[Element]:
    """The rows a reader sees, those of inner tables not among them."""
    for child in table.elements:
        if child.tag == "tr" and not child.is_hidden:
            yield child
        elif child.tag in _SECTIONS and not child.is_hidden:
            yield from rows_of(child)


def cells_of(row: Element) -> Sequence[Element]:
    """The cells of a row that a reader sees."""
    return [child for child in row.elements if child.tag in {"td", "th"} and not child.is_hidden]


def is_layout(table: Element) -> bool:
    """Whether the table only places things: so marked, of one column or row, or with headings and tables inside."""
    if table.attributes.get("role", "").strip().lower() in {"presentation", "none"}:
        return True
    rows = [cells_of(row) for row in rows_of(table)]
    if len(rows) < 2 or max(map(len, rows)) < 2:
        return not any(cell.tag == "th" for row in rows for cell in row)
    inner = (one for row in rows for cell in row for one in cell.walk() if one is not cell)
    return any(one.tag in BLOCK_TAGS and one.tag not in _CELL_BLOCKS for one in inner)


def render_table(table: Element, setting: Setting, depth: int) -> str:
    """Rows as `| a | b |`, the first one set off as the head; cells that span are repeated empty."""
    grid = _fill_grid([cells_of(row) for row in rows_of(table)], setting, depth)
    width = max(map(len, grid), default=0)
    lines = ["| " + " | ".join([*row, *[""] * (width - len(row))]) + " |" for row in grid if any(row)]
    if lines:
        lines.insert(1, "|" + " --- |" * width)
    caption = next((one for one in table.elements if one.tag == "caption" and not one.is_hidden), None)
    title = render_line(caption, setting, depth + 1) if caption else ""
    return "\n".join([title, "", *lines] if title else lines)


def read_grid(table: Element, setting: Setting) -> Sequence[Sequence[str]]:
    """The texts of the rows by column; cells that span are repeated empty."""
    grid = _fill_grid([cells_of(row) for row in rows_of(table)], setting, 0)
    return [[text.replace("\\|", "|") for text in row] for row in grid]


def _fill_grid(rows: Sequence[Sequence[Element]], setting: Setting, depth: int) -> list[list[str]]:
    """Each row's texts by column. A cell that reaches down keeps its columns in the next rows."""
    grid: list[list[str]] = []
    reaching: dict[int, int] = {}
    for row in rows:
        texts: list[str] = []
        for cell in row:
            _skip_reaching(texts, reaching)
            columns = _span(cell, "colspan", _MOST_COLUMNS - len(texts))
            rows_down = _span(cell, "rowspan", _MOST_ROWS_SPANNED)
            for column in range(len(texts), len(texts) + columns):
                if rows_down > 1:
                    reaching[column] = rows_down - 1
            text = render_line(cell, setting, depth + 1).replace("|", "\\|")
            texts += [text, *[""] * (columns - 1)] if columns else []
        _skip_reaching(texts, reaching)
        grid.append(texts)
    return grid


def _skip_reaching(texts: list[str], reaching: dict[int, int]) -> None:
    while reaching.get(len(texts), 0) > 0:
        reaching[len(texts)] -= 1
        texts.append("")


def _span(cell: Element, name: str, most: int) -> int:
    text = cell.attributes.get(name, "").strip()
    return min(int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 1, most) or min(1, most)
