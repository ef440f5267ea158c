"""Sentences of the rooms in the person's language: known ones are translated, values and unknown texts stay."""

from collections.abc import Iterator

import pytest

from skales.server.told import told
from skales.server.words import use_language


@pytest.fixture(autouse=True)
def german() -> Iterator[None]:
    use_language("de")
    yield
    use_language("en")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The model wrote no summary", "Das Modell hat keine Zusammenfassung geschrieben"),
        ("There is no tool named 'foo'", "Es gibt kein Werkzeug namens 'foo'"),
        ("This tool asks first in the safety mode safe", "Im Sicherheitsmodus „sicher“ fragt dieses Werkzeug zuerst"),
        ("Write 49 bytes to summary.md", "49 Bytes nach summary.md schreiben"),
        ("Copy a to b, overwriting: yes", "a nach b kopieren, überschreiben: ja"),
        ("List the workspace", "Arbeitsordner auflisten"),
        ("Pack a, b, c and 3 more into x.zip", "a, b, c und 3 weitere in x.zip packen"),
        ("'x' is 100 % of it", "'x' is 100 % of it"),
    ],
)
def test_a_known_sentence_is_translated_with_its_values(text: str, expected: str) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Search for “yes”", "Nach „yes“ suchen"),
        ("Remember: The question is empty", "Merken: The question is empty"),
        ("Read the question is empty", "the question is empty lesen"),
        ("Run ls 49 bytes", "ls 49 bytes ausführen"),
    ],
)
def test_what_a_person_or_a_model_wrote_is_never_translated(text: str, expected: str) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'a' cannot be read: the disk is full", "'a' lässt sich nicht lesen: der Datenträger ist voll"),
        ("cannot be used: the address is not a URL", "lässt sich nicht verwenden: Die Adresse ist keine URL"),
        ("'a' is there already. Name another place", "'a' ist schon da. Nenne einen anderen Ort"),
        ("OpenAI at https://a refuses access: sorry", "OpenAI unter https://a verweigert den Zugang: sorry"),
        (
            "The arguments of f do not fit: 'a' is missing; there is no 'b'",
            "Die Argumente von f passen nicht: 'a' fehlt; 'b' gibt es nicht",
        ),
    ],
)
def test_a_sentence_inside_another_or_behind_it_is_translated_too(text: str, expected: str) -> None:
    assert told(text) == expected


def test_a_sentence_that_was_cut_off_is_translated_as_far_as_it_goes() -> None:
    assert told("Change x.py: replace “one” with “tw…") == "x.py ändern: „one“ durch „tw…“ ersetzen"


@pytest.mark.parametrize(
    "text", ["", "Nothing knows this", "look at this", "12 bytes", "%(0)s", "a" * 50_000, ". : ; "]
)
def test_unknown_text_stays_as_it_is(text: str) -> None:
    assert told(text) == text


def test_english_stays_english() -> None:
    use_language("en")
    assert told("The model wrote no summary") == "The model wrote no summary"
