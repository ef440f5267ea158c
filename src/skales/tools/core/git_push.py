"""The tool `git_push`: sends the current branch to a remote of its repository; never forces, never sends elsewhere.

Where a remote leads is judged before: hosts by the network rules, folders by the path rules.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from skales.core.errors import InputError, ToolError, ToolRefusedError
from skales.core.tool import Effect, Safety, ToolResult
from skales.security.secret_urls import mask_urls
from skales.tools.binding import allowed_path
from skales.tools.context import ToolContext
from skales.tools.core.git_repository import (
    GitAnswer,
    GitCall,
    Repository,
    change_git,
    find_repository,
    read_git,
    said_by_git,
)
from skales.tools.core.git_status import GitState, read_state
from skales.tools.define import tool
from skales.tools.file.wording import count_of, shown_name
from skales.tools.remote.hosts import judge_host, resolve_judged
from skales.tools.system.confined import run_confined
from skales.tools.web.client import find_proxy

_PUSH_LIMIT_S = 600.0
_MASK = "•••"
_HELPER = re.compile(r"[A-Za-z0-9+.-]+::")
_WINDOWS_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
# `user@host:path`; a slash before the colon makes it a path.
_SHORT_SSH = re.compile(r"(?:[^@/\s]+@)?(\[[0-9A-Fa-f:.]+\]|[^:/\s]+):")
_PORTS = {"https": 443, "http": 80, "ssh": 22, "git+ssh": 22, "ssh+git": 22, "git": 9418}
_PROTOCOLS = "file:git:http:https:ssh"


@tool(
    "core",
    Safety.CONFIRM,
    Effect.READS_PRIVATE,
    Effect.OUTBOUND,
    Effect.UNTRUSTED_OUTPUT,
    action="Push the current branch[ to {remote}][ of {path}]",
    example=("Push my commits in shop", {"path": "projects/shop"}),
    found_by=(
        "hochladen pushen remote origin GitHub GitLab upload branch veröffentlichen push hochschieben schieb "
        "Commits online"
    ),
)
async def git_push(ctx: ToolContext, path: Path | None = None, remote: str = "") -> ToolResult:
    """Push a git repository's current branch to its remote; never forces.

    Args:
        path: Folder in the repository; the workspace when left out.
        remote: Name of a remote; the branch's own, or origin, when left out.
    """
    repository = await find_repository(ctx, path)
    branch, state = await _current_branch(ctx, repository)
    name = await _choose_remote(ctx, repository, branch, remote)
    for url in (await _lines(ctx, repository, "remote", "get-url", "--push", "--all", "--", name)) or [name]:
        await _judge_address(ctx, repository, url)
    words = [
        # The person's keys are in reach now: nothing that the repository names may run beside git.
        *("-c", f"core.hooksPath={os.devnull}", *await _own_helpers(ctx, repository)),
        *("-c", f"remote.{name}.mirror=false", "push", "--porcelain", "--no-force", "--recurse-submodules=no"),
        *(() if state.upstream else ("--set-upstream",)),
        *("--", name, f"refs/heads/{branch}:refs/heads/{branch}"),
    ]
    environment = await _push_environment(ctx, repository)
    call = GitCall(words, _PUSH_LIMIT_S, network=True, environment=environment, reads=_sign_in_places(environment))
    answer = await change_git(ctx, repository, call)
    return _result(answer, branch, name, state)


async def _current_branch(ctx: ToolContext, repository: Repository) -> tuple[str, GitState]:
    if repository.is_bare:
        raise ToolError("A bare repository is pushed to, not from", hint="Push from a clone of it")
    state = await read_state(ctx, repository)
    if not state.branch:
        raise ToolError("No branch is checked out (detached HEAD)", hint="Make a branch first: git switch -c NAME")
    if not state.commit:
        raise ToolError("There are no commits to push yet", hint="Commit something first")
    return state.branch, state


async def _choose_remote(ctx: ToolContext, repository: Repository, branch: str, wanted: str) -> str:
    remotes = await _lines(ctx, repository, "remote")
    if wanted and wanted not in remotes:
        raise ToolError(
            f"There is no remote {wanted[:80]!r}", hint=f"There are: {', '.join(remotes) or 'none'}", code="no_remote"
        )
    if not remotes:
        raise ToolError(
            "The repository has no remote",
            hint="Add one in a terminal: git remote add origin ADDRESS",
            code="no_remote",
        )
    configured = [
        value
        for key in (f"branch.{branch}.pushRemote", "remote.pushDefault", f"branch.{branch}.remote")
        for value in await _setting(ctx, repository, key)
    ]
    found = next((name for name in (wanted, *configured, "origin") if name in remotes), "")
    if found or len(remotes) == 1:
        return found or remotes[0]
    raise ToolError("There are several remotes", hint=f"Name one of: {', '.join(remotes)}", code="no_remote")


async def _judge_address(ctx: ToolContext, repository: Repository, url: str) -> None:
    """Raises ToolRefusedError when a rule forbids the place a remote leads to."""
    if _HELPER.match(url):
        raise ToolRefusedError("The remote uses a helper program, which is never started", hint="Use an https address")
    scheme, separator, _ = url.partition("://")
    if separator and scheme.lower() == "file":
        allowed_path(unquote(urlsplit(url).path), ctx.paths)
    elif separator:
        await _judge_url(ctx, url, scheme.lower())
    elif (short := _SHORT_SSH.match(url)) and not _WINDOWS_DRIVE.match(url):
        await _judge_ssh(ctx, short[1].strip("[]"), 22)
    else:
        allowed_path(str(repository.top / url), ctx.paths)


async def _judge_url(ctx: ToolContext, url: str, scheme: str) -> None:
    if scheme not in _PORTS:
        raise ToolRefusedError(f"git is not let use {scheme}: addresses", hint="Use https or ssh")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or _PORTS[scheme]
    except ValueError as error:
        raise InputError("The address of the remote cannot be read", hint="Look at it with git remote -v") from error
    if "ssh" in scheme:
        await _judge_ssh(ctx, host, port)
    elif scheme in ("http", "https") and find_proxy(scheme, host):
        judge_host(host, ctx.network)  # the proxy resolves the name
    else:
        await resolve_judged(host, port, ctx.network)


async def _judge_ssh(ctx: ToolContext, host: str, port: int) -> None:
    """The person's ssh settings may give a host another name; what counts is where it leads."""
    if host.startswith("-"):
        raise ToolRefusedError("The remote's host begins with a dash", hint="Correct it with git remote set-url")
    try:
        told = await run_confined(ctx, ("ssh", "-G", "--", host), ctx.paths.workspace, limit_s=10)
    except ToolError:
        lines = []
    else:
        lines = told.head.decode("utf-8", "replace").splitlines() if told.exit_code == 0 else []
    names = [line.removeprefix("hostname ").strip() for line in lines if line.startswith("hostname ")]
    await resolve_judged(names[0] if names else host, port, ctx.network)


async def _push_environment(ctx: ToolContext, repository: Repository) -> dict[str, str]:
    """The agent that holds the person's keys, and an ssh that asks nothing, as their own settings want it."""
    command = (await _setting(ctx, repository, "core.sshCommand", "--global") or ["ssh"])[-1]
    asks_nothing = f"{command} -oBatchMode=yes" if command.split(" ", 1)[0].endswith("ssh") else command
    agent = os.environ.get("SSH_AUTH_SOCK", "")
    return {
        "GIT_ALLOW_PROTOCOL": _PROTOCOLS,
        "GIT_SSH_COMMAND": asks_nothing,
        **({"SSH_AUTH_SOCK": agent} if agent else {}),
    }


async def _own_helpers(ctx: ToolContext, repository: Repository) -> list[str]:
    """Options that leave the person's own credential helpers and no others."""
    own = await _setting(ctx, repository, "credential.helper", "--global")
    return [word for helper in ("", *own) for word in ("-c", f"credential.helper={helper}")]


def _sign_in_places(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Where the person's keys and passwords for git lie, as far as they are there."""
    home = Path.home()
    agent = environment.get("SSH_AUTH_SOCK", "")
    places = [home / name for name in (".ssh", ".gitconfig", ".config/git", ".git-credentials", ".netrc")]
    return tuple(place for place in (*places, *((Path(agent),) if agent else ())) if place.exists())


async def _setting(ctx: ToolContext, repository: Repository, key: str, *scope: str) -> list[str]:
    try:
        return await _lines(ctx, repository, "config", *scope, "--get-all", key)
    except ToolError:
        return []  # git's exit code for a setting that is not there


async def _lines(ctx: ToolContext, repository: Repository, *words: str) -> list[str]:
    return [line for line in (await read_git(ctx, repository, *words)).text().splitlines() if line]


def _hide(_kind: str, _secret: str) -> str:
    return _MASK


def _result(answer: GitAnswer, branch: str, remote: str, state: GitState) -> ToolResult:
    said = mask_urls(answer.text(), _hide)
    rows = [line.split("\t") for line in said.splitlines() if "\t" in line and len(line.split("\t")[0]) == 1]
    flags = {row[0] for row in rows}
    if answer.exit_code or not rows or "!" in flags:
        raise _refused(said, mask_urls(said_by_git(answer), _hide), branch, remote)
    told = [line.strip() for line in said.splitlines() if line.startswith("remote: ") and line[8:].strip()][:8]
    if flags == {"="}:
        head = f"{branch} is up to date on {remote}; nothing was sent"
    else:
        commits = f" ({count_of(state.ahead, 'commit')})" if state.ahead else ""
        head = f"Pushed {shown_name(branch)} to {remote}{commits}"
    text = "\n".join([head, *told])
    return ToolResult(text=text, summary=head, data={"branch": branch, "remote": remote, "sent": flags != {"="}})


def _refused(said: str, words: str, branch: str, remote: str) -> ToolError:
    if "[rejected]" in said or "non-fast-forward" in said:
        return ToolError(
            f"{remote} holds commits of {branch} that are not here, so nothing was sent",
            hint="Fetch and merge them first; a push is never forced",
            code="not_fast_forward",
        )
    if re.search(r"could not read Username|Authentication failed|Permission denied|terminal prompts disabled", said):
        return ToolError(
            f"{remote} did not accept who pushes",
            hint="Sign in once in a terminal with git push; Skales asks for no password",
            code="auth",
        )
    return ToolError(f"{branch} was not pushed to {remote}", hint=words, code="git")
