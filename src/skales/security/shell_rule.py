"""The shape of a guard rule: which programs it looks at, and what their arguments must say to break it."""

from collections.abc import Callable

from msgspec import Struct

from skales.security.shell_call import Call


class Danger(Struct, frozen=True):
    """A rule's name and what the command would do, as the end of "the command would …"."""

    rule: str
    words: str


class Rule(Struct, frozen=True):
    """`breaks` is asked about calls of `programs` only."""

    danger: Danger
    programs: frozenset[str]
    breaks: Callable[[Call], bool]


def make_rule(rule: str, words: str, programs: str, breaks: Callable[[Call], bool]) -> Rule:
    """A rule about programs that are listed with blanks between them."""
    return Rule(Danger(rule, words), frozenset(programs.split()), breaks)


def has_arguments(call: Call) -> bool:
    """Programs that do nothing but harm, unless they are started without arguments."""
    return bool(call.args)


def always(_call: Call) -> bool:
    """Programs that do nothing but harm."""
    return True
