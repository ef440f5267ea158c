"""Files that a command line writes and then runs: a download that nobody has read, or a text that is a command itself.

Pure; only what stands in one command line is seen, files of earlier calls are not followed.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from skales.security.shell_call import Call
from skales.security.shell_calls import find_calls
from skales.security.shell_code import code_words, is_shell
from skales.security.shell_tree import Command, Pipeline, Script, Stage, Word, walk_stage

_WRITING = frozenset({">", ">>", ">|", "&>", "&>>"})
_OUTPUT = frozenset({"-o", "--output", "-O", "--output-document", "-OutFile", "-outfile", "-out"})
_TO_ITS_NAME = ("wget", "wget2", "aria2c", "axel")


class Written(Struct, frozen=True):
    """A file, what is known to be in it, and whether it was loaded down."""

    path: str
    texts: tuple[str, ...] = ()
    downloaded: bool = False


def is_download_run(scripts: Sequence[Script], downloaders: frozenset[str]) -> bool:
    """Whether a file that is loaded down is also run: `curl -o x.sh … && sh x.sh`."""
    loaded = {written.path for written in _find_written(scripts, downloaders) if written.downloaded}
    return bool(loaded) and not loaded.isdisjoint(_run_files(scripts))


def run_texts(scripts: Sequence[Script], downloaders: frozenset[str]) -> Iterator[str]:
    """Texts that are written into a file which is also run: `echo 'rm x' > x.sh; sh x.sh`."""
    run = set(_run_files(scripts, only_shells=True))
    for written in _find_written(scripts, downloaders) if run else ():
        if written.path in run:
            yield from written.texts


def _calls_in(stage: Stage) -> Iterator[Call]:
    for inner in walk_stage(stage):
        if isinstance(inner, Command):
            yield from find_calls(inner).calls


def _find_written(scripts: Sequence[Script], downloaders: frozenset[str]) -> Iterator[Written]:
    for pipeline in (pipeline for script in scripts for pipeline in script.pipelines):
        calls = [call for stage in pipeline.stages for call in _calls_in(stage)]
        downloads = any(call.name in downloaders for call in calls)
        texts = tuple(_texts_of(pipeline, calls))
        for path in _targets(pipeline, calls):
            yield Written(_plain(path), texts, downloads)
        for call in calls:
            if call.name in downloaders:
                yield from (Written(_plain(path), (), downloaded=True) for path in _loaded_files(call))


def _texts_of(pipeline: Pipeline, calls: Sequence[Call]) -> Iterator[str]:
    for stage in pipeline.stages:
        yield from (redirect.document.body.text for redirect in stage.redirects if redirect.document is not None)
    for call in calls:
        if call.name in ("echo", "printf") and call.args:
            words = [text for text in call.texts() if not re.fullmatch("-[neE]+", text)]
            yield " ".join(words).replace("\\n", "\n")
            yield from words[1:] if call.name == "printf" else ()


def _targets(pipeline: Pipeline, calls: Sequence[Call]) -> Iterator[str]:
    for stage in pipeline.stages:
        yield from (redirect.target.text for redirect in stage.redirects if redirect.operator in _WRITING)
    for call in calls:
        if call.name == "tee":
            yield from (word.text for word in call.operands())


def _loaded_files(call: Call) -> Iterator[str]:
    texts = call.texts()
    addresses = [text for text in texts if "://" in text or ("/" in text and not text.startswith(("-", ".", "/")))]
    for place, text in enumerate(texts):
        if text in _OUTPUT or re.fullmatch("-[a-zA-Z]+[oO]", text):
            yield from texts[place + 1 : place + 2]
        elif text.startswith(("--output=", "--output-document=")):
            yield text.partition("=")[2]
    to_its_name = call.name in _TO_ITS_NAME or call.has_option("OJ", "--remote-name")
    yield from (posixpath.basename(re.split("[?#]", text)[0]) for text in addresses if to_its_name)


def _run_files(scripts: Sequence[Script], *, only_shells: bool = False) -> Iterator[str]:
    for pipeline in (pipeline for script in scripts for pipeline in script.pipelines):
        for stage in pipeline.stages:
            for inner in walk_stage(stage):
                if isinstance(inner, Command):
                    yield from _run_by(inner, only_shells=only_shells)


def _run_by(command: Command, *, only_shells: bool) -> Iterator[str]:
    yield from (_plain(word.text) for word in command.words[:1] if _is_path(word))
    for call in find_calls(command).calls:
        if is_shell(call) or call.name in ("source", ".") or not only_shells:
            yield from (_plain(word.text) for word in code_words(call))
        if is_shell(call):
            yield from (_plain(redirect.target.text) for redirect in command.redirects if redirect.operator == "<")
    # `sudo ./x.sh`
    yield from (_plain(word.text) for word in command.words[1:2] if word.text.startswith("./"))


def _is_path(word: Word) -> bool:
    return "/" in word.text


def _plain(path: str) -> str:
    return posixpath.normpath(path) if path else ""
