"""Everything one answer brought, summed up."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from skales.core.errors import ProviderError
from skales.core.message import Usage
from skales.core.ports import (
    CallReady,
    Finished,
    FinishReason,
    NativeBlocks,
    ProviderEvent,
    ReasoningPiece,
    RetryPlanned,
    TextPiece,
    UsageCounted,
)
from skales.core.tool import ToolCall


@dataclass
class Outcome:
    text: str = ""
    reasoning: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    usage: Usage | None = None
    finish: FinishReason | None = None
    native: list[NativeBlocks] = field(default_factory=list)
    retries: list[RetryPlanned] = field(default_factory=list)
    error: ProviderError | None = None
    pieces: int = 0

    def add(self, event: ProviderEvent) -> None:
        self.pieces += 1
        match event:
            case TextPiece(text):
                self.text += text
            case ReasoningPiece(text):
                self.reasoning += text
            case CallReady(call):
                self.calls.append(call)
            case NativeBlocks():
                self.native.append(event)
            case UsageCounted(usage):
                self.usage = usage
            case RetryPlanned():
                self.retries.append(event)
            case Finished(reason):
                self.finish = reason
            case _:
                raise AssertionError(f"unexpected event {event!r}")


async def collect(events: AsyncIterator[ProviderEvent]) -> Outcome:
    outcome = Outcome()
    try:
        async for event in events:
            outcome.add(event)
    except ProviderError as error:
        outcome.error = error
    return outcome
