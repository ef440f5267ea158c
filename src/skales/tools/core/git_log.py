"""The tool `git_log`: recent commits, one line each."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from skales.core.errors import ToolError
from skales.core.tool import Effect, Safety, ToolResult
from skales.security.invisible import strip_invisible
from skales.tools.context import ToolContext
from skales.tools.core.git_repository import (
    Repository,
    file_arguments,
    find_repository,
    read_git,
    require_revision,
)
from skales.tools.define import LinkPath, Range, tool
from skales.tools.file.wording import count_of, shown_name

_FIELD = "\x1f"
_FORMAT = "%h%x1f%ad%x1f%D%x1f%an%x1f%s"
_SUBJECT_CHARACTERS = 200
_PART_CHARACTERS = 60


@tool(
    "core",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    Effect.UNTRUSTED_OUTPUT,
    action="Show the git history[ of {range}][ of {paths}][ in {path}]",
    example=("What were the last five commits in shop?", {"path": "projects/shop", "limit": 5}),
    found_by=(
        "Verlauf history last commits letzte who changed wer hat geändert Versionen zuletzt touched author "
        "Autor Änderungsverlauf"
    ),
)
async def git_log(  # noqa: PLR0913 - each narrows the history in its own way
    ctx: ToolContext,
    path: Path | None = None,
    paths: Sequence[LinkPath] = (),
    range: str = "",
    search: str = "",
    limit: Annotated[int, Range(1, 200)] = 20,
) -> ToolResult:
    """List a git repository's recent commits, newest first.

    Args:
        path: Folder in the repository; the workspace when left out.
        paths: Only commits that changed these files or folders.
        range: A branch, tag or range such as v1.0..main; the current branch when left out.
        search: Only commits whose message holds this text.
        limit: How many at most.
    """
    repository = await find_repository(ctx, path)
    revision = require_revision(range) if range else "HEAD"
    if not range and not await _has_commits(ctx, repository):
        return ToolResult(text="There are no commits yet.", summary="No commits yet", data={"commits": 0})
    found = [f"--grep={search}", "--fixed-strings", "--regexp-ignore-case"] if search else []
    answer = await read_git(
        ctx,
        repository,
        *("log", "-z", "--no-color", "--no-show-signature", f"--max-count={limit}", f"--format={_FORMAT}"),
        *("--date=format:%Y-%m-%d %H:%M", "--decorate=short", *found, "--end-of-options", revision),
        # Without paths a commit that changed nothing counts too.
        *(file_arguments(ctx, repository, paths) if paths else []),
    )
    lines = [_line(record) for record in answer.records() if record]
    if not lines:
        return ToolResult(text="No commits match.", summary="No commits match", data={"commits": 0})
    return ToolResult(
        text="\n".join(lines), summary=f"{count_of(len(lines), 'commit')} of {revision}", data={"commits": len(lines)}
    )


async def _has_commits(ctx: ToolContext, repository: Repository) -> bool:
    try:
        await read_git(ctx, repository, "rev-parse", "--verify", "--quiet", "HEAD")
    except ToolError:
        return False
    return True


def _line(record: str) -> str:
    parts = [*record.rstrip("\n").split(_FIELD, 4), "", "", "", ""][:5]
    commit, day, refs, author, subject = (shown_name(strip_invisible(part)[0]) for part in parts)
    marks = f" [{refs}]" if refs else ""
    cut = subject if len(subject) <= _SUBJECT_CHARACTERS else f"{subject[: _SUBJECT_CHARACTERS - 1]}…"
    return f"{commit}  {day}  {author[:_PART_CHARACTERS]}: {cut}{marks}"
