"""Everything a command line says, also in texts inside it: what `sh -c`, `eval` and pipes into a shell would run.

Pure; judges nothing.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from skales.security.shell_calls import find_calls
from skales.security.shell_flow import DOWNLOADERS, fed_texts
from skales.security.shell_scan import scan_command
from skales.security.shell_tree import Command, Script, walk
from skales.security.shell_values import texts_with_values
from skales.security.shell_written import run_texts

# A command in a command in a command: more is nobody's intent.
_MAX_DEPTH = 6
_MAX_TEXTS = 64

# Variables whose value other programs run.
_RUN_VARIABLE = re.compile(
    r"(?:\w*(?:PAGER|EDITOR|VISUAL|COMMAND|BROWSER)|LESSOPEN|LESSCLOSE|BASH_ENV|ENV)=(.*)", re.DOTALL
)


class Reach(Struct, frozen=True):
    """All scripts a command line holds, outermost first, and in words what was not understood."""

    scripts: tuple[Script, ...]
    faults: tuple[str, ...]


def read_reach(text: str) -> Reach:
    """Read a command line and the texts in it that are commands again. Never raises."""
    scripts: list[Script] = []
    faults: list[str] = []
    # Windows shells keep backslashes: where one follows a drive, the text is read both ways.
    readings = [text, text.replace("\\", "\\\\")] if re.search(r"\b[A-Za-z]:\\", text) else [text]
    waiting = [(reading, 0) for reading in readings]
    seen = set(readings)
    while waiting:
        current, depth = waiting.pop(0)
        scan = scan_command(current)
        faults += scan.faults
        parts = tuple(walk(scan.script))
        scripts += parts
        for inner in _texts_in(parts, faults):
            if depth >= _MAX_DEPTH or len(seen) >= _MAX_TEXTS:
                faults.append("too many commands inside commands")
            elif inner not in seen:
                seen.add(inner)
                waiting.append((inner, depth + 1))
    return Reach(tuple(scripts), tuple(dict.fromkeys(faults)))


def _texts_in(scripts: tuple[Script, ...], faults: list[str]) -> Iterator[str]:
    yield from texts_with_values(scripts)
    yield from run_texts(scripts, DOWNLOADERS)
    for pipeline in (pipeline for script in scripts for pipeline in script.pipelines):
        for stage in pipeline.stages:
            if isinstance(stage, Command):
                found = find_calls(stage)
                faults += found.faults
                yield from found.texts
                yield from (value[1] for word in stage.assignments if (value := _RUN_VARIABLE.fullmatch(word.text)))
        for text in fed_texts(pipeline):
            if text is None:
                faults.append("a program that is run from input")
            else:
                yield text
