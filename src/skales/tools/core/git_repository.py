"""Finds the repository a git tool is asked about, and runs git in it so that reading never runs the repository's code.

A repository is foreign data: its configuration names programs for filters, diffs, monitors, hooks and transports. The
reading tools switch all of them off. Committing and pushing run hooks, which are the person's wish. Spec: tools.md.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field, structs

from skales.core.errors import ToolError, ToolRefusedError
from skales.tools.context import ToolContext
from skales.tools.file.reach import require_allowed
from skales.tools.system.confined import run_confined
from skales.tools.system.output import render_output

_READ_LIMIT_S = 60.0
# Neither filters by name nor hooks can be switched off wholesale by one option; the former are found per repository.
_QUIET: Mapping[str, str] = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.askPass": "",
    "core.quotePath": "false",
    "core.safecrlf": "false",
    "core.editor": "true",
    "credential.helper": "",
    "diff.external": "",
    "log.showSignature": "false",
    "color.ui": "false",
    "submodule.recurse": "false",
}
_READ_WORDS = (
    "--no-pager",
    "--no-optional-locks",
    *(word for name, value in _QUIET.items() for word in ("-c", f"{name}={value}")),
)
_FILTERS = r"^filter\..*\.(clean|smudge|process|required)$"
# A partial clone would fetch what it lacks, by a program that its configuration names.
_READ_ENVIRONMENT: Mapping[str, str] = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
}
_PLAIN_ENVIRONMENT: Mapping[str, str] = {
    "LC_ALL": "C.UTF-8",
    "LANGUAGE": "en",
    "GIT_EDITOR": "true",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "GIT_TERMINAL_PROMPT": "0",
    "GCM_INTERACTIVE": "never",
}
# Both outputs of a program come as one; a warning then stands before a record.
_ASIDE = re.compile(rb"\A(?:(?:warning|hint|advice): [^\n]*\n)+")
_DUBIOUS = re.compile(r"dubious ownership in repository at '([^\n]*)'")
# A revision may hold nearly anything, but no option and nothing that ends a word.
_REVISION = re.compile(r"[^-\s\x00-\x1f\x7f][^\s\x00-\x1f\x7f]{0,199}")


class Repository(Struct, frozen=True):
    """A repository that tools may use. `top` holds its files; for a bare one it is the repository itself."""

    top: Path
    git_folder: Path
    is_bare: bool
    guards: tuple[str, ...] = ()


class GitCall(Struct, frozen=True):
    """A command for git: its words, how long it may take, and what it is told beyond what git always is.

    `reads` are places that it needs besides those that tools may use.
    """

    words: Sequence[str]
    limit_s: float = _READ_LIMIT_S
    network: bool = False
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    reads: tuple[Path, ...] = ()


class GitAnswer(Struct, frozen=True):
    """What git printed, both outputs as one. `left_out_bytes` are missing behind `raw`."""

    exit_code: int
    raw: bytes
    left_out_bytes: int

    def text(self) -> str:
        """The output as text for people."""
        return render_output(self.raw)

    def records(self) -> list[str]:
        """The pieces between NUL characters; names that are no UTF-8 keep their bytes as Python does."""
        pieces = self.raw.split(b"\0")
        # What is behind the last NUL is no record, or one that was cut.
        return [_ASIDE.sub(b"", piece).decode("utf-8", "surrogateescape") for piece in pieces[:-1]]


async def find_repository(ctx: ToolContext, path: Path | None) -> Repository:
    """The repository a folder (or file) is in, the workspace without one.

    Raises ToolError when there is none or git does not trust it, ToolRefusedError when it lies outside the rules.
    """
    start = path or ctx.paths.workspace
    folder = start if start.is_dir() else start.parent
    seen = await _ask(ctx, folder, "--is-bare-repository", "--is-inside-work-tree", "--absolute-git-dir")
    bare, inside, git_text = [*seen.split("\n", 2), "", ""][:3]
    git_folder = Path(git_text)
    shared = Path(await _ask(ctx, folder, "--path-format=absolute", "--git-common-dir"))
    is_bare = bare == "true"
    if not is_bare and inside != "true":
        raise ToolError(f"{str(folder)!r} is inside a .git folder", hint="Name the folder of the project itself")
    top = git_folder if is_bare else Path(await _ask(ctx, folder, "--show-toplevel"))
    for place in (top, git_folder, shared):
        _require_inside(ctx, place)
    return Repository(top, git_folder, is_bare, await _filter_guards(ctx, folder))


async def read_git(ctx: ToolContext, repository: Repository, *words: str) -> GitAnswer:
    """Run a reading command; nothing that the repository's configuration names is started. Raises ToolError."""
    return _require_read(repository.top, await _run(ctx, repository.top, _reading((*repository.guards, *words))))


async def change_git(ctx: ToolContext, repository: Repository, call: GitCall) -> GitAnswer:
    """Run a command that changes something, with the person's hooks and helpers, but without questions. Any exit."""
    words = ("--no-pager", "-c", "color.ui=false", "-c", "core.quotePath=false", *call.words)
    return await _run(ctx, repository.top, structs.replace(call, words=words))


def require_success(answer: GitAnswer, message: str, hint: str = "") -> GitAnswer:
    """The answer when git was content. Raises ToolError with git's own words as the hint."""
    if answer.exit_code:
        raise ToolError(message, hint=said_by_git(answer) or hint, code="git")
    return answer


def said_by_git(answer: GitAnswer) -> str:
    """The last lines of what git said, without its labels."""
    lines = [line.strip() for line in answer.text().splitlines() if line.strip()]
    told = [re.sub(r"^(?:fatal|error): ", "", line) for line in lines if not line.startswith("hint:")]
    return " ".join(told[-8:])[:1000].rstrip(".")


def require_revision(text: str) -> str:
    """A revision or range as git may be given it. Raises ToolError for what could be an option or several words."""
    if not _REVISION.fullmatch(text):
        raise ToolError(f"{text[:80]!r} is no revision", hint="Use a branch, a tag, a hash, HEAD~2 or main..feature")
    return text


def file_arguments(ctx: ToolContext, repository: Repository, paths: Sequence[Path]) -> list[str]:
    """`-- paths…` for git: exactly these, and never what is closed to tools."""
    for path in paths:
        if not path.is_relative_to(repository.top):
            raise ToolError(f"{str(path)!r} is not in the repository {str(repository.top)!r}", hint="Name files in it")
    wanted = [f":(top,literal){_inner(path, repository)}" for path in paths] or [":(top)"]
    closed = [place for place in ctx.paths.blocked if place.is_relative_to(repository.top)]
    return ["--", *wanted, *(f":(top,literal,exclude){_inner(place, repository)}" for place in closed)]


def _inner(path: Path, repository: Repository) -> str:
    inner = path.relative_to(repository.top).as_posix()
    return "" if inner == "." else inner


async def _ask(ctx: ToolContext, folder: Path, *words: str) -> str:
    answer = _require_read(folder, await _run(ctx, folder, _reading(("rev-parse", *words))))
    return _ASIDE.sub(b"", answer.raw).decode("utf-8", "surrogateescape").removesuffix("\n")


async def _filter_guards(ctx: ToolContext, folder: Path) -> tuple[str, ...]:
    """Options that switch off the filters a repository brings along; those of the person's own settings stay."""
    words = ("config", "--name-only", "--show-scope", "-z", "--get-regexp", _FILTERS)
    answer = await _run(ctx, folder, _reading(words))
    found = answer.records()
    if answer.exit_code not in (0, 1):
        raise ToolError("The configuration of the repository cannot be read", hint=said_by_git(answer), code="git")
    own = [name for scope, name in zip(found[::2], found[1::2], strict=False) if scope in ("local", "worktree")]
    off = [f"{name}={'false' if name.endswith('.required') else ''}" for name in own]
    return tuple(word for setting in off for word in ("-c", setting))


def _require_inside(ctx: ToolContext, place: Path) -> None:
    try:
        require_allowed(place.resolve(), ctx.paths)
    except ToolRefusedError as error:
        raise ToolRefusedError(f"The repository reaches to a place that is not allowed: {error.message}") from error


def _reading(words: Sequence[str]) -> GitCall:
    return GitCall((*_READ_WORDS, *words), environment=_READ_ENVIRONMENT)


async def _run(ctx: ToolContext, folder: Path, call: GitCall) -> GitAnswer:
    ended = await run_confined(
        ctx,
        ("git", *call.words),
        folder,
        limit_s=call.limit_s,
        network=call.network,
        environment={**_PLAIN_ENVIRONMENT, **call.environment},
        reads=call.reads,
    )
    if ended.timed_out:
        raise ToolError("git was not done in time and was ended", hint="Try a smaller part", code="timeout")
    if ended.left_out_bytes:
        return GitAnswer(ended.exit_code, ended.head, ended.left_out_bytes + len(ended.tail))
    return GitAnswer(ended.exit_code, ended.head + ended.tail, 0)


def _require_read(folder: Path, answer: GitAnswer) -> GitAnswer:
    if not answer.exit_code:
        return answer
    said = answer.text()
    if dubious := _DUBIOUS.search(said):
        raise ToolError(
            f"git does not trust the repository {dubious[1]!r}, because it belongs to another user",
            hint=f"If it is yours, run in a terminal: git config --global --add safe.directory {dubious[1]!r}",
            code="dubious_ownership",
        )
    if "not a git repository" in said:
        raise ToolError(
            f"{str(folder)!r} is not in a git repository",
            hint="list_projects shows where there are some",
            code="no_repository",
        )
    raise ToolError("git could not do this", hint=said_by_git(answer), code="git")
