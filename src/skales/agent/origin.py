"""Where a tool call comes from, and where its events go."""

from collections.abc import Callable
from dataclasses import dataclass

from skales.core.approval import Decision
from skales.core.events import TurnEvent
from skales.core.ids import SessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOrigin:
    """The surroundings of one call. `surface` names the page, terminal or route for the audit log.

    `by_user` marks a call the person started themselves. `decided` is an answer given before a restart.
    `turn_id` is empty for a call outside of a turn.
    """

    session_id: SessionId
    surface: str
    emit: Callable[[TurnEvent], None]
    by_user: bool = False
    decided: Decision | None = None
    turn_id: str = ""
