"""What tools need of whoever starts work elsewhere: parts of a conversation's work, and tasks that may run already."""

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from skales.core.ids import SessionId


class Part(Struct, frozen=True):
    """A piece of work that can be done by itself."""

    title: str
    task: str


class PartEnd(Struct, frozen=True, kw_only=True):
    """What became of one: its answer, or why there is none. `refused` are actions that were not allowed.

    `sources` name whose text it has read.
    """

    title: str
    ok: bool
    answer: str = ""
    error: str = ""
    session_id: str = ""
    refused: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


# Called with the part that began or ended, and how many are over.
PartReport = Callable[[str, int], None]


class WorkStarter(Protocol):
    """Starts turns in conversations of their own."""

    async def run_parts(
        self, parent: SessionId, title: str, parts: Sequence[Part], report: PartReport
    ) -> Sequence[PartEnd]:
        """Do the parts, a few at once, and wait for all of them; their ends in the same order.

        Cancelled, it ends them all. Raises ToolError when the conversation is itself a part.
        """
        ...

    async def refuse_filing(self, session_id: SessionId) -> None:
        """Raises ToolError when this conversation may not file tasks, because it runs one."""
        ...

    async def delete_task(self, task_id: str) -> None:
        """Remove a task's record. Raises NotFoundError, ConflictError while it runs."""
        ...
