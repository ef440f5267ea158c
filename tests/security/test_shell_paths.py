"""Spec: security.md, "File access": blocked folders cover the shell too."""

import pytest

from skales.security.shell_paths import named_paths


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("cat /blocked/x", "/blocked/x"),
        ("cat '/blocked/a b'", "/blocked/a b"),
        ("cat ~/blocked", "~/blocked"),
        ("cat $HOME/blocked", "~/blocked"),
        ('cat "${HOME}/blocked"', "~/blocked"),
        ("cat < blocked/x", "blocked/x"),
        ("echo x > blocked/x", "blocked/x"),
        ("cd /blocked && cat x", "/blocked"),
        ("git -C /blocked status", "/blocked"),
        ("git -C/blocked status", "/blocked"),
        ("grep --file=/blocked/x y", "/blocked/x"),
        ("dd if=/blocked/x of=y", "/blocked/x"),
        ("sudo rm -rf /blocked", "/blocked"),
        ("sh -c 'cat /blocked/x'", "/blocked/x"),
        ("echo $(cat /blocked/x)", "/blocked/x"),
        ("find / -exec cat /blocked/x \\;", "/blocked/x"),
        ("X=/blocked/x; cat y", "/blocked/x"),
        ("for f in /blocked/x; do cat $f; done", "/blocked/x"),
        ("cat /blocked/*", "/blocked"),
        ("cat /blocked/sub/x?.txt", "/blocked/sub"),
        ("cat *.md", "."),
        ("cat {/blocked,x}", "."),
    ],
)
def test_paths_are_found_wherever_they_stand(command: str, path: str) -> None:
    assert path in named_paths(command)


def test_unknown_values_and_nothing_give_no_path() -> None:
    assert named_paths("cat $x/y") == ("cat",)
    assert named_paths("") == ()
