"""read_skill and create_skill over a real folder."""

import pytest

from skales.core.errors import ToolError
from skales.core.tool import Effect, Safety
from skales.data.paths import DataDirectory
from skales.tools.registry import BuiltinToolbox
from tests.tools.conftest import Call

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("name", "safety", "effect"),
    [("read_skill", Safety.AUTO, Effect.READS_PRIVATE), ("create_skill", Safety.CONFIRM, Effect.WRITES)],
)
def test_reading_is_free_and_writing_asks(toolbox: BuiltinToolbox, name: str, safety: Safety, effect: Effect) -> None:
    spec = toolbox.find(name)
    assert spec is not None
    assert (spec.category, spec.safety, spec.effects) == ("core", safety, frozenset({effect}))


async def test_a_skill_is_written_and_read_with_the_files_beside_it(call: Call, home: DataDirectory) -> None:
    made = await call("create_skill", name="trip-plan", description="Plan: a trip", body="# Ask\n\nfor the budget")
    place = home.agent_skills / "trip-plan"
    assert made.files == (str(place / "SKILL.md"),)
    (place / "references").mkdir()
    (place / "references" / "form.md").write_text("The form", encoding="utf-8")
    read = await call("read_skill", name="Trip-Plan")
    assert read.text == (
        "# Skill trip-plan\nPlan: a trip\n\n# Ask\n\nfor the budget\n\n"
        "Files beside it, to read with read_skill: references/form.md"
    )
    assert (await call("read_skill", name="trip-plan", file="references/form.md")).text == "The form"
    with pytest.raises(ToolError, match=r"It has references/form\.md"):
        await call("read_skill", name="trip-plan", file="references/none.md")
    with pytest.raises(ToolError, match="no file of the skill"):
        await call("read_skill", name="trip-plan", file="../../settings.json")


async def test_an_unknown_skill_names_those_there_are_but_not_those_for_people(call: Call, home: DataDirectory) -> None:
    with pytest.raises(ToolError, match="There are no skills yet"):
        await call("read_skill", name="none")
    await call("create_skill", name="one", description="d", body="b")
    for folder, front in (("two", "disable-model-invocation: true"), ("three", "license: MIT")):
        (home.agent_skills / folder).mkdir()
        text = f"---\nname: {folder}\n{front}\n---\nBody of {folder}"
        (home.agent_skills / folder / "SKILL.md").write_text(text, encoding="utf-8")
    (home.agent_skills / "agent-skills-state.json").write_text('{"three": {"enabled": false}}', encoding="utf-8")
    with pytest.raises(ToolError) as caught:
        await call("read_skill", name="none")
    assert caught.value.hint == "There are one"
    with pytest.raises(ToolError, match="switched off"):
        await call("read_skill", name="three")
    assert "Body of two" in (await call("read_skill", name="two")).text


async def test_nothing_is_overwritten_or_half_written(call: Call, home: DataDirectory) -> None:
    await call("create_skill", name="one", description="d", body="first")
    for name, body in (("ONE", "second"), ("../up", "b"), ("two", " "), ("three", "x" * 10_000_000)):
        with pytest.raises(ToolError):
            await call("create_skill", name=name, description="d", body=body)
    assert [path.name for path in home.agent_skills.iterdir()] == ["one"]
    assert "first" in (await call("read_skill", name="one")).text
