"""Parts of a conversation's work, each as a turn in a conversation of its own; one level deep, three at once.

What the parts spend counts against the ceiling of the conversation they belong to (`app.wiring`).
Spec: orchestrator.md, "Sub-agents".
"""

from collections.abc import Callable, Sequence

import anyio
import anyio.to_thread
from msgspec import Struct

from skales.agent.marks import MarkBook
from skales.agent.turns import Turns
from skales.automation.origins import (
    PARENT,
    PARTS_FOLDER,
    Beginning,
    create_session,
    refuse_delegation,
    refuse_filing,
)
from skales.automation.runs import RunOrder, RunOutcome, run_turn
from skales.automation.tasks import TaskRunner
from skales.core.errors import SkalesError
from skales.core.ids import SessionId
from skales.data.sessions import SessionStore
from skales.tools.starting import Part, PartEnd, PartReport

MOST_AT_ONCE = 3
# Whose part it is when no conversation asked for it.
_NOBODY = SessionId("by-hand")


class DelegationParts(Struct, frozen=True, kw_only=True):
    """What delegating needs."""

    sessions: SessionStore
    turns: Turns
    tasks: TaskRunner
    timeout_s: Callable[[], float]
    marks: MarkBook


class Delegation:
    """What tools start work through."""

    def __init__(self, parts: DelegationParts) -> None:
        self._parts = parts

    async def run_parts(
        self, parent: SessionId, title: str, parts: Sequence[Part], report: PartReport
    ) -> Sequence[PartEnd]:
        """Do the parts and wait for all of them. Raises ToolError when the conversation is itself a part."""
        await anyio.to_thread.run_sync(refuse_delegation, self._parts.sessions, parent)
        slots = anyio.Semaphore(MOST_AT_ONCE)
        ends: dict[int, PartEnd] = {}

        async def do(number: int, part: Part) -> None:
            async with slots:
                report(part.title, len(ends))
                ends[number] = await self._do(parent, title, part)
                report(part.title, len(ends))

        async with anyio.create_task_group() as group:
            for number, part in enumerate(parts):
                group.start_soon(do, number, part)
        return [ends[number] for number in range(len(parts))]

    async def refuse_filing(self, session_id: SessionId) -> None:
        """Raises ToolError when this conversation may not file tasks."""
        await anyio.to_thread.run_sync(refuse_filing, self._parts.sessions, session_id)

    async def delete_task(self, task_id: str) -> None:
        """Remove a task's record. Raises NotFoundError, ConflictError while it runs."""
        await self._parts.tasks.delete(task_id)

    async def _do(self, parent: SessionId, title: str, part: Part) -> PartEnd:
        session_id = SessionId("")
        beginning = Beginning(part.title, PARTS_FOLDER, PARENT, parent or _NOBODY)
        try:
            session_id = await anyio.to_thread.run_sync(self._begin, beginning, parent)
            order = RunOrder(
                session_id=session_id,
                text=_write_order(title, part),
                surface="subtask",
                timeout_s=self._parts.timeout_s(),
            )
            outcome = await run_turn(self._parts.turns, order)
        except SkalesError as error:
            outcome = RunOutcome(ok=False, error=str(error))
        return PartEnd(
            title=part.title,
            ok=outcome.ok,
            answer=outcome.answer,
            error=outcome.error,
            session_id=session_id,
            refused=outcome.refused,
            sources=await anyio.to_thread.run_sync(self._read_by, session_id),
        )

    def _begin(self, beginning: Beginning, parent: SessionId) -> SessionId:
        """The part's conversation has read what the one it belongs to has read."""
        return create_session(self._parts.sessions, beginning, parent, marks=self._parts.marks.of(parent))

    def _read_by(self, session_id: SessionId) -> tuple[str, ...]:
        try:
            return self._parts.marks.of(session_id).sources
        except SkalesError:
            return ()


def _write_order(title: str, part: Part) -> str:
    whole = f" of {title!r}" if title else ""
    return (
        f"{part.task}\n\n(This is one part{whole}, named {part.title!r}. Nobody reads along: do only this part, "
        "without asking back where that is possible, and end with its result.)"
    )
