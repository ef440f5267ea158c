"""All conversations: one file each, changed by appending; a cache and an index in front of them.

A write starts from what is on disk, not from what was loaded earlier, so that a hand edit made while a turn runs
survives; entries already in a file are never written anew from our own reading of them.
Spec: data-directory.md, "sessions/<id>.json"; orchestrator.md, "Turn flow".
"""

import os
import stat
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict, Unpack, cast

from skales.core.clock import Clock
from skales.core.errors import BrokenDocumentError, ConflictError, NotFoundError, StorageError
from skales.core.ids import SessionId
from skales.core.json import JsonValue, as_list
from skales.core.message import Message
from skales.data.document import (
    Stamp,
    again_when_changed,
    create_object,
    lock_for,
    read_stamped,
    stamp_of,
    storage_errors,
    write_stamped,
)
from skales.data.index import Index, SearchHit, SessionSummary, is_session_id
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.session_codec import Session as Session
from skales.data.session_codec import (
    check_session,
    default_title,
    message_to_disk,
    messages_from_disk,
    new_session_to_disk,
    session_from_disk,
)

Summaries = list[SessionSummary]  # inside the store `list` is a method
Hits = list[SearchHit]

_CACHED_SESSIONS = 16
_FOLDER_MODE = 0o700
_CHANGEABLE = {"title": "title", "provider": "provider", "model": "model", "agent_id": "agentId", "queued": "queued"}
_ONLY_WHEN_SET = ("agentId", "queued")


class SessionChanges(TypedDict, total=False):
    """What `SessionStore.update` can change; an empty title gives the default one back."""

    title: str
    provider: str
    model: str
    agent_id: str
    queued: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A file's content, never altered in place, and what it means."""

    raw: dict[str, JsonValue]
    session: Session
    stamp: Stamp


class SessionStore:
    """Creates, reads, extends, deletes and finds conversations. May be used from several threads."""

    def __init__(self, directory: DataDirectory, quarantine: Quarantine, index: Index, clock: Clock) -> None:
        self._folder = directory.sessions
        self._trash = directory.trash / "sessions"
        self._quarantine = quarantine
        self._index = index
        self._clock = clock
        self._cache: OrderedDict[SessionId, _Loaded] = OrderedDict()
        self._cache_lock = threading.Lock()

    def close(self) -> None:
        """Close the index; a later call opens it again."""
        self._index.close()

    def create(self, title: str = "", provider: str = "", model: str = "", agent_id: str = "") -> Session:
        """An empty conversation; its id is `session_<ms>` with the first free millisecond from now on."""
        now_ms = self._clock.now_ms()
        session = Session(
            id=self._free_id(now_ms),
            title=title,
            provider=provider,
            model=model,
            agent_id=agent_id,
            created_ms=now_ms,
            updated_ms=now_ms,
        )
        raw = new_session_to_disk(session)
        try:
            stamp = create_object(self._folder / f"{session.id}.json", raw)
        except ConflictError:  # somebody took the id since it was looked up
            return self.create(title, provider, model, agent_id)
        self._remember(_Loaded(raw, session, stamp))
        self._index.record(session, stamp, before=stamp)
        return session

    def load(self, session_id: SessionId) -> Session:
        """The conversation as its file is now. Raises NotFoundError, BrokenDocumentError, StorageError."""
        return self._load(session_id).session

    def tail(self, session_id: SessionId, limit: int, before_index: int | None = None) -> Sequence[tuple[int, Message]]:
        """The last messages, with their indices, oldest first; those before an index when one is given."""
        messages = self.load(session_id).messages
        end = len(messages) if before_index is None else min(max(before_index, 0), len(messages))
        start = max(end - max(limit, 0), 0)
        return tuple(enumerate(messages[start:end], start))

    def append(self, session_id: SessionId, *messages: Message, unqueue: int = 0) -> Session:
        """Add messages at the end, each with a time; `updatedAt` becomes now, a missing title the default one.

        `unqueue` takes that many texts off the front of the queue in the same write.
        """
        now_ms = self._clock.now_ms()
        timed = [replace(message, timestamp_ms=message.timestamp_ms or now_ms) for message in messages]
        entries = [message_to_disk(message) for message in timed]

        def alter(loaded: _Loaded) -> tuple[dict[str, JsonValue], Session]:
            old = loaded.session
            history = old.messages + messages_from_disk(entries)
            queued = old.queued[unqueue:]
            title = old.title or default_title(history)
            raw = loaded.raw | {"messages": [*as_list(loaded.raw.get("messages")), *entries], "updatedAt": now_ms}
            if raw.get("title", "") == "" and title:
                raw["title"] = title
            if unqueue:
                raw = _with_changes(raw, {"queued": queued})
            return raw, replace(old, messages=history, queued=queued, title=title, updated_ms=now_ms)

        return self._change(session_id, alter)

    def queue(self, session_id: SessionId, text: str) -> Session:
        """Keep a text that was sent while a turn runs, behind those that wait already; `updatedAt` becomes now."""
        now_ms = self._clock.now_ms()

        def alter(loaded: _Loaded) -> tuple[dict[str, JsonValue], Session]:
            queued = (*loaded.session.queued, text)
            raw = _with_changes(loaded.raw | {"updatedAt": now_ms}, {"queued": queued})
            return raw, replace(loaded.session, queued=queued, updated_ms=now_ms)

        return self._change(session_id, alter)

    def update(self, session_id: SessionId, **changes: Unpack[SessionChanges]) -> Session:
        """Change what stands beside the messages. The order of the list stays: `updatedAt` is not touched."""

        def alter(loaded: _Loaded) -> tuple[dict[str, JsonValue], Session]:
            raw = _with_changes(loaded.raw, changes)
            old = loaded.session
            new = session_from_disk(session_id, raw | {"messages": []}, mtime_ms=old.updated_ms)
            return raw, replace(
                new,
                title=new.title or default_title(old.messages),
                messages=old.messages,
                created_ms=old.created_ms,
                updated_ms=old.updated_ms,
            )

        return self._change(session_id, alter)

    def delete(self, session_id: SessionId) -> None:
        """Move the file to `trash/sessions/`, from where `restore` brings it back. Raises NotFoundError."""
        path = self._path(session_id)
        with lock_for(path), storage_errors(path, "moved to the trash"):
            if not _is_plain_file(path):
                raise _not_found()
            self._trash.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
            target = self._trash / path.name
            if os.path.lexists(target):
                target.replace(_free_name(target, self._clock.now_ms()))
            path.replace(target)
        with self._cache_lock:
            self._cache.pop(session_id, None)
        self._index.forget(session_id)

    def restore(self, session_id: SessionId) -> None:
        """Bring back what was deleted last under this id. Raises NotFoundError, ConflictError when the id is in use."""
        path = self._path(session_id)
        with lock_for(path), storage_errors(path, "restored"):
            source = self._trash / path.name
            if not _is_plain_file(source):
                raise _not_found()
            if os.path.lexists(path):
                raise ConflictError("A session with this id exists", hint="Delete it first")
            self._folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
            source.replace(path)

    def count(self) -> int:
        """How many conversations there are."""
        return self._index.count(self._read)

    def list(self, limit: int = 50, before: tuple[int, str] | None = None, query: str = "") -> Summaries:
        """Newest `updated_ms` first, after the one with this `(updated_ms, id)`; with a query those that contain it."""
        return self._index.page(self._read, limit, before, query)

    def search(self, query: str, limit: int) -> Hits:
        """The conversations that match best, with the place of the match."""
        return self._index.search(self._read, query, limit)

    def _path(self, session_id: str) -> Path:
        if not is_session_id(session_id):
            raise _not_found()
        return self._folder / f"{session_id}.json"

    def _free_id(self, moment_ms: int) -> SessionId:
        while any(os.path.lexists(folder / f"session_{moment_ms}.json") for folder in (self._folder, self._trash)):
            moment_ms += 1
        return SessionId(f"session_{moment_ms}")

    def _load(self, session_id: SessionId) -> _Loaded:
        path = self._path(session_id)
        with storage_errors(path, "read"):
            stamp = stamp_of(path)
        with self._cache_lock:
            loaded = self._cache.get(session_id)
            if loaded is not None and loaded.stamp == stamp:
                self._cache.move_to_end(session_id)
                return loaded
        raw, stamp = self._read_file(path)
        return self._remember(_Loaded(raw, _decode(session_id, raw, stamp), stamp))

    def _read_file(self, path: Path) -> tuple[dict[str, JsonValue], Stamp]:
        try:
            return read_stamped(path, self._quarantine, check=check_session)
        except NotFoundError as error:
            raise _not_found() from error

    def _read(self, session_id: SessionId) -> tuple[Session, Stamp]:
        """For the index, which reads each file once and tells nobody why it cannot."""
        path = self._path(session_id)
        try:
            raw, stamp = self._read_file(path)
        except BrokenDocumentError:
            raise
        except StorageError as error:
            self._quarantine.report(path, error.message)
            raise
        return _decode(session_id, raw, stamp), stamp

    def _remember(self, loaded: _Loaded) -> _Loaded:
        with self._cache_lock:
            self._cache[loaded.session.id] = loaded
            self._cache.move_to_end(loaded.session.id)
            if len(self._cache) > _CACHED_SESSIONS:
                self._cache.popitem(last=False)
        return loaded

    def _change(
        self, session_id: SessionId, alter: Callable[[_Loaded], tuple[dict[str, JsonValue], Session]]
    ) -> Session:
        path = self._path(session_id)

        def attempt() -> tuple[_Loaded, _Loaded]:
            before = self._load(session_id)
            raw, session = alter(before)
            stamp = write_stamped(path, raw, expected=before.stamp)
            return before, self._remember(_Loaded(raw, session, stamp))

        with lock_for(path):
            before, after = again_when_changed(attempt)
        self._index.record(after.session, after.stamp, before=before.stamp)
        return after.session


def _with_changes(raw: dict[str, JsonValue], changes: SessionChanges) -> dict[str, JsonValue]:
    changed = dict(raw)
    for name, value in cast("Mapping[str, str | Sequence[str]]", changes).items():
        key = _CHANGEABLE[name]
        if value or key not in _ONLY_WHEN_SET:
            changed[key] = value if isinstance(value, str) else list(value)
        else:
            changed.pop(key, None)
    return changed


def _decode(session_id: SessionId, raw: dict[str, JsonValue], stamp: Stamp) -> Session:
    return session_from_disk(session_id, raw, mtime_ms=stamp.mtime_ns // 1_000_000)


def _not_found() -> NotFoundError:
    return NotFoundError("Session not found")


def _is_plain_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return False


def _free_name(taken: Path, moment_ms: int) -> Path:
    while os.path.lexists(taken.with_name(f"{taken.name}.{moment_ms}")):
        moment_ms += 1
    return taken.with_name(f"{taken.name}.{moment_ms}")
