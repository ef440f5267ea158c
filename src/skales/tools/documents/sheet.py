"""Reads Excel workbooks as text: every sheet's rows, a tab between cells, the row's number in front."""

import datetime
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO

from skales.core.errors import InputError
from skales.tools.documents.package import left_out, open_package

if TYPE_CHECKING:
    from openpyxl.workbook.workbook import Workbook

_KINDS = {
    "xl/charts/chart": "chart",
    "xl/media/": "picture",
    "xl/comments": "sheet with comment",
    "xl/pivotTables/": "pivot table",
}


def read_sheets(stream: BinaryIO, part: str) -> Iterator[str]:
    """The lines of a workbook, each with its line end; the first names all sheets. Raises ToolError.

    Args:
        stream: The file.
        part: A sheet's name or number; empty for all.
    """
    with open_package(stream, "an Excel workbook") as package:
        missing = left_out(package, _KINDS)
        values, formulas = _load(stream, values=True), _load(stream, values=False)
        try:
            names = list(values.sheetnames)
            yield f"Sheets: {', '.join(_label(values, name) for name in names)}\n"
            for name in _chosen(names, part):
                yield f"--- sheet {name} ---\n"
                yield from _rows(values, formulas, name)
        finally:
            values.close()
            formulas.close()
        if missing:
            yield f"[Not shown: {missing}]\n"


def _load(stream: BinaryIO, *, values: bool) -> "Workbook":
    import openpyxl

    # It warns of every extension it does not know; nothing that is read here depends on them.
    warnings.filterwarnings("ignore", category=UserWarning, module=r"openpyxl\.")
    stream.seek(0)
    return openpyxl.load_workbook(stream, read_only=True, data_only=values, keep_links=False)


def _label(workbook: "Workbook", name: str) -> str:
    state = workbook[name].sheet_state
    return name if state == "visible" else f"{name} (hidden)"


def _chosen(names: Sequence[str], part: str) -> Sequence[str]:
    wanted = part.strip()
    if not wanted:
        return names
    for name in names:
        if name.casefold() == wanted.casefold():
            return [name]
    if wanted.isdecimal() and 1 <= int(wanted) <= len(names):
        return [names[int(wanted) - 1]]
    raise InputError(f"There is no sheet {part!r}", hint=f"The workbook has {', '.join(names)}")


def _rows(values: "Workbook", formulas: "Workbook", name: str) -> Iterator[str]:
    shown, computed = values[name], formulas[name]
    if not hasattr(shown, "reset_dimensions"):
        yield "(a chart)\n"
        return
    # What a file says about its size is often wrong.
    shown.reset_dimensions()
    computed.reset_dimensions()
    pairs = zip(shown.iter_rows(values_only=True), computed.iter_rows(values_only=True), strict=False)
    for number, (cells, texts) in enumerate(pairs, start=1):
        # A formula that was never computed has no value; the formula itself says more than nothing.
        row = [_cell(text if cell is None else cell) for cell, text in zip(cells, texts, strict=False)]
        while row and not row[-1]:
            row.pop()
        if row:
            yield f"{number}\t{chr(9).join(row)}\n"


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case datetime.datetime() if value.time() == datetime.time():
            return value.date().isoformat()
        case datetime.datetime() | datetime.date() | datetime.time():
            return value.isoformat(sep=" ") if isinstance(value, datetime.datetime) else value.isoformat()
        case _:
            return str(value).replace("\t", " ").replace("\r\n", "\n").replace("\n", " ⏎ ")
