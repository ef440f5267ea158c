"""ask_user holds the turn until the person has answered."""

import pytest

from skales.core.errors import ToolError
from skales.core.ports import Question
from skales.core.tool import Safety
from skales.tools.registry import BuiltinToolbox
from tests.tools.conftest import Call, Rules

pytestmark = pytest.mark.anyio


def test_asking_is_automatic_and_has_no_effect(toolbox: BuiltinToolbox) -> None:
    spec = toolbox.find("ask_user")
    assert spec is not None
    assert (spec.category, spec.safety, spec.effects) == ("core", Safety.AUTO, frozenset())


async def test_answer_of_the_person_is_the_result(call: Call, rules: Rules) -> None:
    rules.answers = ["The blue one"]
    result = await call("ask_user", question=" Which one? ", options=["red", " blue", "red", " "])
    assert rules.questions == [Question("Which one?", ("red", "blue"))]
    assert result.text == "The person answered: The blue one"
    assert result.summary == "Answered: The blue one"


async def test_question_needs_no_options(call: Call, rules: Rules) -> None:
    rules.answers = ["42"]
    await call("ask_user", question="How many?")
    assert rules.questions == [Question("How many?", ())]


async def test_empty_question_is_refused(call: Call, rules: Rules) -> None:
    with pytest.raises(ToolError, match="The question is empty"):
        await call("ask_user", question="  ")
    assert rules.questions == []
