"""Secrets that stand behind their name: `key=value`, JSON and YAML pairs, headers, options of commands, XML.

Walks from name to name; each step goes on behind what the last one read, so that time grows with the text only.
"""

import re

from skales.security.key_shapes import CONTINUATION, looks_random
from skales.security.marks import MARKER, Mark, Secret, is_masked
from skales.security.secret_names import CORE, SUFFIX, Strength, find_reference, is_status, name_strength

_SCHEMES = "bearer|basic|token|apikey|bot|key|dpop"
_PAIR = re.compile(
    rf"({CORE}){SUFFIX}"
    r"(?:\\{0,3}[\"'`]|\\?\]|%22)?"
    r"(?P<sign>\s{0,8}(?:=>|:=|={1,2}|:|%3[AaDd])\s{0,8}|>|[ \t]{1,4}(?:is|was|ist|war|lautet)[ \t]{1,4}|[ \t]{1,4})"
    rf"(?:(?:{_SCHEMES})[ \t]{{1,4}})?",
    re.IGNORECASE,
)
_HINT = re.compile("key|token|secret|pass|pwd?|credential|authorization|kennwort|psk")
_SAYS = ("is", "was", "ist", "war", "lautet")
_KINDS = {
    "kenn": "password",
    "psk": "password",
    "pw": "password",
    "key": "key",
    "toke": "token",
    "pass": "password",
    "pwd": "password",
    "cred": "credentials",
}
_NAME_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
_MAX_NAME = 60
_WORD_BEFORE = re.compile(r"[A-Za-z]{1,20} \Z")

_QUOTED = re.compile(
    r"\"(?P<double>(?:[^\"\\\n]|\\.){0,8192}+)\"|'(?P<single>(?:[^'\\\n]|\\.){0,8192}+)'|`(?P<back>[^`\n]{0,8192}+)`"
    r"|(?P<escaped>\\{1,3}[\"'])(?P<inner>[^\"'\n]{0,8192}?)(?P=escaped)"
)
# Commas, semicolons and ampersands may belong to a password, unless a blank or the next pair follows.
_STRONG = re.compile(r"(?:[^\s\"'`<>,;&\\]|[,;&](?![\s\"'`]|\Z|[A-Za-z_][\w.-]{0,40}[=:])|\\(?![nrt\"'\\]))+")
_WEAK = re.compile(r"[A-Za-z0-9_+/.~%@$!*-]++=*(?::[A-Za-z0-9_+/.~%@-]++=*)?")
_CONTINUATION = re.compile(CONTINUATION)
_DIGIT = re.compile("[0-9]")
_PROSE = re.compile(r"[ \t][a-z]")


def mask_named_values(text: str, lowered: str, mark: Mark) -> str:
    """The text with every value masked whose name says that it is secret and that looks like one.

    `lowered` is the same in small letters, of the same length.
    """
    shown: list[str] = []
    done = at = 0
    while pair := _find_pair(text, lowered, at):
        if pair.start() and (marker := MARKER.match(text, pair.start() - 1)):
            at = marker.end()
            continue
        strength = _strength_at(text, pair)
        reference_end = find_reference(text, pair.end(), code=True)
        if strength is Strength.NONE or reference_end > pair.end():
            at = max(reference_end, pair.end(1)) if strength else pair.end(1)
            continue
        start, end = _value_span(text, pair.end(), strength)
        value = text[start:end]
        if is_masked(value) or find_reference(value, 0) == len(value) or not _is_secret(value, strength, text, pair):
            at = max(end, pair.end()) if strength is Strength.STRONG else pair.end()
            continue
        at = _with_continuation(text, end, value) if start == pair.end() else end
        shown += [text[done:start], mark(_KINDS.get(pair[1].lower()[:4], "secret"), text[start:at])]
        done = at
    shown.append(text[done:])
    return "".join(shown)


def mark_named(name: str) -> str:
    """What stands for a whole value behind a name that says it is secret."""
    word = next((kind for hint, kind in _KINDS.items() if hint in name.lower()), "secret")
    return Secret(word, "", "").marker


def _find_pair(text: str, lowered: str, at: int) -> re.Match[str] | None:
    """The next name with a sign behind it. Looking for its words first is much faster than looking for the whole."""
    for hint in _HINT.finditer(lowered, at):
        if pair := _PAIR.match(text, hint.start()):
            return pair
    return None


def _strength_at(text: str, pair: re.Match[str]) -> Strength:
    """What the name before the sign says; bare blanks count as a sign behind options only, `is` behind passwords."""
    head = text[max(0, pair.start() - _MAX_NAME) : pair.start()]
    before = head[len(head.rstrip(_NAME_CHARACTERS)) :]
    word_before = _WORD_BEFORE.search(head)
    # `API key:` and `primary key:` say more together.
    strength = name_strength(word_before[0] if word_before else before, pair[1])
    sign = pair["sign"].strip()
    if sign.lower() in _SAYS:
        is_password = pair[1].lower().startswith(("pass", "kennwort"))
        return strength if strength is Strength.STRONG and is_password else Strength.NONE
    if not sign and not before.startswith("-"):
        return Strength.NONE
    if pair[1] == "PASS" and not before and sign == ":":
        # That is how tests report.
        return Strength.NONE
    return strength


def _value_span(text: str, at: int, strength: Strength) -> tuple[int, int]:
    """Where the value stands, without its quotes."""
    quoted = _QUOTED.match(text, at)
    if quoted:
        return quoted.span("inner" if quoted["escaped"] else quoted.lastgroup or 0)
    bare = (_STRONG if strength is Strength.STRONG else _WEAK).match(text, at)
    if bare is None:
        return at, at
    return at, at + len(bare[0].rstrip(",;.)]}"))


def _is_secret(value: str, strength: Strength, text: str, pair: re.Match[str]) -> bool:
    if not value or is_status(value):
        return False
    sign = pair["sign"].strip()
    bare = text[pair.end() : pair.end() + 1] == value[:1]
    match strength:
        case Strength.STRONG if sign.lower() in _SAYS:
            return looks_random(value, at_least=6) or not bare
        case Strength.STRONG if bare and value.isalpha() and value.islower() and sign == ":":
            return _PROSE.match(text, pair.end() + len(value)) is None
        case Strength.STRONG if pair[1].lower() == "pwd" and value.startswith(("/", "~")):
            return False
        case Strength.STRONG if pair[1].lower() == "pass" and value.isdigit():
            return len(value) > 3
        case Strength.STRONG:
            return len(value) > 2 or not bare
        case Strength.WEAK:
            return looks_random(value)
        case _:
            # `key: createSynonyms` names something; a key made by a machine has digits.
            return looks_random(value, at_least=16) and (_DIGIT.search(value) is not None or len(value) >= 40)


def _with_continuation(text: str, end: int, value: str) -> int:
    """A bare value may be broken over lines by a terminal, when it looked random before the break."""
    more = _CONTINUATION.match(text, end)
    return more.end() if more and looks_random(value, at_least=16) else end
