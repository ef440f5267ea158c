"""What the page of grants is given: each in words with its uses, and what would happen with a call."""

from typing import ClassVar

from msgspec import Struct

from skales.server.frame_views import Shell
from skales.server.step_views import WhyLine
from skales.server.views import Moment, Trouble


class GrantRow(Struct, frozen=True):
    """One lasting yes. `place` says how far it reaches; `address` leads to the conversation it was given in."""

    id: str
    covers: str
    about: str
    place: str
    given: Moment | None
    given_by: str
    address: str
    conversation: str
    until: Moment | None
    uses: str
    last_used: Moment | None


class GrantBoard(Struct, frozen=True):
    """The list. `revoked` and `revoked_id` name the one that was just taken back and can be given again."""

    template: ClassVar[str] = "grants/board.html"
    rows: tuple[GrantRow, ...]
    revoked: str = ""
    revoked_id: str = ""
    trouble: Trouble | None = None


class WhyAnswer(Struct, frozen=True):
    """What would happen with a call; empty while none is written. `error` says why it cannot be told."""

    template: ClassVar[str] = "grants/why.html"
    action: str = ""
    outcome: str = ""
    outcome_words: str = ""
    covers: str = ""
    lines: tuple[WhyLine, ...] = ()
    error: str = ""


class GrantsPage(Struct, frozen=True):
    """The whole page. `call` is what was written into the field."""

    template: ClassVar[str] = "grants/page.html"
    shell: Shell
    board: GrantBoard
    answer: WhyAnswer
    call: str = ""
    tools: tuple[str, ...] = ()
