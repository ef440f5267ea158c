"""Every program that an independent parser (tree-sitter-bash) finds in a command line is found by ours as well."""

from collections.abc import Iterator, Sequence

import pytest
import tree_sitter
import tree_sitter_bash

from skales.security.shell_calls import find_calls
from skales.security.shell_reach import read_reach
from skales.security.shell_tree import Command, Script, Stage, walk, walk_stage
from tests.conftest import CASES

LINES = [
    line
    for line in (CASES / "sandbox" / "command-lines.txt").read_text(encoding="utf-8").split("\n%\n")
    if line.strip() and not line.startswith("# ")
]
# Words of the shell itself, which start nothing; the second reader takes them for programs.
_KEYWORDS = {"time", "coproc"}


def _nodes(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    yield node
    for child in node.children:
        yield from _nodes(child)


def names_by_tree_sitter(line: str) -> Sequence[str]:
    """The plain words that name programs; those that are computed have no fixed name."""
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
    tree = parser.parse(line.encode())
    assert not tree.root_node.has_error, f"the second reader does not understand {line!r}"
    names = [node for node in _nodes(tree.root_node) if node.type == "command_name"]
    plain = [(node.text or b"").decode() for node in names if {child.type for child in node.children} <= {"word"}]
    return [name for name in plain if not set(name) & set("\\*?[{~'\"")]


def names_by_ours(line: str) -> set[str]:
    """Every program in all scripts of the line, and what wrappers start."""
    scripts = [part for script in read_reach(line).scripts for part in walk(script)]
    stages = [
        inner
        for script in scripts
        for pipeline in _pipelines(script)
        for stage in pipeline
        for inner in walk_stage(stage)
    ]
    commands = [stage for stage in stages if isinstance(stage, Command)]
    first = {command.words[0].text for command in commands if command.words}
    return first | {call.name for command in commands for call in find_calls(command).calls}


def _pipelines(script: Script) -> Iterator[Sequence[Stage]]:
    for pipeline in script.pipelines:
        yield pipeline.stages
    for function in script.functions:
        yield (function.body,)


def test_there_are_enough_lines() -> None:
    assert len(LINES) >= 150
    assert len(set(LINES)) == len(LINES)


@pytest.mark.parametrize("line", LINES)
def test_no_program_is_overlooked(line: str) -> None:
    wanted = set(names_by_tree_sitter(line)) - _KEYWORDS
    assert wanted - names_by_ours(line) == set()
