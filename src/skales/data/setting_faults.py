"""Reads the object of settings.json forgivingly: a value of the wrong type costs itself alone, and is named."""

from collections.abc import Mapping, Sequence
from typing import cast

from msgspec import Struct
from pydantic import (
    ValidationError,
)
from pydantic_core import ErrorDetails

from skales.core.errors import InputError
from skales.core.json import JsonValue
from skales.data.setting_shapes import Settings

RawSettings = dict[str, JsonValue]


Place = tuple[str | int, ...]


# What a value must be, by the kind of pydantic's complaint.
_WANTED = {
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
}


class SettingFault(Struct, frozen=True):
    """A value of the file that does not count. `reason` goes on from the name: `must be true or false`."""

    place: Place
    reason: str
    hint: str = ""

    @property
    def name(self) -> str:
        """The dotted name: `providers.openai.model`."""
        return ".".join(map(str, self.place))

    def __str__(self) -> str:
        """Name and reason as one sentence without a period."""
        return f"{self.name!r} {self.reason}"


def parse_settings(raw: RawSettings) -> tuple[Settings, tuple[SettingFault, ...]]:
    """The settings an object of the file means, and what of it does not count. Null means the default."""
    value = {_whole(name): _copy(item) for name, item in raw.items()}
    faults: list[SettingFault] = []
    while True:
        try:
            return Settings.model_validate(value, by_alias=True, by_name=False), tuple(faults)
        except ValidationError as error:
            found = [_fault(detail) for detail in error.errors(include_url=False, include_input=False)]
            faults.extend(fault for fault in found if _value_at(value, fault.place) is not None)
            for fault in reversed(found):  # so that places in lists stay right while later ones go
                _drop(value, _cost(fault.place))


def _copy(value: JsonValue) -> JsonValue:
    """A copy that may be cut down, without the halves of surrogate pairs, over which pydantic loses its place."""
    match value:
        case str():
            return _whole(value)
        case Mapping():
            return {_whole(name): _copy(item) for name, item in value.items()}
        case Sequence():
            return [_copy(item) for item in value]
        case _:
            return value


def _whole(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _fault(detail: ErrorDetails) -> SettingFault:
    context = detail.get("ctx", {})
    match detail["type"]:
        case "refused":
            reason = detail["msg"]
        case "enum":
            reason = f"must be {context['expected']}"
        case kind:
            reason = f"must be {_WANTED.get(kind, 'text')}"
    return SettingFault(detail["loc"], reason, str(context.get("hint", "")))


def _cost(place: Place) -> Place:
    """What goes with a faulty value: itself, or all of a provider or engine, whose key must not go elsewhere."""
    match place:
        case ("providers" | "searchEngines" as kind, entry_id, "baseUrl"):
            return (kind, entry_id)
        case _:
            return place


def _value_at(value: object, place: Place) -> object:
    """What stands there, None when nothing does."""
    for step in place:
        match value, step:
            case dict(), str():
                value = cast("dict[str, object]", value).get(step)
            case list(), int() if step < len(cast("list[object]", value)):
                value = cast("list[object]", value)[step]
            case _:
                return None
    return value


def _drop(value: RawSettings, place: Place) -> None:
    match _value_at(value, place[:-1]), place[-1]:
        case dict() as parent, last:
            cast("dict[str | int, object]", parent).pop(last, None)
        case list() as parent, int(last):
            del cast("list[object]", parent)[last]
        case _:
            pass  # went with something bigger


def refuse_new_faults(before: RawSettings, after: RawSettings) -> None:
    """Raises InputError when a change would make a value faulty that was not before."""
    for fault in parse_settings(after)[1]:
        if _value_at(before, fault.place) != _value_at(after, fault.place):
            raise InputError(str(fault), hint=fault.hint, code="bad_setting")
