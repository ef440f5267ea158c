"""How file tools name paths and numbers to a model: short, and usable as arguments again."""

from pathlib import Path

from skales.tools.context import ToolContext


def shown_path(ctx: ToolContext, path: Path) -> str:
    """Relative to the workspace when inside it, else whole."""
    try:
        return path.relative_to(ctx.paths.workspace.resolve()).as_posix()
    except ValueError:
        return str(path)


def count_of(number: int, singular: str, plural: str = "") -> str:
    """`1 file`, `12,031 files`."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"
