"""dispatch_subtasks reads what a model writes, and tells what became of each part."""

import json

import pytest

from skales.core.errors import ToolError
from skales.core.tool import Effect, Safety
from skales.tools.registry import BuiltinToolbox
from skales.tools.starting import Part, PartEnd
from tests.tools.conftest import Call, ScriptedWork

pytestmark = pytest.mark.anyio


def test_it_asks_first_because_it_spends(toolbox: BuiltinToolbox) -> None:
    spec = toolbox.find("dispatch_subtasks")
    assert spec is not None
    assert (spec.category, spec.safety, spec.addon) == ("core", Safety.CONFIRM, "")
    assert spec.effects == {Effect.SPENDS, Effect.READS_PRIVATE, Effect.UNTRUSTED_OUTPUT}


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ('["Read a.txt"]', [Part("Read a.txt", "Read a.txt")]),
        ('[{"title": "A", "task": "Read a"}]', [Part("A", "Read a")]),
        ('[{"title": "A", "description": "Read a"}]', [Part("A", "Read a")]),
        ('[{"prompt": "Read a"}]', [Part("Read a", "Read a")]),
        ('[{"title": "Only a title"}]', [Part("Only a title", "Only a title")]),
        ('{"subtasks": [{"title": " A \\n B ", "task": "x"}]}', [Part("A B", "x")]),
        (json.dumps(["x" * 100]), [Part("x" * 59 + "…", "x" * 100)]),
    ],
)
async def test_usual_spellings_are_understood(call: Call, work: ScriptedWork, written: str, parts: list[Part]) -> None:
    await call("dispatch_subtasks", subtasks_json=written, parent_title="  The\n whole ")
    assert work.ordered == [("The whole", parts)]


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("", "not JSON"),
        ("read a and b", "not JSON"),
        ("[", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "0 subtasks"),
        ("{}", "0 subtasks"),
        ('"a"', "0 subtasks"),
        ("7", "0 subtasks"),
        (json.dumps(["a"] * 13), "13 subtasks"),
        ('["a", {}]', "Subtask 2 has no task"),
        ('["a", 7]', "Subtask 2 has no task"),
        ('[""]', "Subtask 1 has no task"),
    ],
)
async def test_what_cannot_be_used_is_explained(call: Call, work: ScriptedWork, written: str, words: str) -> None:
    with pytest.raises(ToolError, match=words):
        await call("dispatch_subtasks", subtasks_json=written)
    assert not work.ordered


async def test_a_long_answer_is_cut_and_says_where_it_is_whole(call: Call, work: ScriptedWork) -> None:
    work.ends = [PartEnd(title="A", ok=True, answer="x" * 10_000, session_id="session_9")]
    result = await call("dispatch_subtasks", subtasks_json='["A"]')
    assert len(result.text) < 6_200
    assert result.text.endswith("(cut; whole in session_9)")


async def test_half_an_answer_of_a_failed_part_is_no_answer(call: Call, work: ScriptedWork) -> None:
    work.ends = [
        PartEnd(title="A", ok=False, error="It took longer than 300 seconds", answer="So far"),
        PartEnd(title="B", ok=True, answer="yes"),
    ]
    result = await call("dispatch_subtasks", subtasks_json='["A", "B"]')
    assert "## 1. A: FAILED\nReason: It took longer than 300 seconds\nIt had written so far: So far" in result.text
    assert isinstance(result.data, list)
    assert [entry["ok"] for entry in result.data if isinstance(entry, dict)] == [False, True]
