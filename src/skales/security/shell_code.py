"""Arguments and input that are program text: `sh -c`, `python -c`, `eval`, `git -c`, what is piped into a shell.

Pure; judges nothing.
"""

import base64
import re
from itertools import pairwise

from skales.security.shell_call import Call
from skales.security.shell_tree import Word

_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash"})
_POWERSHELLS = frozenset({"powershell", "pwsh"})
_EVALUATORS = frozenset({"eval", "trap", "iex", "invoke-expression"})
# They run their input at another time.
_LATER = frozenset({"at", "batch"})
_SOURCES = frozenset({"source", "."})
_AWKS = frozenset({"awk", "gawk", "mawk", "nawk"})
# Program → letters of options that carry code, and of those that name a module or file instead.
_INTERPRETERS = {
    "python": ("c", "m"), "pypy": ("c", "m"), "perl": ("eE", ""), "ruby": ("e", ""), "node": ("ep", ""),
    "nodejs": ("ep", ""), "deno": ("", ""), "bun": ("e", ""), "php": ("r", "f"), "lua": ("e", ""),
    "osascript": ("e", ""), "tclsh": ("", ""), "rscript": ("e", ""),
}  # fmt: skip
# Options that take the next word, so that it is no script.
_VALUES = frozenset({"-o", "+o", "-O", "+O", "--rcfile", "--init-file", "-W", "-X", "-I", "-r", "-M", "-C"})
_SSH_VALUES = frozenset(f"-{letter}" for letter in "BbcDEeFIiJLlmOopQRSWw")
_INPUT_NAMES = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")

# Programs that take a command as text, and the options before which it stands.
_TEXT_OPTIONS = {
    "su": ("-c", "--command", "--session-command"), "runuser": ("-c", "--command"), "script": ("-c", "--command"),
    "flock": ("-c", "--command"), "env": ("-S", "--split-string"), "rsync": ("-e", "--rsh", "--rsync-path"),
    "git": ("--exec", "-x", "--upload-pack", "--receive-pack"), "ssh": ("-o",), "scp": ("-o", "-S"),
    "tar": ("--to-command", "-I", "--use-compress-program", "--checkpoint-action"), "vim": ("-c",), "vi": ("-c",),
}  # fmt: skip
# What stands before the command in such a value: `core.pager=`, `alias.x=!`, `ProxyCommand=`, `exec=`, `:!`.
_TEXT_PREFIX = re.compile(r"(?:[A-Za-z][\w.-]*=|ProxyCommand )?[!:]*")
# Settings of git that name a program.
_GIT_RUN_SETTING = re.compile(
    r"core\.(?:pager|editor|sshcommand|fsmonitor|askpass)|sequence\.editor|.+\.(?:cmd|command|external|textconv)",
    re.IGNORECASE,
)
# A shell called by a program's code: `os.system("…")`, `system "…"`, `exec('…')`, `subprocess.run("…")`.
_SHELL_IN_CODE = re.compile(
    r"(?:system|popen|exec\w*|spawn\w*|run|call|check_\w+|getoutput|passthru)\s*\(?\s*"
    r"(?:\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)')"
)
# Deletes a folder with all that is in it.
_DELETE_IN_CODE = re.compile(
    r"(?:rmtree|rmSync|rmdirSync|rm_rf|rm_r|removeSync|remove_tree|rimraf(?:\.sync)?|fs\.rm)\s*\(\s*[\"']([^\"'\n]{1,200})[\"']"
)


def is_shell(call: Call) -> bool:
    """Whether the program's code is a shell's."""
    return call.name in _SHELLS


def code_words(call: Call) -> list[Word]:
    """Arguments a program runs as code: text behind `-c` or `-e`, or the script it is told to read."""
    if call.name in _EVALUATORS or call.name in _SOURCES:
        return list(call.args)
    if call.name in _AWKS:
        return call.operands()[:1]
    if call.name not in _SHELLS and call.name not in _INTERPRETERS:
        return []
    letters = "c" if call.name in _SHELLS else _INTERPRETERS[call.name][0]
    place = _find_option(call, letters)
    if place is None:
        return list(call.operands_from(_VALUES)[:1])
    if call.name in _SHELLS:
        # Shells take more options between `-c` and its text.
        return [word for word in call.args[place + 1 :] if not word.text.startswith(("-", "+"))][:1]
    # Others take the text attached as well: `-e'code'`.
    return list(call.args[place : place + 2])


def runs_input(call: Call) -> bool:
    """Whether what is piped into the program would be run, not just read."""
    if call.name in _SOURCES:
        return any(text in _INPUT_NAMES for text in call.texts())
    if call.name in _LATER:
        return not call.has_option("fldrc")
    if call.name in _EVALUATORS or call.name in _POWERSHELLS or call.name == "cmd":
        return not any(text.lower() in ("-file", "-f") for text in call.texts())
    if call.name not in _SHELLS and call.name not in _INTERPRETERS:
        return False
    letters = "c" if call.name in _SHELLS else "".join(_INTERPRETERS[call.name])
    if _find_option(call, letters) is not None:
        return False
    operands = call.operands_from(_VALUES)
    takes_arguments = call.name in _SHELLS and call.has_option("s")
    return takes_arguments or not operands or operands[0].text in _INPUT_NAMES


def shell_texts(call: Call) -> list[str]:
    """Arguments that are shell commands themselves."""
    texts = call.texts()
    if call.name in _SHELLS:
        return [word.text for word in code_words(call)] if _find_option(call, "c") is not None else []
    if call.name in _EVALUATORS:
        return [" ".join(texts)]
    if call.name == "alias":
        return [text.partition("=")[2] for text in texts]
    if call.name == "cmd":
        return [" ".join(text for text in texts if not re.fullmatch("/[A-Za-z]", text))]
    if call.name in _POWERSHELLS:
        return [" ".join(text for text in texts if not text.startswith("-")), *_encoded_texts(texts)]
    found = _option_texts(call)
    if call.name in ("ssh", "plink"):
        found.append(" ".join(word.text for word in call.operands_from(_SSH_VALUES)[1:]))
    for word in code_words(call):
        found += [double or single for double, single in _SHELL_IN_CODE.findall(word.text)]
        found += [f"rm -rf '{path}'" for path in _DELETE_IN_CODE.findall(word.text)]
    return found


def _encoded_texts(texts: list[str]) -> list[str]:
    """PowerShell takes a command as base64 of UTF-16, behind every beginning of `-EncodedCommand`."""
    found: list[str] = []
    for option, value in pairwise(texts):
        if len(option) > 1 and "-encodedcommand".startswith(option.lower()):
            try:
                found.append(base64.b64decode(value + "==").decode("utf-16-le"))
            except ValueError:
                continue
    return found


def _find_option(call: Call, letters: str) -> int | None:
    """The place of a short option, alone or in a cluster, before the first operand."""
    place = 0
    while place < len(call.args):
        text = call.args[place].text
        if text == "--" or not text.startswith(("-", "+")):
            return None
        if not text.startswith("--") and any(letter in text[1:] for letter in letters):
            return place
        place += 2 if text in _VALUES else 1
    return None


def _is_run_setting(key: str, value: str) -> bool:
    return _GIT_RUN_SETTING.fullmatch(key) is not None or (key.startswith("alias.") and value.startswith("!"))


def _option_texts(call: Call) -> list[str]:
    """Values of options that are run: `su -c text`, `git -c core.pager=text`, `tar --to-command=text`."""
    options = _TEXT_OPTIONS.get(call.name, ())
    texts = call.texts()
    values: list[str] = []
    for place, text in enumerate(texts):
        if text in options or (call.name == "git" and text == "-c"):
            values += texts[place + 1 : place + 2]
        values += [text[len(option) :] for option in options if text.startswith(option) and text != option]
    if call.name == "git":
        # `git config alias.x '!…'` is run later, and by then nobody sees it.
        values += [text for key, text in pairwise(texts) if _is_run_setting(key, text)]
    return [_TEXT_PREFIX.sub("", value.removeprefix("="), count=1) for value in values]
