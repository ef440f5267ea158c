"""What turns are built from, and what one is asked to do."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import anyio.to_thread
from msgspec import Struct, field

from skales.agent.budget import Budget
from skales.agent.ceilings import Ceilings
from skales.agent.compaction import Compactor
from skales.agent.context import ContextBuilder
from skales.agent.evidence import IsUnsure, is_settled
from skales.agent.gate import Gate
from skales.agent.marks import MarkBook
from skales.agent.origin import Marks
from skales.core.approval import Decision
from skales.core.clock import Clock
from skales.core.ids import IdSource, SessionId
from skales.core.message import ContentPart, Message, Role, TextPart
from skales.core.ports import Accounts, ModelChooser, Toolbox
from skales.core.tool import ToolResult
from skales.data.paths import DataDirectory
from skales.data.session_codec import Session
from skales.data.sessions import SessionStore
from skales.data.started import StartedCalls
from skales.data.tainted_files import TaintedFiles
from skales.security.veil import Veil


class Seen(Struct, frozen=True):
    """A conversation as the disk has it, and what it has read."""

    session: Session
    marks: Marks


class TurnParts(Struct, frozen=True, kw_only=True):
    """What every turn is built from.

    `fate` knows what became of a call that was cut off; it reads the disk. `is_unsure` knows calls that may have had
    their effect or not.
    """

    directory: DataDirectory
    sessions: SessionStore
    chooser: ModelChooser
    context: ContextBuilder
    compactor: Compactor
    gate: Gate
    toolbox: Toolbox
    started: StartedCalls
    accounts: Accounts
    budget: Budget
    marks: MarkBook
    tainted: TaintedFiles
    clock: Clock
    ids: IdSource
    fate: Callable[[SessionId, str], ToolResult | None]
    is_unsure: IsUnsure = is_settled
    ceilings: Callable[[], Ceilings] = Ceilings
    veil: Veil = field(default_factory=Veil)

    async def append(self, session_id: SessionId, message: Message, *, unqueue: int = 0) -> Seen:
        """Write a message into the history, with the time of now; the conversation with it."""
        return await anyio.to_thread.run_sync(lambda: self.look(self.write(session_id, message, unqueue=unqueue)))

    def write(self, session_id: SessionId, message: Message, *, unqueue: int = 0) -> Session:
        """What `append` does, in this thread, which is not the event loop's."""
        return self.sessions.append(session_id, replace(message, timestamp_ms=self.clock.now_ms()), unqueue=unqueue)

    def look(self, session: Session) -> Seen:
        """A conversation that was just read, with its marks. Reads the disk."""
        return Seen(session, self.marks.read(session))


class TurnOrder(Struct, frozen=True, kw_only=True):
    """What one turn is asked to do. Without a text or attachment it goes on where the session stands.

    `decisions` are answers to questions of an earlier run, by call id. `from_queue` is how many waiting messages
    the text was made of; they leave the queue with the same write that puts it into the history. With `compacts` the
    conversation is summarised and nothing else is done.
    """

    session_id: SessionId
    surface: str
    text: str = ""
    attachments: tuple[ContentPart, ...] = ()
    from_queue: int = 0
    decisions: Mapping[str, Decision] = field(default_factory=dict)
    compacts: bool = False

    @property
    def speaks(self) -> bool:
        """Whether a new message begins it."""
        return bool(self.text or self.attachments)

    @property
    def message(self) -> Message:
        """That message. What is attached comes first: models answer better when the question follows it."""
        said = (TextPart(self.text),) if self.text.strip() else ()
        return Message(role=Role.USER, content=(*self.attachments, *said))
