"""Reads which parts of a document are asked for: page or slide numbers such as `3`, `2-5` or `1,4-6`."""

import re
from collections.abc import Sequence

from skales.core.errors import InputError

_RANGE = re.compile(r"\s*([0-9]{1,7})\s*(?:[-–]\s*([0-9]{1,7})?)?\s*")


def parse_numbers(text: str, total: int, word: str) -> Sequence[int]:
    """The numbers a text names, in its order, all when it is empty. Raises InputError that says what there is.

    Args:
        text: Numbers and ranges with commas between; `4-` goes to the end.
        total: How many there are.
        word: What is numbered, for the message.
    """
    if not text.strip():
        return range(1, total + 1)
    numbers: dict[int, None] = {}
    for piece in text.split(","):
        found = _RANGE.fullmatch(piece)
        if not found:
            raise InputError(f"{text!r} names no {word}s", hint=f"Write part like 3, 2-5 or 1,4-6 (1 to {total})")
        first = int(found[1])
        last = int(found[2]) if found[2] else total if "-" in piece or "–" in piece else first
        if not 1 <= first <= last or first > total:
            raise InputError(f"There is no {word} {piece.strip()}", hint=f"The document has {word}s 1 to {total}")
        numbers.update(dict.fromkeys(range(first, min(last, total) + 1)))
    return list(numbers)
