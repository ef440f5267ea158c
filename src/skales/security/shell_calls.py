"""Which programs a command really starts, and which texts in it are commands again. Pure; judges nothing."""

import re
from collections.abc import Sequence

from msgspec import Struct

from skales.security.shell_call import Call, make_call
from skales.security.shell_code import shell_texts
from skales.security.shell_tree import Command, Word
from skales.security.shell_wrappers import started_by

# `sudo env nice …`: nobody wraps more often by hand.
_MAX_CALLS = 12


class Calls(Struct, frozen=True):
    """Calls, outermost first; texts to be read as commands; and in words what stayed unclear."""

    calls: tuple[Call, ...] = ()
    texts: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


def find_calls(command: Command) -> Calls:
    """Everything a simple command starts, as far as its words tell."""
    calls: list[Call] = []
    texts: list[str] = []
    faults: list[str] = []
    waiting: list[Sequence[Word]] = [command.words]
    while waiting and len(calls) < _MAX_CALLS:
        words = waiting.pop(0)
        if words and words[0].literal and not words[0].text.startswith("-"):
            call = make_call(tuple(words))
            calls.append(call)
            texts += shell_texts(call)
            waiting += started_by(call)
            if re.search(r"\s", words[0].text):
                # A whole command in one word, as `git submodule foreach 'rm x'` takes it.
                texts.append(" ".join(word.text for word in words))
        elif words:
            faults.append("an odd or computed program name")
    if waiting:
        faults.append("too many programs that start programs")
    return Calls(tuple(calls), tuple(text for text in texts if text.strip()), tuple(faults))
