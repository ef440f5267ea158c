"""create_spreadsheet: rows as an Excel workbook or a CSV file, numbers and dates as what they are."""

import csv
import datetime
import io
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from anyio import to_thread
from msgspec import Struct

from skales.core.clock import to_datetime
from skales.core.errors import InputError
from skales.core.json import JsonValue
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.define import Range, tool
from skales.tools.file.wording import count_of
from skales.tools.productivity.formulas import is_formula, require_harmless
from skales.tools.productivity.marks import plain_text
from skales.tools.productivity.target import Made, choose_target, store

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

_ENDINGS = (".xlsx", ".csv")
_MOST_CELLS = 500_000
_MOST_COLUMNS = 2_000
_LONGEST_CELL = 32_767
_LONGEST_NAME = 31
_NAME_SIGNS = re.compile(r"[\[\]:*?/\\]")
# No leading zeros: `007` and phone numbers are names, not numbers. More digits than a number keeps stay text.
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?")
_WIDEST, _NARROWEST, _MEASURED_ROWS = 60, 8, 500

Cell = str | int | float | bool | datetime.date | datetime.datetime | None


class _Sheet(Struct, frozen=True):
    """A sheet to write. `header` says that its first row names the columns."""

    name: str
    rows: Sequence[Sequence[Cell]]
    header: bool
    widths: Sequence[float]


@tool(
    "productivity",
    Safety.CONFIRM,
    Effect.WRITES,
    addon="documents",
    action="Make a spreadsheet[ as {filename}][, overwriting: {overwrite}]",
    example=(
        "Make a table of my costs with a sum",
        {
            "filename": "costs.xlsx",
            "sheets": [{"name": "Costs", "rows": [["Item", "Euro"], ["Tea", 3.5], ["Sum", "=SUM(B2:B2)"]]}],
        },
    ),
    found_by=(
        "Excel Tabelle xlsx Budget table CSV Kalkulation columns Liste Haushaltsbuch formula invoice "
        "Exceltabelle spreadsheet sheet Ausgaben expenses numbers Zahlen Summe sum Tabellenblatt rows "
        "Rechnungsliste Übersicht"
    ),
)
async def create_spreadsheet(
    ctx: ToolContext,
    sheets: Annotated[list[dict[str, JsonValue]], Range(1, 50)],
    filename: Path | None = None,
    title: str = "",
    overwrite: bool = False,
) -> ToolResult:
    """Make an Excel or CSV file from rows; numbers, dates and formulas count as such.

    Args:
        sheets: Each {"name": "Costs", "rows": [["Item", "Euro"], ["Tea", 3.5]]}; the first row is the header unless
            "header" is false; dates as 2026-05-31; formulas begin with =; optional "widths" in characters.
        filename: Path ending in .xlsx (usual) or .csv (one sheet); made from the title when not given.
        title: What it is about.
        overwrite: Replace a file that is there.
    """
    return await to_thread.run_sync(partial(_create, ctx, sheets, filename, title, overwrite))


def _create(
    ctx: ToolContext, raw: Sequence[Mapping[str, JsonValue]], filename: Path | None, title: str, overwrite: bool
) -> ToolResult:
    sheets = _read_sheets(raw)
    path = choose_target(ctx, filename, plain_text(title) or sheets[0].name, _ENDINGS, overwrite=overwrite)
    rows = count_of(sum(len(sheet.rows) for sheet in sheets), "row")
    if path.suffix.lower() == ".csv":
        if len(sheets) > 1:
            raise InputError("A CSV file has one sheet", hint="Make an .xlsx file, or one CSV file for each sheet")
        return store(ctx, path, Made(_write_csv(sheets[0]), rows), overwrite=overwrite)
    stored = _write_workbook(sheets, plain_text(title), to_datetime(ctx.clock.now_ms()))
    facts = f"{count_of(len(sheets), 'sheet')}, {rows}"
    has_formulas = any(
        isinstance(cell, str) and is_formula(cell) for sheet in sheets for row in sheet.rows for cell in row
    )
    note = "Formulas are worked out when the file is opened" if has_formulas else ""
    return store(ctx, path, Made(stored, facts, note), overwrite=overwrite)


def _read_sheets(raw: Sequence[Mapping[str, JsonValue]]) -> Sequence[_Sheet]:
    sheets: list[_Sheet] = []
    names: set[str] = set()
    cells = 0
    for number, entry in enumerate(raw, start=1):
        sheet = _read_sheet(entry, number)
        if sheet.name.casefold() in names:
            raise InputError(f"Two sheets are named {sheet.name!r}", hint="Give each a name of its own")
        names.add(sheet.name.casefold())
        cells += sum(map(len, sheet.rows))
        if cells > _MOST_CELLS:
            raise InputError(
                f"There are more than {_MOST_CELLS:,} cells", hint="Make several files, or write CSV with a script"
            )
        sheets.append(sheet)
    return sheets


def _read_sheet(entry: Mapping[str, JsonValue], number: int) -> _Sheet:
    name = entry.get("name", f"Sheet{number}")
    rows = entry.get("rows")
    widths = entry.get("widths", [])
    if unknown := sorted(set(entry) - {"name", "rows", "header", "widths"}):
        raise InputError(f"Sheet {number} has {unknown[0]!r}", hint='A sheet has "name", "rows", "header" and "widths"')
    if not isinstance(name, str) or not 0 < len(name.strip()) <= _LONGEST_NAME or _NAME_SIGNS.search(name):
        raise InputError(
            f"{name!r} cannot be the name of a sheet",
            hint=f"Use up to {_LONGEST_NAME} characters, none of [ ] : * ? / \\",
        )
    if not isinstance(rows, list) or not rows:
        raise InputError(f"Sheet {name!r} has no rows", hint='Give "rows" as a list of lists')
    if not isinstance(widths, list) or not all(isinstance(width, (int, float)) and 0 < width < 256 for width in widths):
        raise InputError(f"The widths of sheet {name!r} are no list of numbers", hint="Give characters, 1 to 255")
    name = plain_text(name).strip().strip("'")
    return _Sheet(
        name=name or f"Sheet{number}",
        rows=[_read_row(row, f"row {at} of {name}") for at, row in enumerate(rows, start=1)],
        header=entry.get("header", True) is not False,
        widths=[float(str(width)) for width in widths],
    )


def _read_row(row: JsonValue, place: str) -> Sequence[Cell]:
    if not isinstance(row, list):
        raise InputError(f"What stands in {place} is no list", hint='Give "rows" as a list of lists')
    if len(row) > _MOST_COLUMNS:
        raise InputError(f"There are more than {_MOST_COLUMNS:,} cells in {place}", hint="Use fewer columns")
    return [_read_cell(cell, f"column {number}, {place}") for number, cell in enumerate(row, start=1)]


def _read_cell(value: JsonValue, place: str) -> Cell:
    match value:
        case None | bool():
            return value
        case int() | float():
            return value if abs(value) < 1e15 or isinstance(value, float) else str(value)
        case str():
            return _read_text(plain_text(value), place)
        case _:
            raise InputError(f"The cell in {place} is no plain value", hint="Use texts, numbers, true, false or null")


def _read_text(text: str, place: str) -> Cell:
    if len(text) > _LONGEST_CELL:
        raise InputError(f"The cell in {place} has {len(text):,} characters", hint=f"A cell takes {_LONGEST_CELL:,}")
    if _NUMBER.fullmatch(text):
        return float(text) if "." in text else int(text)
    if _DATE.fullmatch(text):
        try:
            moment = datetime.datetime.fromisoformat(text)
        except ValueError:
            return text
        return moment if len(text) > len("2026-05-31") else moment.date()
    require_harmless(text, place)
    return text


def _write_csv(sheet: _Sheet) -> bytes:
    stored = io.StringIO()
    writer = csv.writer(stored, lineterminator="\r\n")
    for row in sheet.rows:
        writer.writerow(["" if cell is None else cell for cell in row])
    text = stored.getvalue()
    # Spreadsheet programs take a file without a mark for one in an old encoding.
    return text.encode("utf-8" if text.isascii() else "utf-8-sig")


def _write_workbook(sheets: Sequence[_Sheet], title: str, now: datetime.datetime) -> bytes:
    from openpyxl import Workbook

    workbook = Workbook()
    workbook.remove(workbook.worksheets[0])
    workbook.properties.title, workbook.properties.creator = title or None, ""
    workbook.properties.created = workbook.properties.modified = now.replace(tzinfo=None)
    for sheet in sheets:
        _fill(workbook.create_sheet(sheet.name), sheet)
    stored = io.BytesIO()
    workbook.save(stored)
    return stored.getvalue()


def _fill(target: "Worksheet", sheet: _Sheet) -> None:
    from openpyxl.styles import Alignment, Font
    from openpyxl.utils import get_column_letter

    for row in sheet.rows:
        target.append(list(row))
    _mark_dates(target, sheet)
    if sheet.header:
        for cell in target[1]:
            cell.font, cell.alignment = Font(bold=True), Alignment(vertical="top", wrap_text=True)
        target.freeze_panes = "A2"
    for column, width in enumerate(_widths(sheet), start=1):
        target.column_dimensions[get_column_letter(column)].width = width


def _mark_dates(target: "Worksheet", sheet: _Sheet) -> None:
    for row, cells in enumerate(sheet.rows, start=1):
        for column, value in enumerate(cells, start=1):
            if isinstance(value, datetime.datetime):
                _cell_of(target, row, column).number_format = "yyyy-mm-dd hh:mm"
            elif isinstance(value, datetime.date):
                _cell_of(target, row, column).number_format = "yyyy-mm-dd"


def _cell_of(target: "Worksheet", row: int, column: int) -> Any:
    return target.cell(row=row, column=column)


def _widths(sheet: _Sheet) -> Sequence[float]:
    """Wide enough for what stands in the first rows, where no width was asked for."""
    count = max(map(len, sheet.rows))
    widths = [float(_NARROWEST)] * count
    for row in sheet.rows[:_MEASURED_ROWS]:
        for column, cell in enumerate(row):
            if cell is not None and not (isinstance(cell, str) and is_formula(cell)):
                longest = max(map(len, str(cell).split("\n")))
                widths[column] = max(widths[column], min(longest + 2.0, _WIDEST))
    return [asked or found for asked, found in zip([*sheet.widths, *[0.0] * count], widths, strict=False)]
