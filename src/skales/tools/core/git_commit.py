"""The tool `git_commit`: commits what is staged, or the named files, and shows what the commit holds."""

from collections.abc import Sequence
from pathlib import Path, PurePath

from skales.core.errors import InputError, ToolError
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.core.git_repository import (
    GitCall,
    Repository,
    change_git,
    file_arguments,
    find_repository,
    read_git,
    require_success,
)
from skales.tools.core.git_status import GitState, find_under_way, read_state
from skales.tools.define import LinkPath, tool
from skales.tools.file.secret_names import is_secret_name
from skales.tools.file.wording import count_of, shown_name

# Hooks check, format and test.
_COMMIT_LIMIT_S = 600.0
_MESSAGE_CHARACTERS = 20_000
_SHOWN_FILES = 50
_MARKERS = (b"<<<<<<< ", b">>>>>>> ")
_MARKED_BYTES = 5_000_000


@tool(
    "core",
    Safety.CONFIRM,
    Effect.READS_PRIVATE,
    Effect.WRITES,
    action="Commit {message}[ with {paths}][, all tracked changes: {all_tracked}][ in {path}]",
    example=(
        "Commit the new price list",
        {"message": "Raise prices for 2027", "path": "projects/shop", "paths": ["projects/shop/prices.csv"]},
    ),
    found_by=(
        "einchecken committen save changes Änderungen festhalten repository version commit Nachricht message "
        "sensible check committe"
    ),
)
async def git_commit(
    ctx: ToolContext,
    message: str,
    path: Path | None = None,
    paths: Sequence[LinkPath] = (),
    all_tracked: bool = False,
) -> ToolResult:
    """Commit staged changes, or the named files, to a git repository's current branch.

    Args:
        message: A short first line; details after a blank line.
        path: Folder in the repository; the workspace when left out.
        paths: Commit exactly these files or folders, new ones too; what is staged when left out.
        all_tracked: Commit every change to files git knows already.
    """
    _require_message(message)
    if paths and all_tracked:
        raise InputError("Either named files or all tracked changes can be committed", hint="Leave one out")
    repository = await find_repository(ctx, path)
    if repository.is_bare:
        raise ToolError("A bare repository has no files to commit", hint="Commit in a clone of it")
    state = await read_state(ctx, repository)
    _require_resolved(state, repository, paths)
    files = await _stage(ctx, repository, state, paths, all_tracked=all_tracked)
    words = ["commit", "--quiet", "--cleanup=whitespace", f"--message={message}", *files]
    answer = await change_git(ctx, repository, GitCall(words, _COMMIT_LIMIT_S))
    if answer.exit_code and "tell me who you are" in answer.text():
        raise ToolError(
            "git does not know who commits",
            hint='Run in a terminal: git config --global user.name "…", and the same with user.email',
            code="no_identity",
        )
    require_success(answer, "The commit was not made", "A hook of the repository refused it")
    return await _show(ctx, repository, message)


def _require_message(message: str) -> None:
    if not message.strip():
        raise InputError("A commit needs a message", hint="Say in a few words what changed and why")
    if len(message) > _MESSAGE_CHARACTERS:
        raise InputError(f"The message is longer than {_MESSAGE_CHARACTERS:,} characters", hint="Say it shorter")


def _require_resolved(state: GitState, repository: Repository, paths: Sequence[Path]) -> None:
    """Conflicts must be gone from the files; naming the files then says that they are."""
    for name in state.conflicts:
        file = repository.top / name
        if not any(file == path or file.is_relative_to(path) for path in paths):
            raise ToolError(
                f"{name!r} has a conflict", hint="Edit it, then commit it by naming it in paths", code="conflict"
            )
        if _has_markers(file):
            raise ToolError(
                f"{name!r} still holds conflict markers", hint="Choose one side and remove the markers", code="conflict"
            )


def _has_markers(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            content = stream.read(_MARKED_BYTES)
    except OSError:  # deleted, which is a way to solve a conflict
        return False
    return any(line.startswith(_MARKERS) for line in content.splitlines())


async def _stage(
    ctx: ToolContext, repository: Repository, state: GitState, paths: Sequence[Path], *, all_tracked: bool
) -> list[str]:
    """What to add to the command for the wanted files. Raises ToolError when there would be nothing in the commit."""
    is_merge = bool(find_under_way(repository))
    if paths:
        files = file_arguments(ctx, repository, paths)
        added = await change_git(ctx, repository, GitCall(["add", "--all", *files]))
        require_success(added, "The files could not be staged")
        if is_merge:
            return []  # a merge is committed whole
        quiet = await change_git(ctx, repository, GitCall(["diff", "--cached", "--quiet", "--no-ext-diff", *files]))
        if quiet.exit_code == 0:
            raise _nothing(state, "There is nothing to commit: these files hold no change")
        return ["--only", *files]
    if not state.staged and not is_merge and not (all_tracked and state.changed):
        if all_tracked:
            raise _nothing(state, "There is nothing to commit: no tracked file has changed")
        raise _nothing(state, "There is nothing to commit: nothing is staged")
    return ["--all"] if all_tracked else []


def _nothing(state: GitState, message: str) -> ToolError:
    open_changes = len(state.changed) + len(state.unknown)
    hint = f"Name files in paths; {count_of(open_changes, 'file')} could be" if open_changes else "All is committed"
    return ToolError(message, hint=hint, code="nothing_to_commit")


async def _show(ctx: ToolContext, repository: Repository, message: str) -> ToolResult:
    """What the new commit holds; asked of git, not taken from what was wanted."""
    commit = (await read_git(ctx, repository, "rev-parse", "--short=10", "HEAD")).text().strip()
    plain = ("--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-renames")
    held = await read_git(ctx, repository, "show", "--format=", "--name-status", "-z", "--first-parent", *plain, "HEAD")
    records = held.records()
    names = records[1::2]
    lines = [f"  {kind}  {shown_name(name)}" for kind, name in zip(records[::2], names, strict=False)]
    state = await read_state(ctx, repository)
    where = f"on {state.branch}" if state.branch else "on no branch (detached HEAD)"
    first = message.strip().splitlines()[0]
    head = f"Committed {commit} {where}: {shown_name(first)} ({count_of(len(names), 'file')})"
    notes = [f"  … and {len(lines) - _SHOWN_FILES} more"] if len(lines) > _SHOWN_FILES else []
    if secret := [name for name in names if is_secret_name(PurePath(name))]:
        notes.append(f"These look like files with keys or passwords: {', '.join(map(shown_name, secret[:5]))}")
    return ToolResult(
        text="\n".join([head, *lines[:_SHOWN_FILES], *notes]),
        summary=head,
        data={"commit": commit, "branch": state.branch or None, "files": len(names)},
    )
