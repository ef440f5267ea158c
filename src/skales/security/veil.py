"""The one way out of the program for text: every boundary that keeps, sends or shows something asks here first.

Besides what looks like a secret, the person's own stored secrets are masked whatever they look like. What a secret
was taken out of is remembered as clean, so that a long conversation is not looked through again for each request.
"""

import hashlib
import json
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence

from skales.core.errors import SkalesError
from skales.core.json import JsonObject, JsonValue, as_object
from skales.security.known_values import spellings
from skales.security.marks import Secret
from skales.security.redact import conceal, conceal_value

# Shorter ones stand in too many ordinary words.
MIN_KNOWN = 6
_REMEMBERED = 8_192
# To look through less than this is as fast as to remember it.
_MIN_REMEMBERED = 16
_MARKER_KIND = "stored secret"
# Above this a value is a picture or a file; its name would have to say so to be one of ours.
_OPAQUE = frozenset({"signature", "thoughtSignature", "thought_signature", "encrypted_content", "data", "data_base64"})


class Veil:
    """Masks texts and JSON. `known` are the person's stored secrets at this moment; it is asked for every text.

    As long as they are the same it should give the same object.

    May be used from several threads.
    """

    def __init__(self, known: Callable[[], frozenset[str]] = frozenset) -> None:
        self._known = known
        self._values: frozenset[str] = frozenset()
        self._matcher: re.Pattern[str] | None = None
        self._epoch = 0
        self._clean: OrderedDict[bytes, None] = OrderedDict()
        self._lock = threading.Lock()

    def text(self, text: str) -> str:
        """The text with a marker for every secret in it."""
        return self.look(text)[0]

    def look(self, text: str) -> tuple[str, Sequence[Secret]]:
        """The text with markers, and the secrets they stand for."""
        if not text:
            return text, ()
        matcher = self._look_up()
        digest = _digest(text) if len(text) >= _MIN_REMEMBERED else b""
        if digest and self._is_clean(digest):
            return text, ()
        stored: list[Secret] = []
        shown = text
        if matcher is not None:

            def replace(match: re.Match[str]) -> str:
                stored.append(Secret(_MARKER_KIND, "", match[0]))
                return stored[-1].marker

            shown = matcher.sub(replace, text)
        shown, found = conceal(shown)
        if len(shown) >= _MIN_REMEMBERED:
            self._remember(digest if shown == text else _digest(shown))
        return shown, [*stored, *found]

    def value(self, value: JsonValue) -> JsonValue:
        """A JSON value with markers for its secrets, itself when it has none.

        A value under a secret's name is masked whole.
        """
        if not value or isinstance(value, (bool, int, float)):
            return value
        self._look_up()
        try:
            digest = _digest(json.dumps(value, check_circular=False))
        except (TypeError, ValueError, RecursionError):  # nothing that could come out of a file
            return conceal_value(value, self.text, _OPAQUE)
        if self._is_clean(digest):
            return value
        shown = conceal_value(value, self.text, _OPAQUE)
        if shown == value:
            self._remember(digest)
            return value
        return shown

    def fields(self, value: JsonObject) -> JsonObject:
        """The same of an object."""
        return as_object(self.value(value))

    def epoch(self) -> int:
        """Counts up when other secrets are known; what was clean before need not be so any more."""
        self._look_up()
        return self._epoch

    def _look_up(self) -> re.Pattern[str] | None:
        try:
            values = self._known()
        except SkalesError:  # what was known before still counts
            return self._matcher
        if values is self._values:
            return self._matcher
        with self._lock:
            if values != self._values:
                self._matcher = _compile(values)
                self._clean.clear()
                self._epoch += 1
            self._values = values
            return self._matcher

    def _is_clean(self, digest: bytes) -> bool:
        with self._lock:
            if digest not in self._clean:
                return False
            self._clean.move_to_end(digest)
            return True

    def _remember(self, digest: bytes) -> None:
        with self._lock:
            self._clean[digest] = None
            if len(self._clean) > _REMEMBERED:
                self._clean.popitem(last=False)


def reveal(edited: JsonValue, original: JsonValue, veil: Veil) -> JsonValue:
    """A value that a person edited, with the secrets put back that were shown to them as markers.

    A marker that can stand for several of the original's secrets is left, and whatever holds it is refused later.
    """
    secrets: dict[str, set[str]] = {}
    for text in _texts(original):
        for secret in veil.look(text)[1]:
            secrets.setdefault(secret.marker, set()).add(secret.value)
    return _put_back(edited, original, veil.value(original), secrets)


def _put_back(edited: JsonValue, original: JsonValue, masked: JsonValue, secrets: Mapping[str, set[str]]) -> JsonValue:
    if edited == masked:
        return original
    if isinstance(edited, str):
        for marker, values in secrets.items():
            if len(values) == 1:
                edited = edited.replace(marker, next(iter(values)))
        return edited
    if isinstance(edited, Mapping):
        before, shown = as_object(original), as_object(masked)
        return {name: _put_back(item, before.get(name), shown.get(name), secrets) for name, item in edited.items()}
    if isinstance(edited, Sequence):
        return [_put_back(item, None, None, secrets) for item in edited]
    return edited


def _texts(value: JsonValue) -> Sequence[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for item in value.values() for text in _texts(item)]
    if isinstance(value, Sequence):
        return [text for item in value for text in _texts(item)]
    return []


def _compile(values: Collection[str]) -> re.Pattern[str] | None:
    forms = {form for value in values if len(value) >= MIN_KNOWN for form in spellings(value) if len(form) >= MIN_KNOWN}
    if not forms:
        return None
    # The longest first, so that no other one's beginning leaves an end behind.
    return re.compile("|".join(re.escape(form) for form in sorted(forms, key=lambda form: (-len(form), form))))


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
