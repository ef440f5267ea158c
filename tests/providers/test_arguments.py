import json

import pytest

from skales.core.json import JsonObject
from skales.providers.arguments import parse_arguments

READABLE: dict[str, tuple[str, JsonObject]] = {
    "plain": ('{"path": "a.md", "n": 3}', {"path": "a.md", "n": 3}),
    "empty": ("", {}),
    "blank": (" \n", {}),
    "null": ("null", {}),
    "empty object": ("{}", {}),
    "encoded twice": (json.dumps('{"path": "a"}'), {"path": "a"}),
    "encoded three times": (json.dumps(json.dumps('{"path": "a"}')), {"path": "a"}),
    "encoded twice and empty": ('""', {}),
    "encoded twice with a trailing comma": (json.dumps('{"path": "a",}'), {"path": "a"}),
    "code fence": ('```json\n{"path": "a"}\n```', {"path": "a"}),
    "prose before": ('Sure, here it is: {"path": "a"}', {"path": "a"}),
    "prose after": ('{"path": "a"} I hope that helps.', {"path": "a"}),
    "prose with braces": ('Use {name} and { } like this: {"path": "a"}', {"path": "a"}),
    "prose with two objects": ('First {"path": "a"}, then {"path": "b"}', {"path": "a"}),
    "the same object twice": ('{"path": "a"}{"path": "a"}', {"path": "a"}),
    "tags around": ('<tool_call>{"path": "a"}</tool_call>', {"path": "a"}),
    "one closer too many": ('{"path": "a"}}', {"path": "a"}),
    "trailing commas": ('{"paths": ["a", "b",], "n": 1,}', {"paths": ["a", "b"], "n": 1}),
    "single quotes": ("{'path': 'it is \"a\"'}", {"path": 'it is "a"'}),
    "escaped single quote": (r"{'path': 'it\'s'}", {"path": "it's"}),
    "Python literals": ("{'a': True, 'b': False, 'c': None}", {"a": True, "b": False, "c": None}),
    "JSON literals in a lenient text": ("{'a': true, 'b': false, 'c': null}", {"a": True, "b": False, "c": None}),
    "bare names": ('{path: "a", max-lines: 3, $x: 1}', {"path": "a", "max-lines": 3, "$x": 1}),
    "line breaks in a string": ('{"text": "one\ntwo\tthree"}', {"text": "one\ntwo\tthree"}),
    "escapes": (r"""{'text': 'a\n\t\r\b\f\\\/\"\u00e9\ud83d\ude42'}""", {"text": 'a\n\t\r\b\f\\/"é🙂'}),
    "numbers": ("{'a': -1, 'b': 2.5, 'c': 1e3, 'd': 0}", {"a": -1, "b": 2.5, "c": 1000.0, "d": 0}),
    "nested": ("{'a': {'b': [{}, [], 'c']}}", {"a": {"b": [{}, [], "c"]}}),
    "only the closer is missing": ('{"path": "a"', {"path": "a"}),
    "several closers are missing": ('{"a": [{"b": "x"}, {"c": [true', {"a": [{"b": "x"}, {"c": [True]}]}),
    "closer missing after an empty object": ('{"a": {}', {"a": {}}),
    "closer missing after a null": ('{"a": null', {"a": None}),
}


@pytest.mark.parametrize("name", READABLE)
def test_arguments_with_one_meaning_are_read(name: str) -> None:
    raw, expected = READABLE[name]
    assert parse_arguments(raw) == (expected, "")


UNREADABLE = {
    "a number": ("7", "they are a number"),
    "a boolean": ("true", "they are a boolean"),
    "an array": ('[{"path": "a"}]', "they are an array"),
    "a string": ('"a.md"', "inside it there is no JSON object"),
    "encoded too often": (json.dumps(json.dumps(json.dumps('{"a": 1}'))), "inside it they are a string"),
    "a broken object in a string": (json.dumps('{"a": oops}'), "they are a string, and inside it oops"),
    "prose only": ("I will read the file.", "there is no JSON object"),
    "a bare word as value": ('{"path": a.md}', "at character 10 of 14"),
    "nothing after the colon": ('{"path": }', "expected a value"),
    "no colon": ('{"path" "a"}', "expected ':' after the name 'path'"),
    "no comma": ('{"a": 1 "b": 2}', "expected '}' or ','"),
    "no name": ('{: "a"}', "expected a name in quotes"),
    "NaN": ('{"n": NaN}', "NaN is not a JSON value"),
    "Infinity": ('{"n": -Infinity}', "not a JSON number"),
    "a number beyond floats": ('{"n": 1e999}', "too large"),
    "a number beyond integers": ('{"n": ' + "9" * 5000 + "}", "too large"),
    "an unfinished string": ('{"path": "/home/ad', "the text ends inside a string"),
    "an unfinished escape": ('{"path": "a\\', "the text ends inside a string"),
    "an unfinished number": ('{"n": 1', "the text ends at a number"),
    "an unfinished literal": ('{"on": tru', "the text ends inside a value"),
    "an unfinished Python literal": ('{"on": Fal', "the text ends inside a value"),
    "nothing but a brace": ("{", "the text ends where"),
    "an end after a comma": ('{"a": "x",', "the text ends where"),
    "an end after a name": ('{"a"', "the text ends where"),
    "an end after a colon": ('{"a":', "the text ends where"),
    "an end inside an array": ('{"a": ["x",', "the text ends where"),
    "an unknown escape": (r'{"path": "C:\dir"}', r"\d is no escape"),
    "a broken unicode escape": (r'{"text": "\u12g4"}', "four hexadecimal digits"),
    "half of a character": (r'{"text": "\ud83d"}', "half of a character"),
    "half of a character with something else after it": (r"{'text': '\ud83dA'}", "half of a character"),
    "a second half alone": (r"{'text': '\ude00'}", "half of a character"),
    "half of a character in a name": (r'{"a": [{"\ud83d": 1}]}', "half of a character"),
    "two different calls in one": ('{"path": "a"}{"path": "b"}', "a second object follows"),
    "too deep": ("{'a':" * 80 + "1" + "}" * 80, "levels of nesting"),
    "much too deep": ('{"a":' * 100_000 + "1" + "}" * 100_000, "levels of nesting"),
    "closer of another kind": ('{"a": ["x"}', "expected ']'"),
    "a value that is no value": ('{"a": ?}', "expected a value"),
    "a minus alone": ("{'a': -}", "not a JSON number"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_unreadable_arguments_give_nothing_but_the_reason(name: str) -> None:
    raw, reason = UNREADABLE[name]
    arguments, problem = parse_arguments(raw)
    assert arguments == {}
    assert reason in problem
    assert "Send the call again" in problem


def test_a_part_of_a_broken_object_is_never_taken_for_the_whole() -> None:
    arguments, problem = parse_arguments('{"options": {"force": true}, "path": oops}')
    assert arguments == {}
    assert "oops" in problem


def test_the_place_of_the_fault_is_shown() -> None:
    _, problem = parse_arguments('{"path": "a", "lines": 1-3}')
    assert "at character 25 of 27, where '-3}' stands after" in problem


def test_a_cut_is_named() -> None:
    assert "seem to be cut off" in parse_arguments('{"path": "a')[1]
    assert "seem to be cut off" not in parse_arguments('{"path" = "a"}')[1]


def test_every_beginning_of_a_call_is_refused_or_loses_nothing_but_closers() -> None:
    whole = '{"path": "a/b.md", "options": {"force": true, "modes": ["x", "yz"]}, "n": 12}'
    accepted = []
    for length in range(1, len(whole)):
        arguments, problem = parse_arguments(whole[:length])
        if not problem:
            accepted.append((whole[:length], arguments))
    assert accepted == [
        ('{"path": "a/b.md"', {"path": "a/b.md"}),
        ('{"path": "a/b.md", "options": {"force": true', {"path": "a/b.md", "options": {"force": True}}),
        (
            '{"path": "a/b.md", "options": {"force": true, "modes": ["x"',
            {"path": "a/b.md", "options": {"force": True, "modes": ["x"]}},
        ),
        (
            '{"path": "a/b.md", "options": {"force": true, "modes": ["x", "yz"',
            {"path": "a/b.md", "options": {"force": True, "modes": ["x", "yz"]}},
        ),
        (
            '{"path": "a/b.md", "options": {"force": true, "modes": ["x", "yz"]',
            {"path": "a/b.md", "options": {"force": True, "modes": ["x", "yz"]}},
        ),
        (
            '{"path": "a/b.md", "options": {"force": true, "modes": ["x", "yz"]}',
            {"path": "a/b.md", "options": {"force": True, "modes": ["x", "yz"]}},
        ),
    ]
