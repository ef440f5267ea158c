"""What the templates of the activity page are given; see `server.views`."""

from typing import ClassVar

from msgspec import Struct

from skales.server.frame_views import Shell
from skales.server.step_views import ApprovalCard
from skales.server.views import Moment


class ActivityWait(Struct, frozen=True):
    """A question that waits for the person; of no conversation, with the `card` that answers it here."""

    action: str
    reason: str
    when: Moment
    address: str
    title: str
    card: ApprovalCard | None


class ActivityRow(Struct, frozen=True):
    """One call. `decision` and `outcome` are in words; addresses are empty where there is nothing to open."""

    id: str
    action: str
    tool: str
    tool_address: str
    when: Moment
    decision: str
    decision_kind: str
    outcome: str
    outcome_kind: str
    reason: str
    error: str
    duration: str
    arguments: str
    effects: tuple[str, ...]
    title: str
    address: str
    only_address: str
    undo_address: str


class IncidentNote(Struct, frozen=True):
    """What the kill switch ended, as it was written down."""

    id: str
    when: Moment
    text: str


class ActivityPage(Struct, frozen=True):
    """Everything. `only` is the title of the one conversation that is shown, `more` the address of older calls."""

    template: ClassVar[str] = "activity/page.html"
    shell: Shell
    waiting: tuple[ActivityWait, ...]
    rows: tuple[ActivityRow, ...]
    incidents: tuple[IncidentNote, ...]
    is_paused: bool
    is_filtered: bool
    times: tuple[tuple[str, str], ...]
    kinds: tuple[tuple[str, str], ...]
    outcomes: tuple[tuple[str, str], ...]
    days: str
    kind: str
    outcome: str
    tool: str
    session_id: str
    only: str
    here: str
    more: str
    export_address: str
