import pytest

from skales.providers.weak.mentions import find_mentions


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("Read notes.txt", ("notes.txt",)),
        ("What does report/summary.md say?", ("report/summary.md",)),
        ("Show C:\\Users\\ada\\plan.docx, please", ("C:\\Users\\ada\\plan.docx",)),
        ("List ~/Downloads and /etc/hosts.", ("~/Downloads", "/etc/hosts")),
        ("Copy a.txt to ../b/a.txt", ("a.txt", "../b/a.txt")),
        ("Open .env and my-file.tar.gz!", (".env", "my-file.tar.gz")),
        ("What is in the photos folder?", ("photos",)),
        ("Make a folder called invoices", ("invoices",)),
        ("List this folder", (".",)),
        ("Which files are in my workspace?", (".",)),
        ("What is in my home folder?", ("~",)),
        ("Read the Makefile", ("Makefile",)),
        ('Open "my notes.txt"', ()),
        ('Open "notes.txt"', ("notes.txt",)),
        ("Lies datei.pdf und größe.csv", ("datei.pdf", "größe.csv")),
        ("Tell him and/or her, e.g. at 3.5 or 10/12", ()),
        ("Write to ada@example.com", ()),
        ("", ()),
    ],
)
def test_files_and_folders_are_found_as_they_are_written(text: str, paths: tuple[str, ...]) -> None:
    assert find_mentions(text).paths == paths


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("Fetch https://example.com/a?b=c#d.", ("https://example.com/a?b=c#d",)),
        ("(see http://localhost:3000/x)", ("http://localhost:3000/x",)),
        ("What is on example.org?", ("https://example.org",)),
        ("Visit www.heise.de/news, then go on", ("https://www.heise.de/news",)),
        ("Read notes.md and run.sh", ()),
        ("Mail ada@example.com", ()),
    ],
)
def test_addresses_are_found_and_given_a_scheme(text: str, urls: tuple[str, ...]) -> None:
    assert find_mentions(text).urls == urls


def test_an_address_is_no_file_and_a_quoted_word_is_neither() -> None:
    found = find_mentions("Search for \"def main\" and 'x y' on https://example.com/a.txt in lib.py, 3 times")
    assert (found.urls, found.paths, found.quoted, found.numbers) == (
        ("https://example.com/a.txt",),
        ("lib.py",),
        ("def main", "x y"),
        ("3",),
    )


def test_an_apostrophe_quotes_nothing() -> None:
    assert find_mentions("What's in Ada's and Bob's files?").quoted == ()


def test_words_keep_their_places() -> None:
    text = "Search notes.txt for milk"
    found = find_mentions(text)
    assert len(found.words) == len(text)
    assert found.words.index("milk") == text.index("milk")
