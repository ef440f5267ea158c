"""The tool `git_diff`: what changed, as a list with counts and then as a patch; a big one is cut between files."""

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from skales.core.errors import ToolError
from skales.core.tool import Effect, Safety, ToolResult
from skales.security.invisible import strip_invisible
from skales.tools.context import ToolContext
from skales.tools.core.git_repository import (
    GitAnswer,
    Repository,
    file_arguments,
    find_repository,
    read_git,
    require_revision,
)
from skales.tools.define import LinkPath, tool
from skales.tools.file.wording import count_of, shown_name

_SHOWN_FILES = 60
# Under the central cap, so that what is left out is said here, by file.
_PATCH_CHARACTERS = 15_000
_PLAIN = (
    "--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--submodule=short", "--ignore-submodules=dirty",
)  # fmt: skip
_FILE_START = re.compile(r"^diff --(?:git|cc|combined) ", re.MULTILINE)


class _Counted(Struct, frozen=True):
    """One changed file; lines are None for a binary one."""

    name: str
    added: int | None
    removed: int | None


@tool(
    "core",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    Effect.UNTRUSTED_OUTPUT,
    action="Show the git diff[ {range}][ of {paths}][ in {path}]",
    example=("What did I change in the styles?", {"path": "projects/shop", "paths": ["projects/shop/style.css"]}),
    found_by=(
        "Unterschied differences what changed Änderungen Zeilen compare uncommitted geändert seit letzten "
        "Commit since last diff difference Unterschiede between commits line"
    ),
)
async def git_diff(
    ctx: ToolContext, path: Path | None = None, paths: Sequence[LinkPath] = (), staged: bool = False, range: str = ""
) -> ToolResult:
    """See what changed in a git repository, line by line: uncommitted, staged, or between commits.

    Args:
        path: Folder in the repository; the workspace when left out.
        paths: Only these files or folders.
        staged: What the next commit would hold, instead of what is not staged.
        range: A commit to compare with, or two as main..feature.
    """
    repository = await find_repository(ctx, path)
    what = _what(repository, staged=staged, revisions=range)
    files = file_arguments(ctx, repository, paths)
    counted = _read_counts(await read_git(ctx, repository, "diff", "--numstat", "-z", *_PLAIN, *what, *files))
    if not counted:
        other = "" if staged or range else "; git_status shows staged and untracked files"
        return ToolResult(text=f"No differences{other}.", summary="No differences", data={"files": 0})
    patch = await read_git(
        ctx, repository, "diff", "--patch", "--src-prefix=a/", "--dst-prefix=b/", *_PLAIN, *what, *files
    )
    added, removed = sum(file.added or 0 for file in counted), sum(file.removed or 0 for file in counted)
    head = f"{count_of(len(counted), 'file')} changed, {count_of(added, 'line')} added, {removed:,} removed"
    text = "\n".join([f"{head}:", *_file_lines(counted), "", _cut_patch(patch)])
    return ToolResult(text=text, summary=head, data={"files": len(counted), "added": added, "removed": removed})


def _what(repository: Repository, *, staged: bool, revisions: str) -> list[str]:
    words = [require_revision(word) for word in revisions.split()]
    if len(words) > 2:
        raise ToolError("A range is one revision or two", hint="Write main..feature")
    if repository.is_bare and not words:
        raise ToolError("A bare repository has no files to compare", hint="Give a range, such as HEAD~1..HEAD")
    # Without the end of options a revision is checked against file names, which may be the same word.
    return [*(["--cached"] if staged else []), "--end-of-options", *words]


def _read_counts(answer: GitAnswer) -> list[_Counted]:
    counted: list[_Counted] = []
    records = iter(answer.records())
    for record in records:
        fields = record.split("\t", 2)
        if len(fields) < 3:
            continue
        name = fields[2]
        if not name:  # a rename: the old and the new name follow
            next(records, "")
            name = next(records, "")
        counted.append(_Counted(shown_name(name), _number(fields[0]), _number(fields[1])))
    return counted


def _number(text: str) -> int | None:
    return int(text) if text.isdigit() else None


def _file_lines(counted: Sequence[_Counted]) -> list[str]:
    lines = [
        f"  {file.name}  " + ("binary" if file.added is None else f"+{file.added} -{file.removed}")
        for file in counted[:_SHOWN_FILES]
    ]
    more = len(counted) - _SHOWN_FILES
    return lines + ([f"  … and {more} more"] if more > 0 else [])


def _cut_patch(answer: GitAnswer) -> str:
    """As many whole files as there is room for; of the first one a part when it alone is too big."""
    text = _readable(answer.raw)
    if len(text) <= _PATCH_CHARACTERS and not answer.left_out_bytes:
        return text.rstrip("\n")
    starts = [match.start() for match in _FILE_START.finditer(text)] or [0]
    whole = [start for start in starts[1:] if start <= _PATCH_CHARACTERS]
    end = whole[-1] if whole else text.rfind("\n", 0, _PATCH_CHARACTERS) + 1 or _PATCH_CHARACTERS
    rest = text[end:]
    files = sum(1 for start in starts if start >= end)
    parts = [*(["the rest of this file"] if not whole else []), *([count_of(files, "file")] if files else [])]
    lines = count_of(rest.count("\n"), "line")
    left = f"{' and '.join(parts)}, {'more than ' if answer.left_out_bytes else ''}{lines}"
    return f"{text[:end].rstrip()}\n[left out: {left}; name paths to see them]"


def _readable(raw: bytes) -> str:
    """The patch as text. Line ends are shown where only some lines have Windows ones, since they are the difference."""
    text = raw.decode("utf-8", "replace")
    lines = text.split("\n")
    body = [line for line in lines if line[:1] in "+-" and not line.startswith(("+++ ", "--- ")) and line]
    windows = sum(1 for line in body if line.endswith("\r"))
    if 0 < windows < len(body):
        text = "\n".join(f"{line[:-1]}␍" if line.endswith("\r") else line for line in lines)
    return strip_invisible(text.replace("\r\n", "\n").replace("\r", "␍"))[0]
