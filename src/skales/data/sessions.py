"""All conversations: one file each, changed by appending; a cache and an index in front of them.

A write starts from what is on disk, not from what was loaded earlier, so that a hand edit made while a turn runs
survives; entries already in a file are never written anew from our own reading of them.
Spec: data-directory.md, "sessions/<id>.json"; orchestrator.md, "Turn flow".
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import TypedDict, Unpack, cast

from msgspec import Struct, structs

from skales.core.clock import Clock
from skales.core.errors import BrokenDocumentError, InputError, NotFoundError
from skales.core.ids import SessionId
from skales.core.json import JsonObject, JsonValue, as_list
from skales.core.message import ContentPart, Message, Role
from skales.data.index import FolderCount, Index, Overview, SearchHit, SessionSummary
from skales.data.index_tables import Choice
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.session_codec import (
    SESSION_KEYS,
    Waiting,
    default_title,
    message_to_disk,
    messages_from_disk,
    new_session_to_disk,
    session_from_disk,
    write_waiting,
)
from skales.data.session_codec import Session as Session
from skales.data.session_compactions import (
    COMPACTIONS,
    Compaction,
    add_compaction,
    cut_compactions,
    remove_compaction,
)
from skales.data.session_files import Changed, Loaded, SessionFiles
from skales.data.session_search import MessageHit, find_in_messages
from skales.data.session_versions import entries_from, first_entries, rewind, switch

Summaries = list[SessionSummary]  # inside the store `list` is a method
Hits = list[SearchHit]

_CHANGEABLE = {
    "title": "title",
    "provider": "provider",
    "model": "model",
    "agent_id": "agentId",
    "queued": "queued",
    "pinned": "pinned",
    "folder": "folder",
}
# What the one that began the conversation had read is behind a branch of it as well.
_KEPT_IN_BRANCHES = ("inheritedMarks",)
_ONLY_WHEN_SET = ("agentId", "queued", "pinned", "folder")


class SessionChanges(TypedDict, total=False):
    """What `SessionStore.update` can change; an empty title gives the default one back."""

    title: str
    provider: str
    model: str
    agent_id: str
    queued: Sequence[Waiting]
    pinned: bool
    folder: str


class TranscriptMask(Struct, frozen=True):
    """Takes the secrets out of what is written; without one everything is written as it is."""

    message: Callable[[Message], Message] = lambda message: message
    text: Callable[[str], str] = str


class SessionStore:
    """Creates, reads, extends, deletes and finds conversations. May be used from several threads.

    `changed` hears of each that was deleted (False) or brought back (True) here.
    """

    def __init__(
        self,
        directory: DataDirectory,
        quarantine: Quarantine,
        index: Index,
        clock: Clock,
        mask: "TranscriptMask | None" = None,
    ) -> None:
        self._mask = mask or TranscriptMask()
        self._files = SessionFiles(directory, quarantine, index)
        self._index = index
        self._clock = clock
        self.changed: Callable[[SessionId, bool], None] = _nobody

    def close(self) -> None:
        """Close the index; a later call opens it again."""
        self._index.close()

    def create(  # noqa: PLR0913 - what a conversation may begin with
        self,
        title: str = "",
        provider: str = "",
        model: str = "",
        agent_id: str = "",
        *,
        folder: str = "",
        extra: Mapping[str, JsonValue] = MappingProxyType({}),
    ) -> Session:
        """An empty conversation; its id is `session_<ms>` with the first free millisecond from now on.

        `extra` are further keys of its file, such as whose part it is.
        """
        now_ms, title = self._clock.now_ms(), self._mask.text(title)

        def write(session_id: SessionId) -> tuple[dict[str, JsonValue], Session]:
            session = Session(
                id=session_id,
                title=title,
                provider=provider,
                model=model,
                agent_id=agent_id,
                folder=folder,
                extra=extra,
                created_ms=now_ms,
                updated_ms=now_ms,
            )
            return new_session_to_disk(session), session

        return self._files.create(now_ms, write)

    def load(self, session_id: SessionId) -> Session:
        """The conversation as its file is now. Raises NotFoundError, BrokenDocumentError, StorageError."""
        return self._files.load(session_id).session

    def tail(self, session_id: SessionId, limit: int, before_index: int | None = None) -> Sequence[tuple[int, Message]]:
        """The last messages, with their indices, oldest first; those before an index when one is given."""
        messages = self.load(session_id).messages
        end = len(messages) if before_index is None else min(max(before_index, 0), len(messages))
        start = max(end - max(limit, 0), 0)
        return tuple(enumerate(messages[start:end], start))

    def append(self, session_id: SessionId, *messages: Message, unqueue: int = 0) -> Session:
        """Add messages at the end, each with a time; `updatedAt` becomes now, a missing title the default one.

        `unqueue` takes that many messages off the front of the queue in the same write.
        """
        now_ms = self._clock.now_ms()
        masked = map(self._mask.message, messages)
        timed = [replace(message, timestamp_ms=message.timestamp_ms or now_ms) for message in masked]
        entries = [message_to_disk(message) for message in timed]

        def alter(loaded: Loaded) -> Changed:
            old = loaded.session
            history = old.messages + messages_from_disk(entries)
            queued = old.queued[unqueue:]
            title = old.title or default_title(history)
            raw = loaded.raw | {"messages": [*as_list(loaded.raw.get("messages")), *entries], "updatedAt": now_ms}
            if raw.get("title", "") == "" and title:
                raw["title"] = title
            if unqueue:
                raw = _with_changes(raw, {"queued": queued})
            return Changed(raw, structs.replace(old, messages=history, queued=queued, title=title, updated_ms=now_ms))

        return self._files.change(session_id, alter)

    def queue(self, session_id: SessionId, text: str, attachments: tuple[ContentPart, ...] = ()) -> Session:
        """Keep a message that was sent while a turn runs, behind those that wait already; `updatedAt` becomes now."""
        now_ms = self._clock.now_ms()

        def alter(loaded: Loaded) -> Changed:
            queued = (*loaded.session.queued, self._mask_waiting(Waiting(text, attachments)))
            raw = _with_changes(loaded.raw | {"updatedAt": now_ms}, {"queued": queued})
            return Changed(raw, structs.replace(loaded.session, queued=queued, updated_ms=now_ms))

        return self._files.change(session_id, alter)

    def update(self, session_id: SessionId, **changes: Unpack[SessionChanges]) -> Session:
        """Change what stands beside the messages. The order of the list stays: `updatedAt` is not touched."""
        if "folder" in changes:
            changes["folder"] = " ".join(changes["folder"].split())
        if "title" in changes:
            changes["title"] = self._mask.text(changes["title"])
        if "queued" in changes:
            changes["queued"] = [self._mask_waiting(waiting) for waiting in changes["queued"]]

        def alter(loaded: Loaded) -> Changed:
            raw, old = _with_changes(loaded.raw, changes), loaded.session
            new = session_from_disk(session_id, raw, mtime_ms=old.updated_ms, messages=old.messages)
            return Changed(raw, structs.replace(new, created_ms=old.created_ms, updated_ms=old.updated_ms))

        return self._files.change(session_id, alter)

    def annotate(self, session_id: SessionId, key: str, value: JsonValue) -> Session:
        """Set a key of the file that is not the store's own, such as what a person lifted. `updatedAt` stays."""
        assert key not in SESSION_KEYS, "the store's own keys have their own ways"
        return self._mark(session_id, lambda loaded: {**loaded.raw, key: value})

    def rewind(self, session_id: SessionId, index: int) -> Session:
        """Take the messages from `index` on out of the history; they become a version, and come back with a switch.

        `updatedAt` becomes now. Raises NotFoundError when there is no such message, InputError when it is neither a
        person's nor an answer.
        """
        return self._cut(session_id, index, lambda raw: rewind(raw, index, self._clock.now_ms()))

    def switch_version(self, session_id: SessionId, at: int, number: int) -> Session:
        """Show another version from message `at` on, numbered as in `Session.versions`. `updatedAt` is not touched.

        Raises NotFoundError when there is no such version.
        """
        return self._cut(session_id, at, lambda raw: switch(raw, at, number, self._clock.now_ms()))

    def add_compaction(self, session_id: SessionId, mark: Compaction) -> Session:
        """Let a summary stand for the oldest messages when a model is asked. `updatedAt` is not touched.

        Raises InputError when it does not fit the messages, which changed meanwhile.
        """
        masked = structs.replace(mark, summary=self._mask.text(mark.summary))
        return self._mark(session_id, lambda loaded: add_compaction(loaded.raw, masked, loaded.session.messages))

    def remove_compaction(self, session_id: SessionId, up_to: int) -> Session:
        """Take back the summary that ends before a message. Raises NotFoundError when there is none."""
        return self._mark(session_id, lambda loaded: remove_compaction(loaded.raw, up_to))

    def branch(self, session_id: SessionId, until_index: int) -> Session:
        """A new conversation with the messages up to and with that one; the first one stays as it is.

        Raises NotFoundError when there is no such message.
        """
        source, now_ms = self._files.load(session_id), self._clock.now_ms()
        old, entries = source.session, first_entries(source.raw, until_index)

        def write(new_id: SessionId) -> tuple[dict[str, JsonValue], Session]:
            head = structs.replace(
                old,
                id=new_id,
                title=f"{old.title} (branch)" if old.title else "",
                created_ms=now_ms,
                updated_ms=now_ms,
                messages=(),
                queued=(),
                pinned=False,
                extra={
                    "branchedFrom": {"id": session_id, "at": until_index},
                    **{key: value for key, value in old.extra.items() if key in _KEPT_IN_BRANCHES},
                },
            )
            summaries = {key: value for key, value in source.raw.items() if key == COMPACTIONS}
            raw = cut_compactions(new_session_to_disk(head) | {"messages": entries} | summaries, until_index + 1)
            return raw, session_from_disk(new_id, raw, mtime_ms=now_ms, messages=old.messages[: until_index + 1])

        return self._files.create(now_ms, write)

    def rename_folder(self, old: str, new: str) -> int:
        """Put what is in one folder into another, or with an empty name into none; how many conversations moved."""
        if not old:
            raise InputError("A folder needs a name")
        moved = 0
        for session_id in self._index.in_folder(self._files.read_for_index, old):
            with suppress(NotFoundError, BrokenDocumentError):  # deleted, or spoilt, since it was found
                if self.load(session_id).folder == old:
                    self.update(session_id, folder=new)
                    moved += 1
        return moved

    def delete(self, session_id: SessionId) -> None:
        """Move the file to `trash/sessions/`, from where `restore` brings it back. Raises NotFoundError."""
        self._files.delete(session_id, self._clock.now_ms())
        self.changed(session_id, False)

    def restore(self, session_id: SessionId) -> None:
        """Bring back what was deleted last under this id. Raises NotFoundError, ConflictError when the id is in use."""
        self._files.restore(session_id)
        self.changed(session_id, True)

    def has(self, session_id: SessionId) -> bool:
        """Whether there is such a conversation."""
        try:
            self.load(session_id)
        except NotFoundError:
            return False
        return True

    def count(self) -> int:
        """How many conversations there are."""
        return self._index.count(self._files.read_for_index)

    def list(  # noqa: PLR0913 - what can be chosen by
        self,
        limit: int = 50,
        before: tuple[int, str] | None = None,
        query: str = "",
        *,
        folder: str | None = None,
        pinned: bool | None = None,
        model: str = "",
    ) -> Summaries:
        """Newest `updated_ms` first, after the one with this `(updated_ms, id)`; with a query those that contain it.

        `folder` is None for all conversations, empty for those in no folder; `pinned` is None for both kinds.
        `model` is any part of the shown `provider/model`, whatever its case.
        """
        choice = Choice(query=query, folder=folder, pinned=pinned, model=model)
        return self._index.page(self._files.read_for_index, limit, before, choice)

    def overview(self, limit: int, most_pinned: int) -> Overview:
        """What a list begins with: pinned ones, the others in no folder, and the folders."""
        return self._index.overview(self._files.read_for_index, limit, most_pinned)

    def folders(self) -> tuple[FolderCount, ...]:
        """The folders that have a conversation in them, by name."""
        return tuple(self._index.folders(self._files.read_for_index))

    def search(self, query: str, limit: int) -> Hits:
        """The conversations that match best, with the place of the match."""
        return self._index.search(self._files.read_for_index, query, limit)

    def find_places(self, session_ids: Sequence[SessionId], query: str) -> Hits:
        """The first match within each of these conversations that has one, for those that a list shows anyway."""
        return self._index.places(self._files.read_for_index, session_ids, query)

    def find_within(self, session_id: SessionId, query: str, limit: int = 200) -> Sequence[MessageHit]:
        """The messages of one conversation that contain all words of the query, or parts of words, in order."""
        return find_in_messages(self.load(session_id).messages, query, limit)

    def _mask_waiting(self, waiting: Waiting) -> Waiting:
        masked = self._mask.message(Message(role=Role.USER, content=waiting.attachments))
        return Waiting(self._mask.text(waiting.text), masked.content)

    def _mark(self, session_id: SessionId, change: Callable[[Loaded], dict[str, JsonValue]]) -> Session:
        def alter(loaded: Loaded) -> Changed:
            raw, old = change(loaded), loaded.session
            new = session_from_disk(session_id, raw, mtime_ms=old.updated_ms, messages=old.messages)
            return Changed(raw, structs.replace(new, created_ms=old.created_ms, updated_ms=old.updated_ms))

        return self._files.change(session_id, alter)

    def _cut(self, session_id: SessionId, at: int, change: Callable[[JsonObject], dict[str, JsonValue]]) -> Session:
        def alter(loaded: Loaded) -> Changed:
            raw, old = cut_compactions(change(loaded.raw), at), loaded.session
            messages = old.messages[:at] + messages_from_disk(entries_from(raw, at))
            new = session_from_disk(session_id, raw, mtime_ms=old.updated_ms, messages=messages)
            return Changed(raw, new, kept=at)

        return self._files.change(session_id, alter)


def _nobody(_session_id: SessionId, _is_there: bool) -> None:
    """Nobody listens."""


def _with_changes(raw: dict[str, JsonValue], changes: SessionChanges) -> dict[str, JsonValue]:
    changed = dict(raw)
    for name, value in cast("Mapping[str, str | bool | Sequence[Waiting]]", changes).items():
        key = _CHANGEABLE[name]
        if value or key not in _ONLY_WHEN_SET:
            changed[key] = value if isinstance(value, (str, bool)) else [write_waiting(waiting) for waiting in value]
        else:
            changed.pop(key, None)
    return changed
