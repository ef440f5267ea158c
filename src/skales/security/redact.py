"""Masks secrets in text and JSON that is kept, shown or sent: logs, audit previews, call logs, drafts, memories.

Known key shapes keep their beginning, named values keep their name. A mask is three stars; masking twice changes
nothing. Time grows with the length of the text, whatever it says. Personal data is the feed's business, not ours.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Protocol

from msgspec import Struct

from skales.core.json import JsonValue
from skales.security.key_shapes import find_keys, looks_random, read_key
from skales.security.marks import MARKER, STARS, Marks, Secret, is_masked, lower
from skales.security.named_secrets import mark_named, mask_named_values
from skales.security.rare_secrets import mask_rare
from skales.security.secret_names import Strength, find_reference, is_status, name_strength, split_name_end
from skales.security.secret_urls import mask_urls
from skales.security.wrapped_secrets import mask_wrapped

MASK = STARS

# Deeper values are nobody's log entry; they are masked whole rather than walked.
_MAX_DEPTH = 64

_PEM_BEGIN = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----|---- BEGIN SSH2 (?:ENCRYPTED )?PRIVATE KEY ----"
)
# What a block cut off before its end looks like: header lines, then lines of nothing but base64.
_PEM_BODY = re.compile(
    r"(?:(?:[ \t]{0,8}(?:\r?\n|\\r|\\n)){1,4}"
    r"(?:[A-Za-z0-9+/=]{8,}+(?=[ \t]{0,8}(?:\r?\n|\\r|\\n|[\"'`]|\Z))|[A-Za-z-]{1,30}: [^\n\\]{0,200}))*+"
)
# A key of 16,384 bits takes 13,000 characters.
_PEM_MAX = 32_768
_SCHEME = re.compile(r"\b(bearer|basic)([ \t]{1,4})([A-Za-z0-9._~+/-]{8,}+=*)", re.IGNORECASE)
_COOKIES = re.compile(r"(\bcookie\\{0,3}[\"']?\s{0,4}[:=]\s{0,4}\\{0,3}[\"']?)([^\r\n\"'\\]{1,16384})", re.IGNORECASE)
_COOKIE_VALUE = re.compile(r"=(?!\*\*\*|\[secret:)[^;\s]+")
_CURL_USER = re.compile(
    r"(\bcurl\b[^\n]{0,300}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,100}:)(?!\*\*\*|\[secret:)([^\s\"']{1,1000})"
)
_NETRC = re.compile(r"(\blogin\s{1,8}\S{1,100}\s{1,8}password\s{1,8})(?!\*\*\*|\[secret:)(\S{1,1000})")
# What is left of a masked value that was nothing but a key: `Bearer ***`, `sk-proj-***`.
_NOTHING_LEFT = re.compile(rf"(?:[A-Za-z]{{1,20}} )?(?:[\w./:-]{{0,11}}\*\*\*|{MARKER.pattern})")


def redact(text: str) -> str:
    """The text with every secret in it masked by three stars."""
    marks = Marks()
    return marks.with_stars(_mask_all(text, marks))


def conceal(text: str) -> tuple[str, Sequence[Secret]]:
    """The text with a marker for every secret in it, and the secrets in their order."""
    marks = Marks()
    return marks.with_markers(_mask_all(text, marks))


def _mask_all(text: str, marks: Marks) -> str:
    # Keys that may be percent-encoded in part are known as they stand.
    shown = mask_wrapped(_mask_keys(text, marks), _mask_plain, _mask_unmistakable, marks)
    return _mask_plain(shown, marks)


def _mask_unmistakable(text: str, marks: Marks) -> str:
    return mask_urls(_mask_keys(_mask_pem(text, marks), marks), marks.put)


def _mask_plain(text: str, marks: Marks) -> str:
    mark = marks.put
    shown = mask_urls(_mask_keys(_mask_pem(text, marks), marks), mark)
    lowered = lower(shown)
    for word, pattern, replace in _BEHIND_WORDS:
        if word in lowered:
            shown = _replace_at(shown, word, pattern, partial(replace, marks=marks))
    shown = mask_rare(shown, lowered, mark)
    return mask_named_values(shown, lower(shown), mark)


def _replace_at(text: str, word: str, pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str]) -> str:
    """The text with each match of a pattern that begins with a word replaced. Looking for the word first is faster."""
    lowered, shown, done = lower(text), list[str](), 0
    at = lowered.find(word)
    while at >= 0:
        if at >= done and (match := pattern.match(text, at)):
            shown += [text[done:at], replace(match)]
            done = match.end()
        at = lowered.find(word, max(at + 1, done))
    return "".join([*shown, text[done:]]) if shown else text


def _mask_keys(text: str, marks: Marks) -> str:
    shown: list[str] = []
    done = 0
    for match in find_keys(text):
        if key := read_key(match):
            shown += [text[done : match.start()], marks.put(key[0], match[0], key[1])]
            done = match.end()
    return "".join([*shown, text[done:]]) if shown else text


def _mask_password(match: re.Match[str], marks: Marks) -> str:
    return match[1] + marks.put("password", match[2])


def _mask_cookies(match: re.Match[str], marks: Marks) -> str:
    return match[1] + _COOKIE_VALUE.sub(lambda value: f"={marks.put('cookie', value[0][1:])}", match[2])


def redact_value(value: JsonValue) -> JsonValue:
    """A copy of a JSON value with secrets masked; a value under a secret's name is masked whole."""
    return _redact_below(value, _Masking(redact, lambda _name: MASK), "", 0)


def conceal_value(value: JsonValue, mask: Callable[[str], str], opaque: Collection[str] = ()) -> JsonValue:
    """The same with markers. `mask` is for texts; values under the `opaque` names are not looked at."""
    return _redact_below(value, _Masking(mask, mark_named, frozenset(opaque)), "", 0)


class _Masking(Struct, frozen=True):
    """How texts are masked, what stands for a value of a name, and whose values are passed over."""

    text: Callable[[str], str]
    whole: Callable[[str], str]
    opaque: frozenset[str] = frozenset()


def _redact_below(value: JsonValue, masking: _Masking, name: str, depth: int) -> JsonValue:
    """`name` is what stands above the value."""
    strength = _strength_of(name) if name else Strength.NONE
    if isinstance(value, str):
        return value if name in masking.opaque else _redact_text(value, masking, name, strength)
    if value is None or isinstance(value, (bool, int, float)):
        return masking.whole(name) if strength is Strength.STRONG and _is_number_secret(value) else value
    if depth >= _MAX_DEPTH:
        return MASK
    if isinstance(value, Mapping):
        return {masking.text(key): _redact_below(item, masking, key, depth + 1) for key, item in value.items()}
    return [_redact_below(item, masking, name, depth + 1) for item in value]


def _redact_text(text: str, masking: _Masking, name: str, strength: Strength) -> str:
    shown = masking.text(text)
    if strength is Strength.NONE or is_status(text) or _NOTHING_LEFT.fullmatch(shown):
        return shown
    if not text.strip() or find_reference(text, 0) == len(text):
        return shown
    if strength is Strength.STRONG:
        return masking.whole(name)
    return masking.whole(name) if looks_random(text, at_least=8 if strength is Strength.WEAK else 16) else shown


def _is_number_secret(value: JsonValue) -> bool:
    """Short numbers behind such names are counts and switches."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) > 999


def _strength_of(name: str) -> Strength:
    end = split_name_end(name.removesuffix("s"))
    if re.search(r"cookie\Z", name, re.IGNORECASE):
        return Strength.STRONG
    if end is None or (name.endswith("s") and name_strength(*end) is not Strength.STRONG):
        return Strength.NONE
    return name_strength(*end)


def _mask_pem(text: str, marks: Marks) -> str:
    """Private key blocks lose everything between their lines; one without an end loses what looks like a block."""
    shown: list[str] = []
    done = 0
    while begin := _PEM_BEGIN.search(text, done):
        end_line = begin[0].partition("BEGIN")[0] + "END "
        end = text.find(end_line, begin.end(), begin.end() + _PEM_MAX)
        if end < 0:
            body = _PEM_BODY.match(text, begin.end())
            end = body.end() if body else begin.end()
        shown += [
            text[done : begin.end()],
            f"\n{_mask_block(text[begin.end() : end], marks)}\n" if end > begin.end() else "",
        ]
        done = end
    shown.append(text[done:])
    return "".join(shown)


def _mask_block(block: str, marks: Marks) -> str:
    return block.strip() if is_masked(block.strip()) else marks.put("private key", block)


def _mask_scheme(match: re.Match[str], marks: Marks) -> str:
    is_secret = looks_random(match[3]) or len(match[3]) > 20
    return f"{match[1]}{match[2]}{marks.put('authorization', match[3])}" if is_secret else match[0]


class _Replace(Protocol):
    def __call__(self, match: re.Match[str], marks: Marks) -> str: ...


_BEHIND_WORDS: Sequence[tuple[str, re.Pattern[str], _Replace]] = (
    ("bearer", _SCHEME, _mask_scheme),
    ("basic", _SCHEME, _mask_scheme),
    ("curl", _CURL_USER, _mask_password),
    ("login", _NETRC, _mask_password),
    ("cookie", _COOKIES, _mask_cookies),
)
