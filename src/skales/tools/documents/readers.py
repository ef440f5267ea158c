"""From a kind to its lines. Which reader a kind has stands with the kind, in `kinds`; it loads with its first file."""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import BinaryIO, cast

from skales.tools.documents.kinds import Kind

Reader = Callable[[BinaryIO, str], Iterator[str]]


def open_kind(kind: Kind, stream: BinaryIO, part: str) -> Iterator[str] | None:
    """The lines of a file of this kind, None when nothing reads it. Raises ToolError, also while they are read.

    Args:
        kind: What the file is.
        stream: The file.
        part: The pages, sheets, chapters … that are asked for; empty for all.
    """
    if not kind.reader:
        return None
    module, _, name = kind.reader.partition(":")
    reader = cast(Reader, getattr(import_module(f"skales.tools.documents.{module}"), name))
    return reader(stream, part)
