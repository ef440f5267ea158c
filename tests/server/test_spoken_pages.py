"""Every word of a page comes from the catalogues: pages are shown in a language that marks where each word is from."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from selectolax.lexbor import LexborHTMLParser, LexborNode
from starlette.testclient import TestClient

from skales.app.app import App
from skales.core.json import as_object
from skales.server import told, words
from skales.server.ui import kept
from skales.server.ui.pages import environment

_GERMAN = Path(words.__file__).parent.parent / "locale" / "de"
_SPOKEN_ATTRIBUTES = ("aria-label", "title", "placeholder", "alt", "aria-description", "aria-roledescription")
_DATA_TAGS = ("code", "kbd", "pre", "script", "style", "samp", "template", "textarea")
_WORD = re.compile(r"[^\W\d_]{2,}")
# Names and units, the same in every language.
_NAMES = re.compile(
    r"https?://\S+|\bms\b|Skales|DevKit|JSON|\bPDF\b|\bHTML\b|Markdown|CSV|Esc\b|Ctrl|Alt|Shift|Enter|Tab"
    r"|Brave|DuckDuckGo|Tavily|SearXNG|github|\bpath=|\bcontent=hello\b|[\w.]+\.(?:org|com|net)\b"
)


def _mark(message: str) -> str:
    # Separators of numbers and dates are no words.
    return f"⟦{message}⟧" if _WORD.search(message) else message


@pytest.fixture
def marking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """German with every message in ⟦⟧ in place of its translation."""
    folder = tmp_path / "locale" / "de" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    with (_GERMAN / "LC_MESSAGES" / "skales.po").open("rb") as file:
        catalogue = read_po(file, locale="de")
    for message in catalogue:
        if message.id:
            message.string = _mark(message.id) if isinstance(message.id, str) else tuple(map(_mark, message.id))
    with (folder / "skales.mo").open("wb") as file:
        write_mo(file, catalogue)
    rooms = json.loads((_GERMAN / "rooms.json").read_text(encoding="utf-8"))
    (folder.parent / "rooms.json").write_text(
        json.dumps({message: _mark(message) for message in rooms}), encoding="utf-8"
    )
    # What pages show again and again was written with the words as they were.
    kept_html = (environment, kept._say_plainly)
    caches = (words._catalogue, words.script_words, told._book, told._translate, *kept_html)
    monkeypatch.setattr(words, "_FOLDER", tmp_path / "locale")
    for cache in caches:
        cache.cache_clear()
    yield
    monkeypatch.undo()
    for cache in caches:
        cache.cache_clear()


def _visible(tree: LexborHTMLParser) -> Iterator[str]:
    """Every text and spoken attribute of a page."""
    root = tree.body
    assert root is not None
    for node in root.traverse(include_text=True):
        if node.tag == "-text":
            if not _is_data(node):
                yield node.text(deep=False)
        elif not _is_data(node):
            yield from (value for name, value in node.attributes.items() if name in _SPOKEN_ATTRIBUTES and value)


def _is_data(node: LexborNode) -> bool:
    place: LexborNode | None = node
    while place is not None:
        # Names of packages and licences are in no language.
        if place.tag in _DATA_TAGS or "licences" in (place.attributes.get("class") or "").split():
            return True
        place = place.parent
    return False


def _unmarked(text: str) -> str:
    """What of a text stands in no ⟦⟧."""
    depth, kept = 0, []
    for char in text:
        depth += {"⟦": 1, "⟧": -1}.get(char, 0)
        if depth == 0 and char != "⟧":
            kept.append(char)
    return "".join(kept)


def _names_in(app: App) -> re.Pattern[str]:
    """What a page shows as it is: names of providers, models, tools and their arguments, files and settings."""
    offers = app.models.available()
    names = {name for offer in offers for name in (offer.provider_id, offer.label, *offer.models)}
    names |= {str(app.directory.root), *words.LANGUAGES.values()}
    for spec in app.toolbox.specs():
        names |= {
            spec.name,
            *(name.replace("_", " ").capitalize() for name in as_object(spec.parameters["properties"])),
        }
        names |= {str(value) for value in spec.example.arguments.values()} if spec.example else set()
    return re.compile("|".join([*map(re.escape, sorted(names, key=len, reverse=True)), _NAMES.pattern]))


PAGES = (
    "/chat",
    "/history",
    "/tasks",
    "/schedule",
    "/tools",
    "/tools/read_file",
    "/activity",
    "/grants",
    "/outbox",
    "/undo",
    "/skills",
    "/costs",
    "/compare",
    "/settings",
    "/developer",
    "/nowhere",
)


@pytest.mark.parametrize("address", PAGES)
@pytest.mark.usefixtures("marking")
def test_every_word_of_a_page_is_from_the_catalogues(address: str, app: App, client: TestClient) -> None:
    client.headers.update({"accept": "text/html", "accept-language": "de"})
    client.get("/chat")
    answer = client.get(address)
    assert "⟦" in answer.text
    known = _names_in(app)
    texts = (known.sub("", _unmarked(text)) for text in _visible(LexborHTMLParser(answer.text)))
    assert sorted({text.strip() for text in texts if _WORD.search(text)}) == []
