"""The planner tools over real files; the fixtures' person lives in UTC."""

import pytest

from skales.core.clock import to_datetime
from skales.core.errors import ToolError
from skales.core.json import as_list, as_object
from skales.core.tool import Effect, Safety
from skales.tools.registry import BuiltinToolbox
from tests.conftest import FixedClock
from tests.tools.conftest import Call

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("name", "effect"), [("planner_create_task", Effect.WRITES), ("planner_list_tasks", Effect.READS_PRIVATE)]
)
def test_both_run_by_themselves(toolbox: BuiltinToolbox, name: str, effect: Effect) -> None:
    spec = toolbox.find(name)
    assert spec is not None
    assert (spec.category, spec.safety, spec.effects) == ("productivity", Safety.AUTO, frozenset({effect}))


def test_no_tool_ticks_an_entry_off(toolbox: BuiltinToolbox) -> None:
    assert [spec.name for spec in toolbox.specs() if "planner" in spec.name] == [
        "planner_create_task",
        "planner_list_tasks",
    ]


async def test_an_entry_is_planned_and_listed(call: Call) -> None:
    made = await call(
        "planner_create_task",
        title="Call Ms Ray",
        date="tomorrow",
        time="10:00",
        duration_minutes=15,
        notes="tax\n2030",
    )
    assert "(tomorrow) 10:00, 15 min" in made.text
    await call("planner_create_task", title="Read")
    listed = await call("planner_list_tasks")
    lines = listed.text.splitlines()
    assert lines[0].startswith("Now it is ")
    assert lines[1].startswith("- Call Ms Ray, ")
    assert lines[2] == "  tax ⏎ 2030"
    assert lines[3].startswith("- Read, some day [plan_")
    assert [as_object(item)["title"] for item in as_list(as_object(listed.data)["tasks"])] == ["Call Ms Ray", "Read"]
    assert (await call("planner_list_tasks", limit=1)).text.endswith("or a larger limit]")


async def test_what_is_past_is_said_to_be(call: Call, clock: FixedClock) -> None:
    made = await call("planner_create_task", title="Old", date="2031-01-01")
    assert "overdue. That is in the past." in made.text
    await call("planner_create_task", title="Soon", date="today", time="23:59")
    assert (await call("planner_list_tasks", show="overdue")).summary == "1 planner entry"
    clock.advance(2 * 86_400)
    assert (await call("planner_list_tasks", show="overdue")).summary == "2 planner entries"
    day = to_datetime(clock.now_ms()).strftime("%Y-%m-%d")
    assert (await call("planner_list_tasks", first_date=day)).summary == "Nothing planned"


@pytest.mark.parametrize(
    "arguments",
    [
        {"title": " "},
        {"title": "x", "date": "whenever"},
        {"title": "x", "time": "09:00"},
        {"title": "x" * 10_000_000},
        {"title": "x", "date": "today", "time": "9" * 1_000_000},
    ],
)
async def test_what_is_no_entry_is_refused(call: Call, arguments: dict[str, str]) -> None:
    with pytest.raises(ToolError):
        await call("planner_create_task", **arguments)
    assert (await call("planner_list_tasks", show="all")).summary == "Nothing planned"
