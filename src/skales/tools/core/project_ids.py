"""How a project is named: by the name of its folder in workspace/projects, elsewhere by its path. Reads no project."""

from pathlib import Path

from skales.core.errors import ToolError
from skales.core.ids import is_safe_id
from skales.tools.binding import allowed_path
from skales.tools.context import ToolContext
from skales.tools.file.safe_open import EntryKind, find_entry
from skales.tools.file.wording import shown_path

_HOME = "projects"
_SHOWN = 80


def project_id_of(ctx: ToolContext, folder: Path) -> str:
    """What the tools that deploy take for a project's folder."""
    is_home = folder.parent == ctx.paths.workspace.resolve() / _HOME and is_safe_id(folder.name)
    return folder.name if is_home else shown_path(ctx, folder)


def find_project(ctx: ToolContext, named: str) -> Path:
    """The folder of an id or path that the rules let tools use. Reads the disk.

    Raises ToolError when there is none, or the rules forbid it.
    """
    text = named.strip()
    if is_safe_id(text) and _is_folder(home := allowed_path(f"{_HOME}/{text}", ctx.paths)):
        return home
    if text and _is_folder(folder := allowed_path(text, ctx.paths)):
        return folder
    raise ToolError(
        f"There is no project {named[:_SHOWN]!r}",
        hint="A project is named by its folder in workspace/projects or by its path; list_projects shows the ids",
        code="not_found",
    )


def find_named_project(ctx: ToolContext, path: Path) -> Path:
    """The folder that a path in the workspace means, where it may be an id. Reads the disk. Raises ToolError."""
    is_id = path.parent == ctx.paths.workspace.resolve() and not _is_folder(path)
    return find_project(ctx, path.name) if is_id else path


def _is_folder(path: Path) -> bool:
    entry = find_entry(path)
    return entry is not None and entry.kind is EntryKind.FOLDER
