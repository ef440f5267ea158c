"""Reads CSV and TSV as a table: cells apart by tabs, the row's number in front, rows of another width named."""

import csv
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO

from skales.core.errors import ToolError
from skales.tools.documents.coding import detect_coding
from skales.tools.documents.lines import decode_pieces

_SAMPLE_BYTES = 256 * 1024
_SAMPLE_ROWS = 200
_SIGNS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
# A quotation mark that is never closed makes one cell of the rest.
_LONGEST_CELL = 1024 * 1024
_LONGEST_LINE = 4 * 1024 * 1024


def read_table(stream: BinaryIO, part: str) -> Iterator[str]:
    """The rows, each with its line end; the first line says how they were read. Raises ToolError. It has no parts."""
    del part
    size_bytes = stream.seek(0, 2)
    stream.seek(0)
    sample = stream.read(_SAMPLE_BYTES)
    coding = detect_coding(sample, is_whole=len(sample) == size_bytes)
    if coding is None:
        raise ToolError("It is binary data, not a table", hint="Use get_file_info to see more about it", code="binary")
    sign, width = _sniff(sample[len(coding.mark) :].decode(coding.codec, "replace"))
    guess = "" if coding.is_certain else f", read as {coding.label}, which is a guess"
    yield f"[Table of {width} columns apart by {_SIGNS[sign]}{guess}; part=raw shows the text as it is stored]\n"
    yield from _rows(stream, sign, width)


def _rows(stream: BinaryIO, sign: str, width: int) -> Iterator[str]:
    coding = detect_coding(_start(stream), is_whole=False)
    assert coding is not None, "looked at before"
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(_lines(decode_pieces(stream, coding)), delimiter=sign)
    number = 0
    try:
        for row in reader:
            number += 1
            if row:
                ragged = "" if len(row) == width else f"\t[{len(row)} cells instead of {width}]"
                yield f"{number}\t{chr(9).join(map(_cell, row))}{ragged}\n"
    except csv.Error as error:
        yield f"[Row {number + 1} and what follows cannot be read as a table: {error}]\n"


def _start(stream: BinaryIO) -> bytes:
    stream.seek(0)
    return stream.read(_SAMPLE_BYTES)


def _lines(pieces: Iterator[str]) -> Iterator[str]:
    rest = ""
    for piece in pieces:
        lines = (rest + piece).split("\n")
        rest = lines.pop()
        if len(rest) > _LONGEST_LINE:
            raise csv.Error("a line is longer than 4 MB")
        yield from (f"{line}\n" for line in lines)
    if rest:
        yield rest


def _sniff(text: str) -> tuple[str, int]:
    """The sign between cells, and how many cells a row has as a rule: the sign that most rows agree on."""
    best = (0.0, 0, ",", 1)
    lines = text.split("\n")
    lines = lines[:-1] if len(lines) > 1 else lines
    for sign in _SIGNS:
        try:
            rows = list(
                islice(
                    (row for row in csv.reader((f"{line}\n" for line in lines), delimiter=sign) if row), _SAMPLE_ROWS
                )
            )
        except csv.Error:
            continue
        if not rows:
            continue
        width, count = Counter(map(len, rows)).most_common(1)[0]
        if width > 1:
            best = max(best, (count / len(rows), width, sign, width))
    return best[2], best[3]


def _cell(text: str) -> str:
    return text.replace("\t", " ").replace("\r\n", "\n").replace("\n", " ⏎ ").strip()
