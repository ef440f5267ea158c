"""What the templates of the outbox page are given; see `server.views`."""

from typing import ClassVar

from msgspec import Struct

from skales.server.frame_views import Shell
from skales.server.views import Moment, Trouble


class SendingRow(Struct, frozen=True):
    """One sending. `address` leads to its conversation, empty without one; `note` says why it stands as it does."""

    id: str
    action: str
    tool: str
    state: str
    kind: str
    when: Moment
    attempts: int
    note: str
    address: str


class OutboxBoard(Struct, frozen=True):
    """Those that wait for a person's word, and the last others."""

    template: ClassVar[str] = "outbox/board.html"
    waiting: tuple[SendingRow, ...]
    others: tuple[SendingRow, ...]
    trouble: Trouble | None = None


class OutboxPage(Struct, frozen=True):
    """The page around them."""

    template: ClassVar[str] = "outbox/page.html"
    shell: Shell
    board: OutboxBoard
