"""Reads rich text (RTF) as plain lines; pictures and hidden groups are left out."""

import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

from skales.core.errors import ToolError
from skales.tools.describe import render_size

_LIMIT_BYTES = 16 * 1024 * 1024
_PICTURE = re.compile(r"\\pict\b")


def read_rich_text(stream: BinaryIO, part: str) -> Iterator[str]:
    """The lines of a document, each with its line end. Raises ToolError. It has no parts."""
    del part
    stream.seek(0)
    content = stream.read(_LIMIT_BYTES + 1)
    if len(content) > _LIMIT_BYTES:
        raise ToolError(
            f"It is rich text of more than {render_size(_LIMIT_BYTES)}",
            hint="Ask for it in another format; much of it is probably pictures",
            code="too_large",
        )
    import striprtf.striprtf

    to_text = cast(Callable[..., str], striprtf.striprtf.rtf_to_text)
    source = content.decode("latin-1")
    try:
        text = to_text(source, errors="replace")
    except (ValueError, LookupError, RecursionError, TypeError, OverflowError) as error:
        raise ToolError(
            f"It is rich text, but damaged: {error}", hint="Read it as it is stored with part=raw", code="damaged"
        ) from error
    yield from (f"{line}\n" for line in text.strip("\n").split("\n"))
    if pictures := len(_PICTURE.findall(source)):
        yield f"[Not shown: {pictures} picture{'' if pictures == 1 else 's'}]\n"
