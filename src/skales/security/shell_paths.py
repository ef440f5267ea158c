"""Files a command names anywhere in its words, so that blocked folders hold for the shell as well.

A hint, not a wall: what a program computes or finds by itself cannot be read off its command line.
Spec: security.md, "File access".
"""

import re
from collections.abc import Iterator

from skales.security.shell_reach import read_reach
from skales.security.shell_tree import Word, stage_words

_HOME = re.compile(r"\$HOME(?=/|\Z)")
_GLOB = re.compile(r"[*?\[{]")


def named_paths(text: str) -> tuple[str, ...]:
    """Every word that may be a path, as the person would write it, relative to the working folder or with `~`.

    Of a pattern it gives the part before the first wildcard. Words that hold an unknown value are left out.
    """
    stages = (
        stage for script in read_reach(text).scripts for pipeline in script.pipelines for stage in pipeline.stages
    )
    found = (path for stage in stages for word in stage_words(stage) for path in _paths_in(word))
    return tuple(dict.fromkeys(path for path in found if path))


def _paths_in(word: Word) -> Iterator[str]:
    text = word.text if word.known else _HOME.sub("~", word.text, count=1)
    if not word.known and "$" in text:
        return
    if word.globbed and (wildcard := _GLOB.search(text)):
        text = text[: wildcard.start()].rpartition("/")[0] or "."
    yield text
    # `--file=path`, `of=path`, `-C/path`
    yield text.partition("=")[2]
    if re.match("-[A-Za-z]", text):
        yield text[2:]
