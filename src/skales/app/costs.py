"""What calls to models cost: price times usage into the ledger, and ceilings looked at before a call.

Prices are the catalogue's list prices, so every amount is an estimate. A model without a known price costs an unknown
amount, never nothing, and meets no ceiling by itself. Spec: orchestrator.md, "Streaming, cost, interruption".
"""

import math
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import assert_never

import anyio
import anyio.to_thread
from msgspec import structs

from skales.agent.tokens import count_message, count_tool
from skales.core.clock import Clock
from skales.core.ids import SessionId
from skales.core.message import Usage
from skales.core.ports import (
    Accounts,
    CallReady,
    Ceiling,
    CeilingMet,
    ChatRequest,
    ChosenModel,
    Finished,
    ModelCall,
    ModelTraits,
    Provider,
    ProviderEvent,
    Purpose,
    ReasoningPiece,
    TextPiece,
    UsageCounted,
)
from skales.data.ledger import Ledger, LedgerEntry
from skales.data.setting_shapes import Settings
from skales.data.spending import Spending, SpendingStore

# Of an answer only the length is known; in English about 4 characters are a token.
_CHARACTERS_PER_TOKEN = 4
_MILLION = 1_000_000

# A provider's id and a model to what is known of it.
FactsOf = Callable[[str, str], ModelTraits]


class CallAccounts:
    """Fills in `core.ports.Accounts`. May be used from several threads."""

    def __init__(
        self, ledger: Ledger, spending: SpendingStore, facts: FactsOf, settings: Callable[[], Settings], clock: Clock
    ) -> None:
        # Whose ceiling a conversation draws on: a part of another draws on that one's.
        self.payer: Callable[[SessionId], SessionId] = _itself
        self._ledger = ledger
        self._spending = spending
        self._facts = facts
        self._settings = settings
        self._clock = clock

    def check(self, call: ModelCall) -> CeilingMet | None:
        """The ceiling that needs the person's word before this call; a free one needs none."""
        limits = self._limits()
        if not any(limits.values()):
            return None
        traits = self._facts(call.provider_id, call.request.model)
        if is_free(traits):
            return None
        planned = price_usage(traits, Usage(input_tokens=_tokens_of(call))) or 0.0
        met = [
            found
            for ceiling, limit_usd in limits.items()
            if limit_usd and (found := meet(ceiling, limit_usd, self._state(call, ceiling), planned))
        ]
        return max(met, key=lambda found: found.is_full, default=None)

    def settle(self, call: ModelCall, met: CeilingMet, *, go_on: bool) -> None:
        """Keep the person's answer. Half of a ceiling is asked for once, whatever the answer."""
        own_usd = self._limits()[met.ceiling]

        def change(before: Spending) -> Spending:
            # Two conversations may have asked about the same day; their answers do not add up.
            extra_usd = met.next_usd - own_usd if met.is_full and go_on else 0.0
            return structs.replace(before, extra_usd=max(before.extra_usd, extra_usd), asked_at_half=True)

        match met.ceiling:
            case Ceiling.SESSION:
                self._spending.change_session(self.payer(call.session_id), change)
            case Ceiling.DAY:
                self._spending.change_today(change)
            case _:
                assert_never(met.ceiling)

    def record(self, call: ModelCall, usage: Usage, output_characters: int) -> None:
        """Write a call down, its tokens estimated when the endpoint told none."""
        is_told = bool(usage.input_tokens or usage.output_tokens)
        if not is_told:
            usage = Usage(_tokens_of(call), math.ceil(output_characters / _CHARACTERS_PER_TOKEN))
        cost_usd = price_usage(self._facts(call.provider_id, call.request.model), usage)
        if cost_usd:
            self._spending.add(self.payer(call.session_id), cost_usd)
        self._ledger.record(
            LedgerEntry(
                when_ms=self._clock.now_ms(),
                session_id=call.session_id,
                provider=call.provider_id,
                model=call.request.model,
                purpose=call.purpose,
                input_tokens=usage.input_tokens,
                cached_tokens=usage.cached_tokens,
                output_tokens=usage.output_tokens,
                cost_usd=cost_usd,
                estimated_tokens=not is_told,
            )
        )

    def _limits(self) -> Mapping[Ceiling, float]:
        settings = self._settings()
        return {Ceiling.SESSION: settings.session_budget_usd, Ceiling.DAY: settings.daily_budget_usd}

    def _state(self, call: ModelCall, ceiling: Ceiling) -> Spending:
        match ceiling:
            case Ceiling.SESSION:
                return self._spending.of_session(self.payer(call.session_id))
            case Ceiling.DAY:
                return self._spending.today()
            case _:
                assert_never(ceiling)


class MeteredProvider:
    """A provider whose every request is written down, for calls that no turn makes."""

    def __init__(self, provider: Provider, accounts: Accounts, call: Callable[[ChatRequest], ModelCall]) -> None:
        self._provider = provider
        self._accounts = accounts
        self._call = call

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent, None]:
        """Ask, and yield what comes; the request counts as soon as anything came."""
        usage, characters, is_answered = Usage(), 0, False
        try:
            async with aclosing(self._provider.stream(request)) as events:
                async for event in events:
                    is_answered = is_answered or is_answer(event)
                    characters += count_characters(event)
                    if isinstance(event, UsageCounted):
                        usage = event.usage
                    yield event
        finally:
            if is_answered:
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(self._accounts.record, self._call(request), usage, characters)

    async def list_models(self) -> list[str]:
        """Model ids the endpoint offers; costs nothing."""
        return await self._provider.list_models()

    def max_tokens(self, model: str) -> int:
        """The model's context window in tokens."""
        return self._provider.max_tokens(model)


def metered(chosen: ChosenModel, accounts: Accounts, purpose: Purpose, session_id: SessionId) -> MeteredProvider:
    """The chosen provider with its calls written down; ceilings are left to whoever can ask a person.

    `session_id` is empty for calls outside of any conversation.
    """

    def describe(request: ChatRequest) -> ModelCall:
        return ModelCall(session_id=session_id, purpose=purpose, provider_id=chosen.provider_id, request=request)

    return MeteredProvider(chosen.provider, accounts, describe)


def _itself(session_id: SessionId) -> SessionId:
    return session_id


def price_usage(traits: ModelTraits, usage: Usage) -> float | None:
    """US dollars by list price, None while a price that counts is unknown.

    Cached tokens are a part of the input; without a price of their own they cost what the others cost.
    """
    into, out = traits.input_usd_per_million, traits.output_usd_per_million
    if into is None or out is None:
        return None
    cached = into if traits.cached_usd_per_million is None else traits.cached_usd_per_million
    cached_tokens = min(usage.cached_tokens, usage.input_tokens)
    fresh_tokens = usage.input_tokens - cached_tokens
    return (fresh_tokens * into + cached_tokens * cached + usage.output_tokens * out) / _MILLION


def is_free(traits: ModelTraits) -> bool:
    """Whether it is known to cost nothing."""
    return traits.input_usd_per_million == 0 and traits.output_usd_per_million == 0


def meet(ceiling: Ceiling, limit_usd: float, state: Spending, planned_usd: float) -> CeilingMet | None:
    """What has to be asked about one ceiling before a call of this size; None when nothing has.

    A yes at full allows as much again, and several times that when the call alone needs it.
    """
    allowed_usd = limit_usd + state.extra_usd
    spent_usd = state.spent_usd + planned_usd
    is_full = spent_usd >= allowed_usd
    if not is_full and (state.asked_at_half or spent_usd < allowed_usd / 2):
        return None
    steps = math.floor((spent_usd - allowed_usd) / limit_usd) + 1 if is_full else 0
    return CeilingMet(
        ceiling=ceiling,
        is_full=is_full,
        limit_usd=allowed_usd,
        spent_usd=spent_usd,
        next_usd=allowed_usd + steps * limit_usd,
    )


def _tokens_of(call: ModelCall) -> int:
    return call.estimated_tokens or estimate_tokens(call.request)


def estimate_tokens(request: ChatRequest) -> int:
    """About how many tokens a request will count as."""
    return sum(map(count_message, request.messages)) + sum(map(count_tool, request.tools))


def is_answer(event: ProviderEvent) -> bool:
    """Whether the endpoint took the request, so that it may be on the bill."""
    return isinstance(event, (TextPiece, ReasoningPiece, CallReady, UsageCounted, Finished))


def count_characters(event: ProviderEvent) -> int:
    """What a piece of an answer adds to its length."""
    match event:
        case TextPiece(text) | ReasoningPiece(text):
            return len(text)
        case CallReady(call):
            return len(call.name) + len(str(call.arguments))
        case _:
            return 0
