"""Reads Jupyter notebooks: every cell with its source and what came out of it; pictures are named, not shown."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from skales.core.errors import ToolError
from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text, parse_json
from skales.tools.describe import render_size
from skales.tools.documents.parts import parse_numbers

_LIMIT_BYTES = 64 * 1024 * 1024
_OUTPUT_CHARS = 4_000
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def read_notebook(stream: BinaryIO, part: str) -> Iterator[str]:
    """The lines of the cells, each with its line end. Raises ToolError.

    Args:
        stream: The file.
        part: Cell numbers such as `3` or `2-5`; empty for all.
    """
    notebook = _load(stream)
    cells = as_list(notebook.get("cells"))
    if not cells:
        raise ToolError("The notebook has no cells", hint="Read it as it is stored with part=raw")
    language = as_text(as_object(as_object(notebook.get("metadata")).get("kernelspec")).get("language"))
    for number in parse_numbers(part, len(cells), "cell"):
        cell = as_object(cells[number - 1])
        kind = as_text(cell.get("cell_type")) or "cell"
        named = f" ({language})" if kind == "code" and language else ""
        yield f"--- cell {number} of {len(cells)}: {kind}{named} ---\n"
        yield from _text_lines(_joined(cell.get("source")))
        for output in as_list(cell.get("outputs")):
            yield from _output(as_object(output))


def _load(stream: BinaryIO) -> JsonObject:
    stream.seek(0)
    content = stream.read(_LIMIT_BYTES + 1)
    if len(content) > _LIMIT_BYTES:
        raise ToolError(
            f"It is a notebook of more than {render_size(_LIMIT_BYTES)}",
            hint="Read a part of it as it is stored with part=raw",
            code="too_large",
        )
    try:
        return as_object(parse_json(content.decode("utf-8-sig")))
    except (ValueError, RecursionError) as error:
        raise ToolError(
            f"It is a notebook, but damaged: {error}", hint="Read it as it is stored with part=raw", code="damaged"
        ) from error


def _joined(value: JsonValue) -> str:
    """Texts are stored whole or as a list of lines."""
    return value if isinstance(value, str) else "".join(as_text(line) for line in as_list(value))


def _text_lines(text: str) -> Iterator[str]:
    if text:
        yield from (f"{line}\n" for line in text.rstrip("\n").split("\n"))


def _output(output: JsonObject) -> Iterator[str]:
    match output.get("output_type"):
        case "stream":
            text = _joined(output.get("text"))
            yield f"[Output, {as_text(output.get('name')) or 'stdout'}]\n"
        case "error":
            text = "\n".join(as_text(line) for line in as_list(output.get("traceback")))
            text = text or f"{as_text(output.get('ename'))}: {as_text(output.get('evalue'))}"
            yield "[Error]\n"
        case _:
            text = _shown_form(as_object(output.get("data")))
            yield "[Result]\n"
    text = _COLOURS.sub("", text)
    yield from _text_lines(text[:_OUTPUT_CHARS])
    if len(text) > _OUTPUT_CHARS:
        yield f"[{len(text) - _OUTPUT_CHARS:,} more characters of this output are not shown]\n"


def _shown_form(forms: Mapping[str, JsonValue]) -> str:
    """The form that reads best as text, and the names of pictures among the others."""
    shown = ""
    for kind in ("text/markdown", "text/plain", "application/json", "text/html"):
        if kind in forms:
            value = forms[kind]
            shown = _joined(value) if isinstance(value, (str, list, tuple)) else json.dumps(value, ensure_ascii=False)
            break
    left_out = [kind for kind in forms if kind.startswith(("image/", "video/", "audio/"))]
    notes = "".join(f"\n[Not shown: {kind}]" for kind in left_out)
    return f"{shown}{notes}".strip("\n")
