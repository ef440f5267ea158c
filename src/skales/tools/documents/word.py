"""Reads Word documents as text: paragraphs and tables in order, notes, comments, and what changes say now.

Reads the XML itself: content controls, accepted insertions and text boxes are text too, and libraries made for
writing pass them over.
"""

from collections.abc import Iterator, Mapping
from typing import BinaryIO
from xml.etree.ElementTree import Element
from zipfile import ZipFile

from skales.tools.documents.package import (
    attribute,
    left_out,
    local_name,
    main_part,
    open_package,
    read_xml,
    related_parts,
)

# Deleted text, field codes, and the copy of a drawing for old programs.
_UNSEEN = frozenset({"del", "moveFrom", "instrText", "delText", "Fallback", "pPr", "rPr", "sectPr", "tblPr", "trPr"})
_SIGNS: Mapping[str, str] = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
_EXTRAS: Mapping[str, str] = {
    "footnotes": "footnotes",
    "endnotes": "endnotes",
    "comments": "comments",
    "header": "page headers and footers",
    "footer": "page headers and footers",
}


def read_word(stream: BinaryIO, part: str = "") -> Iterator[str]:
    """The lines of a document, each with its line end. Raises ToolError. It has no parts."""
    del part
    with open_package(stream, "a Word document") as package:
        name = main_part(package)
        root = read_xml(package, name)
        if root is None:
            raise ValueError("its main part is missing")
        related = related_parts(package, name)
        styles = _style_names(package, related)
        for block in _blocks(root):
            yield from _render(block, styles)
        yield from _extras(package, related, styles)
        if missing := left_out(package, {"word/media/": "picture", "word/charts/chart": "chart"}):
            yield f"[Not shown: {missing}]\n"


def _blocks(parent: Element) -> Iterator[Element]:
    """Paragraphs and tables below an element, in order, whatever they are wrapped in."""
    for child in parent:
        name = local_name(child)
        if name in {"p", "tbl"}:
            yield child
        elif name not in _UNSEEN:
            yield from _blocks(child)


def _render(block: Element, styles: Mapping[str, str]) -> Iterator[str]:
    if local_name(block) == "tbl":
        for row in _inside(block, "tr"):
            cells = (" / ".join(_cell_lines(cell)) for cell in _inside(row, "tc"))
            yield f"| {' | '.join(cells)} |\n"
        return
    if text := _text(block).strip("\n"):
        yield f"{_prefix(block, styles)}{text}\n"


def _inside(parent: Element, wanted: str) -> Iterator[Element]:
    """The rows of a table or cells of a row, also inside content controls; not those of a table within."""
    for child in parent:
        name = local_name(child)
        if name == wanted:
            yield child
        elif name in {"sdt", "sdtContent", "customXml", "ins", "moveTo"}:
            yield from _inside(child, wanted)


def _cell_lines(cell: Element) -> Iterator[str]:
    for block in _blocks(cell):
        for line in _render(block, {}):
            if text := " ".join(line.split()):
                yield text


def _text(element: Element) -> str:
    parts: list[str] = []
    for child in element:
        name = local_name(child)
        if name == "t":
            parts.append(child.text or "")
        elif name in _SIGNS:
            parts.append(_SIGNS[name])
        elif name in {"footnoteReference", "endnoteReference"}:
            parts.append(f"[^{attribute(child, 'id')}]")
        elif name == "p":
            parts.append(f"\n{_text(child)}")
        elif name not in _UNSEEN:
            parts.append(_text(child))
    return "".join(parts)


def _prefix(paragraph: Element, styles: Mapping[str, str]) -> str:
    for properties in paragraph:
        if local_name(properties) != "pPr":
            continue
        for item in properties:
            match local_name(item):
                case "pStyle":
                    style = styles.get(attribute(item, "val"), "")
                    if style == "title":
                        return "# "
                    if style.startswith("heading ") and style[8:].isdigit():
                        return f"{'#' * min(int(style[8:]), 6)} "
                case "numPr":
                    return "- "
                case _:
                    continue
    return ""


def _style_names(package: ZipFile, related: Mapping[str, tuple[str, str]]) -> Mapping[str, str]:
    """Style id → its English name in lower case; ids are translated, names are not."""
    part = next((name for kind, name in related.values() if kind == "styles"), "")
    root = read_xml(package, part)
    names: dict[str, str] = {}
    for style in root if root is not None else ():
        for child in style:
            if local_name(child) == "name":
                names[attribute(style, "styleId")] = attribute(child, "val").lower()
    return names


def _extras(package: ZipFile, related: Mapping[str, tuple[str, str]], styles: Mapping[str, str]) -> Iterator[str]:
    sections: dict[str, dict[str, None]] = {}
    for kind, part in related.values():
        root = read_xml(package, part) if kind in _EXTRAS else None
        if root is not None:
            # A header that every section repeats is said once.
            sections.setdefault(_EXTRAS[kind], {}).update(dict.fromkeys(_extra_lines(root, kind, styles)))
    for title, lines in sections.items():
        if lines:
            yield f"--- {title} ---\n"
            yield from lines


def _extra_lines(root: Element, kind: str, styles: Mapping[str, str]) -> Iterator[str]:
    if kind in {"header", "footer"}:
        for block in _blocks(root):
            yield from _render(block, styles)
        return
    for note in root:
        text = " ".join(" ".join(_text(block) for block in _blocks(note)).split())
        if text:
            label = attribute(note, "author") if kind == "comments" else f"[^{attribute(note, 'id')}]"
            yield f"{label}: {text}\n"
