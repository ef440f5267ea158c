"""Holds a finished answer against the calls of its conversation, and says which of its claims nothing bears out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from skales.core.evidence import Unconfirmed
from skales.core.ids import SessionId
from skales.core.json import JsonValue
from skales.core.message import Message, Role
from skales.core.tool import ToolCall, ToolSpec

if TYPE_CHECKING:
    from skales.agent.deeds import Deed

FindTool = Callable[[str], ToolSpec | None]
# Whether nobody knows what became of the call with an id in a conversation, such as a mail that may have been sent.
IsUnsure = Callable[[SessionId, str], bool]

# What is looked at of a call; a name further behind goes unnoticed.
_LONGEST_TEXT = 20_000
# Calls of earlier turns that are looked at.
_MOST_EARLIER = 200


def is_settled(_session_id: SessionId, _call_id: str) -> bool:
    """For calls of which everybody knows what became of them: none is unsure."""
    return False


def judge_answer(
    answer: str, history: Sequence[Message], find: FindTool, is_unsure: Callable[[str], bool]
) -> tuple[Unconfirmed, ...]:
    """The claims of an answer that no successful call bears out. `history` is what stands before the answer."""
    # The grammar of claims is loaded with the first answer, not with the program.
    from skales.agent.claims import MOST_CLAIMS, doubt_claims, find_claims

    claims = tuple(islice(find_claims(answer), MOST_CLAIMS))
    if not claims:
        return ()
    start = next((place for place in range(len(history), 0, -1) if history[place - 1].role is Role.USER), 0)
    turn = list(gather_deeds(history[start:], find, is_unsure))
    earlier = list(gather_deeds(history[:start], find, is_unsure))[-_MOST_EARLIER:]
    return tuple(doubt_claims(claims, turn, earlier))


def gather_deeds(messages: Sequence[Message], find: FindTool, is_unsure: Callable[[str], bool]) -> Iterator["Deed"]:
    """The calls with what came of them; one without a result did not come to its end."""
    for place, message in enumerate(messages):
        if message.role is not Role.ASSISTANT or not message.tool_calls:
            continue
        following = takewhile(lambda said: said.role is Role.TOOL, messages[place + 1 :])
        results = {said.tool_call_id: said for said in following}
        for call in message.tool_calls:
            yield _deed(call, results.get(call.id), find(call.name), unsure=is_unsure(call.id))


def _deed(call: ToolCall, result: Message | None, spec: ToolSpec | None, *, unsure: bool) -> "Deed":
    from skales.agent.deeds import Deed

    texts = list(_texts(call.arguments))
    return Deed(
        tool=spec.name if spec else call.name,
        effects=spec.effects if spec else frozenset(),
        is_done=result is not None and not result.is_error,
        arguments="\n".join(texts)[:_LONGEST_TEXT],
        result=result.text[:_LONGEST_TEXT] if result else "",
        is_foreign=spec is None,
        is_unsure=unsure,
        most=max((len(value) for value in call.arguments.values() if isinstance(value, list)), default=0),
    )


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
