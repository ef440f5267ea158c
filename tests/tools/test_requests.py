"""Finding tools for what people ask: everyday requests in English and German, each with the tools that fit it.

`requests.tsv` knows every tool. The other sets were written from the tools' names and first sentences alone, before the
search words were looked at; `fresh` in words that keep away from them.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from skales.tools.finding import ToolFinder
from skales.tools.index import load_index

CASES = Path(__file__).parents[1] / "cases" / "tools"
FINDER = ToolFinder([entry.spec for entry in load_index()])

Rows = Sequence[tuple[str, Sequence[str]]]


def read_requests(name: str = "requests") -> Rows:
    text = (CASES / f"{name}.tsv").read_text(encoding="utf-8")
    lines = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return [(request, tools.split(",")) for request, tools in lines]


def is_found(request: str, tools: Sequence[str], among: int) -> bool:
    return any(spec.name in tools for spec in FINDER.find(request, among))


def share_found(rows: Rows, among: int) -> float:
    return sum(is_found(request, tools, among) for request, tools in rows) / len(rows)


@pytest.mark.parametrize(
    ("name", "least", "mostly_first"),
    [
        pytest.param("requests", 300, 0.75, id="every tool"),
        pytest.param("requests_heldout", 150, 0.85, id="written before the words were seen"),
        pytest.param("requests_fresh", 60, 0.60, id="in other words"),
        pytest.param("requests_last", 144, 0.60, id="written last"),
    ],
)
def test_the_right_tool_is_among_the_first_five_and_mostly_the_first(
    name: str, least: int, mostly_first: float
) -> None:
    rows = read_requests(name)
    assert len(rows) >= least
    missed = [request for request, tools in rows if not is_found(request, tools, 5)]
    assert share_found(rows, 5) >= 0.95, missed
    assert share_found(rows, 1) >= mostly_first


def test_every_tool_is_asked_for() -> None:
    asked = {name for _request, tools in read_requests() for name in tools}
    assert {entry.spec.name for entry in load_index()} == asked


def test_the_sets_name_real_tools_and_share_no_request() -> None:
    sets = [read_requests(name) for name in ("requests", "requests_heldout", "requests_fresh", "requests_last")]
    requests = [request for rows in sets for request, _tools in rows]
    assert len(requests) == len(set(requests))
    named = {tool for rows in sets for _request, tools in rows for tool in tools}
    assert named <= {entry.spec.name for entry in load_index()}


@pytest.mark.parametrize("case", [str.upper, str.lower], ids=["capitals", "small letters"])
def test_the_case_does_not_matter(case: object) -> None:
    assert callable(case)
    rows = [(case(request), tools) for request, tools in read_requests()]
    assert share_found(rows, 5) >= 0.95
