"""Model output as HTML that cannot act: markdown in, an allow-listed fragment out.

Raw HTML in the text is dropped, its words stay; pictures from elsewhere become links that name their host; links open
outside the page. The page's Content-Security-Policy stands behind this. Not for text of people or tools: that is shown
as it is. Spec: ui-surfaces.md, "Chat rendering".
"""

import re
from functools import lru_cache
from html import escape

from skales.server.words import language

# Half of a surrogate pair, from a stream that was cut inside one; UTF-8 cannot hold it.
_HALF_CHARACTER = re.compile(r"[\ud800-\udfff]")


# More is shown as it is. Rendering this much takes less than a second, whatever stands in it.
_LONGEST_TEXT = 100_000
_MOST_LINES = 10_000


def render_markdown(text: str) -> str:
    """A whole message, or one finished block of it, as an HTML fragment that is safe to insert."""
    return _render(text, language())


@lru_cache(maxsize=512)
def _render(text: str, _language: str) -> str:
    """Buttons in the fragment speak the person's language, so it is part of what is remembered."""
    # The parser and the sanitiser load with the first answer that is shown, not with the first page.
    from skales.server.markdown_rules import render_unclean
    from skales.server.sanitize import clean_html

    whole = _HALF_CHARACTER.sub("\ufffd", text).replace("\x00", "\ufffd")
    is_small = len(whole) <= _LONGEST_TEXT and whole.count("\n") <= _MOST_LINES
    markup = render_unclean(whole) if is_small else None
    if markup is None:
        markup = f'<div class="plain">{escape(whole, quote=False)}</div>'
    return clean_html(markup)
