"""Which providers failed lately and rest, so that others are asked first. In memory: a restart tries everybody again.

Spec: orchestrator.md, "Streaming, cost, interruption" (fallback chain).
"""

from skales.core.clock import Clock

# The primary is tried again after this long.
REST_S = 60.0


class RestingProviders:
    """When each provider failed last."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failed_s: dict[str, float] = {}

    def report_failure(self, provider_id: str) -> None:
        """It rests from now on."""
        self._failed_s[provider_id] = self._clock.monotonic_s()

    def report_success(self, provider_id: str) -> None:
        """It rests no longer."""
        self._failed_s.pop(provider_id, None)

    def is_resting(self, provider_id: str) -> bool:
        """Whether it failed less than a minute ago."""
        failed_s = self._failed_s.get(provider_id)
        return failed_s is not None and self._clock.monotonic_s() - failed_s < REST_S
