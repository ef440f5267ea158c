"""What a shell command consists of, as far as a judge needs it: pipelines of commands, words, redirects. Data only.

Not a syntax tree to run: keywords of loops and conditions are gone, everything they hold is in a Group.
"""

from collections.abc import Iterator

from msgspec import Struct, field


class Word(Struct, frozen=True):
    """One word after its quotes are taken off. Parameters stand in `text` as `$NAME`, substitutions as `$()`.

    `known` says that nothing in it is computed; `globbed` that it is a pattern (wildcards, braces); `tilde` that it
    begins with a home folder. `scripts` are the substitutions in it, in order.
    """

    text: str
    known: bool = True
    globbed: bool = False
    tilde: bool = False
    scripts: tuple["Script", ...] = ()

    @property
    def literal(self) -> bool:
        """Whether the program gets exactly `text`."""
        return self.known and not self.globbed and not self.tilde


class HereDocument(Struct):
    """Lines handed to a command. They stand after it, so `body` is filled in later."""

    delimiter: str
    expands: bool
    strips_tabs: bool
    body: Word = field(default_factory=lambda: Word(""))


class Redirect(Struct, frozen=True):
    """`operator` without a file number; `target` is the file, or the text of a here-string."""

    operator: str
    target: Word
    document: HereDocument | None = None


class Command(Struct, frozen=True):
    """A program with its arguments, or assignments and redirects alone."""

    words: tuple[Word, ...]
    assignments: tuple[Word, ...] = ()
    redirects: tuple[Redirect, ...] = ()


class Group(Struct, frozen=True):
    """Commands that a pipeline treats as one: subshell, braces, loop, condition. `words` are a loop's or a case's."""

    script: "Script"
    words: tuple[Word, ...] = ()
    redirects: tuple[Redirect, ...] = ()


Stage = Command | Group


class Pipeline(Struct, frozen=True):
    """Stages from left to right. `alone` is false behind `!` or `time`, before `&&` or `||`, and in the background."""

    stages: tuple[Stage, ...]
    alone: bool = True
    background: bool = False


class Function(Struct, frozen=True):
    """A function that is defined, not yet called."""

    name: str
    body: Stage


class Script(Struct, frozen=True):
    """Pipelines in order, whatever joins them."""

    pipelines: tuple[Pipeline, ...] = ()
    functions: tuple[Function, ...] = ()


def stage_words(stage: Stage) -> Iterator[Word]:
    """All words of a stage that may hold substitutions, those inside a group not included."""
    yield from stage.words
    if isinstance(stage, Command):
        yield from stage.assignments
    for redirect in stage.redirects:
        yield redirect.target
        if redirect.document is not None:
            yield redirect.document.body


def inner_scripts(stage: Stage) -> Iterator[Script]:
    """Scripts one level below a stage: the group's own and the substitutions in its words."""
    if isinstance(stage, Group):
        yield stage.script
    for word in stage_words(stage):
        yield from word.scripts


def walk(script: Script) -> Iterator[Script]:
    """The script and every script inside it: groups, substitutions, bodies of functions."""
    waiting = [script]
    while waiting:
        current = waiting.pop()
        yield current
        stages = [stage for pipeline in current.pipelines for stage in pipeline.stages]
        for function in current.functions:
            yield Script((Pipeline((function.body,)),))
            stages.append(function.body)
        for stage in stages:
            waiting.extend(inner_scripts(stage))


def walk_stage(stage: Stage) -> Iterator[Stage]:
    """The stage and the stages of everything inside it."""
    yield stage
    for inner in inner_scripts(stage):
        for script in walk(inner):
            for pipeline in script.pipelines:
                yield from pipeline.stages
