"""Where a tool call comes from, what its conversation has read, and where its events go."""

from collections.abc import Callable

from msgspec import Struct, field

from skales.core.approval import Decision
from skales.core.events import TurnEvent
from skales.core.ids import SessionId

# The rule by which a marked conversation asks.
TAINT_RULE = "taint"


class Marks(Struct, frozen=True):
    """What a conversation has read that others may have written, and the addresses known in it.

    `hosts` are those that the person named, `said` whole addresses in their words, `found` results of a web search
    and pages opened before, `links` every address that a page showed and the model had not written itself.
    """

    sources: tuple[str, ...] = ()
    hosts: frozenset[str] = frozenset()
    said: frozenset[str] = frozenset()
    found: frozenset[str] = frozenset()
    links: frozenset[str] = frozenset()


class CallOrigin(Struct, frozen=True, kw_only=True):
    """The surroundings of one call. `surface` names the page, terminal or route for the audit log.

    `by_user` marks a call the person started themselves. `decided` is an answer given before a restart.
    `turn_id` is empty for a call outside of a turn. Where it is not `is_attended`, nobody could answer a question.
    """

    session_id: SessionId
    surface: str
    emit: Callable[[TurnEvent], None]
    by_user: bool = False
    decided: Decision | None = None
    turn_id: str = ""
    marks: Marks = field(default_factory=Marks)
    is_attended: bool = True

    @property
    def sources(self) -> tuple[str, ...]:
        """Whose words the conversation has read, in words for people."""
        return self.marks.sources
