import pytest

from skales.providers.weak.mentions import find_mentions
from skales.providers.weak.spans import copyable_runs


def runs(text: str) -> tuple[str, ...]:
    return copyable_runs(text, find_mentions(text))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Search for TODO in src", "TODO"),
        ("Write hello world to hello.txt", "hello world"),
        ("Create a task to buy milk", "buy milk"),
        ("Remember that my favourite colour is green", "my favourite colour is green"),
        ("Where in my files does the word budget occur?", "budget"),
    ],
)
def test_the_argument_of_a_request_is_among_its_runs(text: str, wanted: str) -> None:
    assert wanted in runs(text)


def test_quoted_words_are_the_only_runs() -> None:
    assert runs('Find "def main" in my scripts') == ("def main",)


def test_what_follows_a_colon_is_the_only_run() -> None:
    assert runs("New task: water the plants.") == ("water the plants",)


def test_the_word_that_says_what_to_do_begins_no_run() -> None:
    assert not [run for run in runs("Search for TODO in src") if run.startswith("Search")]


def test_named_files_stay_outside() -> None:
    assert not [run for run in runs("Write hello world to hello.txt") if "hello.txt" in run]


def test_a_long_message_gives_a_bounded_number_of_runs() -> None:
    assert len(runs("word, " * 5000)) <= 80
