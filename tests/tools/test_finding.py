"""Finding tools by words: stems of two languages, compounds, typing errors, exact names."""

from dataclasses import replace

import pytest

from skales.core.tool import Effect, Safety, ToolExample, ToolSpec
from skales.tools.finding import ToolFinder


def tool(name: str, description: str, words: str = "") -> ToolSpec:
    return ToolSpec(
        name=name, description=description, parameters={}, category="core", safety=Safety.AUTO, found_by=words
    )


TOOLS = [
    tool("get_weather", "Get the weather forecast of a city", "wetter regen temperatur umbrella"),
    tool("git_commit", "Commit changes of a repository", "einchecken"),
    tool("list_processes", "List running programs", "prozesse laufend"),
    tool("planner_create_task", "Add a task to the planner", "termin aufgabe erinnern"),
    tool("delete_file", "Delete a file or folder", "datei löschen"),
]


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        pytest.param("Do I need an umbrella today?", "get_weather", id="a word people use"),
        pytest.param("Committing my work", "git_commit", id="english ending"),
        pytest.param("Welche Programme laufen? Zeig laufende Prozesse", "list_processes", id="german ending"),
        pytest.param("Wie wird der Wetterbericht?", "get_weather", id="part of a compound"),
        pytest.param("Lösch die Dateien", "delete_file", id="umlaut"),
        pytest.param("LÖSCHEN", "delete_file", id="capitals"),
        pytest.param("show the wether", "get_weather", id="typing error"),
        pytest.param("Check das bitte alles ein", "git_commit", id="particle of a parted verb"),
        pytest.param("Ist alles eingecheckt?", "git_commit", id="german participle"),
        pytest.param("Wird es beim Grillen hageln?", "get_weather", id="an everyday word that hints at it"),
        pytest.param("call git_commit on the weather file", "git_commit", id="exact name first"),
    ],
)
def test_the_meant_tool_comes_first(request_text: str, expected: str) -> None:
    assert ToolFinder(TOOLS).find(request_text, 5)[0].name == expected


@pytest.mark.parametrize("request_text", ["", "and the of", "!!!", "日本語"])
def test_a_request_that_points_nowhere_finds_nothing(request_text: str) -> None:
    assert ToolFinder(TOOLS).find(request_text, 5) == []


def test_an_example_counts() -> None:
    known = replace(TOOLS[0], example=ToolExample("Will it snow in Oslo?", {"city": "Oslo"}))
    assert ToolFinder([*TOOLS[1:], known]).find("snow", 5) == [known]


def test_no_more_than_asked_for_come() -> None:
    assert len(ToolFinder(TOOLS).find("file task weather commit programs", 2)) == 2


def test_of_tools_that_fit_alike_the_one_that_changes_nothing_comes_first() -> None:
    writes = replace(TOOLS[4], name="wipe", description="Folder", effects=frozenset({Effect.WRITES}), found_by="")
    reads = replace(TOOLS[4], name="look", description="Folder", found_by="")
    assert ToolFinder([writes, reads]).find("folder", 5) == [reads, writes]


def test_a_request_without_end_is_looked_at_only_in_its_beginning() -> None:
    found = ToolFinder(TOOLS).find("weather " + "an häng " * 1_000_000, 5)
    assert found[0].name == "get_weather"
