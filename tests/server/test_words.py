"""Which language the page speaks, and how its messages are filled in."""

import json

import pytest

from skales.server.words import LANGUAGES, _, language, ngettext, pick_language, script_words, use_language


@pytest.mark.parametrize(
    ("chosen", "accepted", "expected"),
    [
        ("de", "en", "de"),
        ("", "de-AT,de;q=0.9,en;q=0.8", "de"),
        ("", "fr, en;q=0.5, de;q=0.7", "de"),
        ("", "de;q=0, en", "en"),
        ("", "de;q=often, en;q=0.2", "en"),
        ("", "", "en"),
        ("xx", "de", "de"),
        ("", "fr-FR", "en"),
        ("", "*", "en"),
    ],
)
def test_the_persons_choice_counts_before_the_browsers(chosen: str, accepted: str, expected: str) -> None:
    assert pick_language(chosen, accepted) == expected


def test_values_are_filled_in_by_name() -> None:
    assert _("Nothing here is called %(name)s", name="100 %") == "Nothing here is called 100 %"
    assert ngettext("%(num)d such thing in %(place)s", "%(num)d such things in %(place)s", 1, place="a") == (
        "1 such thing in a"
    )
    assert ngettext("%(num)d such thing", "%(num)d such things", 0) == "0 such things"


def test_an_unknown_language_is_english() -> None:
    use_language("tlh")
    assert language() == "en"


@pytest.mark.parametrize("tag", LANGUAGES)
def test_words_for_scripts_cannot_end_their_element(tag: str) -> None:
    text = script_words(tag)
    assert "<" not in text
    assert isinstance(json.loads(text), dict)
