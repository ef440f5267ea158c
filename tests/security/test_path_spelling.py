"""Spellings that mean no file, or another one than they say."""

import pytest

from skales.security.path_spelling import find_spelling_fault


@pytest.mark.parametrize(
    "text",
    [
        "C:\\notes.txt",
        "c:/notes.txt",
        "folder\\notes.txt",
        "..\\x",
        "./x",
        "\\\\server\\share\\x",
        "console.txt",
        "com10",
    ],
)
def test_plain_windows_paths_are_fine(text: str) -> None:
    assert find_spelling_fault(text, windows=True) == ""


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("NUL", "device"),
        ("folder\\con.txt", "device"),
        ("LPT1", "device"),
        ("\\\\.\\PhysicalDrive0", "device"),
        ("\\\\?\\C:\\x", "device"),
        ("settings.json::$DATA", "colon"),
        ("C:notes.txt", "colon"),
        ("file:stream", "colon"),
        ("settings.json.", "period"),
        ("settings.json ", "period or a blank"),
        ("a. \\b", "period or a blank"),
    ],
)
def test_windows_reads_these_as_something_else(text: str, fault: str) -> None:
    assert fault in find_spelling_fault(text, windows=True)
    assert find_spelling_fault(text, windows=False) == ""
