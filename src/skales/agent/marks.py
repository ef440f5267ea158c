"""What a conversation has read that others may have written: gathered from its messages, lifted by the person.

A rewind to before the reading takes a mark away, because only what the conversation shows counts. A compaction does
not, because the messages stay on disk. Judges nothing (`taint`) and marks nothing (`taint_round`).
Spec: security.md, "Untrusted content".
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from msgspec import Struct, field

from skales.agent.origin import Marks
from skales.core.clock import Clock
from skales.core.errors import NotFoundError
from skales.core.ids import SessionId
from skales.core.json import JsonObject, JsonValue, as_int, as_list, as_object, as_text
from skales.core.message import FilePart, Message, Role
from skales.data.audit import AuditLog
from skales.data.session_codec import Session
from skales.data.sessions import SessionStore
from skales.security.received import is_received_kind

# Keys of a tool message's `extra`.
SOURCES, FOUND_LINKS = "sources", "foundLinks"
# Keys of a session's file: what it was given by the one that began it, and what the person lifted.
INHERITED, LIFTED = "inheritedMarks", "liftedMarks"

# They show a page as its site gives it. What other tools show, the agent may have put together itself before.
_PAGES = frozenset({"content_from_url", "extract_web_text", "fetch_web_page", "http_request", "web_scrape"})

_KEPT_SESSIONS = 64
_MOST_LINKS = 4_000
_ADDRESS = re.compile(r"https?://[^\s<>\"'`\\^{}|\[\]]{3,2000}", re.IGNORECASE)
_HOST = re.compile(r"(?<![\w@.-])(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?::\d{1,5})?(?![\w-])")
_TRAILING = ".,;:!?)*_"


class _Gathered(Struct):
    """What the first `count` messages said; `last` is the newest of them, by which it is known that they still stand.

    `sources` go with the time at which they were read. `worded` are addresses that the model wrote, `opening` those of
    pages that it asked for, by call.
    """

    count: int = 0
    last: Message | None = None
    head: JsonObject | None = None
    sources: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    hosts: set[str] = field(default_factory=set[str])
    said: set[str] = field(default_factory=set[str])
    found: set[str] = field(default_factory=set[str])
    links: set[str] = field(default_factory=set[str])
    worded: set[str] = field(default_factory=set[str])
    opening: dict[str, str] = field(default_factory=dict[str, str])
    marks: Marks = field(default_factory=Marks)


class MarkBook:
    """The marks of all conversations. May be used from several threads; reads the disk."""

    def __init__(self, sessions: SessionStore, audit: AuditLog, clock: Clock) -> None:
        self._sessions = sessions
        self._audit = audit
        self._clock = clock
        self._known: OrderedDict[SessionId, _Gathered] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, session_id: SessionId) -> Marks:
        """The marks of a conversation as it is now; none for one that does not exist. Looks at new messages only."""
        if not session_id:
            return Marks()
        try:
            session = self._sessions.load(session_id)
        except NotFoundError:
            return Marks()
        return self.read(session)

    def read(self, session: Session) -> Marks:
        """The marks of a conversation that was loaded."""
        with self._lock:
            known = self._known.get(session.id)
            if known is None or not _still_stands(known, session):
                known = self._known[session.id] = _Gathered(head=session.extra)
                _take_inherited(known, session)
            self._known.move_to_end(session.id)
            if len(self._known) > _KEPT_SESSIONS:
                self._known.popitem(last=False)
            if known.count < len(session.messages) or known.count == 0:
                _take_messages(known, session)
            return known.marks

    def lift(self, session_id: SessionId, *, surface: str) -> tuple[str, ...]:
        """The person says that what was read until now is harmless; which sources that were.

        Raises NotFoundError, StorageError; without a line in the audit log nothing is lifted.
        """
        session = self._sessions.load(session_id)
        sources = self.read(session).sources
        if sources:
            self._audit.noted("lifted", {"session": session_id, "surface": surface, "sources": list(sources)})
            entry: JsonObject = {"at": self._clock.now_ms(), "sources": list(sources)}
            self._sessions.annotate(session_id, LIFTED, [*as_list(session.extra.get(LIFTED)), entry])
        return sources


def inherited_marks(marks: Marks) -> dict[str, JsonValue]:
    """The keys of a new session's file that give it the marks of the conversation that begins it."""
    if not marks.sources:
        return {}
    return {
        INHERITED: {
            "sources": list(marks.sources),
            "hosts": sorted(marks.hosts),
            "said": sorted(marks.said),
            "found": sorted(marks.found)[:_MOST_LINKS],
        }
    }


def plain_address(address: str) -> str:
    """The spelling by which two addresses are compared."""
    return address.partition("#")[0].rstrip("/")


def hosts_in(text: str) -> Iterator[str]:
    """Every host that a text names, in whole addresses or by itself."""
    for address in _ADDRESS.findall(text):
        host = host_of(address)
        if host:
            yield host
    yield from (found.casefold().removeprefix("www.") for found in _HOST.findall(text))


def host_of(address: str) -> str:
    """Host and port of an address, without `www.`; empty when it has none."""
    try:
        return urlsplit(address).netloc.rpartition("@")[2].casefold().removeprefix("www.")
    except ValueError:
        return ""


def _still_stands(known: _Gathered, session: Session) -> bool:
    """A message that is another one, or lifted marks, mean that everything is read once more."""
    if known.head is not session.extra and known.head != session.extra:
        return False
    if known.count == 0:
        return True
    return known.count <= len(session.messages) and session.messages[known.count - 1] is known.last


def _take_inherited(known: _Gathered, session: Session) -> None:
    given = as_object(session.extra.get(INHERITED))
    known.sources += [(source, session.created_ms) for source in _texts(given.get("sources"))]
    known.hosts.update(_texts(given.get("hosts")))
    known.said.update(_texts(given.get("said")))
    known.found.update(_texts(given.get("found")))


def _take_messages(known: _Gathered, session: Session) -> None:
    # What begins a marked piece of work was worded by a model that had read the same text.
    is_handed = bool(as_object(session.extra.get(INHERITED)))
    for message in session.messages[known.count :]:
        match message.role:
            case Role.USER:
                _take_said(known, message, trusts=not is_handed)
            case Role.TOOL:
                _take_result(known, message)
            case Role.ASSISTANT:
                known.worded.update(_worded(message))
                known.opening.update(_opened(message))
            case _:
                continue
    known.count = len(session.messages)
    known.last = session.messages[-1] if session.messages else None
    known.marks = Marks(
        sources=tuple(dict.fromkeys(_unlifted(known.sources, session.extra))),
        hosts=frozenset(known.hosts),
        said=frozenset(known.said),
        found=frozenset(known.found),
        links=frozenset(known.links),
    )


def _take_said(known: _Gathered, message: Message, *, trusts: bool) -> None:
    if trusts:
        known.hosts.update(hosts_in(message.text))
        known.said.update(_addresses(message.text))
    for part in message.content:
        if isinstance(part, FilePart) and is_received_kind(part.name):
            known.sources.append((f"attached file {part.name[:80]}", message.timestamp_ms))


def _take_result(known: _Gathered, message: Message) -> None:
    read = _texts(message.extra.get(SOURCES))
    known.sources += [(source, message.timestamp_ms) for source in read]
    known.found.update(set(map(plain_address, _texts(message.extra.get(FOUND_LINKS)))) - known.worded)
    opened = known.opening.pop(message.tool_call_id, "")
    if opened and not message.is_error:
        # Once it was opened, it carries nothing new.
        known.found.add(opened)
    if read and message.name in _PAGES and len(known.links) < _MOST_LINKS:
        known.links.update(set(_addresses(message.text)) - known.worded)


def _worded(message: Message) -> Iterator[str]:
    """Addresses in what the model says and in what it hands to tools: a page that repeats them proves nothing."""
    yield from _addresses(message.text)
    for call in message.tool_calls:
        yield from (address for text in _strings(call.arguments) for address in _addresses(text))


def _unlifted(sources: Sequence[tuple[str, int]], extra: JsonObject) -> Iterator[str]:
    lifts = [as_object(entry) for entry in as_list(extra.get(LIFTED))]
    lifted = [(as_int(entry.get("at")), frozenset(_texts(entry.get("sources")))) for entry in lifts]
    for source, read_ms in sources:
        if not any(read_ms <= lifted_ms and source in named for lifted_ms, named in lifted):
            yield source


def _addresses(text: str) -> Iterator[str]:
    return (plain_address(found.rstrip(_TRAILING)) for found in _ADDRESS.findall(text))


def _opened(message: Message) -> Iterator[tuple[str, str]]:
    for call in message.tool_calls:
        address = as_text(call.arguments.get("url"))
        if call.name in _PAGES and address:
            yield call.id, plain_address(address)


def _strings(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for member in value.values():
                yield from _strings(member)
        case Sequence():
            for member in value:
                yield from _strings(member)
        case _:
            return


def _texts(value: JsonValue) -> list[str]:
    return [text for item in as_list(value) if (text := as_text(item))]
