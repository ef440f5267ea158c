"""The tool `git_status`: branch, what is staged, changed and unknown, and what is under way, in few words."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, field

from skales.core.json import JsonObject
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.core.git_repository import Repository, find_repository, read_git
from skales.tools.define import tool
from skales.tools.file.wording import count_of, shown_name, shown_path

_SHOWN_FILES = 100
_KINDS = {"M": "modified", "T": "type changed", "A": "added", "D": "deleted", "R": "renamed", "C": "copied"}
_CONFLICTS = {
    "DD": "deleted by both", "AU": "added by us", "UD": "deleted by them", "UA": "added by them",
    "DU": "deleted by us", "AA": "added by both", "UU": "modified by both",
}  # fmt: skip
# What lies in the git folder while something is under way, and its name.
_UNDER_WAY = {
    "MERGE_HEAD": "A merge", "rebase-merge": "A rebase", "rebase-apply": "A rebase",
    "CHERRY_PICK_HEAD": "A cherry-pick", "REVERT_HEAD": "A revert", "BISECT_LOG": "A bisect",
}  # fmt: skip


class GitState(Struct):
    """What `git status` says. File lists hold `kind  name` lines, `conflicts` kind by name as it is on the disk.

    `branch` is empty for a detached HEAD.
    """

    branch: str = ""
    commit: str = ""
    upstream: str = ""
    ahead: int | None = None
    behind: int | None = None
    staged: list[str] = field(default_factory=list[str])
    changed: list[str] = field(default_factory=list[str])
    unknown: list[str] = field(default_factory=list[str])
    conflicts: dict[str, str] = field(default_factory=dict[str, str])
    is_cut: bool = False

    @property
    def is_clean(self) -> bool:
        """Whether nothing differs from the last commit."""
        return not (self.staged or self.changed or self.unknown or self.conflicts)


@tool(
    "core",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    Effect.UNTRUSTED_OUTPUT,
    action="Show the git state[ of {path}]",
    example=("What have I changed in the shop project?", {"path": "projects/shop"}),
    found_by=(
        "uncommitted changed files Änderungen Stand Repository branch staged geändert changes pending offen "
        "repo dirty clean unversioniert"
    ),
)
async def git_status(ctx: ToolContext, path: Path | None = None) -> ToolResult:
    """See a git repository's branch and its staged, changed, untracked and conflicting files.

    Args:
        path: Folder in the repository; the workspace when left out.
    """
    repository = await find_repository(ctx, path)
    if repository.is_bare:
        text = f"{shown_path(ctx, repository.top)} is a bare repository: it has history, but no files to change."
        return ToolResult(text=text, summary=text, data={"bare": True})
    state = await read_state(ctx, repository)
    under_way = find_under_way(repository)
    lines = [f"{shown_path(ctx, repository.top)}: {_branch_line(state)}"]
    if under_way:
        lines.append(f"{under_way} is under way.")
    lines += _section("Conflicts", [f"{kind}  {shown_name(name)}" for name, kind in state.conflicts.items()])
    lines += _section("Staged", state.staged)
    lines += _section("Not staged", state.changed) + _section("Untracked", state.unknown)
    if state.is_clean:
        lines.append("Nothing to commit.")
    if state.is_cut:
        lines.append("There is more than could be read.")
    return ToolResult(text="\n".join(lines), summary=f"{lines[0]}; {_counts(state)}", data=_data(state, under_way))


async def read_state(ctx: ToolContext, repository: Repository) -> GitState:
    """The state of a repository with files. Raises ToolError."""
    answer = await read_git(
        ctx,
        repository,
        *("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--ignore-submodules=dirty"),
    )
    state = GitState(is_cut=answer.left_out_bytes > 0)
    records = iter(answer.records())
    for record in records:
        match record[:2]:
            case "# ":
                _read_header(state, record)
            case "1 ":
                _read_change(state, record.split(" ", 8), "")
            case "2 ":
                _read_change(state, record.split(" ", 9), next(records, ""))
            case "u ":
                fields = record.split(" ", 10)
                state.conflicts[fields[10]] = _CONFLICTS.get(fields[1], "conflict")
            case "? ":
                state.unknown.append(shown_name(record[2:]))
            case _:
                pass
    return state


def find_under_way(repository: Repository) -> str:
    """`A merge` and the like; empty when nothing is under way."""
    return next((name for file, name in _UNDER_WAY.items() if (repository.git_folder / file).exists()), "")


def _read_header(state: GitState, record: str) -> None:
    match record.split(" ", 2):
        case ["#", "branch.oid", value]:
            state.commit = "" if value == "(initial)" else value[:10]
        case ["#", "branch.head", value]:
            state.branch = "" if value == "(detached)" else value
        case ["#", "branch.upstream", value]:
            state.upstream = value
        case ["#", "branch.ab", value]:
            ahead, _, behind = value.partition(" ")
            state.ahead, state.behind = int(ahead), -int(behind)
        case _:
            pass


def _read_change(state: GitState, fields: Sequence[str], old_name: str) -> None:
    staged, changed, name = fields[1][:1], fields[1][1:], shown_name(fields[-1])
    part = " (submodule)" if fields[2].startswith("S") else ""
    if staged != ".":
        kind = _KINDS.get(staged, staged)
        state.staged.append(f"{kind}  {name} from {shown_name(old_name)}" if old_name else f"{kind}  {name}{part}")
    if changed != ".":
        state.changed.append(f"{_KINDS.get(changed, changed)}  {name}{part}")


def _branch_line(state: GitState) -> str:
    where = f"branch {state.branch}" if state.branch else f"detached at {state.commit}"
    if not state.commit:
        return f"{where}, no commits yet"
    if not state.upstream:
        return f"{where}, no upstream" if state.branch else where
    if state.ahead is None or state.behind is None:
        return f"{where}, upstream {state.upstream} is gone"
    if not state.ahead and not state.behind:
        return f"{where}, up to date with {state.upstream}"
    counts = [f"{state.ahead} ahead"] * bool(state.ahead) + [f"{state.behind} behind"] * bool(state.behind)
    return f"{where}, {' and '.join(counts)} of {state.upstream}"


def _section(title: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    more = len(names) - _SHOWN_FILES
    return [f"{title} ({len(names)}):", *(f"  {name}" for name in names[:_SHOWN_FILES])] + (
        [f"  … and {more} more"] if more > 0 else []
    )


def _counts(state: GitState) -> str:
    if state.is_clean:
        return "nothing to commit"
    groups = {
        "conflict": len(state.conflicts),
        "staged file": len(state.staged),
        "changed file": len(state.changed),
        "untracked file": len(state.unknown),
    }
    return ", ".join(count_of(number, words) for words, number in groups.items() if number)


def _data(state: GitState, under_way: str) -> JsonObject:
    return {
        "bare": False,
        "branch": state.branch or None,
        "commit": state.commit or None,
        "upstream": state.upstream or None,
        "ahead": state.ahead,
        "behind": state.behind,
        "staged": len(state.staged),
        "changed": len(state.changed),
        "untracked": len(state.unknown),
        "conflicts": len(state.conflicts),
        "under_way": under_way or None,
    }
