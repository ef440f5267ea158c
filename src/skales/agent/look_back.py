"""How many of the last calls of a tool a wider yes would have covered, so that a person sees what they would give.

Looks at the newest conversations only, and at each once until it changes.
"""

import threading
from collections.abc import Callable, Mapping, Sequence

from skales.agent.reach import covers_call
from skales.core.errors import SkalesError
from skales.core.ids import SessionId
from skales.core.tool import ToolCall, ToolSpec
from skales.data.grants import Reach
from skales.data.sessions import SessionStore
from skales.security.paths import PathPolicy

_CONVERSATIONS = 30
_CALLS = 100
# Longer conversations are looked at from their end.
_MESSAGES = 400


class LookBack:
    """Counts in the conversations of one data directory. Thread-safe."""

    def __init__(self, sessions: SessionStore, paths: Callable[[], PathPolicy]) -> None:
        self._sessions = sessions
        self._paths = paths
        self._known: Mapping[SessionId, tuple[int, Sequence[ToolCall]]] = {}
        self._lock = threading.Lock()

    def count(self, spec: ToolSpec, reach: Reach, but: str) -> tuple[int, int]:
        """How many of the last calls of the tool, `but` one, are covered, and how many there are. Reads the disk."""
        calls = [call for call in self._calls() if call.name == spec.name]
        # The newest of that id: models use theirs again in other conversations.
        own = next((place for place, call in enumerate(calls) if call.id == but), None)
        calls = [call for place, call in enumerate(calls) if place != own][:_CALLS]
        paths = self._paths()
        return sum(covers_call(reach, spec, call, paths) for call in calls), len(calls)

    def _calls(self) -> list[ToolCall]:
        """The calls of the newest conversations, newest first."""
        with self._lock:
            found: dict[SessionId, tuple[int, Sequence[ToolCall]]] = {}
            for summary in self._sessions.list(limit=_CONVERSATIONS):
                known = self._known.get(summary.id)
                fresh = known if known is not None and known[0] == summary.updated_ms else None
                found[summary.id] = fresh or (summary.updated_ms, self._read(summary.id))
            self._known = found
            return [call for _, calls in found.values() for call in calls]

    def _read(self, session_id: SessionId) -> Sequence[ToolCall]:
        try:
            messages = self._sessions.tail(session_id, _MESSAGES)
        except SkalesError:
            return ()  # deleted or broken since; it has nothing to tell
        return [call for _, message in reversed(messages) for call in message.tool_calls if not call.problem]
