"""Reads PDF documents as text, page by page, only as far as somebody listens."""

import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO

from skales.core.errors import ToolError
from skales.tools.documents.parts import parse_numbers

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

# A broken file makes the reader fail in ways of its own and of the language.
_BROKEN = (
    ArithmeticError, AssertionError, AttributeError, EOFError, LookupError, NotImplementedError, RecursionError,
    TypeError, ValueError, struct.error, zlib.error,
)  # fmt: skip


def read_pdf(stream: BinaryIO, part: str) -> Iterator[str]:
    """The lines of the pages, each with its line end. Raises ToolError when no page asked for has text.

    Args:
        stream: The file.
        part: Page numbers such as `3` or `2-5`; empty for all.
    """
    reader = _open(stream)
    pages = _pages(reader)
    numbers = parse_numbers(part, len(pages), "page")
    silent: list[int] = []
    for number in numbers:
        text = _page_text(pages[number - 1])
        if not text:
            silent.append(number)
            continue
        yield f"--- page {number} of {len(pages)} ---\n"
        yield from (f"{line}\n" for line in text.splitlines())
    if len(silent) == len(numbers):
        raise ToolError(
            f"None of its {len(pages)} pages holds text; they are probably scanned pictures",
            hint="Reading them needs text recognition: ask the person for a searchable copy",
            code="no_text",
        )
    if silent:
        yield f"[Pages without text, probably pictures: {', '.join(map(str, silent))}]\n"


def _open(stream: BinaryIO) -> "PdfReader":
    from pypdf import PasswordType, PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    stream.seek(0)
    try:
        reader = PdfReader(stream)
        # Many documents are locked against changes only and open with an empty password.
        is_locked = reader.is_encrypted and reader.decrypt("") is PasswordType.NOT_DECRYPTED
    except DependencyError as error:
        # The reader leaves newer ciphers to a library that this program does without.
        raise ToolError(
            "It is a PDF document locked with a cipher that cannot be opened here",
            hint="Ask the person for a copy without a lock",
            code="encrypted",
        ) from error
    except (PyPdfError, *_BROKEN) as error:
        raise _damaged(error) from error
    if is_locked:
        raise _locked()
    return reader


def _pages(reader: "PdfReader") -> Sequence["PageObject"]:
    from pypdf.errors import PyPdfError

    try:
        pages = list(reader.pages)
    except (PyPdfError, *_BROKEN) as error:
        raise _damaged(error) from error
    if not pages:
        raise ToolError("The PDF document has no pages", hint="Check with the person that it is the right file")
    return pages


def _page_text(page: "PageObject") -> str:
    from pypdf.errors import PyPdfError

    try:
        return page.extract_text().strip()
    except (PyPdfError, *_BROKEN) as error:
        return f"[This page cannot be read: {error}]"


def _locked() -> ToolError:
    return ToolError(
        "It is a PDF document with a password", hint="Ask the person for a copy without one", code="encrypted"
    )


def _damaged(error: Exception) -> ToolError:
    return ToolError(
        f"It is a PDF document, but damaged: {error}",
        hint="Ask the person to open it in its own program and save it again",
        code="damaged",
    )
