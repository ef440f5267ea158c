import re

import pytest

from skales.providers.toolnames import MAX_NAME, map_wire_names, to_wire_name

ODD = [
    "mcp.files.read",
    "mcp_files/read file",
    "größe",
    "x" * 65,
    "x" * 64 + "y",
    "x" * 64 + "z",
    "",
    "a b",
    "a.b",
    "a/b",
    "工具",
    "half\ud83d",
]


@pytest.mark.parametrize("name", ["read_file", "a", "A-1", "x" * MAX_NAME])
def test_a_legal_name_stays(name: str) -> None:
    assert to_wire_name(name) == name


def test_odd_names_become_legal_and_stay_distinct_and_lead_back() -> None:
    wire = [to_wire_name(name) for name in ODD]
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in wire)
    assert len(set(wire)) == len(ODD)
    mapping = map_wire_names(ODD)
    assert [mapping[name] for name in wire] == ODD


def test_a_spelling_depends_on_nothing_but_the_name() -> None:
    assert to_wire_name("mcp.files.read") == "mcp_files_read_daac1590"
    assert map_wire_names(reversed(ODD)) == map_wire_names(ODD)


def test_the_first_of_two_equal_names_counts() -> None:
    respelled = to_wire_name("a.b")
    assert map_wire_names([respelled, "a.b"])[respelled] == respelled
