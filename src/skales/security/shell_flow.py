"""Dangers between commands rather than in one: downloads run at once, fork bombs, writes to disks, text fed to shells.

Pure; `shell_rules` judges single calls.
"""

import re
from collections.abc import Iterator, Sequence

from skales.security.shell_call import Call
from skales.security.shell_calls import find_calls
from skales.security.shell_code import code_words, is_shell, runs_input
from skales.security.shell_quotes import decode_ansi_c
from skales.security.shell_rule import Danger
from skales.security.shell_targets import is_disk, is_history
from skales.security.shell_tree import Command, Function, Pipeline, Redirect, Script, Stage, walk, walk_stage
from skales.security.shell_values import decode_through
from skales.security.shell_wrappers import started_by
from skales.security.shell_written import is_download_run

# What loads something down from elsewhere.
DOWNLOADERS = frozenset(
    {
        "curl", "wget", "wget2", "fetch", "aria2c", "axel", "http", "https", "xh", "lwp-request", "lynx", "w3m",
        "ncat", "nc",
        "iwr", "irm", "invoke-webrequest", "invoke-restmethod", "start-bitstransfer",
    }
)  # fmt: skip
_WRITING = frozenset({">", ">>", ">|", "&>", "&>>", "<>", ">&"})
_POWERSHELL_DOWNLOAD = re.compile(r"downloadstring|downloaddata|downloadfile", re.IGNORECASE)
_SIMPLE_WORD = re.compile(r"[\w./~*-]+")

# Longer pipelines are not followed text by text.
_MAX_STAGES = 32

_DOWNLOAD_RUN = Danger("shell.download-run", "run a download that nobody has read")
_FORK_BOMB = Danger("shell.fork-bomb", "start copies of itself without end")
_DISK = Danger("shell.disk", "overwrite a disk")
_POWER = Danger("shell.power", "restart the computer or crash it")
_HISTORY = Danger("shell.history", "wipe a history")


def find_pipeline_danger(pipeline: Pipeline) -> Danger | None:
    """A danger in how stages work together, or in what one of them writes."""
    downloading = False
    for stage in pipeline.stages:
        danger = next(filter(None, map(_judge_redirect, stage.redirects)), None)
        if danger:
            return danger
        calls = list(_calls_in(stage))
        fed_by_xargs = any(call.name == "xargs" for call in calls) and any(map(is_shell, calls))
        if downloading and (fed_by_xargs or any(map(runs_input, calls))):
            return _DOWNLOAD_RUN
        if isinstance(stage, Command) and _runs_downloaded_words(stage):
            return _DOWNLOAD_RUN
        downloading = downloading or any(map(_downloads, calls))
    if len(pipeline.stages) > 1 and all(_is_itself(stage, "%0") for stage in pipeline.stages):
        return _FORK_BOMB
    return None


def find_function_danger(function: Function) -> Danger | None:
    """A function that starts itself twice over, or in the background, never ends and takes the computer with it."""
    inner = [pipeline for script in walk(_as_script(function.body)) for pipeline in script.pipelines]
    for pipeline in inner:
        own = [stage for stage in pipeline.stages if _is_itself(stage, function.name)]
        if own and (len(pipeline.stages) > 1 or pipeline.background):
            return _FORK_BOMB
    return None


def find_script_danger(scripts: Sequence[Script]) -> Danger | None:
    """A download that is written and then run, and PowerShell's `iex ((New-Object …).DownloadString(…))`."""
    if is_download_run(scripts, DOWNLOADERS):
        return _DOWNLOAD_RUN
    stages = [stage for script in scripts for pipeline in script.pipelines for stage in pipeline.stages]
    evaluates = any(call.name in ("iex", "invoke-expression") for stage in stages for call in _calls_in(stage))
    downloads = any(_POWERSHELL_DOWNLOAD.search(word.text) for stage in stages for word in stage.words)
    return _DOWNLOAD_RUN if evaluates and downloads else None


def fed_texts(pipeline: Pipeline) -> Iterator[str | None]:
    """Texts that a shell in the pipeline runs from its input; None when it runs what cannot be known."""
    if len(pipeline.stages) > _MAX_STAGES:
        yield None
        return
    printed: list[str] = []
    for place, stage in enumerate(pipeline.stages):
        calls = list(_calls_in(stage))
        if any(map(runs_input, calls)):
            yield from (text for redirect in stage.redirects for text in _input_of(redirect))
            yield from printed
            if place > 0 and not any(True for _ in _printed(pipeline.stages[place - 1])):
                yield None
        for call in calls:
            if call.name == "xargs":
                yield from _xargs_texts(call, printed)
        printed += _printed(stage)
        printed += [decoded for call in calls for text in printed if (decoded := decode_through(text, call))]


def _judge_redirect(redirect: Redirect) -> Danger | None:
    if redirect.operator not in _WRITING:
        return None
    if is_disk(redirect.target):
        return _DISK
    if redirect.target.text in ("/proc/sysrq-trigger", "/proc/sys/kernel/sysrq"):
        return _POWER
    return _HISTORY if redirect.operator != ">>" and is_history(redirect.target) else None


def _calls_in(stage: Stage) -> Iterator[Call]:
    """Calls of the stage and of everything inside it."""
    for inner in walk_stage(stage):
        if isinstance(inner, Command):
            yield from find_calls(inner).calls


def _downloads(call: Call) -> bool:
    return call.name in DOWNLOADERS


def _runs_downloaded_words(command: Command) -> bool:
    """`sh -c "$(curl …)"`, `bash <(curl …)`, `eval "$(wget …)"`, `python - <<< "$(curl …)"`."""
    for call in find_calls(command).calls:
        words = code_words(call)
        if runs_input(call):
            words += [redirect.target for redirect in command.redirects if redirect.operator.startswith("<")]
        if any(_script_downloads(script) for word in words for script in word.scripts):
            return True
    return False


def _script_downloads(script: Script) -> bool:
    stages = (stage for part in walk(script) for pipeline in part.pipelines for stage in pipeline.stages)
    return any(_downloads(call) for stage in stages for call in _calls_in(stage))


def _as_script(stage: Stage) -> Script:
    return Script((Pipeline((stage,)),))


def _is_itself(stage: Stage, name: str) -> bool:
    return isinstance(stage, Command) and bool(stage.words) and stage.words[0].text == name


def _input_of(redirect: Redirect) -> Iterator[str | None]:
    if redirect.document is not None:
        yield redirect.document.body.text
    elif redirect.operator == "<<<":
        yield redirect.target.text if redirect.target.known else None
    elif redirect.operator == "<":
        yield None


def _printed(stage: Stage) -> Iterator[str]:
    for redirect in stage.redirects:
        if redirect.document is not None:
            yield redirect.document.body.text
        elif redirect.operator == "<<<" and redirect.target.known:
            yield redirect.target.text
    for call in _calls_in(stage):
        if call.name in ("echo", "printf") and all(word.known for word in call.args):
            words = [text for text in call.texts() if not re.fullmatch("-[neE]+", text)]
            yield " ".join(words).replace("\\n", "\n")
            yield decode_ansi_c(" ".join(words))
            # A format takes the words after it one by one.
            yield from words[1:] if call.name == "printf" else ()


def _xargs_texts(call: Call, printed: list[str]) -> Iterator[str]:
    for words in started_by(call):
        start = " ".join(word.text for word in words if _SIMPLE_WORD.fullmatch(word.text))
        yield from (f"{start} {text}" for text in printed)
