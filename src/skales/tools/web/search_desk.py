"""Which search engines there are now: set up, in the person's order, and without those that failed a moment ago.

Knows the settings and remembers failures; asking an engine is the business of `search`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from skales.core.clock import Clock
from skales.data.setting_shapes import SearchEngine, SearchEngineSettings, Settings
from skales.tools.conditions import Standing
from skales.tools.web.engines import ENGINES, Engine

_REST_S = 60.0
NEED = "search_engine"


@dataclass(frozen=True, slots=True)
class ReadyEngine:
    """An engine that can be asked. `is_own_address` says that the person named its address."""

    engine: Engine
    base_url: str
    api_key: str = field(repr=False)
    is_own_address: bool


class SearchDesk:
    """The engines of one installation. Thread-safe: a lost note about a failure costs one more try."""

    def __init__(self, settings: Callable[[], Settings], clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._resting_until_s: dict[str, float] = {}
        self._known: tuple[Settings, Sequence[ReadyEngine]] | None = None

    def engines(self) -> Sequence[ReadyEngine]:
        """Those to ask, in their order; the ones that rest are left out."""
        return self._awake(self._set_up(self._settings()))

    def buzzwords(self) -> Sequence[str]:
        """Words that no result may hold, in small letters."""
        return [word for text in self._settings().search_buzzwords if (word := text.strip().casefold())]

    def report_failure(self, engine_id: str) -> None:
        """It did not answer as it should; it rests for a minute."""
        self._resting_until_s[engine_id] = self._clock.monotonic_s() + _REST_S

    def report_success(self, engine_id: str) -> None:
        """It answered."""
        self._resting_until_s.pop(engine_id, None)

    def standing(self) -> Standing:
        """Whether there is an engine to ask, and the names of those that are set up."""
        settings = self._settings()
        known = self._set_up(settings)
        words = ", then ".join(one.engine.label for one in known)
        if settings.search_engine is SearchEngine.OFF:
            return Standing("Web search is switched off by the setting searchEngine", words)
        if not known:
            return Standing("No search engine is set up", words)
        if not self._awake(known):
            return Standing("No search engine answers at the moment; they are asked again in a minute", words)
        return Standing(words=words)

    def _awake(self, engines: Sequence[ReadyEngine]) -> Sequence[ReadyEngine]:
        now_s = self._clock.monotonic_s()
        return [one for one in engines if self._resting_until_s.get(one.engine.id, 0.0) <= now_s]

    def _set_up(self, settings: Settings) -> Sequence[ReadyEngine]:
        if self._known is None or self._known[0] is not settings:
            self._known = (settings, self._find(settings))
        return self._known[1]

    def _find(self, settings: Settings) -> Sequence[ReadyEngine]:
        if settings.search_engine is SearchEngine.OFF:
            return ()
        first = [] if settings.search_engine is SearchEngine.AUTO else [settings.search_engine.value]
        # The table's own order ends the list, so that an engine which a setting forgot is still there.
        order = dict.fromkeys([*first, *settings.search_order, *ENGINES])
        found = (_ready(ENGINES[name], settings) for name in order if name in ENGINES)
        return [one for one in found if one is not None]


def _ready(engine: Engine, settings: Settings) -> ReadyEngine | None:
    own = settings.search_engines.get(engine.id, SearchEngineSettings())
    key = own.api_key or (settings.tavily_api_key if engine.id == SearchEngine.TAVILY else "")
    base_url = own.base_url or engine.base_url
    if not base_url or (engine.needs_key and not key):
        return None
    return ReadyEngine(engine, base_url, key, is_own_address=bool(own.base_url))
