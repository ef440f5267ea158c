"""The gist of a page for a post or a brief: what it says of itself, and the sentences that say most.

Extractive, without a model: every word is the page's own. Sentences count by the words the text comes back to, by
the title's words and by standing early. Pure work.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import log, sqrt

from msgspec import Struct

from skales.security.invisible import strip_invisible
from skales.tools.web.article import find_article
from skales.tools.web.document import Source, parse_source
from skales.tools.web.dom import Element
from skales.tools.web.inline import absolute_address, build_setting, render_line
from skales.tools.web.readable import page_title

_MOST_META = 500
_LEAST_SENTENCE = 30
_MOST_SENTENCE = 400
_MOST_SENTENCES = 2_000
_EARLY_WEIGHT = 0.5
_TITLE_WEIGHT = 1.5
# So much of its words in common, and two sentences say the same.
_SAME = 0.6
_LEAST_IMAGE_PX = 120

_PARAGRAPHS = frozenset({"p", "li", "blockquote", "dd"})
_WORD = re.compile(r"[^\W\d_]{3,}")
# A full stop ends a sentence when a capital, a quote or nothing follows; not behind one letter or a number.
_SENTENCE_END = re.compile(
    r"(?<=[.!?…])(?<![\s(][A-Za-z0-9]\.)(?<!\d\.)[\"”’»)]?\s+(?=[\"“‘«(]?[A-ZÄÖÜÀ-ÞА-Я0-9])|(?<=[。！？])"
)
_MARKS = re.compile(r"\[([^\]]*)\]\([^)]*\)|[*_`]{1,3}|\[image: [^\]]*\]")
_STOP_TEXT = """
the and for are was were with that this from have has had not but you your its their they will would can could
been being into than then them there here which what when where who whom how why all any more most some such
only also about after before over under between out said says new one two der die das den dem des und oder
aber ist sind war waren mit von vom zum zur auf aus bei für nicht auch nur noch nach vor über unter ein eine
einen einem einer eines sich sie wir ihr ihre sein seine hat haben wird werden wurde kann können als wie dass
wenn weil
"""
_STOP_WORDS = frozenset(_STOP_TEXT.split())


class Gist(Struct, frozen=True):
    """What a page is about; all of it words of a stranger, empty where it says nothing."""

    title: str
    description: str
    image: str
    site: str
    author: str
    published: str
    points: tuple[str, ...]


def read_gist(source: Source, most_points: int) -> Gist:
    """The gist of a page. Raises ToolError for what is no page."""
    page = parse_source(source)
    setting = build_setting(page.root, source.address)
    meta = _read_meta(page.root)
    heading = next((one for one in page.root.walk() if one.tag == "h1" and not one.is_hidden), None)
    article = find_article(page.root)
    title = meta.get("og:title") or page_title(page.root) or (render_line(heading, setting, 0) if heading else "")
    paragraphs = [
        _plain(render_line(one, setting, 0)) for one in article.walk() if one.tag in _PARAGRAPHS and _is_shown(one)
    ]
    sentences = split_sentences(paragraphs)
    image = meta.get("og:image") or meta.get("og:image:url") or meta.get("twitter:image") or _first_image(article)
    described = meta.get("og:description") or meta.get("description") or meta.get("twitter:description")
    return Gist(
        title=_tidy(title),
        description=_tidy(described or (sentences[0] if sentences else "")),
        image=absolute_address(image, setting),
        site=_tidy(meta.get("og:site_name", "")),
        author=_tidy(meta.get("author") or meta.get("article:author", "")),
        published=_tidy(meta.get("article:published_time") or meta.get("date", "")),
        points=choose_points(sentences, title, most_points),
    )


def split_sentences(paragraphs: Sequence[str]) -> Sequence[str]:
    """The sentences of running text that can stand alone, each once."""
    found: dict[str, None] = {}
    for paragraph in paragraphs:
        for sentence in _SENTENCE_END.split(paragraph):
            text = sentence.strip()
            if _LEAST_SENTENCE <= len(text) <= _MOST_SENTENCE and len(_WORD.findall(text)) >= 4:
                found[text] = None
    return list(found)[:_MOST_SENTENCES]


def choose_points(sentences: Sequence[str], title: str, most: int) -> tuple[str, ...]:
    """The sentences that say most, in the order of the text; none says what another said already."""
    words = [_content_words(sentence) for sentence in sentences]
    frequency = Counter(word for each in words for word in set(each))
    wanted = set(_content_words(title))
    scores = [_score(each, frequency, wanted, place / max(len(sentences), 1)) for place, each in enumerate(words)]
    chosen: list[int] = []
    for place in sorted(range(len(sentences)), key=lambda number: (-scores[number], number)):
        if len(chosen) == most:
            break
        if all(_overlap(words[place], words[other]) < _SAME for other in chosen):
            chosen.append(place)
    return tuple(sentences[place] for place in sorted(chosen))


def _score(words: Sequence[str], frequency: Mapping[str, int], wanted: set[str], place: float) -> float:
    if not words:
        return 0.0
    weight = sum(log(1 + frequency[word]) * (_TITLE_WEIGHT if word in wanted else 1.0) for word in set(words))
    # Long sentences hold more words without saying more.
    return weight / sqrt(len(words)) * (1 + _EARLY_WEIGHT * (1 - place))


def _overlap(one: Sequence[str], other: Sequence[str]) -> float:
    first, second = set(one), set(other)
    return len(first & second) / max(min(len(first), len(second)), 1)


def _content_words(text: str) -> Sequence[str]:
    return [word for word in map(str.casefold, _WORD.findall(text)) if word not in _STOP_WORDS]


def _read_meta(root: Element) -> Mapping[str, str]:
    """The page's `<meta>` texts by name; the first of a name counts."""
    found: dict[str, str] = {}
    for element in root.walk():
        if element.tag == "meta":
            name = element.attributes.get("property") or element.attributes.get("name", "")
            content = element.attributes.get("content", "").strip()
            if name and content:
                found.setdefault(name.strip().lower(), content)
    return found


def _first_image(article: Element) -> str:
    """The first picture of the text that is no icon."""
    for element in article.walk():
        if element.tag == "img" and _is_shown(element) and _size(element) >= _LEAST_IMAGE_PX:
            return element.attributes.get("src", "")
    return ""


def _size(element: Element) -> int:
    """The smaller side as the page states it; a picture that states none is taken to be large."""
    stated = [element.attributes.get(name, "") for name in ("width", "height")]
    return min((int(text) for text in stated if text.isascii() and text.isdigit() and len(text) < 6), default=1_000)


def _is_shown(element: Element) -> bool:
    return not element.is_hidden and not any(above.is_hidden for above in element.ancestors())


def _plain(text: str) -> str:
    return _MARKS.sub(lambda match: match[1] or "", text)


def _tidy(text: str) -> str:
    shown = " ".join(strip_invisible(text)[0].split())
    return shown if len(shown) <= _MOST_META else f"{shown[: _MOST_META - 1]}…"
