"""The knowledge_graph tools over a real file."""

import pytest

from skales.core.errors import ToolError
from skales.core.json import as_list, as_object
from skales.core.tool import Effect, Safety
from skales.data.paths import DataDirectory
from skales.tools.registry import BuiltinToolbox
from tests.tools.conftest import Call

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("name", "safety", "effects"),
    [
        ("knowledge_graph_query", Safety.AUTO, {Effect.READS_PRIVATE}),
        ("knowledge_graph_update", Safety.AUTO, {Effect.WRITES}),
        ("knowledge_graph_delete", Safety.CONFIRM, {Effect.WRITES, Effect.DESTRUCTIVE}),
    ],
)
def test_only_deleting_asks(toolbox: BuiltinToolbox, name: str, safety: Safety, effects: set[Effect]) -> None:
    spec = toolbox.find(name)
    assert spec is not None
    assert (spec.category, spec.safety, spec.effects) == ("core", safety, frozenset(effects))


async def test_what_is_noted_is_found_with_what_is_around_it(call: Call) -> None:
    noted = await call(
        "knowledge_graph_update",
        name="Ada",
        type="person",
        properties={"city": "London"},
        aliases=["Countess"],
        relation="leads",
        target="Atlas",
        target_type="project",
    )
    assert noted.text.startswith("Noted Ada [person, ent_")
    assert "Ada → leads → Atlas [ent_" in noted.text
    await call("knowledge_graph_update", name="atlas", relation="uses", target="Python")
    near = await call("knowledge_graph_query", query="countess")
    assert near.summary == "Found 1 entity"
    assert "city: London" in near.text
    assert "- Ada → leads → Atlas" in near.text
    assert "Python" not in near.text
    far = await call("knowledge_graph_query", query="countess", depth=2)
    assert "- Atlas → uses → Python" in far.text
    assert [as_object(item)["name"] for item in as_list(as_object(far.data)["entities"])] == ["Ada", "Atlas", "Python"]
    assert (await call("knowledge_graph_query", type="tool")).text == "The knowledge graph holds nothing like that."


async def test_deleting_tells_what_went(call: Call) -> None:
    await call("knowledge_graph_update", name="Ada", relation="leads", target="Atlas")
    await call("knowledge_graph_update", name="Grace", relation="knows", target="Ada")
    gone = await call("knowledge_graph_delete", name="ada", target="atlas")
    assert gone.text == "Removed 1 relation from ada to atlas. Both entities are kept."
    assert (await call("knowledge_graph_delete", name="ADA")).text == "Removed Ada and 1 relation."
    with pytest.raises(ToolError, match="knows no 'Ada'"):
        await call("knowledge_graph_delete", name="Ada")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("knowledge_graph_update", {"name": "a", "relation": "uses"}),
        ("knowledge_graph_update", {"name": "a", "target": "b"}),
        ("knowledge_graph_update", {"name": " "}),
        ("knowledge_graph_update", {"name": "x" * 10_000_000}),
        ("knowledge_graph_delete", {"name": "a", "relation": "uses"}),
    ],
)
async def test_half_a_relation_and_no_name_are_refused(
    call: Call, home: DataDirectory, tool: str, arguments: dict[str, str]
) -> None:
    with pytest.raises(ToolError):
        await call(tool, **arguments)
    assert not home.knowledge_graph.exists()


async def test_names_that_hide_something_are_shown(call: Call) -> None:
    await call("knowledge_graph_update", name="Ada\u202e", properties={"note": "two\nlines"})
    shown = (await call("knowledge_graph_query")).text
    assert "Ada<U+202E>" in shown
    assert "two ⏎ lines" in shown
