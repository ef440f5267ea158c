"""How file tools name paths and numbers to a model: short, and usable as arguments again."""

from pathlib import Path

from skales.tools.context import ToolContext
from skales.tools.describe import visible


def shown_path(ctx: ToolContext, path: Path) -> str:
    """Relative to the workspace when inside it, else whole; on one line whatever the name holds."""
    workspace = ctx.paths.workspace.resolve()
    return shown_name(path.relative_to(workspace).as_posix() if path.is_relative_to(workspace) else str(path))


def shown_name(name: str) -> str:
    """The name, with characters that could be taken for something else written as their codes."""
    return name if name.isprintable() else visible(name)


def count_of(number: int, singular: str, plural: str = "") -> str:
    """`1 file`, `12,031 files`."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"
