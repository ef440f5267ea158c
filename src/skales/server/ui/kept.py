"""HTML that is kept: what pages show again and again is written once for each language and what it is given.

In a template: `{% set row = keep(row_of) %}` gives a macro that is called like the other. It must depend on nothing but
its arguments and the language.
"""

from collections.abc import Callable, Hashable
from functools import lru_cache

from markupsafe import Markup

from skales.server import words
from skales.server.development import is_development

# Of each macro: the rows of several lists, and all icons.
_MOST_KEPT = 500
# More than all templates have, in each language.
_MOST_WORDS = 4_000

Macro = Callable[..., Markup]


def keep(macro: Macro) -> Macro:
    """The macro, with its results kept; not while somebody works on the templates."""
    if is_development():
        return macro

    @lru_cache(maxsize=_MOST_KEPT)
    def kept(_language: str, *given: Hashable, **named: Hashable) -> Markup:
        return macro(*given, **named)

    def show(*given: Hashable, **named: Hashable) -> Markup:
        return kept(words.language(), *given, **named)

    return show


def say(message: str, /, **values: object) -> Markup:
    """What templates call `_`: the message in the language in use, its `%(name)s` filled in and escaped."""
    return _as_html(message) % values if values else _say_plainly(words.language(), message)


@lru_cache(maxsize=_MOST_WORDS)
def _say_plainly(_language: str, message: str) -> Markup:
    return _as_html(message) % {}


def _as_html(message: str) -> Markup:
    return Markup(words.gettext(message))  # noqa: S704 - templates and catalogues are ours, and may hold elements
