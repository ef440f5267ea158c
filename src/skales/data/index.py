"""A derived SQLite file over the sessions folder, for newest-first pages and full-text search at any size.

The session files are the truth. The index may be deleted, locked or corrupt at any time: it heals by time and size of
the files, is rebuilt when it cannot be read, and lives in memory when it cannot be written. Nothing is only in here.

No question looks at every file of a large folder. A small one is compared whole each time. In a large one a question
looks at the names when the folder's time says that somebody else changed them, at the files it is about to show, and at
those that were opened; the rest is swept in a thread of its own every few seconds, as long as questions are asked.
What is written here waits for the next question, so that a conversation that goes on does not pay for lists that nobody
looks at; a crash before that leaves files of another time and size.
Spec: data-directory.md, "Write rules".
"""

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from skales.core.clock import Clock, SystemClock
from skales.core.errors import BrokenDocumentError, NotFoundError, StorageError
from skales.core.ids import SessionId
from skales.data.document import Stamp
from skales.data.index_database import Database, IndexLostError
from skales.data.index_folder import SessionFolder
from skales.data.index_folder import is_session_id as is_session_id
from skales.data.index_hits import HitRow, select_hits, select_places
from skales.data.index_tables import (
    AFTER_ALL,
    Choice,
    SummaryRow,
    drop_session,
    put_session,
    select_folders,
    select_in_folder,
    select_page,
)
from skales.data.index_words import match_expression
from skales.data.session_codec import Session
from skales.data.session_search import Span

if TYPE_CHECKING:
    from sqlite3 import Connection  # at run time loaded when the index is first used

Answer = TypeVar("Answer")
Entry = tuple[Session, Stamp]
# Reads one session's file. Raises NotFoundError, BrokenDocumentError or StorageError, after it has told the person.
Reader = Callable[[SessionId], Entry]

SMALL_FOLDER = 256  # files that may be looked at for one question
_BATCH = 50  # sessions held in memory at once while the index is built
_BUSY_TIMEOUT_S = 2.0
_REST_S = 5.0  # between two sweeps, and at least so many times as long as a sweep takes:
_REST_TIMES = 20
_PAUSE_S = 0.001  # lets others run while a sweep goes through a large folder
_MOST_WAITING = 16  # changed sessions that are held until somebody asks


class SessionSummary(Struct, frozen=True, kw_only=True):
    """What a list shows of a session."""

    id: SessionId
    title: str
    provider: str
    model: str
    agent_id: str
    created_ms: int
    updated_ms: int
    message_count: int
    pinned: bool = False
    folder: str = ""


class SearchHit(Struct, frozen=True):
    """The best match within one session; `message_index` is None when it is the title.

    `spans` are the matches within the snippet, as start and end.
    """

    session_id: SessionId
    title: str
    message_index: int | None
    snippet: str
    spans: tuple[Span, ...] = ()


class FolderCount(Struct, frozen=True):
    """A folder of conversations and how many are in it."""

    name: str
    count: int


class Overview(Struct, frozen=True):
    """What a list of sessions begins with: pinned ones, the others in no folder, newest first, and the folders."""

    pinned: Sequence[SessionSummary]
    loose: Sequence[SessionSummary]
    folders: Sequence[FolderCount]


class _Write(Struct, frozen=True):
    """A session as it was written last.

    `before` is the state of its file before all writes that wait, None when others wrote in between. Of the messages it
    had then the first `kept` are still the same, all when None.
    """

    session: Session
    stamp: Stamp
    before: Stamp | None
    kept: int | None

    def after(self, earlier: "_Write | None") -> "_Write":
        """Both as one."""
        if earlier is None:
            return self
        before = earlier.before if earlier.stamp == self.before else None
        kept = min((kept for kept in (earlier.kept, self.kept) if kept is not None), default=None)
        return _Write(self.session, self.stamp, before, kept)


class Index:
    """Answers from the database after bringing it up to date with the folder. May be used from several threads.

    Every question takes a `read` for the files that changed.
    """

    def __init__(
        self,
        path: Path,
        folder: Path,
        *,
        busy_timeout_s: float = _BUSY_TIMEOUT_S,
        small_folder: int = SMALL_FOLDER,
        clock: Clock | None = None,
    ) -> None:
        self._database = Database(path, busy_timeout_s)
        self._folder = SessionFolder(folder)
        self._small_folder = small_folder
        self._clock = clock or SystemClock()
        self._broken: dict[str, Stamp] = {}  # files that stay in place although they cannot be read
        self._opened: deque[str] = deque(maxlen=small_folder)  # sessions that were read since the last question
        # Which opening of the database was compared with all names, and which with all files.
        self._listed = self._swept = 0
        self._names_due_s = self._sweep_due_s = 0.0
        # Order: _refreshing and _recording before the database's lock. Files are read without the last two, so that
        # whoever holds a file's lock and records a write never waits for somebody who wants that file.
        self._refreshing = threading.Lock()
        self._recording = threading.Lock()
        self._waiting: dict[str, _Write] = {}
        self._starting = threading.Lock()
        self._sweeper: threading.Thread | None = None
        self._closing = threading.Event()

    def close(self) -> None:
        """Give the file back; the next question opens it again."""
        self._closing.set()
        self.settle()
        self._closing.clear()
        self._put_waiting()
        self._database.close()

    def settle(self) -> None:
        """Wait until a sweep that runs beside the questions is done."""
        if self._sweeper is not None:
            self._sweeper.join()

    def count(self, read: Reader) -> int:
        """How many sessions can be listed. Waits until all files were looked at once."""
        return self._ask(read, lambda _: len(self._database.stamps), whole=True)

    def page(
        self, read: Reader, limit: int, before: tuple[int, str] | None = None, choice: Choice | None = None
    ) -> list[SessionSummary]:
        """Summaries, newest first, after the one with this `(updated_ms, id)`."""
        after, wanted, chosen = before or AFTER_ALL, max(limit, 0), choice or Choice()
        expression = match_expression(chosen.query)
        if chosen.query.strip() and not expression:
            return []
        rows = self._ask(read, lambda db: select_page(db, after, wanted, chosen, expression), _first_of_each)
        return [_summary(row) for row in rows]

    def search(self, read: Reader, query: str, limit: int) -> list[SearchHit]:
        """The sessions that match best, one hit each, best first."""
        expression = match_expression(query)
        if not expression or limit <= 0:
            return []
        return _read_hits(self._ask(read, lambda db: select_hits(db, query, expression, limit), _first_of_each))

    def places(self, read: Reader, session_ids: Sequence[SessionId], query: str) -> list[SearchHit]:
        """The first match within each of these sessions that has one."""
        if not match_expression(query):
            return []
        return _read_hits(self._ask(read, lambda db: select_places(db, query, session_ids), _first_of_each))

    def folders(self, read: Reader) -> list[FolderCount]:
        """All folders with a conversation in them, by name, whatever its case."""
        return _folder_counts(self._ask(read, select_folders))

    def overview(self, read: Reader, limit: int, most_pinned: int) -> Overview:
        """The beginning of a list, at most so many of each, for one look at the folder."""

        def select(db: "Connection") -> tuple[list[SummaryRow], list[SummaryRow], list[tuple[str, int]]]:
            pinned = select_page(db, AFTER_ALL, most_pinned, Choice(pinned=True), "")
            loose = select_page(db, AFTER_ALL, limit, Choice(folder="", pinned=False), "")
            return pinned, loose, select_folders(db)

        pinned, loose, folders = self._ask(read, select, lambda found: _first_of_each([*found[0], *found[1]]))
        return Overview([*map(_summary, pinned)], [*map(_summary, loose)], _folder_counts(folders))

    def in_folder(self, read: Reader, folder: str) -> list[SessionId]:
        """The sessions in a folder. Waits until all files were looked at once."""
        names = self._ask(read, lambda db: select_in_folder(db, folder), whole=True)
        return [SessionId(name) for name in names]

    def own_change(self) -> AbstractContextManager[None]:
        """To be held around a write that is recorded, or a deletion that is told to `forget`, afterwards."""
        return self._folder.own_change()

    def record(self, session: Session, stamp: Stamp, *, before: Stamp, kept: int | None = None) -> None:
        """Take over what was just written, without reading the file; the next question sees it.

        `before` is the state the file had before the write: when the index knows that one, only messages it has not
        seen are added to the full text. `kept` is how many of the messages are still what they were, all by default.
        """
        with self._recording:
            write = _Write(session, stamp, before, kept)
            self._waiting[session.id] = write.after(self._waiting.get(session.id))
            is_enough = len(self._waiting) > _MOST_WAITING
        if is_enough:
            self._put_waiting()

    def forget(self, session_id: SessionId) -> None:
        """Drop what is known of a session whose file is gone."""
        with self._recording, contextlib.suppress(IndexLostError, StorageError):
            self._waiting.pop(session_id, None)
            self._database.run(lambda db: self._drop(db, [session_id]))

    def note_opened(self, session_id: SessionId) -> None:
        """A session's file was read: the next question looks whether it is the one that is known here."""
        self._opened.append(session_id)

    def _ask(
        self,
        read: Reader,
        question: Callable[["Connection"], Answer],
        shown: Callable[[Answer], Sequence[str]] = lambda _: (),
        *,
        whole: bool = False,
    ) -> Answer:
        self._put_waiting()
        # Ends: a database is lost at most twice, then it is in memory, where its failure is a StorageError.
        while True:
            with contextlib.suppress(IndexLostError):
                is_compared = self._refresh(read, whole=whole)
                answer, known = self._database.run(lambda db: self._with_stamps(question(db), shown))
                if is_compared or not self._compare(read, known):
                    return answer
                return self._database.run(question)

    def _with_stamps(
        self, answer: Answer, shown: Callable[[Answer], Sequence[str]]
    ) -> tuple[Answer, dict[str, Stamp | None]]:
        """The answer and the files it is from, as they were known when it was given: a sweep may be quicker."""
        names = shown(answer)[: self._small_folder]
        return answer, {name: self._database.stamps.get(name) for name in names}

    def _refresh(self, read: Reader, *, whole: bool) -> bool:
        """Whether every file was compared with what is known; the folder is small then, or never was looked at."""
        self._database.notice_deletion()
        count = self._database.run(lambda _: len(self._database.stamps))
        if not self._is_sweeping() and count <= self._small_folder and self._sweep(read, self._small_folder):
            return True
        if whole and self._swept != self._database.opened:
            self.settle()
            if self._swept != self._database.opened and self._sweep(read):
                return True
        is_behind = self._compare_names(read)
        self._start_sweep(read, at_once=is_behind)
        with contextlib.suppress(IndexError):  # two questions may take from it at once
            while True:
                name = self._opened.popleft()
                self._compare(read, {name: self._database.stamps.get(name)})
        return False

    def _sweep(self, read: Reader, at_most: int | None = None) -> bool:
        """Compare all files with what is known; False when there are more than `at_most`, or when it was cut short."""
        with self._refreshing:
            opened, known = self._database.run(lambda _: (self._database.opened, dict(self._database.stamps)))
            pause = self._pause if self._is_sweeper() else _go_on
            found = self._folder.scan(known, pause, at_most)
            if found is None:
                return False
            if found != known:
                self._broken = {name: stamp for name, stamp in self._broken.items() if found.get(name) == stamp}
                if not self._take_over_all(found, known, read):
                    return False
                self._forget_all(known.keys() - found.keys(), known)
            self._swept = opened
            return True

    def _take_over_all(self, found: Mapping[str, Stamp], known: Mapping[str, Stamp], read: Reader) -> bool:
        changed = [name for name, stamp in found.items() if known.get(name) != stamp and name not in self._broken]
        changed.sort(reverse=True)  # our own ids begin with a time: the newest sessions are wanted first
        for start in range(0, len(changed), _BATCH):
            if self._is_sweeper() and self._closing.is_set():
                return False
            self._take_over({name: found[name] for name in changed[start : start + _BATCH]}, known, read)
        return True

    def _compare_names(self, read: Reader) -> bool:
        """Drop what is gone and take over the newest of what came; whether more came than one question should read."""
        now_s = self._clock.monotonic_s()
        is_listed = self._database.opened in (self._listed, self._swept)
        if is_listed and (now_s < self._names_due_s or not self._folder.is_changed()):
            return False
        opened, known = self._database.run(lambda _: (self._database.opened, dict(self._database.stamps)))
        names = self._folder.names()
        self._names_due_s = now_s + _REST_TIMES * (self._clock.monotonic_s() - now_s)
        came = sorted(filter(is_session_id, names - known.keys() - self._broken.keys()), reverse=True)
        self._take_over(self._folder.stamps(came[:_BATCH]), known, read)
        self._forget_all(known.keys() - names, known)
        self._listed = opened
        return len(came) > _BATCH

    def _compare(self, read: Reader, known: Mapping[str, Stamp | None]) -> bool:
        """Compare some files with what was known of them; whether anything is different."""
        found = self._folder.stamps(known)
        changed = {name: stamp for name, stamp in found.items() if stamp not in (known[name], self._broken.get(name))}
        stamps = {name: stamp for name, stamp in known.items() if stamp is not None}
        self._take_over(changed, stamps, read)
        gone = stamps.keys() - found.keys()
        self._forget_all(gone, stamps)
        return bool(changed or gone)

    def _start_sweep(self, read: Reader, *, at_once: bool) -> None:
        with self._starting:
            is_due = at_once or self._clock.monotonic_s() >= self._sweep_due_s or self._swept != self._database.opened
            if is_due and not self._is_sweeping():
                self._sweeper = threading.Thread(target=self._run_sweep, args=(read,), name="sessions", daemon=True)
                self._sweeper.start()

    def _run_sweep(self, read: Reader) -> None:
        started_s = self._clock.monotonic_s()
        try:
            with contextlib.suppress(IndexLostError, StorageError):  # the next question meets it too, and reports it
                self._sweep(read)
        finally:
            ended_s = self._clock.monotonic_s()
            self._sweep_due_s = ended_s + max(_REST_S, _REST_TIMES * (ended_s - started_s))

    def _is_sweeping(self) -> bool:
        return self._sweeper is not None and self._sweeper.is_alive()

    def _is_sweeper(self) -> bool:
        return threading.current_thread() is self._sweeper

    def _pause(self) -> None:
        self._closing.wait(_PAUSE_S)

    def _take_over(self, files: Mapping[str, Stamp], known: Mapping[str, Stamp], read: Reader) -> None:
        if not files:
            return
        entries = {name: self._read(name, stamp, read) for name, stamp in files.items()}
        readable = [entry for entry in entries.values() if entry is not None]

        def put(db: "Connection") -> None:
            # What was recorded since `known` was taken is newer than what was read here.
            fresh = [entry for entry in readable if self._is_still(entry[0].id, known)]
            self._put(db, [_Write(session, stamp, None, None) for session, stamp in fresh])

        self._put_waiting()
        self._database.run(put)
        self._forget_all([name for name, entry in entries.items() if entry is None], known)

    def _read(self, name: str, stamp: Stamp, read: Reader) -> Entry | None:
        try:
            return read(SessionId(name))
        except BrokenDocumentError:
            self._broken = self._broken | {name: stamp}  # where it was moved away, nobody will ask again
        except (NotFoundError, StorageError):  # gone meanwhile, or unreadable for now
            pass
        return None

    def _forget_all(self, names: Collection[str], known: Mapping[str, Stamp]) -> None:
        if names:
            self._put_waiting()
            self._database.run(lambda db: self._drop(db, [name for name in names if self._is_still(name, known)]))

    def _is_still(self, name: str, known: Mapping[str, Stamp]) -> bool:
        return self._database.stamps.get(name) == known.get(name)

    def _put_waiting(self) -> None:
        with self._recording:
            writes, self._waiting = list(self._waiting.values()), {}
            if writes:
                with contextlib.suppress(IndexLostError, StorageError):  # the question heals it, or reports it
                    self._database.run(lambda db: self._put(db, writes))

    def _put(self, db: "Connection", writes: Sequence[_Write]) -> None:
        with db:
            db.execute("BEGIN IMMEDIATE")
            for write in writes:
                put_session(db, write.session, write.stamp, write.before, write.kept)
        self._database.stamps.update({write.session.id: write.stamp for write in writes})

    def _drop(self, db: "Connection", names: Sequence[str]) -> None:
        with db:
            db.execute("BEGIN IMMEDIATE")
            for name in names:
                drop_session(db, name)
        for name in names:
            self._database.stamps.pop(name, None)


def _go_on() -> None:
    pass


def _first_of_each(rows: Sequence[tuple[str, *tuple[object, ...]]]) -> list[str]:
    return [row[0] for row in rows]


def _folder_counts(rows: Sequence[tuple[str, int]]) -> list[FolderCount]:
    found = (FolderCount(name, count) for name, count in rows)
    return sorted(found, key=lambda folder: (folder.name.casefold(), folder.name))


def _read_hits(rows: Sequence[HitRow]) -> list[SearchHit]:
    return [SearchHit(SessionId(name), title, at, snippet, spans) for name, title, at, snippet, spans in rows]


def _summary(row: SummaryRow) -> SessionSummary:
    session_id, title, provider, model, agent_id, folder, created_ms, updated_ms, message_count, pinned, _ = row
    return SessionSummary(
        id=SessionId(session_id),
        title=title,
        provider=provider,
        model=model,
        agent_id=agent_id,
        created_ms=created_ms,
        updated_ms=updated_ms,
        message_count=message_count,
        pinned=bool(pinned),
        folder=folder,
    )
