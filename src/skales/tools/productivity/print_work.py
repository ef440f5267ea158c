"""The work of html_to_pdf in a process of its own: lays HTML out with WeasyPrint and says what it did not load."""

import json
import logging
import mimetypes
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from msgspec import Struct

from skales.core.errors import SkalesError
from skales.core.json import JsonValue, as_int, as_list, as_object, as_text, parse_json
from skales.security.paths import PathPolicy
from skales.tools.binding import allowed_path
from skales.tools.file.safe_open import open_file

_MOST_FILE_BYTES = 20 * 1024 * 1024
_MOST_TOTAL_BYTES = 100 * 1024 * 1024
_MOST_PAGES = 2_000
_MOST_MEMORY_BYTES = 3 * 1024 * 1024 * 1024
_ORDER, _ANSWER, _PDF = "order.json", "answer.json", "page.pdf"
# What odd pages make the library raise.
_UNPRINTABLE = (
    ArithmeticError, AssertionError, AttributeError, LookupError, NotImplementedError, RecursionError, TypeError,
    ValueError,
)  # fmt: skip


class PrintError(Exception):
    """Why nothing was printed, and what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class PrintOrder(Struct, frozen=True):
    """What to print, where relative addresses in it begin, and which files may be read for it."""

    html: str
    folder: Path
    policy: PathPolicy


class Printed(Struct, frozen=True):
    """A PDF document, and the addresses that were not loaded for it."""

    content: bytes
    pages: int
    refused: tuple[str, ...]


def write_order(order: PrintOrder, place: Path) -> None:
    """Put an order where the other process finds it."""
    policy = order.policy
    said = {
        "html": order.html,
        "folder": str(order.folder),
        "workspace": str(policy.workspace),
        "allowed": list(map(str, policy.allowed)),
        "blocked": list(map(str, policy.blocked)),
        "unrestricted": policy.unrestricted,
    }
    (place / _ORDER).write_text(json.dumps(said), encoding="utf-8")


def read_answer(place: Path) -> Printed:
    """What the other process made. Raises PrintError, also when it left nothing."""
    try:
        said = as_object(parse_json((place / _ANSWER).read_text(encoding="utf-8")))
        if not said.get("ok"):
            raise PrintError(as_text(said.get("message")), as_text(said.get("hint")))
        refused = tuple(as_text(address) for address in as_list(said.get("refused")))
        return Printed((place / _PDF).read_bytes(), as_int(said.get("pages")), refused)
    except (OSError, ValueError) as error:
        raise PrintError("The page needs more memory or time than printing may take", "Print it in parts") from error


def main(place: Path) -> None:
    """Carry out the order in a folder and leave the answer there."""
    _limit_memory()
    try:
        printed = print_page(_read_order(place))
        (place / _PDF).write_bytes(printed.content)
        answer: dict[str, JsonValue] = {"ok": True, "pages": printed.pages, "refused": list(printed.refused)}
    except PrintError as error:
        answer = {"ok": False, "message": error.message, "hint": error.hint}
    except MemoryError:
        return
    (place / _ANSWER).write_text(json.dumps(answer), encoding="utf-8")


def _read_order(place: Path) -> PrintOrder:
    said = as_object(parse_json((place / _ORDER).read_text(encoding="utf-8")))
    policy = PathPolicy(
        workspace=Path(as_text(said.get("workspace"))),
        allowed=tuple(Path(as_text(path)) for path in as_list(said.get("allowed"))),
        blocked=tuple(Path(as_text(path)) for path in as_list(said.get("blocked"))),
        unrestricted=said.get("unrestricted") is True,
    )
    return PrintOrder(as_text(said.get("html")), Path(as_text(said.get("folder"))), policy)


def _limit_memory() -> None:
    """Where the system can: a hostile page fails here before it takes the memory of others."""
    if sys.platform != "win32":
        import resource

        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY_BYTES, _MOST_MEMORY_BYTES))


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


if __name__ == "__main__":
    main(Path(sys.argv[1]))
