from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

import pytest

from skales.core.errors import ProviderError, ProviderFault
from skales.core.message import Usage
from skales.core.ports import Finished, FinishReason, ProviderEvent, RetryPlanned, TextPiece, UsageCounted
from skales.providers.retry import RetryPolicy, stream_with_retries
from tests.providers.conftest import Pauses

pytestmark = pytest.mark.anyio

Try = Sequence[ProviderEvent | ProviderError]


def failure(*, retryable: bool = True, retry_after_s: float | None = None) -> ProviderError:
    return ProviderError("No", fault=ProviderFault.OVERLOADED, retryable=retryable, retry_after_s=retry_after_s)


class Script:
    """Plays one list of events and errors per try."""

    def __init__(self, *tries: Try) -> None:
        self.tries = list(tries)
        self.closed = 0

    async def ask(self) -> AsyncGenerator[ProviderEvent, None]:
        try:
            for step in self.tries.pop(0):
                if isinstance(step, ProviderError):
                    raise step
                yield step
        finally:
            self.closed += 1


async def play(script: Script, pauses: Pauses, jitter: Callable[[], float] = lambda: 1.0) -> list[object]:
    found: list[object] = []
    try:
        async for event in stream_with_retries(RetryPolicy(sleep=pauses.sleep, jitter=jitter), script.ask):
            found.append(event)  # noqa: PERF401 - what came before a failure counts
    except ProviderError as error:
        found.append(error.message)
    return found


HI = TextPiece("Hi")
END = Finished(FinishReason.STOP)
COUNTED = UsageCounted(Usage(1, 1))


async def test_an_answer_at_the_first_try_is_passed_on(pauses: Pauses) -> None:
    assert await play(Script([HI, END]), pauses) == [HI, END]
    assert pauses.taken_s == []


async def test_failures_before_output_are_told_and_waited_for(pauses: Pauses) -> None:
    script = Script([failure()], [failure(retry_after_s=42)], [HI, END])
    assert await play(script, pauses) == [RetryPlanned("No", 1.0, 2), RetryPlanned("No", 42, 3), HI, END]
    assert pauses.taken_s == [1.0, 42]
    assert script.closed == 3


async def test_pauses_grow_and_are_drawn_from_the_whole_range(pauses: Pauses) -> None:
    policy = RetryPolicy(jitter=lambda: 0.25)
    assert [policy.pause_s(failure(), count) for count in (1, 2, 3, 9)] == [0.25, 0.5, 1.0, 5.0]


async def test_three_failures_are_enough(pauses: Pauses) -> None:
    assert (await play(Script([failure()], [failure()], [failure()], [HI]), pauses))[-1] == "No"
    assert len(pauses.taken_s) == 2


async def test_a_failure_after_output_is_final(pauses: Pauses) -> None:
    assert await play(Script([HI, failure()], [HI, END]), pauses) == [HI, "No"]


async def test_counted_tokens_are_no_output(pauses: Pauses) -> None:
    assert await play(Script([COUNTED, failure()], [HI]), pauses) == [COUNTED, RetryPlanned("No", 1.0, 2), HI]


async def test_a_lasting_failure_is_final(pauses: Pauses) -> None:
    assert await play(Script([failure(retryable=False)], [HI]), pauses) == ["No"]


async def test_closing_closes_the_running_try(pauses: Pauses) -> None:
    script = Script([HI, END])
    async with aclosing(stream_with_retries(RetryPolicy(sleep=pauses.sleep), script.ask)) as events:
        assert await anext(events) == HI
    assert script.closed == 1


async def test_the_default_dice_are_fair_enough() -> None:
    pauses = {RetryPolicy().pause_s(failure(), 1) for _ in range(20)}
    assert len(pauses) > 1
    assert all(0 <= pause < 1 for pause in pauses)
