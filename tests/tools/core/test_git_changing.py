import os
from pathlib import Path

import pytest

from skales.core.errors import ToolError, ToolRefusedError
from skales.security.network import NetworkPolicy
from tests.tools.conftest import Call, Rules
from tests.tools.core.gitting import git, make_repository

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without settings for git."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return home


@pytest.fixture
def shop(workspace: Path) -> Path:
    return make_repository(workspace / "shop", a_txt="one\n", b_txt="b\n")


@pytest.fixture
def remote(shop: Path, workspace: Path) -> Path:
    """A bare repository that the shop calls origin."""
    git(workspace, "init", "--quiet", "--bare", "remote.git")
    git(shop, "remote", "add", "origin", str(workspace / "remote.git"))
    return workspace / "remote.git"


def files_of(folder: Path, revision: str = "HEAD") -> list[str]:
    return git(folder, "show", "--format=", "--name-only", revision).split()


# --- git_commit ---


async def test_what_is_staged_is_committed_and_nothing_else(call: Call, shop: Path) -> None:
    (shop / "a.txt").write_text("two\n", encoding="utf-8")
    (shop / "b.txt").write_text("not this\n", encoding="utf-8")
    git(shop, "add", "a.txt")
    result = await call("git_commit", path="shop", message="Count on\n\nFor a reason")
    commit = git(shop, "rev-parse", "--short=10", "HEAD").strip()
    assert result.text == f"Committed {commit} on main: Count on (1 file)\n  M  a.txt"
    assert git(shop, "log", "-1", "--format=%B").strip() == "Count on\n\nFor a reason"
    assert git(shop, "status", "--porcelain") == " M b.txt\n"


async def test_named_files_are_committed_alone(call: Call, shop: Path) -> None:
    (shop / "a.txt").write_text("staged, but not named\n", encoding="utf-8")
    git(shop, "add", "a.txt")
    (shop / "new file\n.txt").write_text("n\n", encoding="utf-8")
    (shop / "b.txt").unlink()
    await call("git_commit", path="shop", message="Two", paths=["shop/new file\n.txt", "shop/b.txt"])
    assert git(shop, "show", "--format=", "--name-status", "-z") == "D\0b.txt\0A\0new file\n.txt\0"
    assert git(shop, "status", "--porcelain") == "M  a.txt\n"


async def test_all_tracked_changes_when_asked(call: Call, shop: Path) -> None:
    (shop / "a.txt").write_text("two\n", encoding="utf-8")
    (shop / "new.txt").touch()
    await call("git_commit", path="shop", message="All", all_tracked=True)
    assert files_of(shop) == ["a.txt"]
    with pytest.raises(ToolError, match="Either named files"):
        await call("git_commit", path="shop", message="x", all_tracked=True, paths=["shop/new.txt"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "Nothing is staged"), ({"all_tracked": True}, "No tracked file"), ({"paths": ["shop/a.txt"]}, "no change"),
    ],
)  # fmt: skip
async def test_nothing_to_commit_is_refused(call: Call, shop: Path, arguments: dict[str, bool], words: str) -> None:
    before = git(shop, "rev-parse", "HEAD")
    with pytest.raises(ToolError, match=f"(?i)nothing to commit: .*{words}") as caught:
        await call("git_commit", path="shop", message="x", **arguments)
    assert caught.value.code == "nothing_to_commit"
    assert git(shop, "rev-parse", "HEAD") == before


async def test_a_hook_of_the_person_runs_and_may_refuse(call: Call, shop: Path) -> None:
    hook = shop / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\necho 'style is wrong' >&2\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)
    (shop / "a.txt").write_text("two\n", encoding="utf-8")
    with pytest.raises(ToolError, match="was not made") as caught:
        await call("git_commit", path="shop", message="x", all_tracked=True)
    assert "style is wrong" in caught.value.hint
    assert git(shop, "rev-list", "--count", "HEAD").strip() == "1"


async def test_the_first_commit(call: Call, workspace: Path) -> None:
    fresh = make_repository(workspace / "fresh")
    (fresh / "a").write_text("a", encoding="utf-8")
    result = await call("git_commit", path="fresh", message="Begin", paths=["fresh"])
    assert result.text.endswith("Begin (1 file)\n  A  a")


async def test_somebody_without_a_name_is_told_how_to_get_one(call: Call, shop: Path) -> None:
    git(shop, "config", "--unset", "user.name")
    git(shop, "config", "--unset", "user.email")
    git(shop, "config", "user.useConfigOnly", "true")
    (shop / "a.txt").write_text("two\n", encoding="utf-8")
    with pytest.raises(ToolError, match="does not know who commits"):
        await call("git_commit", path="shop", message="x", all_tracked=True)


async def test_conflicts_must_be_solved_first(call: Call, shop: Path) -> None:
    git(shop, "checkout", "--quiet", "-b", "other")
    (shop / "a.txt").write_text("theirs\n", encoding="utf-8")
    git(shop, "commit", "--quiet", "-am", "theirs")
    git(shop, "checkout", "--quiet", "main")
    (shop / "a.txt").write_text("ours\n", encoding="utf-8")
    git(shop, "commit", "--quiet", "-am", "ours")
    git(shop, "merge", "other", check=False)
    with pytest.raises(ToolError, match=r"'a\.txt' has a conflict"):
        await call("git_commit", path="shop", message="merge")
    with pytest.raises(ToolError, match="still holds conflict markers"):
        await call("git_commit", path="shop", message="merge", paths=["shop/a.txt"])
    (shop / "a.txt").write_text("both\n", encoding="utf-8")
    await call("git_commit", path="shop", message="merge", paths=["shop/a.txt"])
    assert len(git(shop, "log", "-1", "--format=%P").split()) == 2


async def test_files_with_keys_are_pointed_out(call: Call, shop: Path) -> None:
    (shop / ".env").write_text("KEY=1\n", encoding="utf-8")
    result = await call("git_commit", path="shop", message="x", paths=["shop/.env"])
    assert "look like files with keys or passwords: .env" in result.text


async def test_a_link_is_committed_as_a_link(call: Call, shop: Path) -> None:
    (shop / "link").symlink_to("a.txt")
    result = await call("git_commit", path="shop", message="x", paths=["shop/link"])
    assert "  A  link" in result.text


@pytest.mark.parametrize("message", ["", "  \n", "x" * 20_001])
async def test_a_message_has_words_and_an_end(call: Call, shop: Path, message: str) -> None:
    with pytest.raises(ToolError):
        await call("git_commit", path="shop", message=message)


async def test_a_message_is_no_option(call: Call, shop: Path) -> None:
    (shop / "a.txt").write_text("two\n", encoding="utf-8")
    await call("git_commit", path="shop", message="--amend\n# kept", all_tracked=True)
    assert git(shop, "log", "-1", "--format=%B").strip() == "--amend\n# kept"
    assert git(shop, "rev-list", "--count", "HEAD").strip() == "2"


async def test_files_of_another_repository_are_refused(call: Call, shop: Path, workspace: Path) -> None:
    (workspace / "other.txt").touch()
    with pytest.raises(ToolError, match="is not in the repository"):
        await call("git_commit", path="shop", message="x", paths=["other.txt"])


# --- git_push ---


async def test_the_branch_is_pushed_and_then_followed(call: Call, shop: Path, remote: Path) -> None:
    result = await call("git_push", path="shop")
    assert result.text.splitlines()[0] == "Pushed main to origin"
    assert git(remote, "rev-parse", "main") == git(shop, "rev-parse", "HEAD")
    git(shop, "commit", "--quiet", "--allow-empty", "--message=more")
    assert (await call("git_push", path="shop")).summary == "Pushed main to origin (1 commit)"
    result = await call("git_push", path="shop")
    assert result.summary == "main is up to date on origin; nothing was sent"
    assert result.data == {"branch": "main", "remote": "origin", "sent": False}


async def test_a_push_never_forces_even_when_configured(call: Call, shop: Path, remote: Path, workspace: Path) -> None:
    await call("git_push", path="shop")
    git(workspace, "clone", "--quiet", str(remote), "clone")
    git(workspace / "clone", "checkout", "--quiet", "-B", "main", "origin/main")
    git(workspace / "clone", "commit", "--quiet", "--allow-empty", "--message=theirs")
    git(workspace / "clone", "push", "--quiet", "origin", "main")
    theirs = git(remote, "rev-parse", "main")
    git(shop, "commit", "--quiet", "--allow-empty", "--message=ours")
    git(shop, "config", "remote.origin.push", "+refs/heads/*:refs/heads/*")
    git(shop, "config", "remote.origin.mirror", "true")
    with pytest.raises(ToolError, match="holds commits of main that are not here") as caught:
        await call("git_push", path="shop")
    assert caught.value.code == "not_fast_forward"
    assert git(remote, "rev-parse", "main") == theirs


async def test_a_hook_of_the_remote_may_refuse(call: Call, shop: Path, remote: Path) -> None:
    hook = remote / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'closed for the weekend'\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)
    with pytest.raises(ToolError) as caught:
        await call("git_push", path="shop")
    assert "closed for the weekend" in str(caught.value) or "hook declined" in str(caught.value)


async def test_without_a_remote_or_branch_nothing_is_pushed(call: Call, shop: Path, workspace: Path) -> None:
    with pytest.raises(ToolError, match="has no remote"):
        await call("git_push", path="shop")
    git(shop, "remote", "add", "one", str(workspace / "1.git"))
    git(shop, "remote", "add", "two", str(workspace / "2.git"))
    with pytest.raises(ToolError, match="several remotes"):
        await call("git_push", path="shop")
    with pytest.raises(ToolError, match="no remote 'https://evil"):
        await call("git_push", path="shop", remote="https://evil.example/x")
    git(shop, "checkout", "--quiet", "--detach")
    with pytest.raises(ToolError, match="No branch is checked out"):
        await call("git_push", path="shop")


@pytest.mark.parametrize(
    "address",
    [
        "http://169.254.169.254/x.git", "https://[fe80::1]/x.git", "ssh://git@169.254.169.254/x.git",
        "git@169.254.169.254:x.git", "git://metadata.google.internal/x.git", "ext::sh -c touch% /tmp/x",
        "ftp://example.org/x.git", "/etc/x.git", "../../outside.git", "file:///etc/x.git", "ssh://-oProxyCommand=x/y",
    ],
)  # fmt: skip
async def test_where_a_remote_leads_is_judged(call: Call, shop: Path, address: str) -> None:
    git(shop, "remote", "add", "origin", address)
    with pytest.raises(ToolRefusedError):
        await call("git_push", path="shop")


async def test_an_instead_of_rule_is_followed_before_judging(call: Call, shop: Path) -> None:
    git(shop, "remote", "add", "origin", "nice:x.git")
    git(shop, "config", "url.http://169.254.169.254/.pushInsteadOf", "nice:")
    with pytest.raises(ToolRefusedError, match=r"link-local|metadata"):
        await call("git_push", path="shop")


async def test_this_computer_needs_the_setting(call: Call, shop: Path, rules: Rules) -> None:
    rules.network = NetworkPolicy(allow_loopback=False)
    git(shop, "remote", "add", "origin", "http://localhost:9/x.git")
    with pytest.raises(ToolRefusedError, match="allowLoopback"):
        await call("git_push", path="shop")


async def test_a_password_in_an_address_is_not_told(call: Call, shop: Path) -> None:
    git(shop, "remote", "add", "origin", "http://ada:hunter2hunter2@127.0.0.1:9/x.git")
    with pytest.raises(ToolError) as caught:
        await call("git_push", path="shop")
    assert "hunter2" not in str(caught.value)
    assert not os.environ.get("GIT_ASKPASS")
