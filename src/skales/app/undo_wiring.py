"""Builds undo from its parts: what records, what takes back, and the stores that are watched."""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from skales.agent.policy import Policy
from skales.agent.undo_ground import FileGround
from skales.agent.undo_record import Recorder
from skales.agent.undo_round import UndoRound
from skales.agent.undo_run import Undoing
from skales.app.undo import Undo
from skales.app.undo_stores import Stores, build_grounds, watch
from skales.core.tool import ToolCall, ToolSpec
from skales.data.audit import AuditLog
from skales.data.undo import UndoStore
from skales.data.undo_shape import Area


class UndoNeeds(Struct, frozen=True, kw_only=True):
    """What it is built from. `own` are the program's own folders, which commands do not change."""

    changes: UndoStore
    stores: Stores
    policy: Callable[[], Policy]
    own: tuple[Path, ...]
    describe: Callable[[ToolSpec, ToolCall], str]
    audit: AuditLog


def build_undo(needs: UndoNeeds) -> tuple[Undo, UndoRound]:
    """What undoes, and what goes around calls."""
    changes, policy = needs.changes, needs.policy
    recorder = Recorder(changes, own=needs.own)
    watch(needs.stores, changes)
    grounds = {Area.FILE: FileGround(changes.blobs, lambda: policy().paths), **build_grounds(needs.stores)}
    undo = Undo(changes, Undoing(changes, recorder, grounds, lambda: policy().paths), needs.audit)
    return undo, UndoRound(changes, recorder, policy, needs.describe)
