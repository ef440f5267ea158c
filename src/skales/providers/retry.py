"""Asks again when a request failed before it said anything, and never after: half an answer is not said twice.

Spec: orchestrator.md, "Streaming, cost, interruption".
"""

import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

import anyio
from msgspec import Struct

from skales.core.errors import ProviderError
from skales.core.ports import CallReady, Finished, ProviderEvent, ReasoningPiece, RetryPlanned, TextPiece

# The longest pause before the second try; it doubles for each further one. Full jitter: AWS Architecture Blog,
# "Exponential Backoff And Jitter".
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 20.0


class RetryPolicy(Struct, frozen=True):
    """How often, and by whose clock and dice. `jitter` gives numbers from 0 up to 1."""

    tries: int = 3
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    jitter: Callable[[], float] = secrets.SystemRandom().random

    def pause_s(self, error: ProviderError, failures: int) -> float:
        """How long to wait after the given number of failures; the endpoint's own wish counts more than ours."""
        if error.retry_after_s is not None:
            return error.retry_after_s
        return self.jitter() * min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** (failures - 1))


async def stream_with_retries(
    policy: RetryPolicy, ask: Callable[[], AsyncGenerator[ProviderEvent, None]]
) -> AsyncGenerator[ProviderEvent, None]:
    """The events of the first try that gets through; each failure before it shows as `RetryPlanned`.

    Raises the ProviderError that cannot be retried, comes after output, or belongs to the last try.
    """
    failures = 0
    while True:
        has_output = False
        try:
            async with aclosing(ask()) as events:
                async for event in events:
                    has_output = has_output or isinstance(event, TextPiece | ReasoningPiece | CallReady | Finished)
                    yield event
        except ProviderError as error:
            failures += 1
            if has_output or not error.retryable or failures >= policy.tries:
                raise
            plan = RetryPlanned(reason=error.message, wait_s=policy.pause_s(error, failures), attempt=failures + 1)
        else:
            return
        yield plan
        await policy.sleep(plan.wait_s)
