"""Finding tools for what people ask: everyday requests in English and German, each with the tools that fit it."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from skales.tools.finding import ToolFinder
from skales.tools.index import load_index

REQUESTS = Path(__file__).parents[1] / "cases" / "tools" / "requests.tsv"
FINDER = ToolFinder([entry.spec for entry in load_index()])


def read_requests() -> Sequence[tuple[str, Sequence[str]]]:
    lines = [
        line.split("\t")
        for line in REQUESTS.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    return [(request, tools.split(",")) for request, tools in lines]


def is_found(request: str, tools: Sequence[str], among: int) -> bool:
    return any(spec.name in tools for spec in FINDER.find(request, among))


def share_found(rows: Sequence[tuple[str, Sequence[str]]], among: int) -> float:
    return sum(is_found(request, tools, among) for request, tools in rows) / len(rows)


def test_the_right_tool_is_among_the_first_five_and_mostly_the_first() -> None:
    rows = read_requests()
    assert len(rows) >= 300
    missed = [request for request, tools in rows if not is_found(request, tools, 5)]
    assert share_found(rows, 5) >= 0.95, missed
    assert share_found(rows, 1) >= 0.70


def test_every_tool_is_asked_for() -> None:
    asked = {name for _request, tools in read_requests() for name in tools}
    assert {entry.spec.name for entry in load_index()} == asked


@pytest.mark.parametrize("case", [str.upper, str.lower], ids=["capitals", "small letters"])
def test_the_case_does_not_matter(case: object) -> None:
    assert callable(case)
    rows = [(case(request), tools) for request, tools in read_requests()]
    assert share_found(rows, 5) >= 0.95
