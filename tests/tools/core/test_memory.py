"""memory_write keeps what the person said, memory_search finds it again."""

import pytest

from skales.core.clock import to_datetime
from skales.core.errors import ToolError
from skales.core.json import as_object, as_text
from skales.core.tool import Effect, Safety
from skales.tools.context import ToolContext
from skales.tools.registry import BuiltinToolbox
from tests.tools.conftest import Call

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("name", "effect"), [("memory_write", Effect.WRITES), ("memory_search", Effect.READS_PRIVATE)])
def test_memory_tools_are_automatic_and_say_what_they_touch(toolbox: BuiltinToolbox, name: str, effect: Effect) -> None:
    spec = toolbox.find(name)
    assert spec is not None
    assert (spec.category, spec.safety, spec.effects) == ("core", Safety.AUTO, frozenset({effect}))


async def test_memory_is_kept_and_found_by_content_and_keyword(call: Call, ctx: ToolContext) -> None:
    written = await call(
        "memory_write", content="Is allergic to nuts", category="fact", keywords=["Food ", "food", " ", "allergy"]
    )
    memory_id = as_text(as_object(written.data)["id"])
    assert written.text == f"Remembered as {memory_id}: Is allergic to nuts"
    kept = ctx.memories.search("nuts", 1)[0].memory
    assert (kept.id, kept.source, kept.keywords) == (memory_id, "session_1", ("food", "allergy"))
    today = to_datetime(ctx.clock.now_ms()).strftime("%Y-%m-%d")
    for query in ("nuts", "food"):
        found = await call("memory_search", query=query)
        assert found.text == f"- Is allergic to nuts (fact, {today}, id {memory_id})"
        assert found.summary == "1 memory found"
        row = {"id": memory_id, "content": "Is allergic to nuts", "category": "fact"}
        assert found.data == {"memories": [row]}


async def test_memory_without_words_about_it_is_a_fact(call: Call) -> None:
    await call("memory_write", content="Lives in Graz", category=" ")
    assert "(fact, " in (await call("memory_search", query="Graz")).text


async def test_same_memory_is_kept_once(call: Call) -> None:
    first = await call("memory_write", content="Lives in Graz")
    second = await call("memory_write", content="lives in Graz.")
    assert as_object(first.data) == as_object(second.data)


async def test_search_stops_at_the_limit(call: Call) -> None:
    for town in ("Graz", "Linz", "Wels"):
        await call("memory_write", content=f"Likes the town {town}")
    found = await call("memory_search", query="town", limit=2)
    assert (len(found.text.splitlines()), found.summary) == (2, "2 memories found")


async def test_nothing_found_is_no_error(call: Call) -> None:
    found = await call("memory_search", query="submarine")
    assert (found.text, found.is_error) == ("Nothing is remembered about 'submarine'.", False)
    assert found.data == {"memories": []}


async def test_empty_memory_is_refused(call: Call) -> None:
    with pytest.raises(ToolError, match="content is required"):
        await call("memory_write", content=" ")
