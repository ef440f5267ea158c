"""Finding settings by any of their words, and the addresses for the command palette."""

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from starlette.testclient import TestClient

from skales.app.app import App
from skales.server.ui.setting_search import fold, setting_links
from tests.server.ui.conftest import Look


def found(page: TestClient, query: str) -> list[str]:
    tree = HTMLParser(page.get("/ui/settings/search", params={"q": query}).text)
    return [str(link.attributes["href"]) for link in tree.css("a.hit")]


@pytest.mark.parametrize(
    ("query", "address"),
    [
        ("theme", "/settings#setting-theme"),
        ("DARK mode", "/settings#setting-theme"),
        ("dárk", "/settings#setting-theme"),
        ("localhost", "/settings?view=advanced#setting-allowLoopback"),
        ("system prompt", "/settings#setting-systemPrompt"),
        ("openai key", "/settings/providers?open=openai#provider-openai"),
        ("backup", "/settings#data-folder"),
        ("fallback", "/settings/providers#order"),
    ],
)
def test_a_setting_is_found_by_any_of_its_words_in_both_modes(page: TestClient, query: str, address: str) -> None:
    assert address in found(page, query)


def test_a_hit_in_the_name_comes_before_one_in_the_words(page: TestClient) -> None:
    assert found(page, "language")[0] == "/settings#setting-locale"


@pytest.mark.parametrize("query", ["", "   ", "\t"])
def test_nothing_asked_finds_nothing(page: TestClient, query: str) -> None:
    assert found(page, query) == []


def test_the_search_works_by_address_alone_and_shows_the_query_as_text(look: Look) -> None:
    assert look("/settings?q=theme").css_first("a.hit") is not None
    tree = look("/settings?q=%3Cb%3Enothing%3C/b%3E")
    assert tree.css_first(".nothing b") is None
    assert "<b>nothing</b>" in tree.css_first(".nothing").text()  # type: ignore[union-attr]


def test_every_link_leads_to_something_that_is_there(app: App, look: Look) -> None:
    for link in setting_links(app):
        path, _hash, anchor = link.address.partition("#")
        tree = look(path)
        assert tree.css_first("main") is not None, link
        if anchor:
            assert tree.css_first(f'[id="{anchor}"]') is not None, link


def test_folding_leaves_letters_without_case_and_accents() -> None:
    assert fold("Zugänge STRASSE straße Ǆ") == "zugange strasse strasse dz"
