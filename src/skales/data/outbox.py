"""outbox/: what the agent sends and must not send twice, one intent per file, on disk before the first byte leaves.

    intended ── sending ── sent
        │          ├────── failed    nothing arrived; it may be tried again
        │          └────── maybe     nobody knows; only a person says what becomes of it: sent, again, dropped
        └───────────────── failed

What a cut-off program left in the first two states is `maybe`. Judging calls and running them is the agent's business.
"""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from enum import StrEnum

from msgspec import Struct, structs

from skales.core.clock import Clock
from skales.core.errors import ConflictError, NotFoundError
from skales.core.ids import IdSource, SessionId, is_safe_id
from skales.core.json import JsonObject, JsonValue, as_int, as_object, as_text
from skales.data.document import create_object, read_object, update_object
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import Folder, Source, moment_ms, remove_file

# Settled ones are of use for a while: to say when something was sent.
_KEPT_DAYS = 30
_KEPT_MOST = 500
_DAY_MS = 24 * 60 * 60 * 1000


class OutboxState(StrEnum):
    """How far a sending is."""

    INTENDED = "intended"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    MAYBE = "maybe"
    DROPPED = "dropped"


OPEN_STATES = frozenset({OutboxState.INTENDED, OutboxState.SENDING})
UNSURE_STATES = OPEN_STATES | {OutboxState.MAYBE}


class Draft(Struct, frozen=True, kw_only=True):
    """What is to be sent. `conversation` is the one in which the same must not be sent twice.

    `arguments` are as they stand in the conversation; `action` says in words what they do.
    """

    session_id: SessionId
    conversation: SessionId
    call_id: str
    tool: str
    arguments: JsonObject
    action: str


class Intent(Struct, frozen=True, kw_only=True):
    """One sending. `key` is what the other side may know it by; `content` is equal for what says the same.

    `note` says why it stands as it does, `by` which surface a person decided on.
    """

    id: str
    key: str
    content: str
    draft: Draft
    state: OutboxState
    created_ms: int
    changed_ms: int
    process: int
    attempts: int = 1
    note: str = ""
    by: str = ""


class OutboxStore:
    """The intents of one data directory. Thread-safe. A change is on disk when it returns, or raises StorageError."""

    def __init__(self, directory: DataDirectory, quarantine: Quarantine, clock: Clock, ids: IdSource) -> None:
        self._folder = directory.outbox
        self._quarantine = quarantine
        self._clock = clock
        self._ids = ids
        self._files = Folder(directory.outbox, quarantine, _parse, quarantine.set_aside)

    def intend(self, draft: Draft) -> Intent:
        """Write down what is about to be sent."""
        now_ms = self._clock.now_ms()
        content = content_of(draft.conversation, draft.tool, draft.arguments)
        intent = Intent(
            id=f"out_{self._ids.token(16)}",
            # Models count their calls anew in each answer, so that only the moment makes a call's id one of its own.
            key=_digest(draft.session_id, draft.call_id, draft.tool, content, str(now_ms)),
            content=content,
            draft=draft,
            state=OutboxState.INTENDED,
            created_ms=now_ms,
            changed_ms=now_ms,
            process=os.getpid(),
        )
        create_object(self._folder / f"{intent.id}.json", _write(intent))
        return intent

    def move(
        self, intent_id: str, allowed: frozenset[OutboxState], to: OutboxState, *, note: str = "", by: str = ""
    ) -> Intent:
        """Bring it into another state. Raises ConflictError when it is in none of the allowed ones, NotFoundError."""
        return self._change(intent_id, allowed, lambda old: structs.replace(old, state=to, note=note, by=by or old.by))

    def take_up(self, intent_id: str, by: str) -> Intent:
        """Send it again with the same key: for exactly one of several callers. Raises ConflictError, NotFoundError."""
        return self._change(
            intent_id,
            frozenset({OutboxState.MAYBE}),
            lambda old: structs.replace(
                old, state=OutboxState.INTENDED, note="", by=by, attempts=old.attempts + 1, process=os.getpid()
            ),
        )

    def get(self, intent_id: str) -> Intent:
        """One of them. Raises NotFoundError."""
        if not is_safe_id(intent_id):
            raise _unknown(intent_id)
        path = self._folder / f"{intent_id}.json"
        try:
            return _read(intent_id, read_object(path, self._quarantine))
        except (NotFoundError, ValueError) as error:
            raise _unknown(intent_id) from error

    def list(self) -> Sequence[Intent]:
        """All of them, newest first. A broken file is set aside."""
        return sorted(self._files.read(), key=lambda intent: (intent.created_ms, intent.id), reverse=True)

    def unsure(self) -> Sequence[Intent]:
        """Those that only a person can settle, oldest first."""
        return [intent for intent in reversed(self.list()) if intent.state is OutboxState.MAYBE]

    def recover(
        self, *, is_alone: bool, is_alive: Callable[[int], bool], was_let_run: Callable[[Intent], bool]
    ) -> None:
        """What programs left open that run no more may have been sent, if it was let run. Old ones are cleared away.

        With `is_alone` no other program uses the directory, and none of this one's own is on its way yet.
        """
        left = [
            intent
            for intent in self.list()
            if intent.state in OPEN_STATES
            and (is_alone or intent.process == os.getpid() or not is_alive(intent.process))
        ]
        for intent in left:
            # What is sent again was unsure before, and stays so.
            is_certain = intent.state is OutboxState.INTENDED and intent.attempts == 1 and not was_let_run(intent)
            state = OutboxState.FAILED if is_certain else OutboxState.MAYBE
            note = "Skales ended before it was sent" if is_certain else "Skales ended while it was sent"
            self.move(intent.id, OPEN_STATES, state, note=note)
        self._clear_old()

    def _clear_old(self) -> None:
        settled = [intent for intent in self.list() if intent.state not in UNSURE_STATES]
        since_ms = self._clock.now_ms() - _KEPT_DAYS * _DAY_MS
        for number, intent in enumerate(settled):
            if number >= _KEPT_MOST or intent.changed_ms < since_ms:
                remove_file(self._folder / f"{intent.id}.json")

    def _change(self, intent_id: str, allowed: frozenset[OutboxState], change: Callable[[Intent], Intent]) -> Intent:
        if not is_safe_id(intent_id):
            raise _unknown(intent_id)
        path = self._folder / f"{intent_id}.json"
        changed: list[Intent] = []

        def apply(value: dict[str, JsonValue]) -> None:
            old = _read(intent_id, value)
            if old.state not in allowed:
                raise ConflictError(f"This is settled already: it is {old.state}", hint="`skales outbox` shows it")
            changed[:] = [structs.replace(change(old), changed_ms=self._clock.now_ms())]
            value.update(_write(changed[0]))

        try:
            update_object(path, self._quarantine, apply, missing=None)
        except (NotFoundError, ValueError) as error:
            raise _unknown(intent_id) from error
        return changed[0]


def content_of(conversation: SessionId, tool: str, arguments: JsonObject) -> str:
    """The same for calls that send the same in a conversation, however their arguments are ordered."""
    return _digest(conversation, tool, json.dumps(arguments, sort_keys=True, ensure_ascii=True))


def intent_json(intent: Intent) -> JsonObject:
    """A sending as it stands in its file."""
    return _write(intent)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _write(intent: Intent) -> JsonObject:
    draft = intent.draft
    return {
        "id": intent.id,
        "key": intent.key,
        "content": intent.content,
        "state": intent.state.value,
        "session": draft.session_id,
        "conversation": draft.conversation,
        "call": draft.call_id,
        "tool": draft.tool,
        "args": draft.arguments,
        "action": draft.action,
        "createdAt": intent.created_ms,
        "changedAt": intent.changed_ms,
        "process": intent.process,
        "attempts": intent.attempts,
        "note": intent.note,
        "by": intent.by,
    }


def _parse(source: Source) -> Intent:
    return _read(source.path.stem, source.value)


def _read(intent_id: str, value: JsonObject) -> Intent:
    """Raises ValueError with the reason. The file's name is the id."""
    state, key, content, tool = (as_text(value.get(name)) for name in ("state", "key", "content", "tool"))
    if state not in list(OutboxState) or not key or not content or not tool:
        raise ValueError("it lacks what a sending needs: state, key, content, tool")
    draft = Draft(
        session_id=SessionId(as_text(value.get("session"))),
        conversation=SessionId(as_text(value.get("conversation"))),
        call_id=as_text(value.get("call")),
        tool=tool,
        arguments=as_object(value.get("args")),
        action=as_text(value.get("action")),
    )
    return Intent(
        id=intent_id,
        key=key,
        content=content,
        draft=draft,
        state=OutboxState(state),
        created_ms=moment_ms(value.get("createdAt")),
        changed_ms=moment_ms(value.get("changedAt")),
        process=as_int(value.get("process")),
        attempts=as_int(value.get("attempts")),
        note=as_text(value.get("note")),
        by=as_text(value.get("by")),
    )


def _unknown(intent_id: str) -> NotFoundError:
    return NotFoundError(f"The outbox has no {intent_id!r}", hint="`skales outbox` lists what there is")
