"""Real repositories for the tests of the git tools; git's own settings of this machine stay out of it."""

import os
import subprocess
from pathlib import Path

WHO = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main")


def git(folder: Path, *words: str, check: bool = True) -> str:
    """Run git as the person would, and give its output."""
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *WHO, *words],
        cwd=folder, env=environment, check=check, capture_output=True,
    )  # fmt: skip
    return done.stdout.decode("utf-8", "surrogateescape")


def make_repository(folder: Path, **files: str) -> Path:
    """A repository with one commit that holds the files; `a_txt` becomes `a.txt`."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet")
    git(folder, "config", "user.name", "Ada")
    git(folder, "config", "user.email", "ada@example.org")
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_text(content, encoding="utf-8")
    if files:
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--message=First commit")
    return folder
