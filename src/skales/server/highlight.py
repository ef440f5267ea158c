"""Colours for code, as CSS classes that `prose.css` paints. Pygments loads with the first such block."""

import re
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pygments.lexer import Lexer

# Longer code is shown plain: some lexers slow down badly on hostile text.
_LONGEST_CODE = 30_000
_LANGUAGE = re.compile(r"[A-Za-z0-9+#._-]{1,32}")
_ENDING = re.compile(r"\*(\.[a-z0-9]{1,8})")
# Words that models use and Pygments does not know, or whose usual file ending is another than its first.
_SAME_AS = {"htm": "html", "html5": "html", "xhtml": "html", "svg": "xml", "patch": "diff", "jsonl": "json"}
_ENDINGS = {
    "": ".txt", "text": ".txt", "svg": ".svg", "mermaid": ".mmd", "shell": ".sh", "console": ".txt", "diff": ".diff",
    "markdown": ".md", "xml": ".xml", "yaml": ".yaml", "csv": ".csv", "jsonl": ".jsonl", "latex": ".tex",
}  # fmt: skip


@lru_cache(maxsize=128)
def highlight_code(code: str, language: str) -> str:
    """The code as escaped HTML, with spans where the language is known.

    Kept for a while: an answer's code is shown once when its block is finished and again with the whole.
    """
    lexer = _find_lexer(language) if len(code) <= _LONGEST_CODE else None
    if lexer is None:
        return escape(code, quote=False)
    from pygments import highlight
    from pygments.formatters import HtmlFormatter

    return highlight(code, lexer, HtmlFormatter(nowrap=True))


@lru_cache(maxsize=128)
def name_file(language: str) -> str:
    """A name for code in this language that is saved as a file."""
    ending = _ENDINGS.get(language.lower())
    if ending is None:
        patterns: list[str] = list(getattr(_find_lexer(language), "filenames", ()))
        found = (_ENDING.fullmatch(pattern) for pattern in patterns)
        ending = next((match[1] for match in found if match), ".txt")
    return f"code{ending}"


def _find_lexer(language: str) -> "Lexer | None":
    """None for a language that is not known."""
    if not _LANGUAGE.fullmatch(language):
        return None
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    name = language.lower()
    try:
        return get_lexer_by_name(_SAME_AS.get(name, name), stripnl=False)
    except ClassNotFound:
        return None
