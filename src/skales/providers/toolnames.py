"""Spells tool names so that providers accept them, and leads the answer's spelling back to the tool.

OpenAI takes letters, digits, `_` and `-`, at most 64; one name that breaks the rule costs the whole request.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping

MAX_NAME = 64

_LEGAL = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_NAME}}}")
_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")
_HASH_DIGITS = 8


def to_wire_name(name: str) -> str:
    """The name itself when it is legal, else cleaned and shortened with a hash of the original.

    Depends on nothing but the name, so that it is the same after a restart and whatever else is offered.
    """
    if _LEGAL.fullmatch(name):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS]
    return f"{_ILLEGAL.sub('_', name)[: MAX_NAME - _HASH_DIGITS - 1]}_{digest}"


def map_wire_names(names: Iterable[str]) -> Mapping[str, str]:
    """Wire spelling → tool name, for names that differ from their wire spelling or not; the first of equals wins."""
    found: dict[str, str] = {}
    for name in names:
        found.setdefault(to_wire_name(name), name)
    return found
