"""Model output as HTML that cannot act: markdown in, an allow-listed fragment out.

Raw HTML in the text is dropped, its words stay; pictures from elsewhere become links that name their host; links open
outside the page. The page's Content-Security-Policy stands behind this. Not for text of people or tools: that is shown
as it is. Spec: ui-surfaces.md, "Chat rendering".
"""

import re
from functools import lru_cache

# Half of a surrogate pair, from a stream that was cut inside one; UTF-8 cannot hold it.
_HALF_CHARACTER = re.compile(r"[\ud800-\udfff]")


@lru_cache(maxsize=512)
def render_markdown(text: str) -> str:
    """A whole message, or one finished block of it, as an HTML fragment that is safe to insert."""
    # The parser and the sanitiser load with the first answer that is shown, not with the first page.
    from skales.server.markdown_rules import render_unclean
    from skales.server.sanitize import clean_html

    return clean_html(render_unclean(_HALF_CHARACTER.sub("\ufffd", text)))
