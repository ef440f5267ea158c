"""capabilities.json: the tools there are, for other programs to read. Written by us, believed by nobody here.

Spec: data-directory.md, "Tree".
"""

import json
from collections.abc import Callable, Sequence

from skales.core.json import JsonValue, as_list, parse_json
from skales.core.tool import ToolSpec
from skales.data.document import write_bytes
from skales.data.paths import DataDirectory


class Capabilities:
    """The self-description of one data directory."""

    def __init__(self, directory: DataDirectory) -> None:
        self._path = directory.capabilities

    def write(self, specs: Sequence[ToolSpec], is_enabled: Callable[[str], bool]) -> bool:
        """Describe the tools in the order given; says whether the file had to be written. Raises StorageError."""
        wanted: list[JsonValue] = [
            {
                "name": spec.name,
                "description": spec.description,
                "category": spec.category,
                "enabled": is_enabled(spec.name),
            }
            for spec in specs
        ]
        if self._read() == wanted:
            return False
        write_bytes(self._path, json.dumps(wanted, indent=2).encode() + b"\n")
        return True

    def count(self) -> int:
        """How many tools the file names; 0 when it is missing or broken."""
        return len(as_list(self._read()))

    def _read(self) -> JsonValue:
        """The content, None when it cannot be read: the file is derived, so nothing is lost with it."""
        try:
            return parse_json(self._path.read_text(encoding="utf-8-sig"))
        except (OSError, ValueError):
            return None
