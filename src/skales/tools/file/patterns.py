"""Regular expressions and file name patterns from models: neither may hold the program up.

The standard library's engine cannot be interrupted and blocks every thread while it runs, for hours on a pattern like
`(a|aa)+$`. The package `regex` takes a time limit and lets other threads run.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from importlib import import_module
from typing import Any, Protocol

from msgspec import Struct

from skales.core.errors import InputError, ToolError

TIME_LIMIT_S = 5.0
_BRACES = re.compile(r"\{([^{}]*)\}")
_BRACES_LIMIT = 50


class Match(Protocol):
    """What a pattern found."""

    def start(self) -> int:
        """Where it begins."""
        ...

    def end(self) -> int:
        """Where it ends."""
        ...

    def expand(self, template: str, /) -> str:
        r"""The template with `\1` and `\g<name>` filled in."""
        ...


class SafePattern(Struct, frozen=True):
    """A regular expression with a time limit for each text it is held against."""

    _compiled: Any
    time_limit_s: float

    def find(self, text: str) -> Iterator[Match]:
        """All matches in order. Raises ToolError when the time is up."""
        try:
            yield from self._compiled.finditer(text, timeout=self.time_limit_s, concurrent=True)
        except TimeoutError as error:
            raise ToolError(
                f"The pattern took longer than {self.time_limit_s:g} s",
                hint="Write it without repetitions inside repetitions, or search for plain text",
                code="timeout",
            ) from error


def compile_pattern(text: str, *, ignore_case: bool = False, time_limit_s: float = TIME_LIMIT_S) -> SafePattern:
    """A regular expression in Python's syntax; `^` and `$` stand at every line. Raises InputError with the fault."""
    try:
        engine = import_module("regex")
    except ImportError as error:
        raise ToolError(
            "Regular expressions need the package 'regex', which is not installed", hint="Search for plain text instead"
        ) from error
    flags = engine.MULTILINE | (engine.IGNORECASE if ignore_case else 0)
    try:
        return SafePattern(engine.compile(text, flags), time_limit_s)
    except (engine.error, RecursionError, OverflowError) as error:
        raise InputError(
            f"{text!r} is not a valid regular expression: {error}",
            hint="Escape special characters with a backslash, or search for plain text",
            code="bad_pattern",
        ) from error


def compile_name_pattern(text: str) -> Callable[[str], bool]:
    """A test for paths relative to the folder searched, with `/` between the parts; case does not count.

    `*.py` fits names in any folder, `src/**/*.ts` the path, `{a,b}` either; a text without wildcards fits names that
    contain it.
    """
    pattern = text.strip().replace("\\", "/").removeprefix("./").casefold()
    if not any(char in pattern for char in "*?[{"):
        return lambda path: pattern in path.casefold() if "/" in pattern else pattern in _name(path).casefold()
    choices = [choice.split("/") for choice in _expand_braces(pattern)]

    def fits(path: str) -> bool:
        parts = path.casefold().split("/")
        return any(_fits(choice, parts[-1:] if len(choice) == 1 else parts) for choice in choices)

    return fits


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _expand_braces(pattern: str) -> Sequence[str]:
    done: list[str] = []
    waiting = [pattern]
    while waiting and len(done) + len(waiting) <= _BRACES_LIMIT:
        current = waiting.pop(0)
        found = _BRACES.search(current)
        if found is None:
            done.append(current)
            continue
        head, tail = current[: found.start()], current[found.end() :]
        waiting += [f"{head}{choice}{tail}" for choice in found[1].split(",")]
    if waiting:
        raise InputError(f"{pattern!r} has too many choices in braces", hint="Use several searches")
    return done


def _fits(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether the parts fit, `**` standing for any number of folders; each pair is looked at once."""
    reached = {0}
    for piece in pattern:
        if piece == "**":
            reached = set(range(min(reached), len(parts) + 1)) if reached else set()
        else:
            reached = {place + 1 for place in reached if place < len(parts) and fnmatchcase(parts[place], piece)}
    return len(parts) in reached
