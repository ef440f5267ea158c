"""The page's words in the person's language, from gettext catalogues.

English is the source text, so it needs no catalogue. `scripts/words.py` extracts, checks and compiles.
Rooms below the server speak English, for logs, models and the terminal; `told` translates what of theirs a page shows.
"""

import json
from collections.abc import Mapping
from contextvars import ContextVar
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType

ENGLISH = "en"
# Each in its own words, for choosing.
LANGUAGES: Mapping[str, str] = MappingProxyType({ENGLISH: "English", "de": "Deutsch"})

_FOLDER = files("skales").joinpath("locale")
_language: ContextVar[str] = ContextVar("language", default=ENGLISH)


def _(message: str, /, **values: object) -> str:
    """The message in the language in use, its `%(name)s` filled in when values are given."""
    text = gettext(message)
    return text % values if values else text


def ngettext(singular: str, plural: str, num: int, /, **values: object) -> str:
    """The form that fits a number, with `%(num)d` and the values filled in."""
    return ngettext_unfilled(singular, plural, num) % {"num": num, **values}


def gettext(message: str) -> str:
    """The message in the language in use, as it stands in the catalogue."""
    return _catalogue(_language.get()).gettext(message)


def ngettext_unfilled(singular: str, plural: str, num: int) -> str:
    """The form that fits a number, as it stands in the catalogue."""
    return _catalogue(_language.get()).ngettext(singular, plural, num)


def N_(message: str) -> str:  # noqa: N802 - gettext's own name, which the extraction looks for
    """Marks a text of a table; `_` translates it where it is shown."""
    return message


def language() -> str:
    """The tag of the language in use."""
    return _language.get()


def use_language(tag: str) -> None:
    """Speak this language in the current task and what it starts; English for one that there is none of."""
    _language.set(tag if tag in LANGUAGES else ENGLISH)


def pick_language(chosen: str, accepted: str) -> str:
    """What the person chose, else the first that the browser asks for and we have. Spec: RFC 9110, 12.5.4."""
    if chosen in LANGUAGES:
        return chosen
    ranges = (_read_range(number, text) for number, text in enumerate(accepted.split(",")))
    wanted = (tag for weight, _number, tag in sorted(ranges) if weight < 0)
    return next((tag for tag in wanted if tag in LANGUAGES), ENGLISH)


@cache
def script_words(tag: str) -> str:
    """What the page's scripts say, as JSON: the message, or both forms of one, to its translations."""
    catalogue = catalogue_file(tag, "script.json")
    # `<` must not end the element that carries it.
    return catalogue.read_text(encoding="utf-8").replace("<", "\\u003c") if catalogue.is_file() else json.dumps({})


def catalogue_file(tag: str, *names: str) -> Traversable:
    """Where a compiled catalogue of a language lies, if it has one."""
    return _FOLDER.joinpath(tag, *names)


def _read_range(number: int, text: str) -> tuple[float, int, str]:
    """Sorts by weight, highest first, then by place."""
    tag, _semicolon, weight = text.partition(";")
    try:
        quality = float(weight.partition("=")[2]) if weight else 1.0
    except ValueError:
        quality = 0.0
    return -quality, number, tag.strip().lower().partition("-")[0]


@cache
def _catalogue(tag: str) -> NullTranslations:
    compiled = catalogue_file(tag, "LC_MESSAGES", "skales.mo")
    if not compiled.is_file():
        return NullTranslations()
    with compiled.open("rb") as file:
        return GNUTranslations(file)
