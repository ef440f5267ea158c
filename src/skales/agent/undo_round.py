"""The gate's part in undo: no call that changes something runs before what it may change is recorded.

`judge_size` asks first where what a call replaces is too large to be kept. Spec: issue 6, one undo timeline.
"""

from collections.abc import Callable

import anyio
import anyio.to_thread
from msgspec import Struct

from skales.agent.gate import PassedCall, Proceed
from skales.agent.origin import CallOrigin
from skales.agent.policy import Policy
from skales.agent.undo_record import CURRENT, Recorder, Recording
from skales.agent.undo_scope import CHANGING, scope_of
from skales.core.errors import SkalesError
from skales.core.events import Notice
from skales.core.tool import Outcome, ToolCall, ToolResult, ToolSpec, Verdict
from skales.data.undo import UndoStore
from skales.data.undo_shape import UndoStep

_MEGABYTE = 1024 * 1024
_FREE = Verdict(Outcome.ALLOW)


class UndoRound(Struct, frozen=True):
    """Records around a call; `describe` says in plain words, without secrets, what it does."""

    store: UndoStore
    recorder: Recorder
    policy: Callable[[], Policy]
    describe: Callable[[ToolSpec, ToolCall], str]

    async def __call__(self, passed: PassedCall, proceed: Proceed) -> ToolResult:
        """Let the call run between two looks. Raises StorageError when the first cannot be written down."""
        if not passed.spec.effects & CHANGING:
            return await proceed(passed)
        recording = await anyio.to_thread.run_sync(self._begin, passed)
        token = CURRENT.set(recording)
        try:
            return await proceed(passed)
        finally:
            CURRENT.reset(token)
            with anyio.CancelScope(shield=True):
                await self._finish(recording, passed.origin)

    def judge_size(self, spec: ToolSpec, call: ToolCall, _origin: CallOrigin) -> Verdict:
        """Ask where a call would replace or remove more than is kept."""
        if not spec.effects & CHANGING:
            return _FREE
        paths = self.policy().paths
        size_bytes, largest = self.recorder.size_of(scope_of(spec, call.arguments, paths), paths)
        if size_bytes <= self.recorder.most_bytes:
            return _FREE
        return Verdict(
            Outcome.ASK,
            f"This could not be undone: {largest!r} and what else it replaces is too large to keep "
            f"({size_bytes // _MEGABYTE:,} MB)",
            "undo.size",
        )

    def _begin(self, passed: PassedCall) -> Recording:
        paths = self.policy().paths
        step = UndoStep(
            id=self.store.new_id(),
            when_ms=self.store.now_ms(),
            tool=passed.spec.name,
            summary=self.describe(passed.spec, passed.call),
            session_id=passed.origin.session_id,
            turn_id=passed.origin.turn_id,
            call_id=passed.call.id,
        )
        return self.recorder.begin(step, scope_of(passed.spec, passed.call.arguments, paths), paths)

    async def _finish(self, recording: Recording, origin: CallOrigin) -> None:
        try:
            await anyio.to_thread.run_sync(self.recorder.finish, recording)
        except SkalesError as error:
            origin.emit(Notice("warning", f"What this changed may not be undone: {error}"))
