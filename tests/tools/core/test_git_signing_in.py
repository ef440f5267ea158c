"""git_push with the person's own keys: they are in reach of git and ssh in the sandbox, and of nothing else."""

import os
from pathlib import Path

import asyncssh
import pytest

from tests.servers.git_site import git_site
from tests.tools.conftest import Call
from tests.tools.core.gitting import git, make_repository

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True, mode=0o700)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    return home


@pytest.fixture
def shop(workspace: Path) -> Path:
    git(workspace, "init", "--quiet", "--bare", "remote.git")
    return make_repository(workspace / "shop", a_txt="one\n")


def set_up_ssh(home: Path, own: asyncssh.SSHKey) -> None:
    """ssh reads the home of the password file, not of the environment; a setting of git's names the key."""
    key = home / ".ssh" / "id_ed25519"
    own.write_private_key(str(key))
    key.chmod(0o600)
    words = f"ssh -F none -i {key} -oStrictHostKeyChecking=no -oUserKnownHostsFile={os.devnull} -oIdentitiesOnly=yes"
    git(home, "config", "--global", "core.sshCommand", words)


async def test_a_push_over_ssh_signs_in_with_the_persons_key(
    call: Call, shop: Path, workspace: Path, own_home: Path
) -> None:
    own = asyncssh.generate_private_key("ssh-ed25519")
    set_up_ssh(own_home, own)
    async with git_site(asyncssh.generate_private_key("ssh-ed25519"), own.export_public_key().decode()) as port:
        git(shop, "remote", "add", "origin", f"ssh://ada@127.0.0.1:{port}{workspace / 'remote.git'}")
        result = await call("git_push", path="shop")
    assert result.summary == "Pushed main to origin"
    assert git(workspace / "remote.git", "rev-parse", "main") == git(shop, "rev-parse", "HEAD")


async def test_what_the_repository_names_does_not_run_beside_the_keys(
    call: Call, shop: Path, workspace: Path, own_home: Path
) -> None:
    (own_home / ".ssh" / "id_ed25519").write_text("a private key", encoding="utf-8")
    stolen = workspace / "stolen"
    steal = f"cat {own_home}/.ssh/id_ed25519 > {stolen}"
    hook = shop / ".git" / "hooks" / "pre-push"
    hook.write_text(f"#!/bin/sh\n{steal}\n", encoding="utf-8")
    hook.chmod(0o755)
    git(shop, "config", "core.sshCommand", f"sh -c '{steal}' ssh")
    git(shop, "config", "credential.helper", f"!{steal}")
    git(shop, "remote", "add", "origin", str(workspace / "remote.git"))
    assert (await call("git_push", path="shop")).summary == "Pushed main to origin"
    assert not stolen.exists()
