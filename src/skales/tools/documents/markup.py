"""HTML inside documents (mails, books) as plain lines; nothing it refers to is loaded."""

from html.parser import HTMLParser

from skales.tools.web.charset import decode_body
from skales.tools.web.dom import parse_page
from skales.tools.web.hidden import hide_unseen
from skales.tools.web.readable import render_readable

# Hostile nesting takes the parser quadratic time: eight seconds at this size.
_CAREFUL_BYTES = 128_000
_BLOCKS = frozenset({"p", "div", "br", "tr", "li", "h1", "h2", "h3", "h4", "h5", "h6", "section", "blockquote"})
_SILENT = frozenset({"script", "style", "head", "template", "noscript"})


def read_markup(content: bytes, content_type: str = "text/html") -> str:
    """What a reader of it sees, as Markdown; of a very large one, its words."""
    text = decode_body(content, content_type).text
    if len(content) > _CAREFUL_BYTES:
        return _plain_words(text)
    page = parse_page(text)
    hide_unseen(page)
    return render_readable(page.root, page.root, "")


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self._silent += tag in _SILENT
        if tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in _SILENT and self._silent > 0
        if tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.pieces.append(data)


def _plain_words(text: str) -> str:
    words = _Words()
    words.feed(text)
    words.close()
    lines = (" ".join(line.split()) for line in "".join(words.pieces).split("\n"))
    return "\n".join(line for line in lines if line)
