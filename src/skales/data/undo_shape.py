"""What one entry of the undo timeline is, and how it stands in its file. No I/O.

A step holds, for each thing that a call changed, what it was before and what it became. Texts that may be long lie in
the store beside it and are named here by their hash.
"""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from skales.core.json import JsonObject, JsonValue, as_int, as_list, as_object, as_text
from skales.data.records import moment_ms


class Kind(StrEnum):
    """What can be at a place. A value is a piece of a document of the program, such as one setting."""

    ABSENT = "absent"
    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    VALUE = "value"
    OTHER = "other"


class Area(StrEnum):
    """Where a change happened; each is read and put back in its own way."""

    FILE = "file"
    SETTING = "setting"
    GRANT = "grant"
    MEMORY = "memory"
    SESSION = "session"


class StepState(StrEnum):
    """`open` while the call runs, and after a crash until the next start."""

    OPEN = "open"
    DONE = "done"
    UNDONE = "undone"
    PARTIAL = "partial"


class State(Struct, frozen=True):
    """What is at a place at one moment.

    `digest` is the SHA-256 of a file's content, empty when that was too large to be read; then size and time tell one
    state from the next. `is_kept` says that the store holds the content. `text` is a link's target or a value's JSON.
    """

    kind: Kind
    mode: int = 0
    modified_ns: int = 0
    size_bytes: int = 0
    digest: str = ""
    text: str = ""
    is_kept: bool = False

    def is_same(self, other: "State") -> bool:
        """Whether it means the same; when something was last touched does not count."""
        if self.kind is not other.kind:
            return False
        match self.kind:
            case Kind.FILE if self.digest and other.digest:
                return (self.digest, self.mode) == (other.digest, other.mode)
            case Kind.FILE:
                mine = (self.size_bytes, self.modified_ns, self.mode)
                return mine == (other.size_bytes, other.modified_ns, other.mode)
            case Kind.FOLDER:
                return self.mode == other.mode
            case _:
                return self.text == other.text

    @property
    def can_return(self) -> bool:
        """Whether enough is known of it to put it back."""
        return self.kind is not Kind.OTHER and (self.kind is not Kind.FILE or self.is_kept)


ABSENT = State(Kind.ABSENT)


class UndoItem(Struct, frozen=True):
    """One thing that a step changed. `name` is a path, or what the area calls it."""

    area: Area
    name: str
    before: State
    after: State
    is_undone: bool = False


class UndoStep(Struct, frozen=True, kw_only=True):
    """One change on the timeline.

    `undoes` names the steps that an undo or a redo is about; it is empty for a change of another kind. `notes` say what
    is not covered. Of an open step, `places` are the paths it may change, `listed` folders that only get new entries,
    with the names that were there, `folders` those that were compared with the baseline, `gaps` what was not looked at,
    and `holder` is the process that runs it.
    """

    id: str
    when_ms: int
    tool: str
    summary: str
    session_id: str = ""
    turn_id: str = ""
    call_id: str = ""
    state: StepState = StepState.DONE
    items: tuple[UndoItem, ...] = ()
    undoes: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    listed: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    folders: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    holder: str = ""
    notes: tuple[str, ...] = ()

    def digests(self) -> frozenset[str]:
        """What of the store it needs."""
        states = (state for item in self.items for state in (item.before, item.after))
        return frozenset(state.digest for state in states if state.is_kept)


def step_to_json(step: UndoStep) -> JsonObject:
    """The object of the step's file."""
    return {
        "id": step.id,
        "when": step.when_ms,
        "session": step.session_id,
        "turn": step.turn_id,
        "call": step.call_id,
        "tool": step.tool,
        "summary": step.summary,
        "state": step.state.value,
        "undoes": list(step.undoes),
        "places": list(step.places),
        "listed": {folder: list(names) for folder, names in step.listed.items()},
        "folders": list(step.folders),
        "gaps": list(step.gaps),
        "holder": step.holder,
        "notes": list(step.notes),
        "items": [
            {
                "area": item.area.value,
                "name": item.name,
                "before": _state_to_json(item.before),
                "after": _state_to_json(item.after),
                "undone": item.is_undone,
            }
            for item in step.items
        ],
    }


def step_from_json(raw: JsonObject) -> UndoStep:
    """The step of a file. Raises ValueError for what is none; half a step must not be undone."""
    step_id = as_text(raw.get("id"))
    if not step_id:
        raise ValueError("it has no id")
    return UndoStep(
        id=step_id,
        when_ms=moment_ms(raw.get("when")),
        session_id=as_text(raw.get("session")),
        turn_id=as_text(raw.get("turn")),
        call_id=as_text(raw.get("call")),
        tool=as_text(raw.get("tool")),
        summary=as_text(raw.get("summary")),
        state=StepState(as_text(raw.get("state"))),
        undoes=_texts(raw.get("undoes")),
        places=_texts(raw.get("places")),
        listed={folder: _texts(names) for folder, names in as_object(raw.get("listed")).items()},
        folders=_texts(raw.get("folders")),
        gaps=_texts(raw.get("gaps")),
        holder=as_text(raw.get("holder")),
        notes=_texts(raw.get("notes")),
        items=tuple(_item(as_object(item)) for item in as_list(raw.get("items"))),
    )


def _item(raw: JsonObject) -> UndoItem:
    name = as_text(raw.get("name"))
    if not name:
        raise ValueError("one of its changes has no name")
    return UndoItem(
        Area(as_text(raw.get("area"))),
        name,
        _state(as_object(raw.get("before"))),
        _state(as_object(raw.get("after"))),
        raw.get("undone") is True,
    )


def _state_to_json(state: State) -> Mapping[str, JsonValue]:
    whole: dict[str, JsonValue] = {
        "kind": state.kind.value,
        "mode": state.mode,
        "modified": state.modified_ns,
        "size": state.size_bytes,
        "digest": state.digest,
        "text": state.text,
        "kept": state.is_kept,
    }
    return {name: value for name, value in whole.items() if value or name == "kind"}


def _state(raw: JsonObject) -> State:
    digest = as_text(raw.get("digest"))
    if digest and not (len(digest) == 64 and set(digest) <= set("0123456789abcdef")):
        raise ValueError("one of its hashes is none")
    return State(
        Kind(as_text(raw.get("kind"))),
        as_int(raw.get("mode")) & 0o7777,
        as_int(raw.get("modified")),
        as_int(raw.get("size")),
        digest,
        as_text(raw.get("text")),
        raw.get("kept") is True,
    )


def _texts(value: JsonValue) -> tuple[str, ...]:
    return tuple(item for item in as_list(value) if isinstance(item, str))
