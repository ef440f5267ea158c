"""Texts with gaps where values stand, as messages; those of the tool index and of the provider catalogue."""

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count, product
from pathlib import Path
from typing import Any

_MOST_VARIANTS = 16
# Single words that stand for a value in a sentence; all others are names of fields and settings.
_SPOKEN_WORDS = frozenset(
    {"Stop", "all", "arithmetic", "created", "deleted", "half", "listed", "measured", "moved", "no", "none", "opened"}
    | {"page", "read", "restored", "slide", "text", "today's", "unpacked", "written", "yes"}
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_FORMAT_FIELD = re.compile(r"\{\w*(?:![rsa])?(?::[^{}]*)?\}")
_ACTION_PLACE = re.compile(r"\{(\w+)(:size)?\}")
_ACTION_OPTION = re.compile(r"\[([^\[\]]*)\]")

# A text with gaps: None stands for a value.
Pieces = tuple[str | None, ...]


def write_message(pieces: Pieces) -> str:
    """The msgid: values as `%(0)s`, `%(1)s`; a text without values stays as it is."""
    if None not in pieces:
        return "".join(piece for piece in pieces if piece is not None)
    numbers = iter(range(len(pieces)))
    return "".join(f"%({next(numbers)})s" if piece is None else piece.replace("%", "%%") for piece in pieces)


def is_spoken(pieces: Pieces) -> bool:
    """Whether these are words for a person, and not a name or a part of a prompt."""
    text = "".join("\0" if piece is None else piece for piece in pieces)
    if "\n" in text or text.startswith(("<", " [")):  # for the model, in its prompt
        return False
    return bool(_WORD.search(text)) and (" " in text.strip() or text in _SPOKEN_WORDS)


def combine(parts: Sequence[Sequence[Pieces]]) -> Sequence[Pieces]:
    """Each way to put the parts one after the other, neighbouring texts joined."""
    ways = list(product(*parts))[:_MOST_VARIANTS]
    return [_join([piece for pieces in way for piece in pieces]) for way in ways]


def _join(pieces: Sequence[str | None]) -> Pieces:
    joined: list[str | None] = []
    for piece in pieces:
        if piece is not None and joined and (last := joined[-1]) is not None:
            joined[-1] = last + piece
        else:
            joined.append(piece)
    return tuple(joined)


def open_fields(pieces: Pieces) -> Pieces:
    """Fields of `str.format` as gaps."""
    opened: list[str | None] = []
    for piece in pieces:
        if piece is None:
            opened.append(None)
            continue
        texts = _FORMAT_FIELD.split(piece)
        opened.extend(part for text in texts for part in (text, None))
        opened.pop()
    return _join([piece for piece in opened if piece != ""])


def tool_messages(index: Path) -> Iterator[tuple[str, str]]:
    """What the tools page and the approval cards say of each tool."""
    place = f"tools/{index.name}"
    for entry in json.loads(index.read_text(encoding="utf-8")):
        needs = entry.get("needs", "")
        yield entry["description"].replace(f"{{{needs}}}", "%(0)s") if needs else entry["description"], place
        for parameter in entry["parameters"].get("properties", {}).values():
            if parameter.get("description"):
                yield parameter["description"], place
        yield from ((message, place) for message in _write_actions(entry))


def _write_actions(entry: dict[str, Any]) -> Iterator[str]:
    """A tool's action with and without each of its optional parts."""
    parts = _ACTION_OPTION.split(entry.get("action", ""))
    properties = entry["parameters"].get("properties", {})
    for way in product(*((part,) if number % 2 == 0 else (part, "") for number, part in enumerate(parts))):
        name = partial(_name_value, properties, count())
        yield _ACTION_PLACE.sub(name, "".join(way).replace("%", "%%"))


def _name_value(properties: dict[str, Any], numbers: Iterator[int], place: re.Match[str]) -> str:
    """What a person or a model wrote stays as it is; only sizes, yes, no, and places without a name are our words."""
    schema = properties.get(place[1], {})
    if place[2] or schema.get("type") == "boolean":
        return f"%({next(numbers)})s"
    is_place = schema.get("type") == "array" or schema.get("format") == "path"
    return f"%(place_{place[1]})s" if is_place else f"%({place[1]})s"


def addon_messages(addons: Path) -> Iterator[tuple[str, str]]:
    """What people read of add-ons, each with its place."""
    for addon in tomllib.loads(addons.read_text(encoding="utf-8")).values():
        yield from ((addon[name], f"tools/{addons.name}") for name in ("label", "about", "needs") if addon.get(name))


def catalog_messages(catalog: Path) -> Iterator[tuple[str, str]]:
    """The hints and explanations of the providers."""
    place = f"providers/{catalog.name}"
    for provider in tomllib.loads(catalog.read_text(encoding="utf-8")).values():
        for name, value in provider.items():
            if isinstance(value, str) and (name.endswith("_hint") or name == "explanation"):
                yield value, place
