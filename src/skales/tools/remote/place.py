"""What a place to publish to can do, and which names on it may be used. How it is reached stands in its own modules."""

import os
from collections.abc import AsyncGenerator, Callable, Sequence
from enum import StrEnum
from typing import BinaryIO, Protocol

from msgspec import Struct

from skales.core.errors import InputError

# A listing is held in memory; no site keeps more than this in one folder.
MOST_ENTRIES = 20_000
TEMPORARY_START = ".skales-"
_NAME_BYTES = 255
# A colon names a drive or a hidden stream on Windows only.
_SEPARATORS = frozenset("/\\:" if os.name == "nt" else "/\\")
Moved = Callable[[int], None]


class RemoteKind(StrEnum):
    """What a name on a server stands for; a link is never followed."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"


class RemoteEntry(Struct, frozen=True):
    """One name on a server, as the server says. `size_bytes` is -1 and `modified_ms` 0 where it does not say."""

    name: str
    kind: RemoteKind
    size_bytes: int = -1
    modified_ms: int = 0


class Place(Protocol):
    """An open connection. Paths have slashes; relative ones begin where the login leads. Raises ToolError."""

    async def entries(self, path: str) -> Sequence[RemoteEntry]:
        """What is in a folder, at most MOST_ENTRIES. Raises ToolError with code `not_found` when there is none."""
        ...

    def read(self, path: str) -> AsyncGenerator[bytes, None]:
        """The content of a file, in pieces."""
        ...

    async def write(self, path: str, source: BinaryIO, moved: Moved) -> None:
        """Put a file in its place in one step; `moved` learns of each piece. What fails leaves the old file."""
        ...

    async def make_folder(self, path: str) -> None:
        """Create a folder that may exist already; its parent must exist."""
        ...

    async def delete(self, path: str) -> None:
        """Delete a file."""
        ...


def require_remote_path(path: str) -> str:
    """A path on a server as it may be asked for. Raises InputError for `..` and for what would be another command."""
    if any(ord(char) < 32 or ord(char) == 127 for char in path) or len(path) > 2000:
        raise InputError("The path on the server cannot be used", hint="Write one path, with slashes")
    parts = path.split("/")
    if ".." in parts:
        raise InputError(f"{path!r} leads out of its folder", hint="Write the path without ..")
    slash = "/" if path.startswith("/") else ""
    return slash + "/".join(part for part in parts if part not in ("", "."))


def join_remote(folder: str, name: str) -> str:
    """A path below a folder, where empty text is the folder the login leads to."""
    if not folder:
        return name
    return f"{folder}{'' if folder.endswith('/') else '/'}{name}" if name else folder


def is_plain_name(name: str) -> bool:
    """Whether a name from a server can name a file here: one part, printable, no way up, not one of our own."""
    return (
        bool(name)
        and name not in (".", "..")
        and not set(name) & _SEPARATORS
        and name.isprintable()
        and len(name.encode(errors="replace")) <= _NAME_BYTES
    )
