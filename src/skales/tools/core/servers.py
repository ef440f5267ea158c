"""The tools `ftp_list` and `ftp_download`: look at a saved server, and bring something from it."""

from collections.abc import Sequence
from pathlib import Path

from anyio import to_thread

from skales.core.clock import to_datetime
from skales.core.errors import ToolError
from skales.core.json import JsonValue
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.binding import allowed_path
from skales.tools.context import ToolContext
from skales.tools.core.server_paths import remote_place
from skales.tools.define import tool
from skales.tools.describe import render_size
from skales.tools.file.safe_open import EntryKind, find_entry
from skales.tools.file.wording import count_of, shown_name, shown_path
from skales.tools.remote.connect import choose_profile, open_profile
from skales.tools.remote.download import Fetched, WantedFile, fetch_file, fetch_folder, find_remote
from skales.tools.remote.place import RemoteEntry, RemoteKind, is_plain_name

_SHOWN = 500
_NAMED = 20


@tool(
    "core",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    Effect.UNTRUSTED_OUTPUT,
    Effect.OUTBOUND,
    action="List {remote_path} on the server[ {profile}]",
    example=("What is in the images folder on my server?", {"profile": "shop", "remote_path": "images"}),
    needs="server",
    found_by=(
        "Server anzeigen SFTP remote files Webspace Verzeichnis auf dem FTP auflisten list liegt Webserver folder"
    ),
)
async def ftp_list(ctx: ToolContext, profile: str = "", remote_path: str = "") -> ToolResult:
    """List a folder on a saved FTP, FTPS or SFTP server: names, sizes, dates.

    Args:
        profile: Name of the saved profile; may be left out when there is only one.
        remote_path: Folder on the server, inside the profile's own.
    """
    chosen = await to_thread.run_sync(choose_profile, ctx, profile)
    path = remote_place(chosen, remote_path)
    async with open_profile(ctx, chosen) as place:
        entries = sorted(await place.entries(path), key=lambda entry: entry.name.casefold())
        fingerprint = place.fingerprint
    where = f"{chosen.alias}:{path or '.'}"
    lines = [_line(entry) for entry in entries[:_SHOWN]] or [f"[{where} is empty]"]
    if len(entries) > _SHOWN:
        lines.append(f"[{len(entries) - _SHOWN:,} more; list a folder in it]")
    if fingerprint and not chosen.pin:
        lines.append(f"{chosen.host} is known by {fingerprint} from now on; another key will be refused.")
    summary = f"{where} holds {count_of(len(entries), 'entry', 'entries')}"
    rows = [_row(entry) for entry in entries[:_SHOWN]]
    return ToolResult(text="\n".join(lines), summary=summary, data={"entries": rows, "total": len(entries)})


@tool(
    "core",
    Safety.CONFIRM,
    Effect.READS_PRIVATE,
    Effect.UNTRUSTED_OUTPUT,
    Effect.OUTBOUND,
    Effect.WRITES,
    action="Download {remote_path}[ from {profile}][ to {destination}]",
    example=("Get the access log from my server", {"profile": "shop", "remote_path": "logs/access.log"}),
    needs="server",
    found_by="vom Server herunterladen SFTP remote holen fetch file FTP Logdateien webserver download grab",
)
async def ftp_download(
    ctx: ToolContext,
    remote_path: str,
    profile: str = "",
    destination: Path | None = None,
    overwrite: bool = False,
) -> ToolResult:
    """Download a file or a whole folder from a saved FTP, FTPS or SFTP server.

    Args:
        remote_path: File or folder on the server, inside the profile's own.
        profile: Name of the saved profile; may be left out when there is only one.
        destination: File to write, or a folder to put it into; the workspace when left out.
        overwrite: Replace a file that exists here.
    """
    chosen = await to_thread.run_sync(choose_profile, ctx, profile)
    path = remote_place(chosen, remote_path)
    target = await to_thread.run_sync(_target, ctx, path, destination)
    async with open_profile(ctx, chosen) as place:
        # The folder above the profile's own is not looked into.
        is_all = path == remote_place(chosen, "")
        found = RemoteEntry("", RemoteKind.FOLDER) if is_all else await find_remote(place, path)
        if found is not None and found.kind is RemoteKind.FOLDER:
            fetched = await fetch_folder(ctx, place, path, target)
        else:
            size = found.size_bytes if found is not None and found.kind is RemoteKind.FILE else -1
            fetched = await fetch_file(ctx, place, WantedFile(path, size, overwrite), target)
    return _render(ctx, fetched, f"{chosen.alias}:{path}", target)


def _target(ctx: ToolContext, path: str, destination: Path | None) -> Path:
    """Where it goes: into a folder that exists, else to the named path itself."""
    folder = destination or ctx.paths.workspace
    there = find_entry(folder) if destination else None
    if destination and (there is None or there.kind is not EntryKind.FOLDER):
        return folder
    name = path.rstrip("/").rpartition("/")[2]
    if not is_plain_name(name):
        raise ToolError(f"{name!r} cannot be the name of a file here", hint="Give the file to write as destination")
    return allowed_path(str(folder / name), ctx.paths, follow_last=True)


def _row(entry: RemoteEntry) -> JsonValue:
    return {
        "name": shown_name(entry.name),
        "kind": entry.kind.value,
        "size_bytes": entry.size_bytes if entry.size_bytes >= 0 else None,
        "modified_ms": entry.modified_ms or None,
    }


def _line(entry: RemoteEntry) -> str:
    name = shown_name(entry.name)
    marks = {RemoteKind.FOLDER: "/", RemoteKind.LINK: " (link)", RemoteKind.OTHER: " (special)", RemoteKind.FILE: ""}
    size = render_size(entry.size_bytes) if entry.size_bytes >= 0 and entry.kind is RemoteKind.FILE else ""
    day = to_datetime(entry.modified_ms).strftime("%Y-%m-%d %H:%M") if entry.modified_ms else ""
    return "  ".join(part for part in (f"{name}{marks[entry.kind]}", size, day) if part)


def _render(ctx: ToolContext, fetched: Fetched, source: str, target: Path) -> ToolResult:
    what = f"{count_of(fetched.files, 'file')} ({render_size(fetched.size_bytes)})"
    head = f"Downloaded {what} from {source} to {shown_path(ctx, target)}"
    return ToolResult(
        text="\n".join([head, *_left_out(fetched.left_out)]),
        summary=head,
        data={"files": fetched.files, "bytes": fetched.size_bytes, "left_out": len(fetched.left_out)},
        files=(str(target),),
    )


def _left_out(names: Sequence[str]) -> list[str]:
    if not names:
        return []
    shown = ", ".join(map(shown_name, names[:_NAMED])) + (
        f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    )
    return [f"Left out, as links, closed, or with names that cannot be used here: {shown}"]
