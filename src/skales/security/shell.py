"""What a shell command may do: refuses disasters, says when it was not understood, and what an approval covers.

Only reads the text; nothing is run or expanded. Spec: security.md, "Dangerous-command guard"; cases TOO-01.
"""

import re

from msgspec import Struct

from skales.core.tool import Outcome, Verdict
from skales.security.shell_calls import find_calls
from skales.security.shell_flow import find_function_danger, find_pipeline_danger, find_script_danger
from skales.security.shell_prefixes import is_harmless_call, may_go_on, prefix_words
from skales.security.shell_reach import read_reach
from skales.security.shell_rule import Danger
from skales.security.shell_rules import find_danger
from skales.security.shell_scan import MAX_COMMAND, scan_command
from skales.security.shell_tree import Command, Script, Word

# To a shell of Windows these lead elsewhere; to others they are odd names.
_WINDOWS_PATH = re.compile(r"\.\.\\|(?<![A-Za-z])[A-Za-z]:\\")


class CommandJudgement(Struct, frozen=True):
    """What is known about a command.

    `verdict` denies what the guard forbids, asks when the text was not understood, else allows (the safety level
    still counts). `simple` holds the words of a command that is one program with plain arguments and nothing else.
    """

    verdict: Verdict
    simple: tuple[str, ...] | None
    understood: bool


def judge_command(text: str) -> CommandJudgement:
    """Judge a command line or script. Never raises."""
    if len(text) > MAX_COMMAND:
        reason = (
            f"the command is longer than {MAX_COMMAND} characters, so nobody can check it; write a file and run that"
        )
        return CommandJudgement(Verdict(Outcome.DENY, reason, "shell.length"), None, understood=False)
    reach = read_reach(text)
    danger = next(filter(None, map(_find_danger_in, reach.scripts)), None) or find_script_danger(reach.scripts)
    understood = not reach.faults
    if danger is not None:
        reason = f"the command would {danger.words} (rule {danger.rule}); only safetyMode unrestricted lifts this guard"
        verdict = Verdict(Outcome.DENY, reason, danger.rule)
    elif not understood:
        verdict = Verdict(Outcome.ASK, f"the command was not fully understood: {reach.faults[0]}", "shell.unclear")
    else:
        verdict = Verdict(Outcome.ALLOW)
    words = _simple_words(text)
    plain = understood and words is not None and all(word.literal for word in words)
    return CommandJudgement(verdict, tuple(word.text for word in words or ()) if plain else None, understood)


def covers(prefix: str, command: str) -> bool:
    """Whether a remembered approval of `prefix`, such as `git status`, covers a command.

    It covers one program with known arguments that begins with exactly these words, stays in the working folder, and
    neither starts another program nor deletes or writes by its options.
    """
    approved = _simple_words(prefix)
    words = _simple_words(command)
    if not approved or not words or not all(word.literal for word in (*approved, *words[: len(approved)])):
        return False
    prefix_texts = [word.text for word in approved]
    if [word.text for word in words[: len(approved)]] != prefix_texts or _WINDOWS_PATH.search(command):
        return False
    if not may_go_on(prefix_texts, [word.text for word in words[len(approved) :]]):
        return False
    found = find_calls(Command(words))
    if len(found.calls) != 1 or found.texts or find_danger(found.calls[0]):
        return False
    return is_harmless_call(found.calls[0])


def suggest_prefix(command: str) -> str | None:
    """What "always" could cover of a command like this; None where no prefix is safe to remember."""
    words = _simple_words(command)
    if not words or not words[0].literal:
        return None
    prefix = " ".join(prefix_words([word.text for word in words]))
    return prefix if prefix and covers(prefix, command) else None


def _simple_words(text: str) -> tuple[Word, ...] | None:
    """The words of a text that is one program with its arguments and nothing else."""
    scan = scan_command(text)
    pipelines = scan.script.pipelines
    if scan.faults or scan.script.functions or len(pipelines) != 1 or len(pipelines[0].stages) != 1:
        return None
    stage = pipelines[0].stages[0]
    if not isinstance(stage, Command) or stage.assignments or stage.redirects or not pipelines[0].alone:
        return None
    return stage.words


def _find_danger_in(script: Script) -> Danger | None:
    for function in script.functions:
        if danger := find_function_danger(function):
            return danger
    for pipeline in script.pipelines:
        if danger := find_pipeline_danger(pipeline):
            return danger
        for stage in pipeline.stages:
            calls = find_calls(stage).calls if isinstance(stage, Command) else ()
            if danger := next(filter(None, map(find_danger, calls)), None):
                return danger
    return None
