"""HTML that is kept is what the macro would write now, in the language in use, with everything escaped."""

from collections.abc import Iterator

import pytest
from markupsafe import Markup

from skales.server import words
from skales.server.ui.kept import keep, say
from skales.server.ui.pages import environment


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    yield
    words.use_language("en")


def test_a_macro_is_called_once_for_what_it_is_given_in_each_language() -> None:
    given: list[str] = []

    def greet(name: str, extra: str = "") -> Markup:
        given.append(name)
        return Markup("<b>{} {}{}</b>").format(words.gettext("Search"), name, extra)

    kept = keep(greet)
    assert [kept("you"), kept("you"), kept("all"), kept("you", extra="!")] == [
        "<b>Search you</b>",
        "<b>Search you</b>",
        "<b>Search all</b>",
        "<b>Search you!</b>",
    ]
    assert given == ["you", "all", "you"]
    words.use_language("de")
    assert kept("you") == "<b>Suchen you</b>"
    words.use_language("en")
    assert kept("you") == "<b>Search you</b>"
    assert given == ["you", "all", "you", "you"]


def test_whoever_works_on_the_templates_sees_them_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKALES_DEV", "1")

    def greet() -> Markup:
        return Markup()

    assert keep(greet) is greet


def test_what_a_macro_is_given_is_escaped_and_what_it_writes_is_not() -> None:
    template = environment().from_string(
        '{% macro draw(name) %}<i title="{{ name }}">{{ name }}</i>{% endmacro %}{% set show = keep(draw) %}'
        "{{ show(name) }}{{ show(name) }}"
    )
    once = '<i title="&lt;&#34;&amp;">&lt;&#34;&amp;</i>'
    assert template.render(name='<"&') == once * 2


def test_words_are_said_in_the_language_in_use_and_values_are_escaped() -> None:
    template = environment().from_string("{{ _('Search') }} {{ _('Actions for %(name)s', name=name) }}")
    assert template.render(name="<b>") == "Search Actions for &lt;b&gt;"
    words.use_language("de")
    assert template.render(name="<b>").startswith("Suchen ")
    assert "&lt;b&gt;" in template.render(name="<b>")


def test_a_percent_sign_in_a_message_is_written_twice_as_everywhere_in_gettext() -> None:
    assert say("100 %% of %(what)s", what="it") == "100 % of it"
    assert say("100 %%") == "100 %"
