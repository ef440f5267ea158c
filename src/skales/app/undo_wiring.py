"""Builds undo from its parts: what records, what takes back, and the stores that are watched."""

from collections.abc import Callable
from pathlib import Path

from skales.agent.policy import Policy
from skales.agent.undo_ground import FileGround
from skales.agent.undo_record import Recorder
from skales.agent.undo_round import UndoRound
from skales.agent.undo_run import Undoing
from skales.app.undo import Undo
from skales.app.undo_stores import Stores, build_grounds, watch
from skales.core.tool import ToolCall, ToolSpec
from skales.data.undo import UndoStore
from skales.data.undo_shape import Area


def build_undo(
    changes: UndoStore,
    stores: Stores,
    policy: Callable[[], Policy],
    *,
    own: tuple[Path, ...],
    describe: Callable[[ToolSpec, ToolCall], str],
) -> tuple[Undo, UndoRound]:
    """What undoes, and what goes around calls. `own` are the program's own folders, which commands do not change."""
    recorder = Recorder(changes, own=own)
    watch(stores, changes)
    grounds = {Area.FILE: FileGround(changes.blobs, lambda: policy().paths), **build_grounds(stores)}
    undo = Undo(changes, Undoing(changes, recorder, grounds, lambda: policy().paths))
    return undo, UndoRound(changes, recorder, policy, describe)
