"""Commands that only read and print: every program of them is known to do nothing else. Pure.

Stricter than the guard, which names what is dangerous: this one names what is harmless. Spec: security.md, "Untrusted
content".
"""

import re
from collections.abc import Iterator

from skales.security.shell_calls import find_calls
from skales.security.shell_reach import read_reach
from skales.security.shell_tree import Command, Script

_READERS = frozenset(
    {
        *("basename", "cat", "cmp", "comm", "cut", "date", "df", "diff", "dirname", "du", "echo", "egrep"),
        *("expr", "false", "fgrep", "fold", "grep", "head", "hostname", "id", "jq", "ls", "md5sum", "nl", "od"),
        *("printf", "pwd", "readlink", "realpath", "rev", "rg", "seq", "sha1sum", "sha256sum", "stat"),
        *("strings", "tac", "tail", "test", "tr", "tree", "true", "uname", "uniq", "wc", "which", "whoami"),
    }
)
# Programs with parts that read and others that do not.
_PARTS = {"git": frozenset({"status", "log", "diff", "show", "blame", "ls-files", "rev-parse", "describe", "shortlog"})}
_HARMFUL_OPTION = re.compile(
    r"--(?:output|pre|pre-glob|hostname-bin|ext-diff|textconv|set|exec)\b|-(?:o|s)\b|-[a-z]*s[a-z]*\Z"
)


def only_looks(text: str) -> bool:
    """Whether a command line runs nothing but programs that read and print."""
    reach = read_reach(text)
    if reach.faults or not reach.scripts:
        return False
    commands = [stage for script in reach.scripts for stage in _stages(script)]
    return bool(commands) and all(_is_harmless(stage) for stage in commands)


def _stages(script: Script) -> Iterator[object]:
    yield from script.functions
    for pipeline in script.pipelines:
        yield from pipeline.stages


def _is_harmless(stage: object) -> bool:
    """Groups are left to the person: loops and conditions are rarely needed to look at something."""
    if not isinstance(stage, Command) or stage.assignments or stage.redirects:
        return False
    if not all(word.known and not word.scripts for word in stage.words):
        return False
    found = find_calls(stage)
    if found.texts or found.faults or len(found.calls) != 1:
        return False
    name, *rest = [word.text for word in stage.words]
    if name in _PARTS:
        return bool(rest) and rest[0] in _PARTS[name] and not _has_harm(rest)
    # `uniq IN OUT` writes its second name, `hostname NAME` and `date -s` set something.
    if name == "uniq" and sum(not word.startswith("-") for word in rest) > 1:
        return False
    if name in ("date", "hostname", "rg", "tree"):
        return not _has_harm(rest) and not (name == "hostname" and rest)
    return name in _READERS


def _has_harm(words: list[str]) -> bool:
    return any(_HARMFUL_OPTION.match(word) for word in words)
