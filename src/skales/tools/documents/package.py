"""Opens Office files (zips of XML) without trusting what they say about themselves.

Only stored and deflated parts within a size are read; a document type declaration, which no Office file has and every
entity bomb needs, is refused.
"""

import xml.etree.ElementTree as ET
import zlib
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import BinaryIO
from xml.etree.ElementTree import Element
from xml.parsers import expat
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from skales.core.errors import ToolError

# A thousand-page report unpacks to some 20 MB. Reading needs several times its size in memory.
_TOTAL_LIMIT = 400 * 1024 * 1024
_PART_LIMIT = 64 * 1024 * 1024
_PARTS_LIMIT = 20_000
# Deflate alone reaches 1030:1 on zeros; real parts stay far below.
_RATIO_LIMIT = 200
_RATIO_FLOOR = 5 * 1024 * 1024

# What a broken part makes the parsers raise, and a missing one their callers; a parse error is a SyntaxError.
_BROKEN = (
    AttributeError, BadZipFile, EOFError, LookupError, NotImplementedError, RecursionError, SyntaxError, TypeError,
    ValueError, zlib.error,
)  # fmt: skip


@contextmanager
def open_package(stream: BinaryIO, words: str) -> Generator[ZipFile]:
    """The file as a zip that is safe to read. Raises ToolError in words about the document, also from the block.

    Args:
        stream: The file.
        words: What it is, with article: `a Word document`.
    """
    stream.seek(0)
    try:
        with ZipFile(stream) as package:
            _require_modest(package.infolist(), words)
            yield package
    except _BROKEN as error:
        raise ToolError(
            f"It is {words}, but damaged: {error}",
            hint="Ask the person to open it in its own program and save it again",
            code="damaged",
        ) from error


def read_xml(package: ZipFile, name: str) -> Element | None:
    """The root of a part, None when there is no such part."""
    try:
        entry = package.getinfo(name)
    except KeyError:
        return None
    if entry.file_size > _PART_LIMIT:
        raise ToolError(f"Its part {name!r} is too large to read", hint="Ask for the text in another format")
    content = package.read(entry)
    _require_undeclared(content, name)
    return ET.fromstring(content)  # noqa: S314 - size is bounded and entities need the declaration refused above


def _require_undeclared(content: bytes, name: str) -> None:
    """Look at what stands before the first element, in any encoding and however far down."""
    parser = expat.ParserCreate()

    def refuse(*_said: object) -> None:
        raise ValueError(f"{name} has a document type declaration")

    def stop(*_said: object) -> None:
        raise _FirstElementError

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = stop
    try:
        parser.Parse(content, True)
    except _FirstElementError:
        return
    except expat.ExpatError as error:
        raise ValueError(str(error)) from error


class _FirstElementError(Exception):
    """Nothing was declared."""


def related_parts(package: ZipFile, name: str) -> Mapping[str, tuple[str, str]]:
    """What a part refers to inside the package: reference id → (kind, part name). The package itself is part ''."""
    folder, _slash, last = name.rpartition("/")
    root = read_xml(package, f"{folder}/_rels/{last}.rels" if folder else f"_rels/{last}.rels")
    related: dict[str, tuple[str, str]] = {}
    for reference in root if root is not None else ():
        if reference.get("TargetMode") == "External":
            continue
        kind = reference.get("Type", "").rpartition("/")[2]
        related[reference.get("Id", "")] = (kind, join_part(folder, reference.get("Target", "")))
    return related


def main_part(package: ZipFile) -> str:
    """The part where the document begins."""
    for kind, name in related_parts(package, "").values():
        if kind == "officeDocument":
            return name
    raise ValueError("it names no main part")


def local_name(element: Element) -> str:
    """The tag without its namespace; the two editions of the format differ in nothing else."""
    return element.tag.rpartition("}")[2]


def attribute(element: Element, name: str) -> str:
    """An attribute by its name without namespace, empty when absent."""
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")


def left_out(package: ZipFile, kinds: Mapping[str, str]) -> str:
    """How many parts of each kind a reader of text does not show: `2 charts, 1 picture`.

    Args:
        package: The document.
        kinds: Part name's beginning → singular word.
    """
    names = [entry.filename for entry in package.infolist() if not entry.is_dir() and "/_rels/" not in entry.filename]
    counted = ((word, sum(name.startswith(start) for name in names)) for start, word in kinds.items())
    return ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for word, count in counted if count)


def _require_modest(entries: Sequence[ZipInfo], words: str) -> None:
    if any(entry.flag_bits & 1 for entry in entries):
        raise ToolError(f"It is {words} with a password", hint="Ask the person for a copy without one")
    if any(entry.compress_type not in {ZIP_STORED, ZIP_DEFLATED} for entry in entries):
        raise ValueError("it is packed in a way Office never uses")
    total = sum(entry.file_size for entry in entries)
    packed = sum(entry.compress_size for entry in entries)
    is_bomb = total > _RATIO_FLOOR and total > packed * _RATIO_LIMIT
    if is_bomb or total > _TOTAL_LIMIT or len(entries) > _PARTS_LIMIT:
        raise ToolError(
            f"It is {words} that unpacks to {total / 1024 / 1024:,.0f} MB; it is not opened",
            hint="If the person trusts it, ask for the text in another format",
            code="too_large",
        )


def join_part(folder: str, target: str) -> str:
    """The part that a reference leads to from a folder of the package; none leads out of it."""
    if target.startswith("/"):
        return target[1:]
    parts = folder.split("/") if folder else []
    for part in target.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)
