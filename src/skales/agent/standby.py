"""Who answers the next request of a turn: the conversation's model, or who stands by while it does not answer.

Nobody is put in its place silently: each change is a notice with both names and the reason. Which providers stand by,
in which order, and how long one rests that failed, is the business of `core.ports.ModelChooser`.
Spec: orchestrator.md, "Streaming, cost, interruption" (fallback chain).
"""

from collections.abc import Callable, Sequence

from msgspec import Struct

from skales.core.errors import ProviderError, ProviderFault
from skales.core.events import Notice
from skales.core.message import ImagePart, Message
from skales.core.ports import ChosenModel, ModelChooser

# Trouble that another provider does not have. What is wrong with the request itself would fail there too.
CURABLE = frozenset(
    {
        ProviderFault.BAD_KEY,
        ProviderFault.NO_CREDIT,
        ProviderFault.FORBIDDEN,
        ProviderFault.UNKNOWN_MODEL,
        ProviderFault.RATE_LIMITED,
        ProviderFault.OVERLOADED,
        ProviderFault.UNREACHABLE,
        ProviderFault.TIMEOUT,
        ProviderFault.TLS,
        ProviderFault.BAD_ANSWER,
        ProviderFault.STREAM_CUT,
        ProviderFault.NOT_CONFIGURED,
    }
)


class Needs(Struct, frozen=True):
    """What the next request asks of a model."""

    vision: bool
    tools: bool


class Standby:
    """One turn's view of the chain. Make a new one for each turn."""

    def __init__(self, chooser: ModelChooser, primary: ChosenModel, emit: Callable[[Notice], None]) -> None:
        self._chooser = chooser
        self._primary = primary
        self._emit = emit
        self._present = primary
        self._tried: set[tuple[str, str]] = set()
        self._unknown: set[tuple[str, str]] = set()

    def pick(self, needs: Callable[[], Needs]) -> ChosenModel:
        """Who is asked next: the primary unless it failed a moment ago and somebody stands by."""
        self._tried = set()
        primary = self._primary
        if _key(primary) not in self._unknown and not self._chooser.is_resting(primary.provider_id):
            if self._present is not primary:
                self._emit(Notice("info", f"{name_model(primary)} is asked again"))
            self._present = primary
            return primary
        present = self._present
        if present is not primary and not self._chooser.is_resting(present.provider_id):
            return present
        following = self._next(needs)
        if following is None:
            return primary
        self._say(primary, "it failed a moment ago", following)
        self._present = following
        return following

    def replace_failed(
        self, failed: ChosenModel, error: ProviderError, needs: Callable[[], Needs]
    ) -> ChosenModel | None:
        """Who is asked after a failure without any output, None when nobody can help."""
        if error.fault not in CURABLE:
            return None
        self._tried.add(_key(failed))
        if error.fault is ProviderFault.UNKNOWN_MODEL:
            # The provider itself is well and may have another model.
            self._unknown.add(_key(failed))
        else:
            self._chooser.report_failure(failed.provider_id)
        following = self._next(needs)
        if following is not None:
            self._say(failed, error.message, following)
            self._present = following
        return following

    def note_success(self, chosen: ChosenModel) -> None:
        """It answered."""
        self._chooser.report_success(chosen.provider_id)

    def _next(self, needs: Callable[[], Needs]) -> ChosenModel | None:
        asked = needs()
        standing_by = self._chooser.fallbacks(
            self._primary.provider_id, self._primary.model, needs_vision=asked.vision, needs_tools=asked.tools
        )
        left_out = self._tried | self._unknown
        return next((known for known in standing_by if _key(known) not in left_out), None)

    def _say(self, absent: ChosenModel, reason: str, instead: ChosenModel) -> None:
        words = f"{name_model(absent)} does not answer ({reason}); {name_model(instead)} answers instead until it does"
        self._emit(Notice("warning", words))


def choose_or_stand_in(
    chooser: ModelChooser, wanted: tuple[str, str], needs: Callable[[], Needs]
) -> tuple[ChosenModel, Notice | None]:
    """The wanted provider and model, or who stands by when they cannot be asked as they are set up, with a notice.

    The next turn wants the same ones again. Raises the ProviderError of the wanted ones when nobody stands by.
    """
    try:
        return chooser.choose(*wanted), None
    except ProviderError as error:
        if error.fault not in CURABLE:
            raise
        asked = needs()
        standing_by = chooser.fallbacks(*wanted, needs_vision=asked.vision, needs_tools=asked.tools)
        if not standing_by:
            raise
        words = f"{error.message}; {name_model(standing_by[0])} answers instead"
        return standing_by[0], Notice("warning", words)


def find_needs(history: Sequence[Message], *, offers_tools: bool) -> Needs:
    """What a history and the tools that go with it ask of a model."""
    has_picture = any(isinstance(part, ImagePart) for message in history for part in message.content)
    return Needs(vision=has_picture, tools=offers_tools)


def _key(chosen: ChosenModel) -> tuple[str, str]:
    return chosen.provider_id, chosen.model


def name_model(chosen: ChosenModel) -> str:
    """`gpt-5.5 (openai)`."""
    return f"{chosen.model} ({chosen.provider_id})" if chosen.model else chosen.provider_id
