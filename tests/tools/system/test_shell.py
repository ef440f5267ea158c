"""Commands are given to the computer's shell, and learn little of the environment."""

from collections.abc import Mapping, Sequence

import pytest

from skales.tools.system.shell import safe_environment, shell_words


@pytest.mark.parametrize(
    ("windows", "present", "words"),
    [
        (False, {"bash": "/bin/bash", "sh": "/bin/sh"}, ["/bin/bash", "-c", "ls"]),
        (False, {"sh": "/usr/bin/sh"}, ["/usr/bin/sh", "-c", "ls"]),
        (False, {}, ["/bin/sh", "-c", "ls"]),
        (True, {"pwsh": "pwsh.exe"}, ["pwsh.exe", "-NoLogo", "-NoProfile", "-NonInteractive", "-Command", "ls"]),
        (True, {"powershell": "p.exe"}, ["p.exe", "-NoLogo", "-NoProfile", "-NonInteractive", "-Command", "ls"]),
        (True, {}, ["cmd.exe", "/d", "/s", "/c", "ls"]),
    ],
)
def test_best_shell_of_the_computer_is_used(windows: bool, present: Mapping[str, str], words: Sequence[str]) -> None:
    assert shell_words("ls", windows=windows, find=present.get) == words


def test_only_harmless_variables_are_passed_on() -> None:
    environment = {
        "PATH": "/bin",
        "LANG": "de_DE.UTF-8",
        "LC_TIME": "C",
        "XDG_CONFIG_HOME": "/c",
        "VIRTUAL_ENV": "/v",
        "SystemRoot": "C:\\Windows",
        "http_proxy": "http://proxy.example:3128",
        "HTTPS_PROXY": "http://me:secret@proxy.example:3128",
        "OPENAI_API_KEY": "sk-x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "GITHUB_TOKEN": "x",
        "SSH_AUTH_SOCK": "/s",
        "BASH_ENV": "/evil",
        "ENV": "/evil",
        "LD_PRELOAD": "/evil.so",
        "BASH_FUNC_ls%%": "() { evil; }",
        "PYTHONPATH": "/p",
        "TERM": "xterm-256color",
    }
    assert set(safe_environment(environment)) == {
        *("PATH", "LANG", "LC_TIME", "XDG_CONFIG_HOME", "VIRTUAL_ENV", "SystemRoot", "http_proxy"),
        *("TERM", "PAGER", "GIT_PAGER", "GIT_TERMINAL_PROMPT", "NO_COLOR"),
    }
    assert safe_environment(environment)["TERM"] == "dumb"
