"""How this computer's shell is called, and what a command may know of the environment."""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence

# Nothing else is handed on: keys and tokens live in the environment of many people.
_PASSED_ON = frozenset(
    {
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE", "TZ", "TMPDIR", "VIRTUAL_ENV",
        "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "JAVA_HOME", "GOPATH", "GOROOT", "CARGO_HOME", "RUSTUP_HOME", "NVM_DIR",
        "PYENV_ROOT", "SSL_CERT_FILE", "SSL_CERT_DIR",
        # Windows programs do not start without these.
        "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "USERNAME",
        "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)",
        "PROGRAMW6432", "COMMONPROGRAMFILES", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "PSMODULEPATH",
    }
)  # fmt: skip
_PASSED_ON_STARTS = ("LC_", "XDG_")
# A proxy is handed on unless its address carries a password.
_PROXIES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"})


def shell_words(
    command: str, *, windows: bool = os.name == "nt", find: Callable[[str], str | None] = shutil.which
) -> Sequence[str]:
    """The shell with the command as its argument: bash, else sh; on Windows PowerShell, else cmd."""
    if not windows:
        return [find("bash") or find("sh") or "/bin/sh", "-c", command]
    powershell = find("pwsh") or find("powershell")
    if powershell:
        return [powershell, "-NoLogo", "-NoProfile", "-NonInteractive", "-Command", command]
    return [find("cmd") or "cmd.exe", "/d", "/s", "/c", command]


def safe_environment(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The part of an environment that a command may see; pagers and prompts are told that nobody watches."""
    passed = {name: value for name, value in environment.items() if _is_passed_on(name.upper(), value)}
    return {**passed, "TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "NO_COLOR": "1"}


def _is_passed_on(name: str, value: str) -> bool:
    if name in _PROXIES:
        return "@" not in value
    return name in _PASSED_ON or name.startswith(_PASSED_ON_STARTS)
