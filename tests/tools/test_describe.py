from typing import Any

import pytest

from skales.core.tool import Safety, ToolSpec
from skales.tools.describe import describe_call, render_size, visible


def describe(action: str, **arguments: Any) -> str:
    properties: Any = {
        "path": {"type": "string", "format": "path", "default": "."},
        "paths": {"type": "array", "items": {"type": "string", "format": "path"}},
        "content": {"type": "string"},
        "count": {"type": "integer", "default": 5},
        "flag": {"type": "boolean"},
        "fields": {"type": "object"},
    }
    spec = ToolSpec(
        name="save_it", description="", parameters={"properties": properties}, category="core", safety=Safety.AUTO
    )
    return describe_call(spec, action, arguments)


@pytest.mark.parametrize(
    ("action", "arguments", "words"),
    [
        ("Write {content:size} to {path}", {"content": "x" * 3072, "path": "notes.txt"}, "Write 3.0 KB to notes.txt"),
        ("Write {content:size}", {"content": "ä"}, "Write 2 bytes"),
        ("Write {content:size}", {}, "Write 0 bytes"),
        ("List {path}", {}, "List the workspace"),
        ("Take {count}", {}, "Take 5"),
        ("Find {content}[ in {path}]", {"content": "x"}, "Find x"),
        ("Find {content}[ in {path}]", {"content": "x", "path": "src"}, "Find x in src"),
        ("Copy[, overwriting: {flag}]", {"flag": True}, "Copy, overwriting: yes"),
        ("Copy[, overwriting: {flag}]", {"flag": False}, "Copy"),
        ("Pack {paths}", {"paths": ["a/b.txt"]}, "Pack a/b.txt"),
        ("Pack {paths}[ now {flag}]", {"paths": ["a/1", "b/2", "3", "4", "5"]}, "Pack a/1, b/2, 3 and 2 more"),
        ("Pack[ {paths}]", {"paths": ["a"]}, "Pack a"),
        ("Send {fields}", {"fields": {"to": "Ana", "n": 2}}, "Send to: Ana, n: 2"),
        ("Say {content}", {"content": "{path} [x]"}, "Say {path} [x]"),
        ("", {}, "save it"),
    ],
)
def test_a_call_is_described_in_plain_words(action: str, arguments: dict[str, Any], words: str) -> None:
    assert describe(action, **arguments) == words


def test_long_values_are_cut_where_it_hurts_least() -> None:
    assert describe("{content}", content="x" * 500) == "x" * 89 + "…"
    assert describe("{path}", path=f"{'deep/' * 50}name.txt").endswith("deep/name.txt")
    assert len(describe("{content} {path} {content}", content="y" * 300, path="z" * 300)) == 200


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb", "a ⏎ b"),
        ("rm x\r\n\r\n  # harmless", "rm x ⏎ # harmless"),
        ("safe\u202etxt.exe", "safe<U+202E>txt.exe"),
        ("a\u200bb", "a<U+200B>b"),
        ("\x1b[2Kok", "<U+001B>[2Kok"),
        ("half \ud83d", "half <U+D83D>"),
        ("größer 日本", "größer 日本"),
    ],
)
def test_nothing_in_a_value_can_hide_what_it_says(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert describe("{content}", content=text) == shown


@pytest.mark.parametrize(
    ("size_bytes", "words"),
    [(0, "0 bytes"), (1, "1 byte"), (1023, "1023 bytes"), (1024, "1.0 KB"), (1_500_000, "1.4 MB"), (2**41, "2.0 TB")],
)
def test_sizes_read_as_people_say_them(size_bytes: int, words: str) -> None:
    assert render_size(size_bytes) == words
