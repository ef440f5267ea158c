"""No visible word is in code: templates, the server's Python and the scripts take every one from the catalogues."""

import re
import subprocess
import sys
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest

from skales.server.ui.pages import environment

_ROOT = Path(__file__).parent.parent.parent
_SERVER = _ROOT / "src" / "skales" / "server"
_SPOKEN_ATTRIBUTES = ("aria-label", "title", "placeholder", "alt", "aria-description", "aria-roledescription")
_WORD = re.compile(r"[^\W\d_]{2,}")
# The component sheet is for whoever builds the page.
_UNTRANSLATED = ("design/",)
# Names and units, the same in every language.
_NAMES = re.compile(
    r"https?://\S+|\bms\b|Skales|DevKit|JSON|\bPDF\b|\bHTML\b|Markdown|CSV|Esc\b|Ctrl|Alt|Shift|Enter|Tab"
)
_ATTRIBUTE = re.compile(r'[\w-]+="[^"]*"')
_DATA_TAGS = ("code", "kbd", "pre", "script", "style", "samp", "template")


def test_the_catalogues_are_complete_and_fresh() -> None:
    checked = subprocess.run(
        [sys.executable, "-X", "utf8", str(_ROOT / "scripts" / "words.py"), "--check"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


# --- templates ---


class _Spoken(HTMLParser):
    """Collects what a person reads or hears of a template's own text."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in _SPOKEN_ATTRIBUTES and value]
        if tag in _DATA_TAGS:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            self._open.remove(tag)

    def handle_data(self, data: str) -> None:
        if not self._open:
            # A macro may hold nothing but attributes.
            text = _ATTRIBUTE.sub("", data)
            self.found.append("" if text != data and text.strip("· \n") == "required" else text)


def _own_text(source: str) -> str:
    """The template without what Jinja puts in; what stands between trans and endtrans is extracted."""
    kept: list[str] = []
    block: list[str] = []
    is_translated = False
    for _line, kind, value in environment().lex(source):
        if kind == "data" and not is_translated:
            kept.append(value)
        elif kind == "block_begin":
            block = []
        elif kind == "block_end":
            is_translated = block[:1] in (["trans"], ["pluralize"]) or (is_translated and block[:1] != ["endtrans"])
        elif kind == "variable_end":
            kept.append("·")
        elif kind == "name":
            block.append(value)
    return "".join(kept)


def test_no_template_holds_a_visible_word() -> None:
    folder = _SERVER / "templates"
    faults: list[str] = []
    for path in sorted(folder.rglob("*.html")):
        name = path.relative_to(folder).as_posix()
        if name.startswith(_UNTRANSLATED):
            continue
        parser = _Spoken()
        parser.feed(_own_text(path.read_text(encoding="utf-8")))
        faults += [f"{name}: {text.strip()}" for text in parser.found if _WORD.search(_NAMES.sub("", text))]
    assert faults == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<p>Save</p>", ["Save"]),
        ('<button title="Save">{{ _("Save") }}</button>', ["Save"]),
        ("<p>{% if x %}Save{% endif %}</p>", ["Save"]),
        ("{% trans %}Save{% endtrans %}<kbd>Entf</kbd>", []),
    ],
)
def test_a_word_in_a_template_is_found(source: str, expected: list[str]) -> None:
    parser = _Spoken()
    parser.feed(_own_text(source))
    assert [text for text in parser.found if _WORD.search(text)] == expected


# --- scripts ---

_LITERAL = r"""(?:"[^"\n]*"|'[^'\n]*'|`[^`]*`)"""
_SAYING = re.compile(
    rf"""(?:\b(?:toast|announce|alert|confirm)\(\s*
    |\.(?:textContent|innerText|ariaLabel|title|placeholder|alt)\s*=\s*(?:[^;="'`]*\?\s*)?
    |setAttribute\(\s*["'](?:{"|".join(_SPOKEN_ATTRIBUTES)})["']\s*,\s*)({_LITERAL})""",
    re.VERBOSE,
)


def _said_in(script: str) -> Sequence[str]:
    literals = (re.sub(r"\$\{[^}]*\}", "", literal[1:-1]) for literal in _SAYING.findall(script))
    return [text for text in literals if _WORD.search(_NAMES.sub("", text))]


def test_no_script_says_a_word_that_is_not_in_the_catalogue() -> None:
    paths = [path for path in sorted((_SERVER / "static" / "js").glob("*.js")) if path.name != "design.js"]
    said = {path.name: found for path in paths if (found := _said_in(path.read_text(encoding="utf-8")))}
    assert said == {}


def test_a_word_in_a_script_is_found() -> None:
    script = 'toast("Not saved"); a.title = open ? `Close ${b}` : ""; b.setAttribute("title", "Gone"); toast(_("Ok"))'
    assert _said_in(script) == ["Not saved", "Close ", "Gone"]
