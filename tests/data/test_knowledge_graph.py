"""The graph grows by merging, is found by any name, and stays within its bounds."""

import json
import os
from typing import Any

import pytest

from skales.core.errors import ConflictError, InputError, NotFoundError
from skales.data import knowledge_graph
from skales.data.graph_shape import EntityChange
from skales.data.knowledge_graph import KnowledgeGraph, Link
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from tests.conftest import CountingIds, FixedClock


@pytest.fixture
def graph(home: DataDirectory, clock: FixedClock, ids: CountingIds) -> KnowledgeGraph:
    return KnowledgeGraph(home, Quarantine(home.quarantine, clock), clock, ids)


def on_disk(home: DataDirectory) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(home.knowledge_graph.read_text(encoding="utf-8"))
    return found


def note(graph: KnowledgeGraph, name: str, kind: str = "", relation: str = "", target: str = "") -> str:
    link = Link(relation, target) if relation else None
    return graph.update(EntityChange(name=name, type=kind), link).entity.id


def test_the_file_has_the_shape_of_the_spec(graph: KnowledgeGraph, home: DataDirectory, clock: FixedClock) -> None:
    made = graph.update(
        EntityChange(name=" Ada  L. ", type="Person", aliases=["Countess"], props={"city": "London"}),
        Link("Leads", "Atlas", "project"),
    )
    assert made.is_new
    assert made.is_new_relation
    assert on_disk(home) == {
        "entities": [
            {
                "id": made.entity.id,
                "type": "person",
                "name": "Ada L.",
                "props": {"city": "London", "aliases": ["Countess"]},
            },
            {"id": "ent_0000000000000002", "type": "project", "name": "Atlas", "props": {}},
        ],
        "relations": [
            {"from": made.entity.id, "to": "ent_0000000000000002", "type": "leads", "at": clock.now_ms()},
        ],
    }


@pytest.mark.parametrize("name", ["ADA", "ada", "Countess", "cöuntess", "ent_0000000000000001"])
def test_any_name_finds_the_same_entity(graph: KnowledgeGraph, name: str) -> None:
    first = graph.update(EntityChange(name="Ada", type="person", aliases=["Countess"], props={"a": 1, "b": "x"})).entity
    merged = graph.update(EntityChange(name=name, aliases=["Lovelace"], props={"b": "", "c": [1, 2]}))
    assert not merged.is_new
    assert (merged.entity.id, merged.entity.name, merged.entity.type) == (first.id, "Ada", "person")
    assert merged.entity.props == {"a": 1, "c": [1, 2]}
    assert set(merged.entity.aliases) == {"Countess", "Lovelace"}


def test_a_new_name_keeps_the_entity_and_may_not_be_anothers(graph: KnowledgeGraph) -> None:
    first = note(graph, "Ada")
    note(graph, "Grace")
    assert graph.update(EntityChange(name="Ada", new_name="Ada King")).entity.id == first
    with pytest.raises(ConflictError, match="already"):
        graph.update(EntityChange(name=first, new_name="GRACE"))


def test_a_relation_is_noted_once(graph: KnowledgeGraph, home: DataDirectory) -> None:
    note(graph, "Ada", "person", "uses", "Python")
    again = graph.update(EntityChange(name="ada"), Link("USES", "python"))
    assert not again.is_new_relation
    assert len(on_disk(home)["relations"]) == 1


def test_nothing_is_kept_of_an_update_that_fails(graph: KnowledgeGraph, home: DataDirectory) -> None:
    with pytest.raises(InputError):
        graph.update(EntityChange(name="Ada"), Link("uses", " "))
    assert not home.knowledge_graph.exists()


def test_neighbours_are_followed_as_deep_as_asked_and_no_deeper_than_two(graph: KnowledgeGraph) -> None:
    for start, end in ("ab", "bc", "cd", "de"):
        note(graph, start, "", "knows", end)
    reached = {depth: [entity.name for entity in graph.query("a", depth=depth).around] for depth in (0, 1, 2, 9)}
    assert reached == {0: [], 1: ["b"], 2: ["b", "c"], 9: ["b", "c"]}
    assert [relation.type for relation in graph.query("a", depth=2).relations] == ["knows", "knows"]


def test_questions_by_words_and_type_put_the_name_first(graph: KnowledgeGraph) -> None:
    note(graph, "Reading list", "project")
    graph.update(EntityChange(name="Ada", type="person", props={"hobby": "reading novels"}))
    note(graph, "Atlas", "Project")
    assert [entity.name for entity in graph.query("reading").found] == ["Reading list", "Ada"]
    assert [entity.name for entity in graph.query("", "PROJECT").found] == ["Atlas", "Reading list"]
    assert [entity.name for entity in graph.query("read", "project").found] == ["Reading list"]
    assert graph.query("?!").found == ()
    shown = graph.query(limit=1)
    assert (len(shown.found), shown.total) == (1, 3)


def test_deleting_says_how_many_relations_went(graph: KnowledgeGraph, home: DataDirectory) -> None:
    note(graph, "Ada", "", "uses", "Python")
    note(graph, "Grace", "", "knows", "Ada")
    note(graph, "Grace", "", "uses", "COBOL")
    entity, count = graph.delete("ADA")
    assert (entity.name, count) == ("Ada", 2)
    assert [item["type"] for item in on_disk(home)["relations"]] == ["uses"]
    with pytest.raises(NotFoundError, match="knows no 'Ada'"):
        graph.delete("Ada")


def test_one_relation_can_go_and_both_ends_stay(graph: KnowledgeGraph) -> None:
    note(graph, "Ada", "", "uses", "Python")
    note(graph, "Ada", "", "likes", "Python")
    assert graph.unrelate("ada", "python", "Uses") == 1
    assert graph.unrelate("ada", "python") == 1
    with pytest.raises(NotFoundError, match="no relation"):
        graph.unrelate("ada", "python")
    assert graph.query().total == 2


def test_several_of_one_name_must_be_told_apart(graph: KnowledgeGraph) -> None:
    person = note(graph, "Mercury", "person")
    planet = note(graph, "Mercury", "planet")
    assert person != planet
    with pytest.raises(ConflictError, match=person):
        graph.delete("mercury")
    assert graph.delete("mercury", "planet")[0].id == planet


def test_what_others_wrote_survives(graph: KnowledgeGraph, home: DataDirectory) -> None:
    foreign = {
        "version": 3,
        "entities": [{"id": "x1", "type": "Person", "name": "Ada", "colour": "red"}, "odd", {"name": "no id"}],
        "relations": [{"from": "x1", "to": "gone", "type": "knows"}, 5],
    }
    home.knowledge_graph.write_text(json.dumps(foreign), encoding="utf-8")
    graph.update(EntityChange(name="ada", props={"city": "London"}), Link("knows", "Grace"))
    kept = on_disk(home)
    assert kept["version"] == 3
    assert kept["entities"][0] == {
        "id": "x1", "type": "Person", "name": "Ada", "colour": "red", "props": {"city": "London"},
    }  # fmt: skip
    assert kept["entities"][1:3] == ["odd", {"name": "no id"}]
    assert kept["relations"][:2] == foreign["relations"]
    assert [entity.name for entity in graph.query("ada").around] == ["Grace"]


def test_a_broken_file_is_set_aside_and_a_fresh_graph_begun(graph: KnowledgeGraph, home: DataDirectory) -> None:
    home.knowledge_graph.write_text("{", encoding="utf-8")
    os.utime(home.knowledge_graph, (1, 1))
    assert graph.query().found == ()
    note(graph, "Ada")
    assert graph.query().total == 1
    assert any(home.quarantine.iterdir())


@pytest.mark.parametrize(
    "change",
    [
        EntityChange(name=" "),
        EntityChange(name="x" * 201),
        EntityChange(name="x", type="t" * 61),
        EntityChange(name="x", props={"": 1}),
        EntityChange(name="x", props={"aliases": ["y"]}),
        EntityChange(name="x", props={"k": "v" * 2_001}),
        EntityChange(name="x", props={str(number): number for number in range(51)}),
        EntityChange(name="x", aliases=[str(number) for number in range(21)]),
    ],
)
def test_what_is_too_much_is_refused(graph: KnowledgeGraph, home: DataDirectory, change: EntityChange) -> None:
    with pytest.raises(InputError):
        graph.update(change)
    assert not home.knowledge_graph.exists()


def test_the_graph_has_a_size(graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowledge_graph, "MOST_ENTITIES", 3)
    monkeypatch.setattr(knowledge_graph, "MOST_RELATIONS", 1)
    note(graph, "a", "", "knows", "b")
    note(graph, "c")
    with pytest.raises(InputError, match="3 entities"):
        note(graph, "d")
    with pytest.raises(InputError, match="1 relations"):
        note(graph, "a", "", "knows", "c")


def test_a_hub_is_shown_in_part(graph: KnowledgeGraph, home: DataDirectory) -> None:
    entities = [{"id": f"e{number}", "type": "t", "name": f"n{number}"} for number in range(301)]
    relations = [{"from": "e0", "to": f"e{number}", "type": "has"} for number in range(1, 301)]
    home.knowledge_graph.write_text(json.dumps({"entities": entities, "relations": relations}), encoding="utf-8")
    found = graph.query("n0")
    assert (len(found.around), found.is_cut) == (200, True)


def test_a_question_out_of_all_measure_is_answered(graph: KnowledgeGraph) -> None:
    note(graph, "Ada")
    assert graph.query("ada " * 1_000_000).total == 1
