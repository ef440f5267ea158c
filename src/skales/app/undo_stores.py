"""What the program's own documents have to do with undo: hears of their changes, and can put each of them back.

Settings, grants, memories and deleted conversations. A value under which a key or password may stand is never
recorded, so it is never taken back either.
"""

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import cast

from skales.agent.undo_ground import Ground
from skales.agent.undo_record import CURRENT
from skales.core.errors import ConflictError, NotFoundError, StorageError
from skales.core.ids import SessionId
from skales.core.json import JsonObject, JsonValue, as_object, parse_json
from skales.data.grants import GrantStore
from skales.data.memories import MemoryStore
from skales.data.sessions import SessionStore
from skales.data.setting_names import open_object
from skales.data.settings import SettingsStore
from skales.data.undo import UndoStore
from skales.data.undo_shape import ABSENT, Area, Kind, State, UndoItem, UndoStep
from skales.security.redact import redact_value

_log = logging.getLogger(__name__)

# What an undo changes itself is in its own journal.
_QUIET: ContextVar[bool] = ContextVar("undo_quiet", default=False)
_HERE = State(Kind.VALUE, text='"in the list"')
_NAMED = 3


class _Quiet:
    """As long as it lasts, changes of the stores are not recorded."""

    def __enter__(self) -> None:
        self._token = _QUIET.set(True)

    def __exit__(self, *_: object) -> None:
        _QUIET.reset(self._token)


@dataclass(frozen=True, slots=True)
class Stores:
    """The documents that are watched."""

    settings: SettingsStore
    grants: GrantStore
    memories: MemoryStore
    sessions: SessionStore


def watch(stores: Stores, undo: UndoStore) -> None:
    """Record every change of the stores from here on."""

    def settings_changed(before: Mapping[str, JsonValue], after: Mapping[str, JsonValue]) -> None:
        items = list(_setting_items(before, after))
        names = ", ".join(item.name for item in items[:_NAMED]) + (", …" if len(items) > _NAMED else "")
        _record(undo, "settings", f"Changed in the settings: {names}", items)

    def grant_changed(grant_id: str, before: JsonObject | None, after: JsonObject | None) -> None:
        tool = str((after or before or {}).get("tool", ""))
        summary = f"Allowed {tool} until revoked" if after else f"Revoked the permission of {tool}"
        _record(undo, "grants", summary, [UndoItem(Area.GRANT, grant_id, _value(before), _value(after))])

    def memory_changed(memory_id: str, before: JsonObject | None, after: JsonObject | None) -> None:
        summary = "Kept a memory" if after else "Deleted a memory"
        _record(undo, "memories", summary, [UndoItem(Area.MEMORY, memory_id, _value(before), _value(after))])

    def session_changed(session_id: SessionId, is_there: bool) -> None:
        old, new = (ABSENT, _HERE) if is_there else (_HERE, ABSENT)
        summary = "Brought a conversation back" if is_there else "Deleted a conversation"
        _record(undo, "sessions", summary, [UndoItem(Area.SESSION, session_id, old, new)])

    stores.settings.changed = settings_changed
    stores.grants.changed = grant_changed
    stores.memories.changed = memory_changed
    stores.sessions.changed = session_changed


def build_grounds(stores: Stores) -> Mapping[Area, Ground]:
    """How each kind of document is read and put back."""
    return {
        Area.SETTING: SettingGround(stores.settings),
        Area.GRANT: GrantGround(stores.grants),
        Area.MEMORY: MemoryGround(stores.memories),
        Area.SESSION: SessionGround(stores.sessions),
    }


class ValueGround(ABC):
    """What all of them share: nothing to copy, nothing to settle, nothing left by a crash."""

    __slots__ = ()

    @abstractmethod
    def look(self, name: str) -> State:
        """What is there now."""

    @abstractmethod
    def put(self, name: str, state: State) -> None:
        """Make it so."""

    def keep(self, name: str) -> State:
        """The same: a value is whole in its state."""
        return self.look(name)

    def settle(self, name: str, state: State) -> None:
        """A value needs no second step."""
        del name, state

    def refusal(self, name: str) -> str:
        """The person's own documents are theirs to change back."""
        del name
        return ""

    def sweep(self, name: str) -> None:
        """Documents are replaced in one step."""
        del name


@dataclass(frozen=True, slots=True)
class SettingGround(ValueGround):
    """One key of the settings, named with dots."""

    settings: SettingsStore

    def look(self, name: str) -> State:
        """What stands in the file."""
        value: JsonValue = self.settings.raw()
        for part in name.split("."):
            if part not in as_object(value):
                return ABSENT
            value = as_object(value)[part]
        return _value(value)

    def put(self, name: str, state: State) -> None:
        """Set or remove it. Raises InputError when it is no longer allowed."""
        *way, last = name.split(".")

        def change(raw: dict[str, JsonValue]) -> None:
            for part in way:
                raw = open_object(raw, part)
            if state == ABSENT:
                raw.pop(last, None)
            else:
                raw[last] = parse_json(state.text)

        with _Quiet():
            self.settings.update(change)


@dataclass(frozen=True, slots=True)
class GrantGround(ValueGround):
    """One grant, by its id."""

    grants: GrantStore

    def look(self, name: str) -> State:
        """Its entry."""
        return _value(self.grants.entry(name))

    def put(self, name: str, state: State) -> None:
        """Revoke it, or allow it again."""
        with _Quiet():
            if state == ABSENT:
                if self.grants.entry(name) is not None:
                    self.grants.revoke(name)
            else:
                self.grants.put_back(as_object(parse_json(state.text)))


@dataclass(frozen=True, slots=True)
class MemoryGround(ValueGround):
    """One memory, by its id."""

    memories: MemoryStore

    def look(self, name: str) -> State:
        """Its file."""
        memory = self.memories.find(name)
        return _value(memory.raw if memory else None)

    def put(self, name: str, state: State) -> None:
        """Delete it, or keep it again as it was."""
        with _Quiet():
            if self.memories.find(name) is not None:
                self.memories.delete(name)
            if state != ABSENT:
                self.memories.put_back(name, as_object(parse_json(state.text)))


@dataclass(frozen=True, slots=True)
class SessionGround(ValueGround):
    """One conversation: in the list, or in the trash."""

    sessions: SessionStore

    def look(self, name: str) -> State:
        """Whether it is in the list."""
        return _HERE if self.sessions.has(SessionId(name)) else ABSENT

    def put(self, name: str, state: State) -> None:
        """Delete it, or bring it back from the trash. Raises ConflictError when it is gone from there."""
        session_id = SessionId(name)
        with _Quiet():
            if state == ABSENT:
                self.sessions.delete(session_id)
                return
            try:
                self.sessions.restore(session_id)
            except NotFoundError as error:
                raise ConflictError("The conversation was deleted for good") from error


def _record(undo: UndoStore, tool: str, summary: str, items: list[UndoItem]) -> None:
    """Add to the step of the call that runs here, else a step of its own. What is done is done: it never fails."""
    if _QUIET.get() or not items:
        return
    recording = CURRENT.get()
    if recording is not None:
        recording.extra.extend(items)
        return
    step = UndoStep(id=undo.new_id(), when_ms=undo.now_ms(), tool=tool, summary=summary, items=tuple(items))
    try:
        undo.write(step)
    except StorageError:
        _log.warning("a change of %s is not on the undo timeline", tool, exc_info=True)


def _setting_items(
    before: Mapping[str, JsonValue], after: Mapping[str, JsonValue], way: tuple[str, ...] = ()
) -> Iterator[UndoItem]:
    """Each value that differs; those of secrets, and names that dots cannot say, are left out."""
    for key in {**before, **after}:
        old, new = before.get(key), after.get(key)
        if (key in before and key in after and old == new) or "." in key or not key:
            continue
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _setting_items(old, new, (*way, key))
        elif _is_public(key, old) and _is_public(key, new):
            states = [_value(side[key]) if key in side else ABSENT for side in (before, after)]
            yield UndoItem(Area.SETTING, ".".join((*way, key)), states[0], states[1])


def _is_public(key: str, value: JsonValue) -> bool:
    return redact_value({key: value}) == {key: value}


def _value(value: JsonValue) -> State:
    """A value as a state; nothing is absent."""
    if value is None:
        return ABSENT
    return State(Kind.VALUE, text=json.dumps(value, indent=1, sort_keys=True, default=_plain))


def _plain(value: object) -> object:
    """Read-only mappings and sequences, which the encoder does not know."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, JsonValue]", value))
    return list(cast("Sequence[JsonValue]", value))
