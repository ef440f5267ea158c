"""capabilities.json: the tools there are, for other programs to read. Written by us, believed by nobody here.

Entries with a `section` are notes, which somebody made and which outlive the list of tools.

Spec: data-directory.md, "Tree".
"""

import json
from collections.abc import Callable, Sequence

from msgspec import Struct

from skales.core.errors import InputError
from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text, parse_json
from skales.core.tool import ToolSpec
from skales.data.document import lock_for, write_bytes
from skales.data.paths import DataDirectory

_MOST_NOTES = 200
_NAME_CHARS = 80
_VALUE_CHARS = 2_000


class CapabilityNote(Struct, frozen=True):
    """One thing noted about what Skales can do, such as section `mail`, key `limit`, value `30 a day`."""

    section: str
    key: str
    value: str
    note: str = ""

    @property
    def name(self) -> str:
        """What it replaces a former note by."""
        return f"{self.section}.{self.key}"


class Capabilities:
    """The self-description of one data directory."""

    def __init__(self, directory: DataDirectory) -> None:
        self._path = directory.capabilities

    def write(self, specs: Sequence[ToolSpec], is_enabled: Callable[[str], bool]) -> bool:
        """Describe the tools in the order given; says whether the file had to be written. Raises StorageError."""
        tools: list[JsonValue] = [
            {
                "name": spec.name,
                "description": spec.description,
                "category": spec.category,
                "enabled": is_enabled(spec.name),
            }
            for spec in specs
        ]
        with lock_for(self._path):
            present = self._read()
            wanted = [*tools, *(item for item in as_list(present) if _is_note(item))]
            if present == wanted:
                return False
            self._write(wanted)
        return True

    def notes(self) -> Sequence[CapabilityNote]:
        """What was noted, in the order of the file."""
        items = [as_object(item) for item in as_list(self._read()) if _is_note(item)]
        return [
            CapabilityNote(*(as_text(item.get(key)) for key in ("section", "key", "value", "note"))) for item in items
        ]

    def note(self, noted: CapabilityNote) -> bool:
        """Keep a note, in place of the former one of that name; whether there was one. Raises InputError."""
        _check(noted)
        with lock_for(self._path):
            present = as_list(self._read())
            others = [item for item in present if not (_is_note(item) and as_object(item).get("name") == noted.name)]
            if len(others) == len(present) and sum(map(_is_note, present)) >= _MOST_NOTES:
                raise InputError(f"There are {_MOST_NOTES} notes, which is all that are kept", code="full")
            self._write([*others, _note_json(noted)])
            return len(others) < len(present)

    def count(self) -> int:
        """How many tools the file names; 0 when it is missing or broken."""
        return len(as_list(self._read()))

    def _write(self, entries: Sequence[JsonValue]) -> None:
        write_bytes(self._path, json.dumps(entries, indent=2).encode() + b"\n")

    def _read(self) -> JsonValue:
        """The content, None when it cannot be read: the file is derived, so nothing is lost with it."""
        try:
            return parse_json(self._path.read_text(encoding="utf-8-sig"))
        except (OSError, ValueError):
            return None


def _is_note(item: JsonValue) -> bool:
    return bool(as_text(as_object(item).get("section")))


def _note_json(noted: CapabilityNote) -> JsonObject:
    more: JsonObject = {"note": noted.note} if noted.note else {}
    return {"name": noted.name, "section": noted.section, "key": noted.key, "value": noted.value, **more}


def _check(noted: CapabilityNote) -> None:
    names = (noted.section, noted.key)
    if not all(name.strip() and name.isprintable() and len(name) <= _NAME_CHARS for name in names):
        raise InputError(f"Section and key need one line of up to {_NAME_CHARS} characters each")
    if len(noted.value) > _VALUE_CHARS or len(noted.note) > _VALUE_CHARS:
        raise InputError(f"Value and note have at most {_VALUE_CHARS:,} characters each")
