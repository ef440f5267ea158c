"""Sentences are marked in rendered answers without touching a tag."""

import pytest
from markupsafe import Markup

from skales.server.markdown import render_markdown
from skales.server.ui.unconfirmed import mark_sentences


def shown(source: str, *sentences: str) -> str:
    return mark_sentences(Markup(render_markdown(source)), sentences)


def test_a_sentence_is_marked_where_it_stands() -> None:
    html = shown("Hello. I sent it. Bye.", "I sent it.")
    assert '<mark class="unconfirmed">I sent it</mark>' in html


def test_marks_stay_inside_the_elements_they_cross() -> None:
    html = shown("I **deleted** `a<b>.txt` & more.", "I deleted `a<b>.txt` & more.")
    assert html.count("<mark") == html.count("</mark>") > 1
    assert '<strong><mark class="unconfirmed">deleted</mark></strong>' in html
    assert "a&lt;b&gt;.txt" in html.replace("</mark>", "").replace('<mark class="unconfirmed">', "")


def test_nothing_but_marks_is_added() -> None:
    source = "| a | b |\n|---|---|\n| I sent it | x |\n\n```python\nI sent it\n```\n\n- I sent [it](https://x.example/a?b=1&c=2)\n"
    plain = render_markdown(source)
    marked = shown(source, "I sent it", "I sent [it](https://x.example/a?b=1&c=2)")
    assert marked.replace("</mark>", "").replace('<mark class="unconfirmed">', "") == plain


@pytest.mark.parametrize("sentence", ["", "…", "Not there", "<script>", 'class="prose"'])
def test_what_is_not_there_changes_nothing(sentence: str) -> None:
    assert "<mark" not in shown("Some **text** here.", sentence)


def test_code_is_not_marked() -> None:
    assert "<mark" not in shown("```\nI sent it\n```", "I sent it")
