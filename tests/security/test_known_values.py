"""Secrets that are known word for word leave a text in every spelling programs give them."""

import base64
import html
import json
from urllib.parse import quote, quote_plus, urlencode

import pytest

from skales.core.json import JsonValue
from skales.security.known_values import MASK, ValueMask

SECRET = 'Zx9+q/7"ü &k=%s'


def in_base64_at(before: str) -> str:
    return base64.b64encode(f"{before}{SECRET}:tail".encode()).decode()


@pytest.mark.parametrize(
    "spelled",
    [
        SECRET,
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
        base64.b64encode(SECRET.encode()).decode().rstrip("="),
        quote(SECRET),
        quote(SECRET, safe=""),
        quote(SECRET, safe="").lower().replace("zx9", "Zx9"),
        quote_plus(SECRET),
        urlencode({"k": SECRET}),
        json.dumps(SECRET),
        json.dumps(SECRET, ensure_ascii=False),
        json.dumps(json.dumps({"k": SECRET})),
        html.escape(SECRET),
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
    ],
)
def test_each_spelling_is_masked(spelled: str) -> None:
    shown = ValueMask([SECRET]).mask(f"before {spelled} after")
    assert MASK in shown
    assert shown.startswith("before ")
    assert shown.endswith(" after")
    for part in (SECRET, quote(SECRET, safe=""), SECRET.encode().hex()):
        assert part not in shown


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "ada:", "user:"])
def test_base64_of_something_longer_gives_no_piece_of_it_away(before: str) -> None:
    shown = ValueMask([SECRET]).mask(in_base64_at(before))
    assert MASK in shown
    head, _, tail = shown.partition(MASK)
    # Six bits a letter: at most one letter on each side holds bits of both.
    assert len(head) <= len(before.encode()) * 8 // 6 + 1
    assert len(tail.rstrip("=")) <= len(b":tail") * 8 // 6 + 2


def test_objects_are_masked_in_names_and_values_and_numbers_stay() -> None:
    value: JsonValue = {SECRET: [SECRET, 7, None, True], "plain": {"x": f"<{SECRET}>"}}
    assert ValueMask([SECRET]).mask_value(value) == {MASK: [MASK, 7, None, True], "plain": {"x": f"<{MASK}>"}}


def test_the_longer_of_two_goes_whole_and_short_ones_are_no_secrets() -> None:
    mask = ValueMask(["hunter22", "hunter22-and-more", "abc"])
    assert mask.mask("hunter22-and-more hunter22 abc") == f"{MASK} {MASK} abc"


def test_nothing_known_changes_nothing() -> None:
    assert ValueMask([]).mask("text") == "text"
    assert ValueMask([]).mask_value({"a": ["b"]}) == {"a": ["b"]}
