"""The tool `list_projects`: the folders that are projects, with kind, branch and last change. Starts no program."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated

from anyio import to_thread
from msgspec import Struct

from skales.core.clock import to_datetime
from skales.core.errors import NotFoundError, ToolError
from skales.core.json import JsonValue
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.core.project_ids import project_id_of
from skales.tools.core.project_kinds import project_kinds
from skales.tools.define import Range, tool
from skales.tools.file.reach import NOISE_FOLDERS, build_reach
from skales.tools.file.safe_open import Entry, EntryKind, find_entry, list_folder, open_file, walk_folder
from skales.tools.file.wording import count_of, shown_name, shown_path

_MOST_PROJECTS = 200
_MOST_LOOKED_AT = 3_000
_BRANCH = re.compile(r"ref: refs/heads/([^\n]{1,200})\n?")
_HEAD_BYTES = 1_000


class _Project(Struct, frozen=True):
    folder: Path
    kinds: tuple[str, ...]
    branch: str
    changed_ms: int


@tool(
    "core",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    action="List projects[ in {path}]",
    example=("Which projects do I have?", {}),
    found_by="Projekte anzeigen projects repositories coding workspace lying around",
)
async def list_projects(
    ctx: ToolContext, path: Path | None = None, depth: Annotated[int, Range(1, 6)] = 3
) -> ToolResult:
    """Find the projects in the workspace: kind, git branch, last change, where each is deployed to.

    Args:
        path: Folder to look in; the workspace and the allowed folders when left out.
        depth: How many levels of folders to look into.
    """
    return await to_thread.run_sync(partial(_list, ctx, path, depth))


def _list(ctx: ToolContext, path: Path | None, depth: int) -> ToolResult:
    roots = [path] if path else [ctx.paths.workspace, *ctx.paths.allowed]
    found: dict[Path, _Project] = {}
    for root in roots:
        place = root.resolve()
        if path or place.is_dir():
            found.update({project.folder: project for project in _find(ctx, place, depth)})
    if not found:
        return ToolResult(text="No projects were found.", summary="No projects found", data=[])
    projects = sorted(found.values(), key=lambda project: -project.changed_ms)
    lines = [_line(ctx, project) for project in projects[:_MOST_PROJECTS]]
    if len(projects) > _MOST_PROJECTS:
        lines.append(f"[{len(projects) - _MOST_PROJECTS} more; name a folder to look in]")
    rows: list[JsonValue] = [_row(ctx, project) for project in projects[:_MOST_PROJECTS]]
    return ToolResult(text="\n".join(lines), summary=count_of(len(projects), "project"), data=rows)


def _find(ctx: ToolContext, root: Path, depth: int) -> Iterator[_Project]:
    """Projects from a folder down; what is inside a project is a part of it."""
    is_open = build_reach(ctx.paths)
    pending: list[tuple[Path, int]] = [(root, depth)]
    while pending:
        folder, deeper = pending.pop()
        try:
            entries = list_folder(folder)
        except ToolError:
            if folder == root:
                raise
            continue
        project = _look_at(folder, entries, is_root=folder == ctx.paths.workspace)
        if project is not None:
            yield project
        elif deeper > 0:
            pending += [(entry.path, deeper - 1) for entry in entries if _is_worth(entry) and is_open(entry)]


def _is_worth(entry: Entry) -> bool:
    return entry.kind is EntryKind.FOLDER and entry.path.name not in NOISE_FOLDERS and entry.path.name[:1] != "."


def _look_at(folder: Path, entries: Sequence[Entry], *, is_root: bool) -> _Project | None:
    """The folder as a project. The workspace itself holds projects, whatever files lie in it, unless it is in git."""
    names = {entry.path.name for entry in entries}
    is_bare = ".git" not in names and {"HEAD", "objects", "refs"} <= names
    has_git = ".git" in names or is_bare
    kinds = project_kinds(folder)
    if not has_git and (not kinds or is_root):
        return None
    git = ("bare git repository, no files to work on",) if is_bare else ("git",)
    shown = (*kinds, *git) if has_git else tuple(kinds)
    return _Project(folder, shown, _branch(folder) if has_git else "", _last_change(folder, entries))


def _branch(folder: Path) -> str:
    """The branch as the repository's own file says; empty when it is kept elsewhere or none is checked out."""
    for head in (folder / ".git" / "HEAD", folder / "HEAD"):
        try:
            entry = find_entry(head)
            if entry is None or entry.kind is not EntryKind.FILE:
                continue
            with open_file(head) as stream:
                match = _BRANCH.fullmatch(stream.read(_HEAD_BYTES).decode("utf-8", "replace"))
        except ToolError:
            continue
        return shown_name(match[1]) if match else ""
    return ""


def _last_change(folder: Path, entries: Sequence[Entry]) -> int:
    """When a file was last changed, as far as a look at some thousand of them shows; what tools put there is left."""
    newest = max((entry.modified_ms for entry in entries if entry.kind is EntryKind.FILE), default=0)
    below = walk_folder(folder, enter=lambda inner: inner.path.name not in NOISE_FOLDERS, depth=6)
    for entry in islice(below, _MOST_LOOKED_AT):
        if entry.kind is EntryKind.FILE:
            newest = max(newest, entry.modified_ms)
    return newest


def _target(ctx: ToolContext, project: _Project) -> str:
    try:
        target = ctx.deploy_targets.find(project.folder)
    except NotFoundError:
        return ""
    if target.folder:
        return target.folder
    try:
        profile = ctx.ftp_profiles.find(target.profile_id)
    except NotFoundError:
        return ""
    return f"{profile.alias}:{target.remote_path or profile.remote_path or '.'}"


def _line(ctx: ToolContext, project: _Project) -> str:
    parts = [" + ".join(project.kinds)]
    if project.branch:
        parts.append(f"branch {project.branch}")
    if project.changed_ms:
        parts.append(f"changed {to_datetime(project.changed_ms).strftime('%Y-%m-%d %H:%M')}")
    if target := _target(ctx, project):
        parts.append(f"deployed to {target}")
    if (project_id := project_id_of(ctx, project.folder)) != shown_path(ctx, project.folder):
        parts.append(f"id {project_id}")
    return f"{shown_path(ctx, project.folder)}  {', '.join(parts)}"


def _row(ctx: ToolContext, project: _Project) -> JsonValue:
    return {
        "id": project_id_of(ctx, project.folder),
        "path": str(project.folder),
        "kinds": list(project.kinds),
        "branch": project.branch or None,
        "changed_ms": project.changed_ms or None,
        "target": _target(ctx, project) or None,
    }
