"""run_workflow: found by its trigger, filled in, and run as one order."""

import json

import pytest

from skales.core.errors import ToolError
from skales.core.json import JsonObject
from skales.data.document import write_object
from skales.data.paths import DataDirectory
from skales.tools.registry import BuiltinToolbox
from skales.tools.starting import PartEnd
from tests.tools.conftest import Call, Rules, ScriptedWork

pytestmark = pytest.mark.anyio

REPORT: JsonObject = {
    "name": "Weekly report",
    "trigger": "weekly-report",
    "objective": "Report on {{ month }} in {{tone}} words, {{unknown}}",
    "steps": ["Read", {"text": "Write for {{month}}"}, {"text": ""}, 7],
    "parameters": [{"name": "month", "required": True}, {"name": "tone", "default": "plain"}],
}


@pytest.fixture(autouse=True)
def saved(home: DataDirectory, rules: Rules) -> None:
    rules.addons["workflow"] = True
    taken: list[JsonObject] = [{"trigger": name, "steps": ["x"]} for name in ("goal", "Not A Slug", "")]
    empty: JsonObject = {"trigger": "empty", "steps": []}
    again: JsonObject = {"trigger": "weekly-report", "objective": "another"}
    write_object(home.workflows, {"workflows": [*taken, empty, REPORT, again]})


def test_it_belongs_to_an_add_on_that_is_off_by_itself(toolbox: BuiltinToolbox, rules: Rules) -> None:
    assert toolbox.is_enabled("run_workflow")
    rules.addons.clear()
    assert not toolbox.is_enabled("run_workflow")


@pytest.mark.parametrize("trigger", ["weekly-report", "/goal-weekly-report", "goal-weekly-report", " Weekly-Report "])
async def test_values_are_filled_in_wherever_they_stand(call: Call, work: ScriptedWork, trigger: str) -> None:
    result = await call("run_workflow", trigger=trigger, parameters_json='{"month": 5}')
    ((_, (part,)),) = work.ordered
    assert part.title == "Weekly report"
    assert part.task == (
        "Report on 5 in plain words, {{unknown}}\n\n"
        "Steps, in this order; stop and say so when one cannot be done:\n1. Read\n2. Write for 5"
    )
    assert result.text == "did Weekly report"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ("", "needs a value for 'month'"),
        ('{"month": ""}', "needs a value for 'month'"),
        ('{"month": "May", "colour": "red"}', "no parameter 'colour'"),
        ("May", "not JSON"),
        ("[1]", "not an object"),
        (["May"], "not an object"),
        (5, "not an object"),
        (True, "not an object"),
    ],
)
async def test_parameters_that_do_not_fit_are_named(call: Call, work: ScriptedWork, values: object, words: str) -> None:
    with pytest.raises(ToolError, match=words):
        await call("run_workflow", trigger="weekly-report", parameters_json=values)
    assert not work.ordered


@pytest.mark.parametrize("trigger", ["goal", "empty", "", "../../settings", "nothing"])
async def test_what_is_not_saved_is_not_run_and_what_is_gets_named(call: Call, trigger: str) -> None:
    with pytest.raises(ToolError, match="There is no workflow") as refused:
        await call("run_workflow", trigger=trigger)
    assert "weekly-report" in refused.value.hint


async def test_without_a_file_it_says_where_they_would_be(call: Call, home: DataDirectory) -> None:
    home.workflows.unlink()
    with pytest.raises(ToolError) as refused:
        await call("run_workflow", trigger="any")
    assert "workflows.json" in refused.value.hint


async def test_a_failed_run_is_a_failed_call(call: Call, work: ScriptedWork) -> None:
    work.ends = [PartEnd(title="Weekly report", ok=False, error="No network", refused=("Write a.txt",))]
    with pytest.raises(ToolError, match=r"failed: No network\nNot allowed: Write a\.txt"):
        await call("run_workflow", trigger="weekly-report", parameters_json=json.dumps({"month": "May"}))
