"""Takes tables, links and chosen fields out of a parsed page, as rows. Only what a reader sees, but for attributes.

Pure work; a field is a CSS selector, with `@name` behind it for an attribute: `a.title@href`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from skales.core.errors import InputError
from skales.security.invisible import strip_invisible
from skales.tools.web.css import RawRule, parse_stylesheet
from skales.tools.web.document import Source, parse_source
from skales.tools.web.dom import Element, Page
from skales.tools.web.inline import Setting, absolute_address, bare_words, build_setting, render_line
from skales.tools.web.matching import Matcher
from skales.tools.web.readable import page_title
from skales.tools.web.selectors import Selector, UnknownSelectorError, parse_selectors
from skales.tools.web.tables import is_layout, read_grid

MOST_ROWS = 500
_MOST_TABLES = 20
_MOST_FIELDS = 30
_MOST_SELECTOR = 2_000
_MOST_VALUE = 1_000
_ADDRESSES = frozenset({"href", "src", "action", "poster", "data-src"})
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
_FIELD = re.compile(r"(.*?)(?:@([A-Za-z_][\w:.-]*))?", re.DOTALL)


class Order(Struct, frozen=True):
    """What to take: `tables`, `links` or `fields`. `rows` and the fields are selectors."""

    what: str
    rows: str = ""
    fields: tuple[tuple[str, str], ...] = ()


class Sheet(Struct, frozen=True):
    """Rows under their column names; all of it words of a stranger. `left_out` counts the rows beyond the most."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left_out: int = 0


class Scraped(Struct, frozen=True):
    """What was found, and the page's title."""

    title: str
    sheets: tuple[Sheet, ...]


class _Field(Struct, frozen=True):
    """`selectors` is empty for the row itself."""

    name: str
    selectors: Sequence[Selector]
    attribute: str


class _Desk(Struct, frozen=True):
    page: Page
    matcher: Matcher
    setting: Setting


def scrape(source: Source, order: Order) -> Scraped:
    """Do what the order says. Raises InputError for a selector that is none, ToolError for what is no page."""
    chosen = parse_order(order)
    page = parse_source(source)
    desk = _Desk(page, Matcher(page), build_setting(page.root, source.address))
    scope = _select(desk, chosen.rows) if chosen.rows else [page.root]
    match order.what:
        case "tables":
            sheets = _tables(desk, scope)
        case "links":
            sheets = [_links(desk, scope)]
        case _:
            sheets = [_fields(desk, scope, chosen.fields)]
    return Scraped(page_title(page.root), tuple(sheets))


class _Chosen(Struct, frozen=True):
    rows: Sequence[Selector]
    fields: Sequence[_Field]


def parse_order(order: Order) -> _Chosen:
    """The selectors of an order. Raises InputError that names the one which is none."""
    if max(map(len, (order.rows, *(text for _name, text in order.fields)))) > _MOST_SELECTOR:
        raise InputError(f"A selector has at most {_MOST_SELECTOR:,} characters", hint="Write a simpler one")
    if len(order.fields) > _MOST_FIELDS:
        raise InputError(f"At most {_MOST_FIELDS} fields can be read at once", hint="Ask for fewer")
    return _Chosen(
        _read_selectors(order.rows) if order.rows.strip() else (),
        [_read_field(name, text) for name, text in order.fields],
    )


def _read_field(name: str, text: str) -> _Field:
    found = _FIELD.fullmatch(text.strip())
    assert found is not None, "the pattern fits every text"
    selector, attribute = found[1].strip(), (found[2] or "").lower()
    if not selector and not attribute:
        raise InputError(f"The field {name!r} has no selector", hint="Write it like h2.title or a@href")
    return _Field(name, _read_selectors(selector) if selector else (), attribute)


def _read_selectors(text: str) -> Sequence[Selector]:
    rules: Sequence[RawRule] = parse_stylesheet(f"{text}{{}}") if "{" not in text and "}" not in text else []
    # What is no single rule has no selector, which the parser says in its own way.
    prelude = rules[0].prelude if len(rules) == 1 and not rules[0].at else ()
    try:
        return parse_selectors(prelude)
    except UnknownSelectorError as error:
        raise InputError(
            f"{text[:100]!r} is not a CSS selector",
            hint="Write it like table.prices tr or a[href]",
            code="bad_selector",
        ) from error


def _select(desk: _Desk, selectors: Sequence[Selector]) -> list[Element]:
    """The shown elements that any of the selectors means, in document order."""
    found = {element for selector in selectors for element in desk.matcher.select(selector)}
    return [element for element in desk.page.root.walk() if element in found and not _is_unseen(element)]


def _is_unseen(element: Element) -> bool:
    return element.is_hidden or any(above.is_hidden for above in element.ancestors())


def _shown_below(element: Element) -> Iterator[Element]:
    waiting = [element]
    while waiting:
        one = waiting.pop()
        if not one.is_hidden:
            yield one
            waiting.extend(reversed(one.elements))


def _tables(desk: _Desk, scope: Sequence[Element]) -> list[Sheet]:
    tables = {one: None for top in scope for one in _shown_below(top) if one.tag == "table" and not is_layout(one)}
    return [_sheet_of(desk, table) for table in list(tables)[:_MOST_TABLES]]


def _sheet_of(desk: _Desk, table: Element) -> Sheet:
    caption = next((one for one in table.elements if one.tag == "caption" and not one.is_hidden), None)
    grid = [tuple(map(_clean, row)) for row in read_grid(table, desk.setting) if any(row)]
    width = max(map(len, grid), default=0)
    padded = [(*row, *[""] * (width - len(row))) for row in grid]
    head, body = (padded[0], padded[1:]) if padded else ((), [])
    title = _clean(render_line(caption, desk.setting, 0)) if caption else ""
    return Sheet(title, tuple(head), tuple(body[:MOST_ROWS]), max(0, len(body) - MOST_ROWS))


def _links(desk: _Desk, scope: Sequence[Element]) -> Sheet:
    rows: dict[tuple[str, str], None] = {}
    for top in scope:
        for one in _shown_below(top):
            address = absolute_address(one.attributes.get("href", ""), desk.setting) if one.tag == "a" else ""
            if address:
                rows[_clean(bare_words(one)) or _clean(_alt_of(one)), _clean(address)] = None
    return Sheet("", ("text", "address"), tuple(rows)[:MOST_ROWS], max(0, len(rows) - MOST_ROWS))


def _alt_of(element: Element) -> str:
    return next((alt for one in _shown_below(element) if (alt := one.attributes.get("alt", ""))), "")


def _fields(desk: _Desk, scope: Sequence[Element], fields: Sequence[_Field]) -> Sheet:
    """One row for each element of the scope; without a row selector, one for each match of the first field."""
    names = tuple(field.name for field in fields)
    if len(scope) == 1 and scope[0] is desk.page.root:
        columns = [[_value(desk, one, field) for one in _matches(desk, scope[0], field)] for field in fields]
        height = max(map(len, columns), default=0)
        rows = [tuple(column[place] if place < len(column) else "" for column in columns) for place in range(height)]
    else:
        rows = [tuple(_first_value(desk, top, field) for field in fields) for top in scope]
    return Sheet("", names, tuple(rows[:MOST_ROWS]), max(0, len(rows) - MOST_ROWS))


def _matches(desk: _Desk, top: Element, field: _Field) -> Iterator[Element]:
    if not field.selectors:
        yield top
        return
    # What an attribute says is never seen; only the text of what is hidden stays out.
    below = top.walk() if field.attribute else _shown_below(top)
    for one in below:
        if one is not top and any(desk.matcher.matches(one, selector) for selector in field.selectors):
            yield one


def _first_value(desk: _Desk, top: Element, field: _Field) -> str:
    found = next(_matches(desk, top, field), None)
    return "" if found is None else _value(desk, found, field)


def _value(desk: _Desk, element: Element, field: _Field) -> str:
    if not field.attribute:
        return _clean(_LINK.sub(r"\1", render_line(element, desk.setting, 0)))
    text = element.attributes.get(field.attribute, "")
    return _clean(absolute_address(text, desk.setting) or text if field.attribute in _ADDRESSES else text)


def _clean(text: str) -> str:
    shown = " ".join(strip_invisible(text)[0].split())
    return shown if len(shown) <= _MOST_VALUE else f"{shown[: _MOST_VALUE - 1]}…"


def sheet_rows(sheet: Sheet) -> Sequence[Mapping[str, str]]:
    """The rows as objects; columns without a name of their own are numbered."""
    names: list[str] = []
    for number, column in enumerate(sheet.columns, 1):
        names.append(column if column and column not in names else f"column {number}")
    return [dict(zip(names, row, strict=True)) for row in sheet.rows]
