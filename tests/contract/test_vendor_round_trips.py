"""Every recorded answer of `tests/wire`, kept as the agent keeps it, goes back to each vendor as a valid request."""

from collections.abc import Sequence

import pytest

from skales.core.message import Message, Role, TextPart
from skales.core.ports import CallReady, ChatRequest, NativeBlocks, ProviderEvent, ReasoningPiece, TextPiece
from skales.providers.history import repair_history
from tests.contract.test_vendor_requests import PROVIDERS, fault_in, write
from tests.wire.player import build_request
from tests.wire.test_damage import CASES, read


def keep(events: Sequence[ProviderEvent]) -> list[Message]:
    """The answer and a result for each of its calls."""
    text = "".join(event.text for event in events if isinstance(event, TextPiece))
    native = next((event for event in events if isinstance(event, NativeBlocks)), None)
    calls = tuple(event.call for event in events if isinstance(event, CallReady))
    answer = Message(
        role=Role.ASSISTANT,
        content=(TextPart(text),) if text else (),
        tool_calls=calls,
        reasoning="".join(event.text for event in events if isinstance(event, ReasoningPiece)),
        native={"format": native.format, "blocks": list(native.blocks)} if native else {},
    )
    results = [
        Message(role=Role.TOOL, content=(TextPart("done"),), tool_call_id=call.id, name=call.name) for call in calls
    ]
    return [answer, *results]


@pytest.mark.parametrize(("wire", "name"), CASES)
def test_what_was_answered_can_be_sent_to_every_vendor(wire: str, name: str) -> None:
    case = CASES[wire, name]
    asked = build_request(case)
    messages = repair_history([*asked.messages, *keep(read(wire, case, case["answer"].encode("utf-8")))])
    for provider in PROVIDERS:
        body = write(provider, ChatRequest(model="demo", messages=messages, tools=asked.tools))
        assert fault_in(provider, body) == "", provider
