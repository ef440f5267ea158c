"""One program with its arguments, and the questions rules ask about them. Pure."""

import re

from msgspec import Struct

from skales.security.shell_tree import Word

_EXTENSION = re.compile(r"\.(?:exe|com|cmd|bat)\Z")
_VERSION = re.compile(r"(python|pypy|perl|ruby|lua|php)[0-9][0-9.]*")


class Call(Struct, frozen=True):
    """A program started with these arguments. `name` is lower case, without folder, version and `.exe`."""

    name: str
    args: tuple[Word, ...]

    def texts(self) -> list[str]:
        """The arguments as plain text."""
        return [word.text for word in self.args]

    def operands(self) -> list[Word]:
        """Arguments that are no options; behind `--` all are operands."""
        found: list[Word] = []
        for place, word in enumerate(self.args):
            if word.text == "--":
                return [*found, *self.args[place + 1 :]]
            if not word.text.startswith("-") or word.text == "-":
                found.append(word)
        return found

    def has_option(self, letters: str, *names: str) -> bool:
        """Whether a one-letter option, also in a cluster, or a long one, also shortened, is among the arguments."""
        for text in self.texts():
            if text == "--":
                return False
            if text.startswith("--"):
                given = text.partition("=")[0]
                if any(name.startswith(given) for name in names):
                    return True
            elif text.startswith("-") and any(letter in text[1:] for letter in letters):
                return True
        return False

    def operands_from(self, values: frozenset[str]) -> tuple[Word, ...]:
        """What stands behind the program's own options. `values` are options that take the next word."""
        place = 0
        while place < len(self.args) and self.args[place].text.startswith("-") and self.args[place].text != "-":
            if self.args[place].text == "--":
                return self.args[place + 1 :]
            place += 2 if self.args[place].text in values else 1
        return self.args[place:]


def make_call(words: tuple[Word, ...]) -> Call:
    """The call these words make; the first one names the program."""
    name = _EXTENSION.sub("", re.split(r"[/\\]", words[0].text)[-1].lower())
    versioned = _VERSION.fullmatch(name)
    return Call(versioned[1] if versioned else name, words[1:])
