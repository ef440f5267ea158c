"""Where secrets are held back while a turn runs: on the way to a model, from a tool, and into the stream of events.

What a call is run with stays as it was asked for; what is kept, shown and sent of it is masked. Spec: issue "Trust",
"Secrets never travel".
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import assert_never

import anyio.to_thread
from msgspec import Struct

from skales.agent.gate import Judge
from skales.agent.origin import CallOrigin
from skales.core.events import (
    AnswerSaved,
    ApprovalRequested,
    ApprovalResolved,
    Compacted,
    MessageQueued,
    Notice,
    Progress,
    ReasoningDelta,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnEvent,
    TurnStarted,
)
from skales.core.json import JsonValue
from skales.core.ports import ChatRequest, ChosenModel, ModelChooser, ModelTraits, Provider, ProviderEvent
from skales.core.tool import Effect, Outcome, ToolCall, ToolSpec, Verdict
from skales.security.clean_messages import CleanMessages
from skales.security.marks import MARKER
from skales.security.veil import Veil
from skales.security.veiled_messages import veil_call, veil_result

# A marker in such a call would be written, sent or deleted in place of what it stands for.
_LASTING = frozenset({Effect.OUTBOUND, Effect.WRITES, Effect.DESTRUCTIVE, Effect.SPENDS})
# Characters that are looked through in less time than another thread needs to begin; a call counts as so many.
_SHORT = 2_000
_CALL = 200
_HIDDEN = (
    "the arguments hold the marker of a hidden secret, which would be used in place of the secret itself. "
    "Leave that part as it is, or let a stored secret be used by its name"
)


def judge_markers() -> Judge:
    """Refuses calls that would write or send a marker as if it were the secret."""

    def judge(spec: ToolSpec, call: ToolCall, origin: CallOrigin) -> Verdict:
        if origin.by_user or not spec.effects & _LASTING or not _holds_marker(call.arguments):
            return Verdict(Outcome.ALLOW)
        return Verdict(Outcome.DENY, _HIDDEN, "hidden_secret")

    return judge


def veil_event(veil: Veil, event: TurnEvent) -> TurnEvent:
    """An event as surfaces may see it. What streams comes from the model, whose question held no secret."""
    match event:
        case TextDelta() | ReasoningDelta() | Compacted() | ApprovalRequested():
            return event
        case TurnStarted() | MessageQueued() | AnswerSaved() | Notice():
            text = veil.text(event.text)
            return event if text == event.text else replace(event, text=text)
        case ToolStarted():
            call, action = veil_call(veil, event.call), veil.text(event.action)
            return event if (call, action) == (event.call, event.action) else replace(event, call=call, action=action)
        case ToolFinished():
            call, result = veil_call(veil, event.call), veil_result(veil, event.result)
            return event if (call, result) == (event.call, event.result) else replace(event, call=call, result=result)
        case ApprovalResolved():
            return replace(event, instead=veil.text(event.instead))
        case Progress():
            return replace(event, label=veil.text(event.label))
        case TurnEnded():
            return replace(event, error=veil.text(event.error), hint=veil.text(event.hint))
        case _:
            assert_never(event)


class VeiledProvider(Struct, frozen=True):
    """A provider that gets no secret to read."""

    provider: Provider
    clean: CleanMessages

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent, None]:
        """Ask without secrets, and yield what comes."""
        new = self.clean.unknown(request.messages)
        if sum(len(message.text) + _CALL * len(message.tool_calls) for message in new) <= _SHORT:
            veiled = self._without_secrets(request)
        else:
            veiled = await anyio.to_thread.run_sync(self._without_secrets, request)
        async with aclosing(self.provider.stream(veiled)) as events:
            async for event in events:
                yield event

    def _without_secrets(self, request: ChatRequest) -> ChatRequest:
        return replace(request, messages=self.clean.veil(request.messages))

    async def list_models(self) -> list[str]:
        """Model ids the endpoint offers."""
        return await self.provider.list_models()

    def max_tokens(self, model: str) -> int:
        """The model's context window in tokens."""
        return self.provider.max_tokens(model)


class VeiledChooser(Struct, frozen=True):
    """Chooses as another does, models that get no secret to read."""

    chooser: ModelChooser
    clean: CleanMessages

    def choose(self, provider_id: str = "", model: str = "") -> ChosenModel:
        """The named one, or what the settings say."""
        return self._veiled(self.chooser.choose(provider_id, model))

    def facts(self, provider_id: str, model: str) -> ModelTraits:
        """What is known of a model."""
        return self.chooser.facts(provider_id, model)

    def fallbacks(
        self, provider_id: str, model: str, *, needs_vision: bool = False, needs_tools: bool = False
    ) -> Sequence[ChosenModel]:
        """Who else may answer."""
        found = self.chooser.fallbacks(provider_id, model, needs_vision=needs_vision, needs_tools=needs_tools)
        return [self._veiled(chosen) for chosen in found]

    def is_resting(self, provider_id: str) -> bool:
        """Whether it failed lately."""
        return self.chooser.is_resting(provider_id)

    def report_failure(self, provider_id: str) -> None:
        """It did not answer."""
        self.chooser.report_failure(provider_id)

    def report_success(self, provider_id: str) -> None:
        """It answered."""
        self.chooser.report_success(provider_id)

    def _veiled(self, chosen: ChosenModel) -> ChosenModel:
        return replace(chosen, provider=VeiledProvider(chosen.provider, self.clean))


def _holds_marker(value: JsonValue) -> bool:
    if isinstance(value, str):
        return MARKER.search(value) is not None
    if isinstance(value, dict):
        return any(map(_holds_marker, value.values()))
    return isinstance(value, list) and any(map(_holds_marker, value))
