"""What a command says once the values are put in that stand beside it: `X='rm -rf /'; $X`, `rm${IFS}-rf`, `$(echo rm)`.

Yields texts to be read as commands again. Only values that stand in the text itself are known; nothing is run. Pure.
"""

import base64
import binascii
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

from skales.security.shell_call import Call, make_call
from skales.security.shell_tree import Command, Script, Word

# More than a person would look at; then the command is not understood anyway.
_MAX_VALUES = 3
_MAX_TEXTS = 16
_BARE = re.compile(r"[\w./*?~:=+,@%-]+")
_NAME = re.compile(r"\$([A-Za-z_]\w*)", re.ASCII)
_BRACES = re.compile(r"\{([^{},]+(?:,[^{},]*)+)\}")
_ASSIGNERS = frozenset({"export", "declare", "local", "readonly", "typeset", "env", "set"})
_TELLERS = frozenset({"which", "command", "type", "where"})


def texts_with_values(scripts: Sequence[Script]) -> Iterator[str]:
    """Every command with a computed word, once for each set of values it may have."""
    values = _find_values(scripts)
    for command in _commands(scripts):
        if any(not word.known or word.globbed for word in command.words):
            yield from islice(_put_in(command, values), _MAX_TEXTS)


def decode_through(text: str, call: Call) -> str | None:
    """What a program that only decodes makes of a text; None for every other program."""
    options = call.texts()
    try:
        match call.name:
            case "base64" | "gbase64" if any(option in ("-d", "-D", "--decode", "-di") for option in options):
                return base64.b64decode("".join(text.split())).decode(errors="replace")
            case "xxd" if "".join(options).replace("-", "").strip("rp") == "" and options:
                return binascii.unhexlify("".join(text.split())).decode(errors="replace")
            case "rev":
                return "\n".join(line[::-1] for line in text.split("\n"))
            case _:
                return None
    except ValueError:
        return None


def _commands(scripts: Sequence[Script]) -> Iterator[Command]:
    for script in scripts:
        for pipeline in script.pipelines:
            yield from (stage for stage in pipeline.stages if isinstance(stage, Command))


def _find_values(scripts: Sequence[Script]) -> Mapping[str, Sequence[str]]:
    """Each name with the values it is given anywhere; which of them holds at a place is not followed."""
    found: dict[str, list[str]] = {"IFS": [" "]}
    for command in _commands(scripts):
        words = list(command.assignments)
        if command.words and command.words[0].text in _ASSIGNERS:
            words += command.words[1:]
        for word in words:
            name, sign, value = word.text.partition("=")
            if sign and word.known and name != "IFS" and len(found.setdefault(name, [])) < _MAX_VALUES:
                found[name].append(value)
    return found


def _put_in(command: Command, values: Mapping[str, Sequence[str]]) -> Iterator[str]:
    names = {name for word in command.words for name in _NAME.findall(word.text) if name in values and not word.known}
    ordered = sorted(names)
    for chosen in product(*(values[name] for name in ordered)):
        given = dict(zip(ordered, chosen, strict=True))
        text = " ".join(_show(word, given) for word in command.words)
        if text.strip():
            yield text


def _show(word: Word, given: Mapping[str, str]) -> str:
    """The word as text of a command; a value's blanks part words, everything else in it is plain."""
    if word.known:
        return _spread(word.text) if word.globbed or word.tilde else _quote(word.text)
    text = word.text
    for script in word.scripts:
        text = text.replace("$()", _printed_by(script), 1)
    text = _NAME.sub(lambda match: given.get(match[1], match[0]), text)
    return " ".join(part if part.startswith("$") else _quote(part) for part in text.split())


def _spread(text: str) -> str:
    """`{rm,-rf,/}` as the words that it makes, where it is all of the word."""
    braces = _BRACES.fullmatch(text)
    return " ".join(map(_quote, filter(None, braces[1].split(",")))) if braces else text


def _quote(text: str) -> str:
    return text if _BARE.fullmatch(text) else shlex.quote(text)


def _printed_by(script: Script) -> str:
    """What a substitution would print, where its text says so: `echo rm`, `which rm`, `pwd`."""
    stages = [stage for pipeline in script.pipelines for stage in pipeline.stages]
    if not stages or not isinstance(stages[0], Command) or not stages[0].words:
        return "$()"
    call = make_call(stages[0].words)
    words = [text for text in call.texts() if not text.startswith("-")]
    if call.name == "pwd":
        shown = "$PWD"
    elif call.name in ("echo", "printf") and words:
        shown = " ".join(words)
    elif call.name in _TELLERS and words:
        shown = words[-1]
    else:
        return "$()"
    for stage in stages[1:]:
        decoded = decode_through(shown, make_call(stage.words)) if isinstance(stage, Command) and stage.words else None
        if decoded is None:
            return "$()"
        shown = decoded
    return shown
