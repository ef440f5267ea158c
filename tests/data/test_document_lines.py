import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from skales.core.errors import InputError
from skales.core.json import JsonValue
from skales.data.document import MAX_DEPTH, ChangedOnDiskError, Stamp, read_stamped, stamp_of, write_object
from skales.data.document_lines import write_grown
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from tests.conftest import FixedClock

OLD: dict[str, JsonValue] = {"title": "Tea", "list": [{"n": 1}, {"n": "zwei\nÜ"}], "after": {"list": [{"n": 0}]}}


@pytest.fixture
def quarantine(home: DataDirectory, clock: FixedClock) -> Quarantine:
    return Quarantine(home.quarantine, clock)


@pytest.fixture
def path(home: DataDirectory) -> Path:
    return home.root / "thing.json"


def read(path: Path, quarantine: Quarantine) -> tuple[dict[str, JsonValue], Stamp]:
    return read_stamped(path, quarantine)


def grow(path: Path, quarantine: Quarantine, *entries: JsonValue, **changes: JsonValue) -> dict[str, JsonValue]:
    """Add to the list of the file as it is, by another program's eyes afterwards."""
    before, stamp = read(path, quarantine)
    old = before.get("list")
    assert isinstance(old, list)
    now = write_grown(path, before | changes | {"list": [*old, *entries]}, "list", before=before, expected=stamp)
    assert now == stamp_of(path)
    return read(path, quarantine)[0]


def deep(levels: int) -> JsonValue:
    value: JsonValue = {}
    for _ in range(levels - 1):
        value = {"in": value}
    return value


def test_what_is_added_comes_after_what_was_there(path: Path, quarantine: Quarantine) -> None:
    write_object(path, OLD)
    assert grow(path, quarantine, {"n": 3}, {"n": 4}, title="Coffee") == OLD | {
        "title": "Coffee",
        "list": [{"n": 1}, {"n": "zwei\nÜ"}, {"n": 3}, {"n": 4}],
    }


def test_a_list_that_grows_is_written_as_if_it_were_written_whole(path: Path, quarantine: Quarantine) -> None:
    write_object(path, OLD)
    after = grow(path, quarantine, {"n": "\ud800 half", "more": ["x"]})
    grown = path.read_bytes()
    write_object(path, after)
    assert path.read_bytes() == grown


def test_what_the_file_holds_of_the_list_is_left_as_it_is_spelled(path: Path, quarantine: Quarantine) -> None:
    path.write_text('{\n  "list": [\n    {"n" :  1.50e1,"u":"\\u00fc"}\n  ]\n}', encoding="utf-8")
    assert grow(path, quarantine, {"n": 2})["list"] == [{"n": 15.0, "u": "ü"}, {"n": 2}]
    assert '{"n" :  1.50e1,"u":"\\u00fc"},\n    {"n": 2}\n' in path.read_text(encoding="utf-8")


def test_a_change_beside_the_list_leaves_its_text_alone(path: Path, quarantine: Quarantine) -> None:
    path.write_text('{\n  "list": [\n    {"n":1}\n  ]\n}', encoding="utf-8")
    assert grow(path, quarantine, title="Tea") == {"list": [{"n": 1}], "title": "Tea"}
    assert '    {"n":1}\n' in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    [
        '{"title": "Tea", "list": [{"n": 1}, {"n": 2}]}',
        '{\n  "list": [\n    {"n": 1}, {"n": 2}\n  ]\n}',
        '{\n  "list": [\n    {"n": 1,\n     "m": 1},\n    {"n": 2}\n  ]\n}',
        '{\n  "list": [\n    {"n": 1},\n    {"n": 2}]}',
        '\ufeff{\n  "list": [\n    {"n": 1},\n    {"n": 2}\n  ]\n}',
        '{\n  "list": [\n    {"n": 1},\n    {"n": NaN}\n  ], "x": NaN\n}',
        '{"in": {\n  "list": [\n    {"n": 8},\n    {"n": 9}\n  ]}, "list": [{"n": 1}, {"n": 2}]}',
        '{\n  "list": [\n    {"n": 8},\n    {"n": 9}\n  ], "list": [{"n": 1}, {"n": 2}]}',
        '{"list": [{"n": 1}, {"n": 2}], "in": {\n  "list": [\n    {"n": 8},\n    {"n": 9}\n  ]}}',
        '{"list": [{"n": 1}, [\n  2\n  ]], "in": {\n  "list": [\n    {"n": 8},\n    [[\n  ]]\n  ]}}',
        '{"list": [{"n": 1}, {"n": 2}], "\\n  list": 1}',
        '{"list": [{"n": 1}, 2, null]}',
        '{\n  "list": [\n    {"n": 1}], "y": [{}], "x": [\n  ]\n}',
        '{"list": []}',
    ],
)
def test_a_file_in_any_other_form_is_read_and_grown_the_same(path: Path, quarantine: Quarantine, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    before = repr(read(path, quarantine)[0])
    after = grow(path, quarantine, {"n": 3})
    entries = after["list"]
    assert isinstance(entries, list)
    assert entries[-1] == {"n": 3}
    assert repr(after | {"list": entries[:-1]}) == before


@pytest.mark.parametrize(
    "entries", [[{"n": 1}], [{"n": 1}, {"n": "zwei\nÜ"}, 5], [{"n": 9}, {"n": "zwei\nÜ"}, {"n": 3}], []]
)
def test_a_list_that_did_not_only_grow_by_objects_is_written_whole(
    path: Path, quarantine: Quarantine, entries: list[JsonValue]
) -> None:
    write_object(path, OLD)
    before, stamp = read(path, quarantine)
    write_grown(path, before | {"list": entries}, "list", before=before, expected=stamp)
    assert read(path, quarantine)[0] == OLD | {"list": entries}


def test_a_file_that_was_changed_meanwhile_is_left_alone(path: Path, quarantine: Quarantine) -> None:
    write_object(path, OLD)
    before, stamp = read(path, quarantine)
    path.write_text(json.dumps({"list": [{"n": "by hand"}]}), encoding="utf-8")
    kept = before["list"]
    assert isinstance(kept, list)
    with pytest.raises(ChangedOnDiskError):
        write_grown(path, before | {"list": [*kept, {"n": 3}]}, "list", before=before, expected=stamp)
    assert read(path, quarantine)[0] == {"list": [{"n": "by hand"}]}


@pytest.mark.parametrize("extra", [{"list": [{"n": 1}, deep(MAX_DEPTH - 1)]}, {"other": deep(MAX_DEPTH)}])
def test_what_is_nested_too_deeply_is_refused_wherever_it_is_added(
    path: Path, quarantine: Quarantine, extra: Mapping[str, JsonValue]
) -> None:
    write_object(path, {"list": [{"n": 1}]})
    before, stamp = read(path, quarantine)
    old, new = before["list"], extra.get("list", [0])
    assert isinstance(old, list)
    assert isinstance(new, list)
    with pytest.raises(InputError):
        write_grown(path, {**before, **extra, "list": [*old, *new[1:]]}, "list", before=before, expected=stamp)
    assert read(path, quarantine)[0] == {"list": [{"n": 1}]}


def test_the_deepest_entry_that_can_be_added_can_be_read(path: Path, quarantine: Quarantine) -> None:
    write_object(path, {"list": [{"n": 1}]})
    assert grow(path, quarantine, deep(MAX_DEPTH - 2))["list"] == [{"n": 1}, deep(MAX_DEPTH - 2)]
