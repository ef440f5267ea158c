"""The veil masks what looks like a secret and what is one of the person's own."""

import base64
import json
import urllib.parse

import pytest

from skales.core.json import JsonObject, JsonValue
from skales.security.veil import Veil, reveal

OWN = "tr0ub4dor & three+blind/mice"
GITHUB = "ghp" + "_" + "aB3dE5fG7hJ9kL1mN3pQ" * 2


@pytest.mark.parametrize(
    "spell",
    [
        str,
        lambda text: json.dumps(text),
        lambda text: urllib.parse.quote(text, safe=""),
        urllib.parse.quote_plus,
        lambda text: base64.b64encode(text.encode()).decode(),
        lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    ],
)
def test_a_stored_secret_is_masked_in_every_spelling(spell: object) -> None:
    assert callable(spell)
    shown = Veil(lambda: frozenset({OWN})).text(f"said {spell(OWN)} twice {spell(OWN)}")
    assert spell(OWN).strip('"=') not in shown
    assert shown.count("[secret: stored secret]") == 2


@pytest.mark.parametrize("before", ["a", "ab", "mira:"])
def test_a_stored_secret_is_masked_within_longer_base64(before: str) -> None:
    encoded = base64.b64encode((before + OWN + " behind").encode()).decode()
    shown = Veil(lambda: frozenset({OWN})).text(encoded)
    assert "[secret: stored secret]" in shown
    assert OWN[4:-4].encode() not in base64.b64decode(shown.partition("[")[0] + "==")


def test_one_secret_within_another_leaves_no_rest() -> None:
    assert (
        Veil(lambda: frozenset({"hunter2", "hunter2-and-more"})).text("x hunter2-and-more")
        == "x [secret: stored secret]"
    )


def test_a_very_short_stored_secret_is_no_reason_to_mask_words() -> None:
    assert Veil(lambda: frozenset({"tea"})).text("tea and cake") == "tea and cake"


def test_a_secret_that_is_stored_later_is_masked_from_then_on() -> None:
    known: list[str] = []
    veil = Veil(lambda: frozenset(known))
    text = "the word is swordfish-9. " + "Nothing else is said here, at some length. " * 8
    assert veil.text(text) == text
    known.append("swordfish-9")
    assert "swordfish-9" not in veil.text(text)


def test_values_are_masked_by_what_they_say_and_by_their_names() -> None:
    value: JsonValue = {
        "apiKey": "x1",
        "note": f"use {GITHUB}",
        "deep": [{"Authorization": "Bearer abcdef1234567890"}],
        "data": "eyJhbGciOiJub25lIn0.eyJzdWIiOiJkZW1vIn0.c2lnbmF0dXJl",
        "tokens": 12_000,
    }
    assert Veil(lambda: frozenset({OWN})).value(value) == {
        "apiKey": "[secret: key]",
        "note": "use [secret: GitHub token ghp_…N3pQ]",
        "deep": [{"Authorization": "Bearer [secret: authorization]"}],
        "data": "eyJhbGciOiJub25lIn0.eyJzdWIiOiJkZW1vIn0.c2lnbmF0dXJl",
        "tokens": 12_000,
    }
    assert Veil().value(Veil().value(value)) == Veil().value(value)


def test_what_was_shown_as_a_marker_comes_back_when_it_was_not_edited() -> None:
    veil = Veil(lambda: frozenset({OWN}))
    original: JsonObject = {
        "content": f"token {GITHUB} and {OWN}",
        "headers": {"X-Api-Key": "abcdef123456"},
        "n": 1,
        "to": ["a"],
    }
    shown = veil.value(original)
    assert reveal(shown, original, veil) == original
    assert isinstance(shown, dict)
    edited: JsonObject = {**shown, "content": f"Hello: {shown['content']}"}
    assert reveal(edited, original, veil) == {**original, "content": f"Hello: {original['content']}"}


def test_a_marker_that_may_stand_for_two_secrets_is_left() -> None:
    veil = Veil()
    original: JsonObject = {"content": "password=hunter2 and password=hunter3"}
    edited: JsonObject = {"content": "password=[secret: password]"}
    assert reveal(edited, original, veil) == edited
