"""Reads the scripted answers of `tests/cases/claims` as conversations.

`say` is the answer. `calls` of its turn and `earlier` ones are lines: `[!]tool[@effects] arguments [=> result]`, `!`
for a call that failed, effects by first letter for tools that are not built in.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from skales.agent.evidence import judge_answer
from skales.core.evidence import Unconfirmed
from skales.core.message import Message, Role, TextPart, text_message
from skales.core.tool import Effect, Safety, ToolCall, ToolSpec
from skales.tools.index import INDEX_FILE
from tests.conftest import CASES

_EFFECTS = {effect.value[0]: effect for effect in Effect}


@dataclass(frozen=True, slots=True)
class Case:
    say: str
    calls: Sequence[str] = ()
    earlier: Sequence[str] = ()


def read_cases(name: str) -> list[Case]:
    raw = json.loads((CASES / "claims" / f"{name}.json").read_text(encoding="utf-8"))
    return [Case(entry["say"], entry.get("calls", ()), entry.get("earlier", ())) for entry in raw]


def judge(case: Case, *, unsure: bool = False) -> tuple[Unconfirmed, ...]:
    """What the answer of a case says that its calls do not bear out."""
    specs = {**_built_in(), **{spec.name: spec for spec in _stand_ins((*case.calls, *case.earlier))}}
    history = [
        text_message(Role.USER, "Earlier"),
        *_messages(case.earlier, "e"),
        text_message(Role.ASSISTANT, "Fine."),
        text_message(Role.USER, "Now"),
        *_messages(case.calls, "t"),
    ]
    return judge_answer(case.say, history, specs.get, lambda _call_id: unsure)


def _messages(lines: Sequence[str], prefix: str) -> Iterator[Message]:
    for number, line in enumerate(lines):
        head, _, result = line.removeprefix("!").partition(" => ")
        name, _, arguments = head.partition(" ")
        call = ToolCall(f"{prefix}{number}", name.partition("@")[0], {"about": arguments})
        yield Message(role=Role.ASSISTANT, tool_calls=(call,))
        content = (TextPart(result),)
        yield Message(role=Role.TOOL, tool_call_id=call.id, content=content, is_error=line.startswith("!"))


def _stand_ins(lines: Sequence[str]) -> Iterator[ToolSpec]:
    for line in lines:
        name, _, effects = line.removeprefix("!").split(" ")[0].partition("@")
        if effects:
            yield _spec(name, [_EFFECTS[letter].value for letter in effects])


@cache
def _built_in() -> dict[str, ToolSpec]:
    raw = json.loads(INDEX_FILE.read_text(encoding="utf-8"))
    return {entry["name"]: _spec(entry["name"], entry.get("effects", [])) for entry in raw}


def _spec(name: str, effects: Sequence[str]) -> ToolSpec:
    found = frozenset(map(Effect, effects))
    return ToolSpec(name=name, description="", parameters={}, category="", safety=Safety.AUTO, effects=found)
