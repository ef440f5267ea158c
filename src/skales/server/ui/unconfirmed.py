"""Marks in a rendered answer the sentences that nothing bears out.

Only text between tags is wrapped, so that what the sanitiser let through stays as safe as it was. A sentence that
cannot be found, such as one across the cells of a table, is not marked; the callout below the answer has it anyway.
"""

import re
from collections.abc import Iterator, Sequence
from html import unescape

from markupsafe import Markup

_TAG = re.compile(r"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")
_UNIT = re.compile(r"&#?\w{1,31};|.", re.DOTALL)
_TAG_NAME = re.compile(r"</?([a-zA-Z0-9-]+)")
_TARGET = re.compile(r"\]\([^)\n]{0,500}\)")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# They do not end a sentence.
_INLINE = _words("a b strong i em code span del s u sub sup mark small kbd abbr q cite br input")
# Nothing is marked inside: it is not the answer's prose, or markup of another kind.
_CLOSED = _words("pre math svg button script style textarea iframe figure")
_BARRIER = "\n"
_OPEN, _CLOSE = '<mark class="unconfirmed">', "</mark>"

# A sign as it is compared, and where it stands in the source.
_Sign = tuple[str, int, int]


def mark_sentences(html: Markup, sentences: Sequence[str]) -> Markup:
    """The same with `<mark class="unconfirmed">` around each sentence's first appearance."""
    if not sentences:
        return html
    signs = list(_signs(html))
    plain = "".join(sign for sign, _start, _end in signs)
    places: set[int] = set()
    for sentence in sentences:
        wanted = _plain(sentence)
        found = plain.find(wanted) if wanted else -1
        if found >= 0:
            places.update(range(signs[found][1], signs[found + len(wanted) - 1][2]))
    return Markup("".join(_wrap(html, places)))  # noqa: S704 - wraps text of what is safe already


def _plain(sentence: str) -> str:
    """Letters and digits only: what Markdown adds and what rendering makes of quotes and spaces does not count."""
    return "".join(sign for sign in _TARGET.sub("]", sentence).lower() if sign.isalnum())


def _signs(html: str) -> Iterator[_Sign]:
    closed = ""
    for start, end, is_tag in _split(html):
        if is_tag:
            name = _name_of(html[start:end])
            if name in _CLOSED and not closed and not html[start:end].startswith("</"):
                closed = name
            elif name == closed and html[start:end].startswith("</"):
                closed = ""
            if name not in _INLINE:
                yield _BARRIER, start, end
        elif not closed:
            yield from _text_signs(html, start, end)


def _text_signs(html: str, start: int, end: int) -> Iterator[_Sign]:
    for unit in _UNIT.finditer(html, start, end):
        for sign in unescape(unit.group()).lower():
            if sign.isalnum():
                yield sign, unit.start(), unit.end()


def _split(html: str) -> Iterator[tuple[int, int, bool]]:
    """The pieces of the source: from, to, and whether it is a tag."""
    place = 0
    for tag in _TAG.finditer(html):
        if tag.start() > place:
            yield place, tag.start(), False
        yield tag.start(), tag.end(), True
        place = tag.end()
    if place < len(html):
        yield place, len(html), False


def _wrap(html: str, places: set[int]) -> Iterator[str]:
    """A mark ends before each tag and begins again behind it, so that elements stay nested."""
    for start, end, is_tag in _split(html):
        marked = [] if is_tag or not places else [at for at in range(start, end) if at in places]
        if not marked:
            yield html[start:end]
            continue
        first, last = marked[0], marked[-1] + 1
        yield from (html[start:first], _OPEN, html[first:last], _CLOSE, html[last:end])


def _name_of(tag: str) -> str:
    found = _TAG_NAME.match(tag)
    return found[1].lower() if found else ""
