"""Reads PowerPoint presentations as text: titles, texts, tables and speaker notes, slide by slide in showing order."""

from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO
from xml.etree.ElementTree import Element
from zipfile import ZipFile

from skales.core.errors import ToolError
from skales.tools.documents.package import (
    attribute,
    left_out,
    local_name,
    main_part,
    open_package,
    read_xml,
    related_parts,
)
from skales.tools.documents.parts import parse_numbers

# The copy of a drawing for old programs, and the slide's number and date, which are no content.
_UNSEEN = frozenset({"Fallback"})
_FURNITURE = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})


def read_slides(stream: BinaryIO, part: str) -> Iterator[str]:
    """The lines of the slides, each with its line end. Raises ToolError.

    Args:
        stream: The file.
        part: Slide numbers such as `3` or `2-5`; empty for all.
    """
    with open_package(stream, "a PowerPoint presentation") as package:
        names = _slide_parts(package)
        if not names:
            raise ToolError("The presentation has no slides", hint="Check with the person that it is the right file")
        for number in parse_numbers(part, len(names), "slide"):
            root = read_xml(package, names[number - 1])
            hidden = ", hidden" if root is not None and root.get("show") == "0" else ""
            yield f"--- slide {number} of {len(names)}{hidden} ---\n"
            if root is not None:
                yield from _shape_lines(root)
            yield from _notes(package, names[number - 1])
        kinds = {"ppt/media/": "picture or film", "ppt/charts/chart": "chart", "ppt/diagrams/data": "diagram"}
        if missing := left_out(package, kinds):
            yield f"[Not shown: {missing}]\n"


def _slide_parts(package: ZipFile) -> Sequence[str]:
    name = main_part(package)
    root = read_xml(package, name)
    related = related_parts(package, name)
    listed = [element for element in root.iter() if local_name(element) == "sldId"] if root is not None else []
    # The `id` with a namespace is the reference; the bare one only numbers the slide.
    references = [next((value for key, value in item.attrib.items() if key.endswith("}id")), "") for item in listed]
    return [related[reference][1] for reference in references if reference in related]


def _shape_lines(parent: Element) -> Iterator[str]:
    for child in parent:
        match local_name(child):
            case "sp" if _is_furniture(child):
                continue
            case "tr":
                cells = (" / ".join(_paragraphs(cell)) for cell in child if local_name(cell) == "tc")
                yield f"| {' | '.join(cells)} |\n"
            case "txBody":
                yield from (f"{text}\n" for text in _paragraphs(child))
            case name if name not in _UNSEEN:
                yield from _shape_lines(child)
            case _:
                continue


def _is_furniture(shape: Element) -> bool:
    return any(local_name(item) == "ph" and attribute(item, "type") in _FURNITURE for item in shape.iter())


def _paragraphs(parent: Element) -> Iterator[str]:
    signs: Mapping[str, str] = {"br": " ", "tab": "\t"}
    for paragraph in parent.iter():
        if local_name(paragraph) != "p":
            continue
        text = "".join(
            (item.text or "") if local_name(item) == "t" else signs.get(local_name(item), "")
            for item in paragraph.iter()
        )
        if text.strip():
            yield text.strip()


def _notes(package: ZipFile, slide: str) -> Iterator[str]:
    for kind, name in related_parts(package, slide).values():
        root = read_xml(package, name) if kind == "notesSlide" else None
        lines = list(_shape_lines(root)) if root is not None else []
        if lines:
            yield "Notes:\n"
            yield from lines
