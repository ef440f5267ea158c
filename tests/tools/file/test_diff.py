"""Diffs that people read before and after a change."""

import time
from pathlib import Path

import pytest

from skales.core.json import as_object
from skales.tools.file.diff import diff_texts
from skales.tools.registry import BuiltinToolbox
from tests.tools.conftest import Call


def lines_of(old: str | None, new: str) -> list[str]:
    return diff_texts(old, new, "a.txt").text.split("\n")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, "a\nb\n", ["--- /dev/null", "+++ a.txt", "@@ -0,0 +1,2 @@", "+a", "+b"]),
        ("a\n", "", ["--- a.txt", "+++ a.txt", "@@ -1,1 +0,0 @@", "-a"]),
        (
            "1\n2\n3\n4\n5\n6\n7\n",
            "1\n2\n3\n4\nfive\n6\n7\n",
            ["--- a.txt", "+++ a.txt", "@@ -2,6 +2,6 @@", " 2", " 3", " 4", "-5", "+five", " 6", " 7"],
        ),
        # The end of the last line is a difference, the kind of line ends is none.
        (
            "a\r\nb",
            "a\nb\n",
            ["--- a.txt", "+++ a.txt", "@@ -1,2 +1,2 @@", " a", "-b", "\\ No line end at the end of the file", "+b"],
        ),
        # What cannot be seen is written out.
        ("a\n", "a\u202eb\x1b[2J\n", ["--- a.txt", "+++ a.txt", "@@ -1,1 +1,1 @@", "-a", "+a<U+202E>b<U+001B>[2J"]),
    ],
)
def test_a_diff_says_what_changes(old: str | None, new: str, expected: list[str]) -> None:
    assert lines_of(old, new) == expected


def test_texts_that_differ_in_line_ends_only_have_no_diff() -> None:
    assert diff_texts("a\r\nb\r\n", "a\nb\n", "a.txt").text == ""


def test_changes_far_apart_stand_in_hunks_of_their_own() -> None:
    old = "".join(f"{number}\n" for number in range(1, 41))
    new = old.replace("5\n", "five\n", 1).replace("\n30\n", "\n30\nnew\n")
    heads = [line for line in lines_of(old, new) if line.startswith("@@")]
    assert heads == ["@@ -2,7 +2,7 @@", "@@ -28,6 +28,7 @@"]


def test_a_long_line_is_shown_around_what_differs() -> None:
    old = "x" * 5_000 + "OLD" + "y" * 5_000 + "\n"
    removed, added = lines_of(old, old.replace("OLD", "NEW"))[3:]
    assert "OLD" in removed
    assert "NEW" in added
    assert len(removed) < 260


def test_many_lines_are_counted_instead_of_shown() -> None:
    diff = diff_texts("", "".join(f"{number}\n" for number in range(1000)), "a.txt")
    assert diff.added == 1000
    assert diff.text.endswith("@@ 841 more lines not shown @@")


def test_large_texts_that_share_nothing_are_compared_quickly() -> None:
    old = "".join(f"{number % 7}\n" for number in range(200_000))
    new = "".join(f"{number % 5}\n" for number in range(200_000))
    began = time.process_time()
    assert diff_texts(old, new, "a.txt").removed > 190_000
    assert time.process_time() - began < 5


def previewed(toolbox: BuiltinToolbox, name: str, **arguments: str | bool) -> str:
    spec = toolbox.find(name)
    assert spec is not None
    return toolbox.preview(spec, arguments)


def test_an_edit_shows_its_diff_and_changes_nothing_yet(toolbox: BuiltinToolbox, workspace: Path) -> None:
    path = workspace / "app.ini"
    path.write_bytes(b"\xef\xbb\xbfport = 80\r\nhost = a\r\n")
    before = path.read_bytes()
    shown = previewed(toolbox, "edit_file", path="app.ini", old_text="port = 80\n", new_text="port = 8080\n")
    assert shown.split("\n")[2:] == ["@@ -1,2 +1,2 @@", "-port = 80", "+port = 8080", " host = a"]
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("edit_file", {"path": "a.txt", "old_text": "nothing", "new_text": "x"}, "The text is not in 'a.txt'"),
        ("edit_file", {"path": "b.txt", "old_text": "nothing", "new_text": "x"}, "does not exist"),
        ("replace_in_file", {"path": "a.txt", "find": "(", "replace": "x", "regex": True}, "would fail"),
        ("delete_file", {"path": "b.txt"}, "does not exist"),
        ("write_file", {"path": "a.txt", "content": "one\ntwo\n"}, "stays as it is"),
        ("write_file", {"path": "a.png", "content": "x"}, "It takes the place of a PNG picture (8 bytes)."),
        ("write_file", {"path": "new/c.txt", "content": "x\n"}, "--- /dev/null\n+++ new/c.txt\n@@ -0,0 +1,1 @@\n+x"),
        ("replace_in_file", {"path": "a.txt", "find": "two", "replace": "2"}, "-two\n+2"),
        ("append_file", {"path": "a.txt", "content": "three\n"}, "@@ -1,2 +1,3 @@\n one\n two\n+three"),
        ("delete_file", {"path": "a.txt"}, "The file a.txt, 8 bytes."),
        ("delete_file", {"path": "link"}, "The link link; what it points to (a.txt) stays."),
        ("read_file", {"path": "a.txt"}, ""),
    ],
)
def test_what_a_call_would_do_is_told_beforehand(
    toolbox: BuiltinToolbox, workspace: Path, tool: str, arguments: dict[str, str | bool], words: str
) -> None:
    (workspace / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    (workspace / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (workspace / "link").symlink_to("a.txt")
    shown = previewed(toolbox, tool, **arguments)
    assert words in shown
    assert bool(words) == bool(shown)


def test_a_folder_to_delete_is_counted(toolbox: BuiltinToolbox, workspace: Path) -> None:
    (workspace / "old" / "deep").mkdir(parents=True)
    for number in range(12):
        (workspace / "old" / "deep" / f"{number}.txt").write_bytes(b"x" * 100)
    shown = previewed(toolbox, "delete_file", path="old", recursive=True).split("\n")
    assert shown[0] == "The folder old with 12 files, together 1.2 KB."
    assert shown[-1] == "  and 2 more"
    assert len(shown) == 12


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("tool", "arguments", "counts"),
    [
        ("edit_file", {"old_text": "two", "new_text": "2"}, (1, 1)),
        ("replace_in_file", {"find": "o", "replace": "0"}, (2, 2)),
        ("write_file", {"content": "one\nthree\n"}, (1, 1)),
        ("append_file", {"content": "three\n"}, (1, 0)),
    ],
)
async def test_the_result_carries_the_diff(
    call: Call, workspace: Path, tool: str, arguments: dict[str, str], counts: tuple[int, int]
) -> None:
    (workspace / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    result = await call(tool, path="a.txt", **arguments)
    data = as_object(result.data)
    assert (data["added"], data["removed"]) == counts
    assert str(data["diff"]).startswith("--- a.txt\n+++ a.txt\n@@ ")
