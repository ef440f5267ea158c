"""A session as its file spells it and as the program sees it; pure, no disk.

What a file says survives: unknown keys go to `extra`, and so does the raw form of a known key that we would write
differently (a list for one text, `null` for none); it is written back as long as it still means what the message says.
Spec: data-directory.md, "sessions/<id>.json".
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from skales.core.ids import SessionId
from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text
from skales.core.message import ContentPart, FilePart, ImagePart, Message, Role
from skales.data.session_compactions import COMPACTIONS, Compaction, find_effective, read_compactions
from skales.data.session_spelling import (
    CONTENT,
    FIELDS,
    OTHER_REASONING,
    OUR_FIELDS,
    REASONING,
    read_moment,
    read_parts,
    role_of,
    write_parts,
)
from skales.data.session_versions import VersionMark, read_marks

_TITLE_CHARACTERS = 60
_OWN_ID = re.compile(r"session_([0-9]{12,14})")
_FIRST_KEYS = {"id", "title", "provider", "model", "agentId", "createdAt", "updatedAt", "messages"}
SESSION_KEYS = _FIRST_KEYS | {"queued", "pinned", "folder", "versions", COMPACTIONS}


class Waiting(Struct, frozen=True):
    """A message sent while a turn ran. In the file it is its text, or an object when files go with it."""

    text: str
    attachments: tuple[ContentPart, ...] = ()


class Session(Struct, frozen=True, kw_only=True):
    """One conversation. `messages` leaves out entries of the file that are no messages; the file keeps them.

    `queued` was sent while a turn ran. `folder` is empty for none. `versions` says from which messages
    on there are other tails (`session_versions`), `compactions` where summaries stand for what is old
    (`session_compactions`). `extra` holds keys of the file that we do not know.
    """

    id: SessionId
    title: str
    provider: str
    model: str
    agent_id: str
    created_ms: int
    updated_ms: int
    messages: tuple[Message, ...] = ()
    queued: tuple[Waiting, ...] = ()
    pinned: bool = False
    folder: str = ""
    versions: tuple[VersionMark, ...] = ()
    compactions: tuple[Compaction, ...] = ()
    extra: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def compaction(self) -> Compaction | None:
        """The summary that stands for the oldest messages when a model is asked."""
        return find_effective(self.compactions, self.messages)

    @property
    def answered_by(self) -> tuple[str, str]:
        """Provider and model chosen for this conversation, else those that wrote its last answer, for showing."""
        if self.provider:
            return self.provider, self.model
        writers = ((message.provider, message.model) for message in reversed(self.messages) if message.provider)
        return next(writers, ("", self.model))


def check_session(raw: JsonObject) -> None:
    """Raises ValueError with the reason when an object cannot be a session."""
    if not isinstance(raw.get("messages", []), (list, type(None))):
        raise ValueError("`messages` is not a list")  # noqa: TRY004 - the document's reader expects ValueError


def session_from_disk(
    session_id: SessionId, raw: JsonObject, *, mtime_ms: int, messages: tuple[Message, ...] | None = None
) -> Session:
    """The session of a file. Missing times come from the messages, then from the id, then from the file's own.

    `messages` spares reading them once more when they are known already.
    """
    if messages is None:
        messages = messages_from_disk(raw.get("messages"))
    times = [message.timestamp_ms for message in messages if message.timestamp_ms]
    own = _OWN_ID.fullmatch(session_id)
    title = as_text(raw.get("title"))
    return Session(
        id=session_id,
        title=title if title.strip() else default_title(messages),
        provider=as_text(raw.get("provider")),
        model=as_text(raw.get("model")),
        agent_id=as_text(raw.get("agentId")),
        created_ms=read_moment(raw.get("createdAt")) or (times[0] if times else int(own.group(1)) if own else mtime_ms),
        updated_ms=read_moment(raw.get("updatedAt")) or (times[-1] if times else mtime_ms),
        messages=messages,
        queued=tuple(found for entry in as_list(raw.get("queued")) if (found := _read_waiting(entry)) is not None),
        pinned=raw.get("pinned") is True,
        folder=as_text(raw.get("folder")).strip(),
        versions=read_marks(raw.get("versions")),
        compactions=read_compactions(raw.get(COMPACTIONS)),
        extra={key: value for key, value in raw.items() if key not in SESSION_KEYS},
    )


def new_session_to_disk(session: Session) -> dict[str, JsonValue]:
    """The first content of a session's file; what only some sessions have is there only when there is something to say.

    `versions` and `compactions` come later, from the file's own entries.
    """
    raw: dict[str, JsonValue] = {
        "id": session.id,
        "title": session.title,
        "provider": session.provider,
        "model": session.model,
        "createdAt": session.created_ms,
        "updatedAt": session.updated_ms,
        "messages": [message_to_disk(message) for message in session.messages],
    }
    if session.agent_id:
        raw["agentId"] = session.agent_id
    if session.queued:
        raw["queued"] = [write_waiting(waiting) for waiting in session.queued]
    if session.pinned:
        raw["pinned"] = True
    if session.folder:
        raw["folder"] = session.folder
    return raw | dict(session.extra)


def messages_from_disk(raw: JsonValue) -> tuple[Message, ...]:
    """The entries that are messages, in order; anything else in the list is passed over."""
    return tuple(message for entry in as_list(raw) if (message := message_from_disk(entry)) is not None)


def message_from_disk(raw: JsonValue) -> Message | None:
    """One entry of `messages`, None when it is no object or its role is not one of ours."""
    role = role_of(raw)
    if role is None:
        return None
    entry = as_object(raw)
    said: dict[str, Any] = {}
    extra: dict[str, JsonValue] = {}
    for key, value in entry.items():
        spelled = OUR_FIELDS.get(key)
        if spelled is not None:
            meant = spelled.recognise(value)
            if meant is None:
                meant = spelled.read(value)
                if _is_respelled(key, meant, value):
                    extra[key] = value
            said[spelled.name] = meant
        elif key != "role":
            extra[key] = value
    if OTHER_REASONING in extra:
        if REASONING in entry:
            extra[REASONING] = entry[REASONING]
        else:
            said["reasoning"] = as_text(extra[OTHER_REASONING])
    return Message(role=role, **said, extra=extra) if extra else Message(role=role, **said)


def message_to_disk(message: Message) -> dict[str, JsonValue]:
    """One entry of `messages`, with everything `message_from_disk` put into `extra`."""
    written = _write(message)
    if not message.extra:
        return written
    kept = _read(message.role, message.extra)
    both = REASONING in message.extra and OTHER_REASONING in message.extra
    if OTHER_REASONING in message.extra and not both and kept.reasoning == message.reasoning:
        written.pop(REASONING, None)
    for key, value in message.extra.items():
        known = None if both and key == OTHER_REASONING else FIELDS.get(key)
        if known is None or getattr(kept, known.name) == getattr(message, known.name):
            written[key] = value
    return written


def write_waiting(waiting: Waiting) -> JsonValue:
    """One entry of `queued`."""
    if not waiting.attachments:
        return waiting.text
    return {"text": waiting.text, "attachments": write_parts(waiting.attachments)}


def _read_waiting(raw: JsonValue) -> Waiting | None:
    if isinstance(raw, str):
        return Waiting(raw)
    entry = as_object(raw)
    waiting = Waiting(as_text(entry.get("text")), read_parts(entry.get("attachments")))
    return waiting if waiting.text or waiting.attachments else None


def default_title(messages: Sequence[Message]) -> str:
    """The first line of the first thing the user wrote, else attached; at most 60 characters, cut at a word."""
    for message in messages:
        said = message.text.strip() or _first_name(message)
        if message.role is Role.USER and said:
            line = " ".join(said.splitlines()[0].split())
            if len(line) <= _TITLE_CHARACTERS:
                return line
            head = line[:_TITLE_CHARACTERS]
            whole_words = head.rpartition(" ")[0] or head[:-1]
            return whole_words.rstrip(" ,;:.-") + "…"
    return ""


def _first_name(message: Message) -> str:
    names = (part.name.strip() for part in message.content if isinstance(part, ImagePart | FilePart))
    return next(filter(None, names), "")


def _read(role: Role, entry: JsonObject) -> Message:
    said = {spelled.name: spelled.read(entry[key]) for key, spelled in FIELDS.items() if key in entry}
    return Message(role=role, **said)


def _write(message: Message) -> dict[str, JsonValue]:
    """The fields as we spell them, without `extra`; `content` always, others only when they say something."""
    written: dict[str, JsonValue] = {"role": message.role.value, "content": OUR_FIELDS[CONTENT].write(message.content)}
    for key, spelled in OUR_FIELDS.items():
        value = getattr(message, spelled.name)
        if value and key != CONTENT:
            written[key] = spelled.write(value)
    return written


def _is_respelled(key: str, meant: Any, value: JsonValue) -> bool:
    """Whether what was read would be written in another form, or not at all."""
    return (key != CONTENT and not meant) or not _is_same(OUR_FIELDS[key].write(meant), value)


def _is_same(ours: JsonValue, theirs: JsonValue) -> bool:
    """Equal also in type and order of keys, so that nothing is respelled: 1 is not true, 1.0 is not 1."""
    return type(ours) is type(theirs) and repr(ours) == repr(theirs)
