"""Prices, ceilings and the ledger behind the port: what a call costs, when it must be asked for, what is kept."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

import pytest

from skales.app.costs import CallAccounts, estimate_tokens, meet, metered, price_usage
from skales.core.errors import ProviderError, ProviderFault
from skales.core.ids import SessionId
from skales.core.message import Role, Usage, text_message
from skales.core.ports import (
    CallReady,
    Ceiling,
    ChatRequest,
    ChosenModel,
    Finished,
    FinishReason,
    ModelCall,
    ModelTraits,
    ProviderEvent,
    Purpose,
    RetryPlanned,
    TextPiece,
    UsageCounted,
)
from skales.core.tool import Safety, ToolCall, ToolSpec
from skales.data.ledger import Ledger, LedgerEntry
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.setting_shapes import Settings
from skales.data.spending import Spending, SpendingStore
from tests.app.conftest import Setup
from tests.conftest import FixedClock
from tests.scripted import Piece, ScriptedProvider
from tests.servers.raw_sse import RawServer, Reply

PRICED = ModelTraits(input_usd_per_million=4, cached_usd_per_million=1, output_usd_per_million=20)
NO_CACHE_PRICE = ModelTraits(input_usd_per_million=4, output_usd_per_million=20)
FREE = ModelTraits(input_usd_per_million=0, output_usd_per_million=0)
UNKNOWN = ModelTraits()
HALF_KNOWN = ModelTraits(input_usd_per_million=4)

ONE = SessionId("session_1")


@dataclass
class Books:
    """The accounts of a data directory, with settings and prices to change."""

    home: DataDirectory
    clock: FixedClock
    traits: ModelTraits = PRICED
    session_usd: float = 5
    day_usd: float = 0

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.home)
        self.spending = SpendingStore(self.home, Quarantine(self.home.quarantine, self.clock), self.clock)
        self.accounts = CallAccounts(
            self.ledger,
            self.spending,
            lambda _provider, _model: self.traits,
            lambda: Settings(session_budget_usd=self.session_usd, daily_budget_usd=self.day_usd),
            self.clock,
        )

    def entries(self) -> Sequence[LedgerEntry]:
        return list(self.ledger.entries())


@pytest.fixture
def books(home: DataDirectory, clock: FixedClock) -> Books:
    return Books(home, clock)


def call(characters: int = 0, session_id: SessionId = ONE) -> ModelCall:
    messages = (text_message(Role.USER, "x" * characters),)
    request = ChatRequest(model="gpt", messages=messages)
    return ModelCall(session_id=session_id, purpose=Purpose.CHAT, provider_id="openai", request=request)


@pytest.mark.parametrize(
    ("traits", "usage", "cost"),
    [
        (PRICED, Usage(1_000_000, 100_000), 6.0),
        (PRICED, Usage(1_000_000, 0, 400_000), 2.8),
        (PRICED, Usage(100, 0, 500), 0.0001),
        (NO_CACHE_PRICE, Usage(1_000_000, 0, 400_000), 4.0),
        (FREE, Usage(1_000_000, 1_000_000), 0.0),
        (UNKNOWN, Usage(1_000_000, 1), None),
        (HALF_KNOWN, Usage(1_000_000, 1), None),
    ],
)
def test_a_price_is_usage_times_list_price_or_unknown(traits: ModelTraits, usage: Usage, cost: float | None) -> None:
    assert price_usage(traits, usage) == (None if cost is None else pytest.approx(cost))


def test_a_request_is_estimated_from_everything_in_it() -> None:
    tool = ToolSpec(name="abcd", description="efgh", parameters={}, category="core", safety=Safety.AUTO)
    message = text_message(Role.USER, "one two three")
    bare = estimate_tokens(ChatRequest(model="m", messages=(message,)))
    assert bare > 0
    assert estimate_tokens(ChatRequest(model="m", messages=(message, message))) == 2 * bare
    assert estimate_tokens(ChatRequest(model="m", messages=(message,), tools=(tool,))) > bare


@pytest.mark.parametrize(
    ("state", "planned", "expected"),
    [
        (Spending(spent_usd=2.4), 0.0, None),
        (Spending(spent_usd=2.4), 0.1, (False, 5, 5)),
        (Spending(spent_usd=2.5, asked_at_half=True), 0.1, None),
        (Spending(spent_usd=4.9, asked_at_half=True), 0.1, (True, 5, 10)),
        (Spending(spent_usd=4.9), 0.1, (True, 5, 10)),
        (Spending(spent_usd=6, extra_usd=5, asked_at_half=True), 0.1, None),
        (Spending(spent_usd=10, extra_usd=5, asked_at_half=True), 0.0, (True, 10, 15)),
        (Spending(), 23.0, (True, 5, 25)),
    ],
)
def test_half_is_asked_once_and_full_each_time_it_is_met(
    state: Spending, planned: float, expected: tuple[bool, float, float] | None
) -> None:
    met = meet(Ceiling.SESSION, 5, state, planned)
    assert (met and (met.is_full, met.limit_usd, met.next_usd)) == expected


def test_without_ceilings_nothing_is_looked_up(books: Books) -> None:
    books.session_usd = 0
    books.spending.add(ONE, 100)
    assert books.accounts.check(call()) is None


def test_a_free_model_may_be_asked_whatever_was_spent(books: Books) -> None:
    books.spending.add(ONE, 100)
    books.traits = FREE
    assert books.accounts.check(call()) is None


def test_a_model_without_a_known_price_is_still_held_back_by_what_was_spent(books: Books) -> None:
    books.traits = UNKNOWN
    assert books.accounts.check(call(10**6)) is None
    books.spending.add(ONE, 5)
    met = books.accounts.check(call())
    assert met is not None
    assert met.is_full


def test_the_request_itself_counts_before_it_is_sent(books: Books) -> None:
    planned = call(4_000)
    cost_usd = estimate_tokens(planned.request) * 4 / 1_000_000
    books.session_usd = cost_usd * 2.01
    assert books.accounts.check(planned) is None
    books.session_usd = cost_usd * 2
    met = books.accounts.check(planned)
    assert met is not None
    assert not met.is_full
    assert met.limit_usd == pytest.approx(cost_usd * 2)
    assert met.spent_usd == pytest.approx(cost_usd)


def test_a_full_day_is_asked_for_before_half_a_conversation(books: Books) -> None:
    books.day_usd = 3
    books.spending.add(ONE, 3)
    met = books.accounts.check(call())
    assert met is not None
    assert (met.ceiling, met.is_full) == (Ceiling.DAY, True)


@pytest.mark.parametrize("go_on", [True, False])
def test_half_is_not_asked_again_after_either_answer_nor_after_a_restart(books: Books, go_on: bool) -> None:
    books.spending.add(ONE, 2.6)
    met = books.accounts.check(call())
    assert met is not None
    books.accounts.settle(call(), met, go_on=go_on)
    assert Books(books.home, books.clock).accounts.check(call()) is None


def test_going_on_at_full_raises_the_ceiling_of_this_conversation_by_as_much_again(books: Books) -> None:
    books.spending.add(ONE, 5)
    met = books.accounts.check(call())
    assert met is not None
    books.accounts.settle(call(), met, go_on=True)
    again = Books(books.home, books.clock)
    assert again.accounts.check(call()) is None
    again.spending.add(ONE, 5)
    met = again.accounts.check(call())
    assert met is not None
    assert (met.limit_usd, met.next_usd) == (10, 15)
    other = SessionId("session_2")
    again.spending.add(other, 5)
    assert again.accounts.check(call(session_id=other)) is not None


def test_stopping_at_full_raises_nothing(books: Books) -> None:
    books.spending.add(ONE, 5)
    met = books.accounts.check(call())
    assert met is not None
    books.accounts.settle(call(), met, go_on=False)
    assert books.accounts.check(call()) == met


def test_two_conversations_that_ask_about_the_same_day_raise_it_once(books: Books) -> None:
    books.session_usd, books.day_usd = 0, 5
    books.spending.add(ONE, 5)
    met = books.accounts.check(call())
    assert met is not None
    books.accounts.settle(call(), met, go_on=True)
    books.accounts.settle(call(), met, go_on=True)
    assert books.spending.today().extra_usd == 5


def test_a_call_is_written_down_with_its_price(books: Books) -> None:
    books.accounts.record(call(), Usage(1_000, 100, 500), 7)
    (entry,) = books.entries()
    assert entry == LedgerEntry(
        when_ms=books.clock.now_ms(),
        session_id="session_1",
        provider="openai",
        model="gpt",
        purpose="chat",
        input_tokens=1_000,
        cached_tokens=500,
        output_tokens=100,
        cost_usd=price_usage(PRICED, Usage(1_000, 100, 500)),
    )
    assert books.spending.of_session(ONE).spent_usd == pytest.approx(0.0045)


def test_tokens_that_nobody_told_are_estimated_and_marked(books: Books) -> None:
    books.accounts.record(call(400), Usage(), 41)
    (entry,) = books.entries()
    assert entry.input_tokens == estimate_tokens(call(400).request)
    assert (entry.output_tokens, entry.estimated_tokens) == (11, True)


@pytest.mark.parametrize(("traits", "cost"), [(FREE, 0.0), (UNKNOWN, None)])
def test_what_costs_nothing_or_nobody_knows_what_leaves_the_totals_alone(
    books: Books, traits: ModelTraits, cost: float | None
) -> None:
    books.traits = traits
    books.accounts.record(call(), Usage(1_000, 100), 7)
    assert [entry.cost_usd for entry in books.entries()] == [cost]
    assert not (books.home.costs / "today.json").exists()


GUESSED = estimate_tokens(call(8).request)
REFUSED = ProviderError("no", fault=ProviderFault.BAD_KEY)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("script", "counted"),
    [
        ([TextPiece("abcd"), UsageCounted(Usage(9, 3)), Finished(FinishReason.STOP)], [(9, 3, False)]),
        ([TextPiece("abcd"), CallReady(ToolCall("c", "name", {})), Finished(FinishReason.STOP)], [(GUESSED, 3, True)]),
        ([RetryPlanned("busy", 1.0, 1), REFUSED], []),
        ([TextPiece("abcd"), REFUSED], [(GUESSED, 1, True)]),
    ],
)
async def test_a_metered_provider_writes_down_what_was_answered(
    books: Books, script: list[Piece], counted: list[tuple[int, int, bool]]
) -> None:
    chosen = ChosenModel("openai", "gpt", ScriptedProvider([script]))
    provider = metered(chosen, books.accounts, Purpose.PROBE, SessionId(""))
    passed = await collect(provider.stream(call(8).request))
    assert passed == [piece for piece in script if piece is not REFUSED]
    assert [(entry.input_tokens, entry.output_tokens, entry.estimated_tokens) for entry in books.entries()] == counted
    assert {entry.purpose for entry in books.entries()} <= {"probe"}


@pytest.mark.anyio
async def test_a_metered_provider_is_the_same_otherwise(books: Books) -> None:
    chosen = ChosenModel("openai", "gpt", ScriptedProvider([[]], window_tokens=7))
    provider = metered(chosen, books.accounts, Purpose.PROBE, SessionId(""))
    assert (await provider.list_models(), provider.max_tokens("gpt")) == (["scripted"], 7)
    assert books.entries() == []


@pytest.mark.anyio
async def test_a_probe_is_on_the_bill_outside_of_any_conversation(
    books: Books, setup: Setup, server: RawServer
) -> None:
    setup.models.accounts = books.accounts
    setup.provider("custom", baseUrl=server.url, model="m")
    chunk = {"choices": [{"delta": {"content": "no"}, "finish_reason": "stop"}]}
    answer = Reply(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode())
    server.replies.extend([answer] * 3)
    assert [step async for step in setup.models.probe("custom", context_ceiling_tokens=0)]
    assert {(entry.purpose, entry.session_id, entry.model) for entry in books.entries()} == {("probe", "", "m")}
    assert len(books.entries()) == 3


async def collect(stream: AsyncGenerator[ProviderEvent, None]) -> list[ProviderEvent]:
    found: list[ProviderEvent] = []
    async with aclosing(stream):
        try:
            async for event in stream:
                found.append(event)  # noqa: PERF401 - what came before an error is wanted, too
        except ProviderError:
            pass
    return found
