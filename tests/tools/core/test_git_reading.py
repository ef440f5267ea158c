import os
import shutil
from pathlib import Path

import pytest

from skales.core.errors import ToolError
from skales.security.paths import PathPolicy
from tests.tools.conftest import Call, Rules
from tests.tools.core.gitting import git, make_repository

pytestmark = pytest.mark.anyio

# By our own rule, or because a sandbox does not show the place to git.
CLOSED = r"a place that is not allowed|is not in a git repository"


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
    return make_repository(workspace / "shop", a_txt="one\ntwo\n", b_txt="b\n")


def names_in(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


# --- git_status ---


async def test_a_clean_repository_says_so(call: Call, shop: Path) -> None:
    result = await call("git_status", path="shop")
    assert result.text == "shop: branch main, no upstream\nNothing to commit."
    assert result.summary == "shop: branch main, no upstream; nothing to commit"


async def test_each_kind_of_change_is_named(call: Call, shop: Path) -> None:
    (shop / "a.txt").write_text("one\nzwei\n", encoding="utf-8")
    git(shop, "mv", "b.txt", "c.txt")
    (shop / "new").mkdir()
    (shop / "new" / "x").touch()
    assert (await call("git_status", path="shop")).text.splitlines()[1:] == [
        "Staged (1):", "  renamed  c.txt from b.txt",
        "Not staged (1):", "  modified  a.txt",
        "Untracked (1):", "  new/",
    ]  # fmt: skip


async def test_a_repository_without_commits(call: Call, workspace: Path) -> None:
    make_repository(workspace / "empty")
    result = await call("git_status", path="empty")
    assert result.text == "empty: branch main, no commits yet\nNothing to commit."
    assert isinstance(result.data, dict)
    assert result.data["commit"] is None
    assert (await call("git_log", path="empty")).text == "There are no commits yet."
    assert (await call("git_diff", path="empty")).summary == "No differences"


async def test_a_detached_head_is_said(call: Call, shop: Path) -> None:
    git(shop, "checkout", "--quiet", "--detach")
    assert (await call("git_status", path="shop")).text.startswith("shop: detached at ")


async def test_a_merge_with_conflicts_is_said(call: Call, shop: Path) -> None:
    git(shop, "checkout", "--quiet", "-b", "other")
    (shop / "a.txt").write_text("theirs\n", encoding="utf-8")
    git(shop, "commit", "--quiet", "-am", "theirs")
    git(shop, "checkout", "--quiet", "main")
    (shop / "a.txt").write_text("ours\n", encoding="utf-8")
    git(shop, "commit", "--quiet", "-am", "ours")
    git(shop, "merge", "other", check=False)
    lines = (await call("git_status", path="shop")).text.splitlines()
    assert lines[1:] == ["A merge is under way.", "Conflicts (1):", "  modified by both  a.txt"]


async def test_ahead_and_behind_are_counted(call: Call, shop: Path, workspace: Path) -> None:
    git(workspace, "clone", "--quiet", str(shop), "clone")
    clone = workspace / "clone"
    for folder, words in ((shop, ("1", "2")), (clone, ("3",))):
        for word in words:
            git(folder, "commit", "--quiet", "--allow-empty", "--message", word)
    git(clone, "fetch", "--quiet")
    result = await call("git_status", path="clone")
    assert "branch main, 1 ahead and 2 behind of origin/main" in result.text


async def test_names_that_could_mislead_stay_on_one_line(call: Call, shop: Path) -> None:
    (shop / "a\n? evil.txt").touch()
    (shop / os.fsdecode(b"caf\xe9")).touch()
    result = await call("git_status", path="shop")
    assert "  a ⏎ ? evil.txt" in result.text
    assert "Untracked (2):" in result.text


async def test_a_bare_repository_has_no_files(call: Call, workspace: Path) -> None:
    git(workspace, "init", "--quiet", "--bare", "bare.git")
    assert "bare.git is a bare repository" in (await call("git_status", path="bare.git")).text
    with pytest.raises(ToolError, match="has no files to compare"):
        await call("git_diff", path="bare.git")


async def test_a_worktree_and_a_submodule_are_repositories(call: Call, shop: Path, workspace: Path) -> None:
    git(shop, "worktree", "add", "--quiet", "-b", "side", str(workspace / "side"))
    assert "branch side" in (await call("git_status", path="side")).text
    lib = make_repository(workspace / "lib", l_txt="l\n")
    git(shop, "submodule", "--quiet", "add", str(lib), "lib")
    git(shop, "commit", "--quiet", "--message=lib")
    assert "branch main" in (await call("git_status", path="shop/lib")).text
    git(shop / "lib", "commit", "--quiet", "--allow-empty", "--message=more")
    assert "  modified  lib (submodule)" in (await call("git_status", path="shop")).text


async def test_no_repository_is_an_error(call: Call, workspace: Path) -> None:
    with pytest.raises(ToolError, match="is not in a git repository"):
        await call("git_status")


async def test_a_repository_above_the_workspace_is_closed(call: Call, workspace: Path) -> None:
    make_repository(workspace.parent.parent, x_txt="x")
    with pytest.raises(ToolError, match=CLOSED):
        await call("git_status")


async def test_a_git_folder_elsewhere_is_closed(call: Call, workspace: Path, tmp_path: Path) -> None:
    outside = make_repository(tmp_path / "outside", x_txt="secret")
    (workspace / "trick").mkdir()
    (workspace / "trick" / ".git").write_text(f"gitdir: {outside / '.git'}\n", encoding="utf-8")
    for name in ("git_status", "git_log", "git_diff"):
        with pytest.raises(ToolError, match=CLOSED):
            await call(name, path="trick")


async def test_files_elsewhere_are_closed(call: Call, shop: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    git(shop, "config", "core.worktree", str(tmp_path / "outside"))
    with pytest.raises(ToolError):
        await call("git_status", path="shop")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs the right to give files away")
async def test_a_repository_of_somebody_else_is_not_trusted(call: Call, shop: Path) -> None:
    for place in (shop, shop / ".git"):
        os.chown(place, 12345, 12345)
    with pytest.raises(ToolError, match="because it belongs to another user") as caught:
        await call("git_status", path="shop")
    assert "safe.directory" in caught.value.hint


# --- what a repository brings along is not run ---


@pytest.mark.parametrize("tool", ["git_status", "git_diff", "git_log"])
async def test_reading_starts_nothing_of_the_repository(call: Call, shop: Path, tmp_path: Path, tool: str) -> None:
    mark = tmp_path / "ran"
    script = shop / ".git" / "evil.sh"
    script.write_text(f'#!/bin/sh\necho "$0 $*" >> {mark}\nexit 1\n', encoding="utf-8")
    script.chmod(0o755)
    program = str(script)
    for name in ("post-index-change", "post-checkout", "fsmonitor-watchman"):
        shutil.copy(script, shop / ".git" / "hooks" / name)
    for key in (
        "core.fsmonitor", "core.pager", "pager.status", "pager.log", "pager.diff", "core.editor", "core.sshCommand",
        "core.askPass", "diff.external", "diff.evil.command", "diff.evil.textconv", "filter.evil.clean",
        "filter.evil.smudge", "filter.evil.process", "filter.evil-2.clean", "gpg.program", "credential.helper",
    ):  # fmt: skip
        git(shop, "config", key, program)
    git(shop, "config", "filter.evil-2.required", "true")
    git(shop, "config", "log.showSignature", "true")
    git(shop, "config", "alias.status", f"!{program}")
    (shop / ".gitattributes").write_text("*.txt filter=evil diff=evil\nb.txt filter=evil-2\n", encoding="utf-8")
    (shop / "a.txt").write_text("one\nzwei\n", encoding="utf-8")
    os.utime(shop / "b.txt", (1, 1))
    await call(tool, path="shop")
    assert not mark.exists()
    git(shop, "diff", check=False)
    assert mark.exists(), "the trap does not work"


async def test_a_partial_clone_is_not_completed(call: Call, shop: Path, workspace: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    git(shop, "config", "uploadpack.allowFilter", "true")
    git(workspace, "clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{shop}", "part")
    part = workspace / "part"
    git(part, "config", "remote.origin.uploadpack", f"touch {mark}; git-upload-pack")
    with pytest.raises(ToolError):
        await call("git_diff", path="part", range="HEAD")
    assert not mark.exists()


# --- git_diff ---


async def test_a_diff_counts_and_shows(call: Call, shop: Path) -> None:
    (shop / "a.txt").write_text("one\nzwei\ndrei\n", encoding="utf-8")
    result = await call("git_diff", path="shop")
    assert result.summary == "1 file changed, 2 lines added, 1 removed"
    assert "  a.txt  +2 -1" in result.text
    assert "-two\n+zwei\n+drei" in result.text
    assert result.data == {"files": 1, "added": 2, "removed": 1}


async def test_staged_and_ranges_are_told_apart(call: Call, shop: Path) -> None:
    (shop / "a.txt").write_text("staged\n", encoding="utf-8")
    git(shop, "add", "a.txt")
    assert (await call("git_diff", path="shop")).summary == "No differences"
    assert "+staged" in (await call("git_diff", path="shop", staged=True)).text
    git(shop, "commit", "--quiet", "--message=second")
    for revisions in ("HEAD~1", "HEAD~1..HEAD", "HEAD~1 HEAD"):
        assert "+staged" in (await call("git_diff", path="shop", range=revisions)).text


async def test_only_named_files_are_compared(call: Call, shop: Path) -> None:
    (shop / "a.txt").write_text("A\n", encoding="utf-8")
    (shop / "b.txt").write_text("B\n", encoding="utf-8")
    text = (await call("git_diff", path="shop", paths=["shop/b.txt"])).text
    assert "+B" in text
    assert "+A" not in text


async def test_a_binary_file_is_named_only(call: Call, shop: Path) -> None:
    (shop / "p.bin").write_bytes(bytes(range(256)))
    git(shop, "add", "p.bin")
    text = (await call("git_diff", path="shop", staged=True)).text
    assert "  p.bin  binary" in text
    assert "Binary files /dev/null and b/p.bin differ" in text


@pytest.mark.parametrize(
    ("content", "summary"),
    [
        ("one\ntwo\nthree\n", "1 file changed, 1 line added, 0 removed"),
        ("one\ntwo\nthree\nfour\n", "1 file changed, 2 lines added, 0 removed"),
        ("one\n", "1 file changed, 0 lines added, 1 removed"),
    ],
)
async def test_lines_of_a_diff_are_counted_in_words(call: Call, shop: Path, content: str, summary: str) -> None:
    (shop / "c.txt").write_text("one\ntwo\n", encoding="utf-8")
    git(shop, "add", "c.txt")
    git(shop, "commit", "--quiet", "-m", "c")
    (shop / "c.txt").write_text(content, encoding="utf-8")
    assert (await call("git_diff", path="shop")).summary == summary


async def test_a_big_diff_is_cut_between_files_and_counted(call: Call, shop: Path) -> None:
    for number in range(30):
        (shop / f"f{number:02}.txt").write_text("line of some length\n" * 100, encoding="utf-8")
    git(shop, "add", "--all")
    result = await call("git_diff", path="shop", staged=True)
    assert result.summary == "30 files changed, 3,000 lines added, 0 removed"
    assert "[left out: 24 files, 2,544 lines; name paths to see them]" in result.text
    assert len(result.text) < 20_000


async def test_one_huge_file_is_shown_in_part(call: Call, shop: Path) -> None:
    (shop / "a.txt").write_text("".join(f"{number}\n" for number in range(300_000)), encoding="utf-8")
    result = await call("git_diff", path="shop")
    assert "300,000 lines added" in result.summary
    assert "[left out: the rest of this file, more than " in result.text
    assert len(result.text) < 20_000


async def test_changed_line_ends_can_be_seen(call: Call, shop: Path) -> None:
    (shop / "a.txt").write_bytes(b"one\r\ntwo\n")
    assert "-one\n+one␍\n two" in (await call("git_diff", path="shop")).text


async def test_files_closed_to_tools_stay_closed(call: Call, rules: Rules, shop: Path, workspace: Path) -> None:
    (shop / "b.txt").write_text("private\n", encoding="utf-8")
    (shop / "a.txt").write_text("open\n", encoding="utf-8")
    rules.paths = PathPolicy(workspace=workspace, blocked=(shop / "b.txt",))
    text = (await call("git_diff", path="shop")).text
    assert "open" in text
    assert "private" not in text


@pytest.mark.parametrize("revision", ["--output=evil", "-p", "a b c", "\n--output=evil", "--no-index", "x" * 300])
async def test_an_option_is_no_revision(call: Call, shop: Path, revision: str) -> None:
    with pytest.raises(ToolError):
        await call("git_diff", path="shop", range=revision)
    with pytest.raises(ToolError):
        await call("git_log", path="shop", range=revision)
    assert names_in(shop) == [".git", "a.txt", "b.txt"]


async def test_an_unknown_revision_is_an_error(call: Call, shop: Path) -> None:
    with pytest.raises(ToolError, match="could not do this"):
        await call("git_diff", path="shop", range="nosuch..main")


# --- git_log ---


async def test_the_history_is_newest_first(call: Call, shop: Path) -> None:
    git(shop, "commit", "--quiet", "--allow-empty", "--message=Second\n\nbody")
    git(shop, "tag", "v1")
    result = await call("git_log", path="shop")
    first, second = result.text.splitlines()
    assert first.endswith("Ada: Second [HEAD -> main, tag: v1]")
    assert second.endswith("Ada: First commit")
    assert result.summary == "2 commits of HEAD"
    assert len((await call("git_log", path="shop", limit=1)).text.splitlines()) == 1


async def test_the_history_can_be_narrowed(call: Call, shop: Path) -> None:
    (shop / "b.txt").write_text("B\n", encoding="utf-8")
    git(shop, "commit", "--quiet", "-am", "Fix [B]")
    assert (await call("git_log", path="shop", paths=["shop/a.txt"])).text.endswith("First commit")
    assert "Fix [B]" in (await call("git_log", path="shop", search="fix [b")).text
    assert (await call("git_log", path="shop", search="nothing")).text == "No commits match."
    assert len((await call("git_log", path="shop", range="HEAD~1..HEAD")).text.splitlines()) == 1
