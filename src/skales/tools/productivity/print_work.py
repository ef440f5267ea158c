"""The work of html_to_pdf in a process of its own: lays HTML out with WeasyPrint and says what it did not load."""

import logging
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from skales.core.errors import SkalesError
from skales.security.paths import PathPolicy
from skales.tools.binding import allowed_path
from skales.tools.file.safe_open import open_file

_MOST_FILE_BYTES = 20 * 1024 * 1024
_MOST_TOTAL_BYTES = 100 * 1024 * 1024
_MOST_PAGES = 2_000
# What odd pages make the library raise.
_UNPRINTABLE = (
    ArithmeticError, AssertionError, AttributeError, LookupError, NotImplementedError, RecursionError, TypeError,
    ValueError,
)  # fmt: skip


class PrintError(Exception):
    """Why nothing was printed, in words that cross from one process to the other."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class PrintOrder:
    """What to print, where relative addresses in it begin, and which files may be read for it."""

    html: str
    folder: Path
    policy: PathPolicy


@dataclass(frozen=True, slots=True)
class Printed:
    """A PDF document, and the addresses that were not loaded for it."""

    content: bytes
    pages: int
    refused: tuple[str, ...]


def print_page(order: PrintOrder) -> Printed:
    """Lay the page out. Raises PrintError."""
    try:
        library: Any = import_module("weasyprint")
    except (ImportError, OSError) as error:
        raise PrintError(
            "Printing HTML needs WeasyPrint and the system library Pango, which are not both installed here",
            "The person can install the extra skales[pdf] and Pango; create_document makes PDF without them",
        ) from error
    logging.getLogger("weasyprint").setLevel(logging.CRITICAL)
    fetcher = _open_fetcher(order.policy)
    page = library.HTML(string=order.html, base_url=f"{order.folder.as_uri()}/", url_fetcher=fetcher)
    try:
        laid_out = page.render()
        if len(laid_out.pages) > _MOST_PAGES:
            raise PrintError(
                f"It would be {len(laid_out.pages):,} pages", f"Print at most {_MOST_PAGES:,} pages at once"
            )
        content = laid_out.write_pdf()
    except (
        ValueError,
        TypeError,
        LookupError,
        ArithmeticError,
        AttributeError,
        AssertionError,
        RecursionError,
    ) as error:
        raise PrintError(f"The page cannot be laid out: {type(error).__name__}: {error}", "Make it simpler") from error
    return Printed(content, len(laid_out.pages), tuple(dict.fromkeys(fetcher.refused)))


def _open_fetcher(policy: PathPolicy) -> Any:
    urls: Any = import_module("weasyprint.urls")

    class Fetcher(urls.URLFetcher):  # type: ignore[misc]
        """Loads what stands in the page itself and files that a tool may read; opens no connection."""

        def __init__(self) -> None:
            super().__init__(allowed_protocols=("data",), allow_redirects=False)
            self.refused: list[str] = []
            self._left = _MOST_TOTAL_BYTES

        def fetch(self, url: str, headers: Mapping[str, str] | None = None) -> Any:
            if url[:5].lower() == "data:":
                return super().fetch(url, headers)
            parts = urlsplit(url)
            if parts.scheme.lower() != "file" or parts.netloc not in ("", "localhost"):
                self.refused.append(url)
                raise ValueError("it is not a file here")
            return self._load(url, url2pathname(parts.path))

        def _load(self, url: str, name: str) -> Any:
            try:
                with open_file(allowed_path(name, policy)) as stream:
                    content = stream.read(_MOST_FILE_BYTES + 1)
            except SkalesError as error:
                self.refused.append(name)
                raise ValueError(error.message) from error
            self._left -= len(content)
            if len(content) > _MOST_FILE_BYTES or self._left < 0:
                self.refused.append(name)
                raise ValueError("it is too large")
            kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
            return urls.URLFetcherResponse(url, content, {"Content-Type": kind})

    return Fetcher()
