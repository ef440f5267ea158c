"""Reads EPUB books chapter by chapter, in reading order."""

from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO
from urllib.parse import unquote
from xml.etree.ElementTree import Element
from zipfile import ZipFile

from skales.core.errors import ToolError
from skales.tools.documents.markup import read_markup
from skales.tools.documents.package import join_part, left_out, local_name, open_package, read_xml
from skales.tools.documents.parts import parse_numbers

_MOST_CHAPTER_BYTES = 16 * 1024 * 1024


def read_book(stream: BinaryIO, part: str) -> Iterator[str]:
    """The lines of the chapters, each with its line end. Raises ToolError.

    Args:
        stream: The file.
        part: Chapter numbers such as `3` or `2-5`; empty for all.
    """
    with open_package(stream, "an EPUB book") as package:
        name = _book_part(package)
        root = read_xml(package, name)
        if root is None:
            raise ValueError("its table of contents is missing")
        chapters = _chapters(root, name.rpartition("/")[0])
        _require_open(package, chapters)
        if said := ", ".join(f"{key}: {value}" for key, value in _about(root).items()):
            yield f"[{said}]\n"
        for number in parse_numbers(part, len(chapters), "chapter"):
            yield f"--- chapter {number} of {len(chapters)} ---\n"
            yield from _chapter(package, chapters[number - 1])
        if missing := left_out(package, _pictures(package)):
            yield f"[Not shown: {missing}]\n"


def _book_part(package: ZipFile) -> str:
    container = read_xml(package, "META-INF/container.xml")
    for element in container.iter() if container is not None else ():
        if local_name(element) == "rootfile":
            return element.get("full-path", "")
    raise ValueError("it names no book")


def _about(root: Element) -> Mapping[str, str]:
    said: dict[str, str] = {}
    for element in root.iter():
        name = local_name(element)
        if name in {"title", "creator", "language"} and element.text:
            said.setdefault(name, " ".join(element.text.split()))
    return said


def _chapters(root: Element, folder: str) -> Sequence[str]:
    """The parts that are read one after the other."""
    files = {item.get("id", ""): item.get("href", "") for item in root.iter() if local_name(item) == "item"}
    wanted = [item.get("idref", "") for item in root.iter() if local_name(item) == "itemref"]
    chapters = [join_part(folder, unquote(files[name])) for name in wanted if name in files]
    if not chapters:
        raise ValueError("it names no chapters")
    return chapters


def _require_open(package: ZipFile, chapters: Sequence[str]) -> None:
    """Books from shops may be locked; their fonts may be so in any book, which does not matter here."""
    root = read_xml(package, "META-INF/encryption.xml")
    locked = (
        [element.get("URI", "") for element in root.iter() if local_name(element) == "CipherReference"]
        if root is not None
        else []
    )
    if set(map(unquote, locked)) & set(chapters):
        raise ToolError(
            "It is an EPUB book with copy protection",
            hint="The program it was bought for can open it",
            code="encrypted",
        )


def _chapter(package: ZipFile, name: str) -> Iterator[str]:
    try:
        entry = package.getinfo(name)
    except KeyError:
        yield "[This chapter is missing in the file]\n"
        return
    if entry.file_size > _MOST_CHAPTER_BYTES:
        yield "[This chapter is too large to read]\n"
        return
    text = read_markup(package.read(entry), "application/xhtml+xml")
    yield from (f"{line}\n" for line in text.split("\n"))


def _pictures(package: ZipFile) -> Mapping[str, str]:
    endings = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp")
    return {name: "picture" for name in package.namelist() if name.lower().endswith(endings)}
