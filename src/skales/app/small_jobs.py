"""Small jobs for a small model: titles of new conversations, and summaries for whoever has something to sum up.

Only the model that `smallModel` names is asked; without one nothing happens and a conversation keeps its first words as
its title. No turn waits for a title, and one that fails is a line in the log. Spec: issue "All 26 providers",
"Selection".
"""

import logging
import re
from collections.abc import Callable, Sequence
from contextlib import aclosing
from functools import partial

import anyio.to_thread
from anyio.abc import TaskGroup
from msgspec import Struct

from skales.app.costs import MeteredProvider
from skales.core.errors import ProviderError, ProviderFault, SkalesError
from skales.core.events import TurnEnd
from skales.core.ids import SessionId
from skales.core.message import Message, Role, text_message
from skales.core.ports import (
    Accounts,
    ChatRequest,
    ChosenModel,
    Finished,
    FinishReason,
    ModelCall,
    ModelChooser,
    Purpose,
    TextPiece,
)
from skales.data.session_codec import Session, default_title
from skales.data.sessions import SessionStore
from skales.data.setting_shapes import Settings

_log = logging.getLogger(__name__)

# Models that think first need room for it.
_TITLE_TOKENS = 1_024
_TITLE_TIMEOUT_S = 60.0
_MOST_WORDS = 6
_MOST_CHARACTERS = 60
# What a title has to be found for is said early.
_SHOWN_CHARACTERS = 1_500
_TITLE_RULES = (
    "You name conversations. Answer with a title of at most six words, in the language of the conversation, "
    "without quotation marks and without a period. Answer with nothing but the title."
)
_LABEL = re.compile(r"^(?:title|titel)\s*[:\-\u2013]\s*", re.IGNORECASE)
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|$)", re.IGNORECASE | re.DOTALL)
_WRAPPING = " \t\"'`*_#\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb.,;:"


class SmallJobParts(Struct, frozen=True, kw_only=True):
    """What small jobs are done with. `tell_named` is called with a conversation that got its title."""

    settings: Callable[[], Settings]
    chooser: ModelChooser
    sessions: SessionStore
    accounts: Accounts
    tell_named: Callable[[SessionId], None]


class SmallJobs:
    """Asks the small model. Lives as long as the app; what still runs when it closes is given up."""

    def __init__(self, parts: SmallJobParts) -> None:
        self._parts = parts
        self._tasks: TaskGroup | None = None
        self._naming: set[SessionId] = set()

    def open(self, tasks: TaskGroup) -> None:
        """Do background jobs in this task group from now on."""
        self._tasks = tasks

    def model(self) -> ChosenModel | None:
        """The small model, None without one. Raises ProviderError when it cannot be asked as it is set up."""
        wanted = self._parts.settings().small_model
        return self._parts.chooser.choose(wanted.provider, wanted.model) if wanted.provider else None

    def writer(self, chosen: ChosenModel) -> ChosenModel:
        """Who sums up for a model: the small one where there is one that can, else the model itself."""
        try:
            small = self.model()
        except ProviderError:
            return chosen
        return chosen if small is None or small.weak else small

    async def ask(
        self, purpose: Purpose, messages: Sequence[Message], session_id: SessionId, *, max_output_tokens: int = 0
    ) -> str:
        """The small model's answer, written down as a call of this purpose. Raises ProviderError, StorageError.

        The fault is NOT_CONFIGURED without a small model, NO_CREDIT when a ceiling of the person's own is reached.
        """
        chosen = self.model()
        if chosen is None:
            raise ProviderError(
                "No small model is chosen", fault=ProviderFault.NOT_CONFIGURED, hint="Set `smallModel` in the settings"
            )
        request = ChatRequest(model=chosen.model, messages=tuple(messages), max_output_tokens=max_output_tokens)

        def call(asked: ChatRequest) -> ModelCall:
            return ModelCall(purpose=purpose, provider_id=chosen.provider_id, request=asked, session_id=session_id)

        met = await anyio.to_thread.run_sync(self._parts.accounts.check, call(request))
        if met is not None and met.is_full:
            raise ProviderError(
                "A ceiling for costs is reached",
                fault=ProviderFault.NO_CREDIT,
                hint="Change the ceiling in Settings, Chat",
            )
        return await _read_text(MeteredProvider(chosen.provider, self._parts.accounts, call), request)

    def note_end(self, session_id: SessionId, end: TurnEnd) -> None:
        """A turn of a conversation ended: the first that was answered gives it a title, in the background."""
        if self._tasks is None or end is not TurnEnd.COMPLETED or session_id in self._naming:
            return
        if self._parts.settings().small_model.provider:
            self._naming.add(session_id)
            self._tasks.start_soon(self._name, session_id)

    async def _name(self, session_id: SessionId) -> None:
        try:
            with anyio.move_on_after(_TITLE_TIMEOUT_S):
                await self._find_title(session_id)
        except SkalesError as error:
            _log.info("no title for %s: %s", session_id, error)
        finally:
            self._naming.discard(session_id)

    async def _find_title(self, session_id: SessionId) -> None:
        session = await anyio.to_thread.run_sync(self._parts.sessions.load, session_id)
        chosen = self.model()
        # What a weak model makes of this is worse than the first words.
        if chosen is None or chosen.weak or not wants_title(session):
            return
        answer = await self.ask(
            Purpose.TITLE, build_title_request(session), session_id, max_output_tokens=_TITLE_TOKENS
        )
        title = read_title(answer)
        is_kept = bool(title) and await anyio.to_thread.run_sync(partial(self._keep_title, session_id, title))
        if is_kept:
            self._parts.tell_named(session_id)

    def _keep_title(self, session_id: SessionId, title: str) -> bool:
        """Write it, unless the person named the conversation meanwhile."""
        if not has_usual_title(self._parts.sessions.load(session_id)):
            return False
        self._parts.sessions.update(session_id, title=title)
        return True


def wants_title(session: Session) -> bool:
    """Whether the conversation has its first finished answer and nobody named it."""
    said = [message for message in session.messages if message.role is Role.USER]
    answers = [message for message in session.messages if message.role is Role.ASSISTANT]
    if len(said) != 1 or not answers or said[0].text.startswith(("/tool", "/why")):
        return False
    last = answers[-1]
    return bool(last.text.strip()) and not last.tool_calls and not last.incomplete and has_usual_title(session)


def has_usual_title(session: Session) -> bool:
    """Whether the title is still the one that the first words give."""
    return session.title in ("", default_title(session.messages))


def build_title_request(session: Session) -> tuple[Message, ...]:
    """What the small model is shown: the beginning of what was said and of the answer."""
    said = next((message.text for message in session.messages if message.role is Role.USER), "")
    answer = next((message.text for message in reversed(session.messages) if message.role is Role.ASSISTANT), "")
    shown = f"The person wrote:\n{said[:_SHOWN_CHARACTERS]}\n\nThe answer was:\n{answer[:_SHOWN_CHARACTERS]}"
    return (text_message(Role.SYSTEM, _TITLE_RULES), text_message(Role.USER, f"{shown}\n\nThe title:"))


def read_title(answer: str) -> str:
    """The title in an answer, at most six words; empty when there is none."""
    lines = (line.strip(_WRAPPING) for line in _THOUGHTS.sub("", answer).splitlines())
    line = next((line for line in lines if line), "")
    words = _LABEL.sub("", line).strip(_WRAPPING).split()[:_MOST_WORDS]
    title = " ".join(words).rstrip(_WRAPPING)
    return title if len(title) <= _MOST_CHARACTERS else f"{title[: _MOST_CHARACTERS - 1].rstrip()}\u2026"


async def _read_text(provider: MeteredProvider, request: ChatRequest) -> str:
    pieces: list[str] = []
    async with aclosing(provider.stream(request)) as events:
        async for event in events:
            match event:
                case TextPiece(text):
                    pieces.append(text)
                case Finished(FinishReason.FILTERED):
                    return ""
                case _:
                    pass
    return "".join(pieces)
