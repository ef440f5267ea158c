"""Names for people of where a tool's output comes from: `web page example.org/x`, `git repository notes`. Pure."""

from collections.abc import Iterator
from pathlib import PurePath
from urllib.parse import urlsplit

from skales.core.json import JsonObject, as_text
from skales.core.tool import ToolSpec, property_formats
from skales.security.invisible import strip_invisible

_LONGEST = 80
# What lies in the folder or was changed there: as much the person's own as what `read_file` shows.
_OWN = frozenset({"git_status", "git_diff"})
_SCREEN = ("computer_", "screenshot_")


def name_output(spec: ToolSpec, arguments: JsonObject) -> Iterator[str]:
    """Whose text the tool's output may be; nothing for a look at the person's own folder."""
    if spec.name not in _OWN or arguments.get("range"):
        shown = strip_invisible(_name(spec, arguments))[0]
        yield " ".join(shown.split())[:_LONGEST]


def _name(spec: ToolSpec, arguments: JsonObject) -> str:
    formats = property_formats(spec)
    address = next((as_text(arguments.get(name)) for name, kind in formats.items() if kind == "uri"), "")
    if address:
        return f"web page {_short_address(address)}"
    if spec.name == "search_web":
        return "results of a web search"
    if spec.name.startswith("git_"):
        return f"git repository {PurePath(as_text(arguments.get('path')) or '.').name or 'workspace'}"
    if spec.name.startswith(_SCREEN):
        return "the screen"
    return _name_place(spec, arguments)


def _name_place(spec: ToolSpec, arguments: JsonObject) -> str:
    if spec.category == "mcp" or spec.name.startswith("mcp"):
        return f"MCP server {_server_of(spec, arguments)}"
    for argument, words in (
        ("connector", "service"),
        ("profile", "server"),
        ("mailbox", "mail of"),
        ("account", "mail of"),
    ):
        if given := as_text(arguments.get(argument)):
            return f"{words} {given}"
    return f"output of {spec.name}"


def _server_of(spec: ToolSpec, arguments: JsonObject) -> str:
    """`mcp__notes__search` and `mcp_notes_search` are of the server `notes`."""
    parts = [part for part in spec.name.replace("__", "_").split("_") if part]
    return as_text(arguments.get("server")) or (parts[1] if len(parts) > 1 else spec.name)


def _short_address(address: str) -> str:
    """Host and beginning of the path; a query may hold anything."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "with an unreadable address"
    host = parts.netloc.rpartition("@")[2]
    return f"{host}{parts.path.rstrip('/')[:40]}"
