"""Colours for code, as CSS classes that `prose.css` paints. Pygments loads with the first such block."""

import re
from functools import lru_cache
from html import escape

# Longer code is shown plain: some lexers slow down badly on hostile text.
_LONGEST_CODE = 30_000
_LANGUAGE = re.compile(r"[A-Za-z0-9+#._-]{1,32}")


@lru_cache(maxsize=128)
def highlight_code(code: str, language: str) -> str:
    """The code as escaped HTML, with spans where the language is known.

    Kept for a while: an answer's code is shown once when its block is finished and again with the whole.
    """
    if len(code) > _LONGEST_CODE or not _LANGUAGE.fullmatch(language):
        return escape(code, quote=False)
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language.lower(), stripnl=False)
    except ClassNotFound:
        return escape(code, quote=False)
    return highlight(code, lexer, HtmlFormatter(nowrap=True))
