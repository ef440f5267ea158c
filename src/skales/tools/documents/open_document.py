"""Reads OpenDocument files (texts, tables, presentations) as lines."""

from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO
from xml.etree.ElementTree import Element
from zipfile import ZipFile

from skales.core.errors import InputError, ToolError
from skales.tools.documents.package import attribute, left_out, local_name, open_package, read_xml
from skales.tools.documents.parts import parse_numbers

_PICTURES: Mapping[str, str] = {"Pictures/": "picture", "Object ": "embedded object part"}
_UNSEEN = frozenset(
    {"tracked-changes", "sequence-decls", "forms", "annotation-end", "desc", "title", "event-listeners"}
)
_SIGNS: Mapping[str, str] = {"tab": "\t", "line-break": "\n"}
# A row is as wide as the program's grid when its end is filled with empty cells.
_MOST_CELLS = 1_024


def read_open_text(stream: BinaryIO, part: str) -> Iterator[str]:
    """The lines of a text document, each with its line end. Raises ToolError. It has no parts."""
    del part
    with open_package(stream, "an OpenDocument text") as package:
        yield from _blocks(_body(package, "text"))
        yield from _missing(package)


def read_open_sheets(stream: BinaryIO, part: str) -> Iterator[str]:
    """The rows of a table document, each with its line end; the first line names all sheets. Raises ToolError.

    Args:
        stream: The file.
        part: A sheet's name or number; empty for all.
    """
    with open_package(stream, "an OpenDocument table") as package:
        sheets = [child for child in _body(package, "spreadsheet") if local_name(child) == "table"]
        names = [attribute(sheet, "name") for sheet in sheets]
        yield f"Sheets: {', '.join(names)}\n"
        for number in _chosen(names, part):
            yield f"--- sheet {names[number]} ---\n"
            yield from _sheet_rows(sheets[number])
        yield from _missing(package)


def read_open_slides(stream: BinaryIO, part: str) -> Iterator[str]:
    """The lines of the slides, each with its line end. Raises ToolError.

    Args:
        stream: The file.
        part: Slide numbers such as `3` or `2-5`; empty for all.
    """
    with open_package(stream, "an OpenDocument presentation") as package:
        pages = [child for child in _body(package, "presentation") if local_name(child) == "page"]
        for number in parse_numbers(part, len(pages), "slide"):
            yield f"--- slide {number} of {len(pages)} ---\n"
            for child in pages[number - 1]:
                if local_name(child) == "notes":
                    lines = list(_blocks(child))
                    yield from (["Notes:\n", *lines] if lines else [])
                else:
                    yield from _blocks([child])
        yield from _missing(package)


def _body(package: ZipFile, wanted: str) -> Element:
    if b"encryption-data" in _manifest(package):
        raise ToolError("It has a password", hint="Ask the person for a copy without one", code="encrypted")
    root = read_xml(package, "content.xml")
    for element in root.iter() if root is not None else ():
        if local_name(element) == wanted and "office" in element.tag:
            return element
    raise ValueError("its content is missing")


def _manifest(package: ZipFile) -> bytes:
    try:
        return package.read("META-INF/manifest.xml")
    except KeyError:
        return b""


def _missing(package: ZipFile) -> Iterator[str]:
    if missing := left_out(package, _PICTURES):
        yield f"[Not shown: {missing}]\n"


def _blocks(parents: Element | Sequence[Element], mark: str = "") -> Iterator[str]:
    """Headings, paragraphs, list items and tables, whatever they are wrapped in."""
    for child in parents:
        match local_name(child):
            case "h":
                level = attribute(child, "outline-level")
                yield f"{'#' * min(int(level), 6) if level.isdecimal() else '#'} {_text(child)}\n"
            case "p":
                if text := _text(child).strip("\n"):
                    yield f"{mark}{text}\n"
                yield from _framed(child)
            case "list-item" | "list-header":
                yield from _blocks(child, f"{mark[:-2]}  - " if mark else "- ")
            case "table":
                for row in _rows(child):
                    yield f"| {' | '.join(_cell_text(cell) for cell in _cells(row))} |\n"
            case name if name not in _UNSEEN:
                yield from _blocks(child, mark)
            case _:
                continue


def _framed(paragraph: Element) -> Iterator[str]:
    """Text in boxes that hang on a paragraph."""
    for element in paragraph.iter():
        if local_name(element) == "text-box":
            yield from _blocks(element)


def _text(element: Element) -> str:
    parts = [element.text or ""]
    for child in element:
        name = local_name(child)
        if name == "s":
            count = attribute(child, "c")
            parts.append(" " * min(int(count) if count.isdecimal() else 1, 200))
        elif name in _SIGNS:
            parts.append(_SIGNS[name])
        elif name == "note":
            body = next((item for item in child if local_name(item) == "note-body"), child)
            parts.append(f" [Note: {' '.join(' '.join(_blocks(body)).split())}]")
        elif name == "annotation":
            parts.append(f" [Comment: {' '.join(' '.join(_blocks(child)).split())}]")
        elif name not in _UNSEEN and name not in {"frame", "custom-shape"}:
            parts.append(_text(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _rows(table: Element) -> Iterator[Element]:
    for child in table:
        if local_name(child) == "table-row":
            yield child
        elif local_name(child) in {"table-rows", "table-header-rows", "table-row-group"}:
            yield from _rows(child)


def _cells(row: Element) -> Iterator[Element]:
    shown = 0
    for child in row:
        if local_name(child) not in {"table-cell", "covered-table-cell"}:
            continue
        for _ in range(min(_repeated(child, "number-columns-repeated"), _MOST_CELLS - shown)):
            shown += 1
            yield child


def _repeated(element: Element, name: str) -> int:
    text = attribute(element, name)
    return max(int(text), 1) if text.isdecimal() and len(text) < 10 else 1


def _cell_text(cell: Element) -> str:
    return " / ".join(text for block in _blocks(cell) if (text := " ".join(block.split())))


def _sheet_rows(sheet: Element) -> Iterator[str]:
    number = 0
    for row in _rows(sheet):
        first = number + 1
        number += _repeated(row, "number-rows-repeated")
        cells = [_value(cell) for cell in _cells(row)]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            label = f"{first}" if number == first else f"{first}–{number}"
            yield f"{label}\t{chr(9).join(cells)}\n"


def _value(cell: Element) -> str:
    match attribute(cell, "value-type"):
        case "float" | "percentage" | "currency":
            return attribute(cell, "value")
        case "date":
            return attribute(cell, "date-value").replace("T", " ")
        case "boolean":
            return attribute(cell, "boolean-value").upper()
        case _:
            # A formula that was never computed has no value; the formula itself says more than nothing.
            return _cell_text(cell) or attribute(cell, "formula").removeprefix("of:")


def _chosen(names: Sequence[str], part: str) -> Sequence[int]:
    wanted = part.strip()
    if not wanted:
        return range(len(names))
    for number, name in enumerate(names):
        if name.casefold() == wanted.casefold():
            return [number]
    if wanted.isdecimal() and 1 <= int(wanted) <= len(names):
        return [int(wanted) - 1]
    raise InputError(f"There is no sheet {part!r}", hint=f"The document has {', '.join(names)}")
