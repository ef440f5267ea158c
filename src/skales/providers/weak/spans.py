"""The runs of words in a message that could be an argument: what a model may copy when it is too weak to write.

A run starts at a word that carries meaning, but not at the first one, which says what to do. It ends where a phrase
can end: at the end of the text, at punctuation, or before a joining word. Where words are quoted or follow a colon,
they are the only runs.
"""

import re

from skales.providers.weak.mentions import Mentions
from skales.providers.weak.words import word_set

_MAX_RUNS = 80
_MAX_WORDS = 40
_WORD = re.compile(r"\S+")
_NO_START = word_set(
    "a about an and as at be called for from in into is it of on or please that the these this those titled to with"
)
_NO_END = word_set(
    "a about an and as at called for from in into my of on or our that the their to with your"
)  # A phrase can end before these: "TODO | in the sources", "hello world | to hello.txt".
_JOINING = word_set("about and as at by for from in inside into on onto or to under using with within occur")
_AFTER_COLON = re.compile(r":\s+(\S.*)", re.DOTALL)
_PUNCTUATION = ".,;:!?"


def copyable_runs(text: str, mentions: Mentions) -> tuple[str, ...]:
    """The runs in order of their start, longer ones first; without the files and addresses named beside them."""
    if mentions.quoted:
        return mentions.quoted
    if announced := _AFTER_COLON.search(text):
        return (announced.group(1).strip(_PUNCTUATION + " "),)
    words = list(_WORD.finditer(mentions.words))
    spoken = [word.group().strip(_PUNCTUATION + "\"'()").lower() for word in words]
    runs: dict[str, None] = {}
    for start, first in enumerate(spoken):
        if start == 0 or not first or first in _NO_START:
            continue
        for end in range(min(len(words), start + _MAX_WORDS), start, -1):
            if spoken[end - 1] in _NO_END or not _can_end(words, spoken, end):
                continue
            runs.setdefault(text[words[start].start() : words[end - 1].end()].strip(_PUNCTUATION + " "))
    return tuple(run for run in list(runs) if run)[:_MAX_RUNS]


def _can_end(words: list[re.Match[str]], spoken: list[str], end: int) -> bool:
    """Whether a phrase can end before the word at `end`; a gap in the text is where a file or address stood."""
    if end == len(words) or words[end - 1].group()[-1] in _PUNCTUATION:
        return True
    return spoken[end] in _JOINING or words[end].start() - words[end - 1].end() > 1
